/* Accesses of devices: one instruction each, in the order of the program. */
#ifndef XIL_IO_H
#define XIL_IO_H

#include "xil_printf.h"
#include "xil_types.h"
#include "xpseudo_asm.h"
#include "xstatus.h"

#define SYNCHRONIZE_IO dmb()
#define INST_SYNC isb()
#define DATA_SYNC dsb()

static inline u8 Xil_In8(UINTPTR Addr) { return *(volatile u8 *)Addr; }
static inline u16 Xil_In16(UINTPTR Addr) { return *(volatile u16 *)Addr; }
static inline u32 Xil_In32(UINTPTR Addr) { return *(volatile u32 *)Addr; }
static inline u64 Xil_In64(UINTPTR Addr) { return *(volatile u64 *)Addr; }
static inline void Xil_Out8(UINTPTR Addr, u8 Value) { *(volatile u8 *)Addr = Value; }
static inline void Xil_Out16(UINTPTR Addr, u16 Value) { *(volatile u16 *)Addr = Value; }
static inline void Xil_Out32(UINTPTR Addr, u32 Value) { *(volatile u32 *)Addr = Value; }
static inline void Xil_Out64(UINTPTR Addr, u64 Value) { *(volatile u64 *)Addr = Value; }
static inline u32 Xil_SecureOut32(UINTPTR Addr, u32 Value) {
    Xil_Out32(Addr, Value);
    return Xil_In32(Addr) == Value ? XST_SUCCESS : XST_FAILURE;
}
static inline u16 Xil_EndianSwap16(u16 Data) { return __builtin_bswap16(Data); }
static inline u32 Xil_EndianSwap32(u32 Data) { return __builtin_bswap32(Data); }

#define Xil_In16LE Xil_In16
#define Xil_In32LE Xil_In32
#define Xil_Out16LE Xil_Out16
#define Xil_Out32LE Xil_Out32
#define Xil_Htons Xil_EndianSwap16
#define Xil_Ntohs Xil_EndianSwap16
#define Xil_Htonl Xil_EndianSwap32
#define Xil_Ntohl Xil_EndianSwap32

#endif
