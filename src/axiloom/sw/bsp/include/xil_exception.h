/* Exceptions of the CPU and who handles them. A handler of an interrupt runs in System mode with interrupts masked. */
#ifndef XIL_EXCEPTION_H
#define XIL_EXCEPTION_H

#include "xil_types.h"
#include "xpseudo_asm.h"

#define XIL_EXCEPTION_FIQ XREG_CPSR_FIQ_ENABLE
#define XIL_EXCEPTION_IRQ XREG_CPSR_IRQ_ENABLE
#define XIL_EXCEPTION_ALL (XREG_CPSR_FIQ_ENABLE | XREG_CPSR_IRQ_ENABLE)

#define XIL_EXCEPTION_ID_FIRST 0U
#define XIL_EXCEPTION_ID_RESET 0U
#define XIL_EXCEPTION_ID_UNDEFINED_INT 1U
#define XIL_EXCEPTION_ID_SWI_INT 2U
#define XIL_EXCEPTION_ID_PREFETCH_ABORT_INT 3U
#define XIL_EXCEPTION_ID_DATA_ABORT_INT 4U
#define XIL_EXCEPTION_ID_IRQ_INT 5U
#define XIL_EXCEPTION_ID_FIQ_INT 6U
#define XIL_EXCEPTION_ID_LAST 6U
#define XIL_EXCEPTION_ID_INT XIL_EXCEPTION_ID_IRQ_INT

typedef void (*Xil_ExceptionHandler)(void *Data);
typedef void (*Xil_InterruptHandler)(void *Data);

#ifdef __cplusplus
extern "C" {
#endif
/* The last instruction that each was about. */
extern u32 DataAbortAddr, PrefetchAbortAddr, UndefinedExceptionAddr;

void Xil_ExceptionInit(void);
void Xil_ExceptionRegisterHandler(u32 Exception_id, Xil_ExceptionHandler Handler, void *Data);
void Xil_ExceptionRemoveHandler(u32 Exception_id);
void Xil_GetExceptionRegisterHandler(u32 Exception_id, Xil_ExceptionHandler *Handler, void **Data);
#ifdef __cplusplus
}
#endif

#define Xil_ExceptionEnableMask(Mask) mtcpsr(mfcpsr() & ~((Mask) & XIL_EXCEPTION_ALL))
#define Xil_ExceptionDisableMask(Mask) mtcpsr(mfcpsr() | ((Mask) & XIL_EXCEPTION_ALL))
#define Xil_ExceptionEnable() Xil_ExceptionEnableMask(XIL_EXCEPTION_IRQ)
#define Xil_ExceptionDisable() Xil_ExceptionDisableMask(XIL_EXCEPTION_IRQ)
#define Xil_EnableNestedInterrupts() Xil_ExceptionEnable()
#define Xil_DisableNestedInterrupts() Xil_ExceptionDisable()

#endif
