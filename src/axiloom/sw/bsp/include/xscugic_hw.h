/* Registers of the interrupt controller: ARM GIC architecture 1.0; UG585, B.24. */
#ifndef XSCUGIC_HW_H
#define XSCUGIC_HW_H

#include "xil_exception.h"
#include "xil_io.h"
#include "xparameters.h"

#define XSCUGIC_MAX_NUM_INTR_INPUTS 96U
#define XREG_INT_PRIORITY_MASK 0xF8U

#define XSCUGIC_CONTROL_OFFSET 0x00U
#define XSCUGIC_CPU_PRIOR_OFFSET 0x04U
#define XSCUGIC_BIN_PT_OFFSET 0x08U
#define XSCUGIC_INT_ACK_OFFSET 0x0CU
#define XSCUGIC_EOI_OFFSET 0x10U
#define XSCUGIC_RUN_PRIOR_OFFSET 0x14U
#define XSCUGIC_HI_PEND_OFFSET 0x18U
#define XSCUGIC_ACK_INTID_MASK 0x3FFU

#define XSCUGIC_DIST_EN_OFFSET 0x000U
#define XSCUGIC_IC_TYPE_OFFSET 0x004U
#define XSCUGIC_ENABLE_SET_OFFSET 0x100U
#define XSCUGIC_DISABLE_OFFSET 0x180U
#define XSCUGIC_PENDING_SET_OFFSET 0x200U
#define XSCUGIC_PENDING_CLR_OFFSET 0x280U
#define XSCUGIC_ACTIVE_OFFSET 0x300U
#define XSCUGIC_PRIORITY_OFFSET 0x400U
#define XSCUGIC_SPI_TARGET_OFFSET 0x800U
#define XSCUGIC_INT_CFG_OFFSET 0xC00U
#define XSCUGIC_SFI_TRIG_OFFSET 0xF00U
#define XSCUGIC_SFI_TRIG_INTID_MASK 0x0FU
#define XSCUGIC_SPI_CPU0_MASK 0x01U
#define XSCUGIC_SPI_CPU1_MASK 0x02U
#define XSCUGIC_SFI_TRIG_CPU_MASK 0xFF0000U

#define XSCUGIC_INT_CFG_OFFSET_CALC(id) (XSCUGIC_INT_CFG_OFFSET + (id) / 16U * 4U)
#define XSCUGIC_PRIORITY_OFFSET_CALC(id) (XSCUGIC_PRIORITY_OFFSET + (id) / 4U * 4U)
#define XSCUGIC_SPI_TARGET_OFFSET_CALC(id) (XSCUGIC_SPI_TARGET_OFFSET + (id) / 4U * 4U)
#define XSCUGIC_EN_DIS_OFFSET_CALC(Register, id) ((Register) + (id) / 32U * 4U)

#define XScuGic_ReadReg(BaseAddress, RegOffset) Xil_In32((BaseAddress) + (RegOffset))
#define XScuGic_WriteReg(BaseAddress, RegOffset, Data) Xil_Out32((BaseAddress) + (RegOffset), (u32)(Data))
#define XScuGic_EnableIntr(DistBaseAddress, Int_Id)                                                \
    XScuGic_WriteReg(DistBaseAddress, XSCUGIC_EN_DIS_OFFSET_CALC(XSCUGIC_ENABLE_SET_OFFSET, Int_Id), 1U << (Int_Id) % 32U)
#define XScuGic_DisableIntr(DistBaseAddress, Int_Id)                                               \
    XScuGic_WriteReg(DistBaseAddress, XSCUGIC_EN_DIS_OFFSET_CALC(XSCUGIC_DISABLE_OFFSET, Int_Id), 1U << (Int_Id) % 32U)

#ifdef __cplusplus
extern "C" {
#endif
/* By number or address, without an instance. */
s32 XScuGic_DeviceInitialize(u32 DeviceId);
void XScuGic_DeviceInterruptHandler(void *DeviceId);
void XScuGic_RegisterHandler(u32 BaseAddress, s32 InterruptID, Xil_InterruptHandler IntrHandler, void *CallBackRef);
void XScuGic_SetPriTrigTypeByDistAddr(u32 DistBaseAddress, u32 Int_Id, u8 Priority, u8 Trigger);
void XScuGic_GetPriTrigTypeByDistAddr(u32 DistBaseAddress, u32 Int_Id, u8 *Priority, u8 *Trigger);
#ifdef __cplusplus
}
#endif

#endif
