/* Registers of the AXI Timer: AMD PG079, "Register Space". */
#ifndef XTMRCTR_L_H
#define XTMRCTR_L_H

#include "xil_io.h"
#include "xil_types.h"

#define XTC_DEVICE_TIMER_COUNT 2
#define XTC_TIMER_COUNTER_OFFSET 16U
#define XTC_TIMER_0 0
#define XTC_TIMER_1 1
#define XTC_MAX_LOAD_VALUE 0xFFFFFFFFU

#define XTC_TCSR_OFFSET 0U
#define XTC_TLR_OFFSET 4U
#define XTC_TCR_OFFSET 8U

#define XTC_CSR_CASC_MASK 0x00000800U
#define XTC_CSR_ENABLE_ALL_MASK 0x00000400U
#define XTC_CSR_ENABLE_PWM_MASK 0x00000200U
#define XTC_CSR_INT_OCCURED_MASK 0x00000100U
#define XTC_CSR_ENABLE_TMR_MASK 0x00000080U
#define XTC_CSR_ENABLE_INT_MASK 0x00000040U
#define XTC_CSR_LOAD_MASK 0x00000020U
#define XTC_CSR_AUTO_RELOAD_MASK 0x00000010U
#define XTC_CSR_EXT_CAPTURE_MASK 0x00000008U
#define XTC_CSR_EXT_GENERATE_MASK 0x00000004U
#define XTC_CSR_DOWN_COUNT_MASK 0x00000002U
#define XTC_CSR_CAPTURE_MODE_MASK 0x00000001U

#define XTC_AT(BaseAddress, TmrCtrNumber, RegOffset)                                               \
    ((BaseAddress) + (UINTPTR)(TmrCtrNumber) * XTC_TIMER_COUNTER_OFFSET + (RegOffset))
#define XTmrCtr_ReadReg(BaseAddress, TmrCtrNumber, RegOffset) Xil_In32(XTC_AT(BaseAddress, TmrCtrNumber, RegOffset))
#define XTmrCtr_WriteReg(BaseAddress, TmrCtrNumber, RegOffset, ValueToWrite)                       \
    Xil_Out32(XTC_AT(BaseAddress, TmrCtrNumber, RegOffset), ValueToWrite)
#define XTimerCtr_ReadReg XTmrCtr_ReadReg
#define XTmrCtr_SetControlStatusReg(BaseAddress, TmrCtrNumber, RegisterValue)                      \
    XTmrCtr_WriteReg(BaseAddress, TmrCtrNumber, XTC_TCSR_OFFSET, RegisterValue)
#define XTmrCtr_GetControlStatusReg(BaseAddress, TmrCtrNumber) XTmrCtr_ReadReg(BaseAddress, TmrCtrNumber, XTC_TCSR_OFFSET)
#define XTmrCtr_GetTimerCounterReg(BaseAddress, TmrCtrNumber) XTmrCtr_ReadReg(BaseAddress, TmrCtrNumber, XTC_TCR_OFFSET)
#define XTmrCtr_SetLoadReg(BaseAddress, TmrCtrNumber, RegisterValue)                               \
    XTmrCtr_WriteReg(BaseAddress, TmrCtrNumber, XTC_TLR_OFFSET, RegisterValue)
#define XTmrCtr_GetLoadReg(BaseAddress, TmrCtrNumber) XTmrCtr_ReadReg(BaseAddress, TmrCtrNumber, XTC_TLR_OFFSET)
#define XTC_CHANGE(BaseAddress, TmrCtrNumber, Clear, Set)                                          \
    XTmrCtr_SetControlStatusReg(BaseAddress, TmrCtrNumber,                                         \
                                (XTmrCtr_GetControlStatusReg(BaseAddress, TmrCtrNumber) & ~(Clear)) | (Set))
#define XTmrCtr_Enable(BaseAddress, TmrCtrNumber) XTC_CHANGE(BaseAddress, TmrCtrNumber, 0U, XTC_CSR_ENABLE_TMR_MASK)
#define XTmrCtr_Disable(BaseAddress, TmrCtrNumber) XTC_CHANGE(BaseAddress, TmrCtrNumber, XTC_CSR_ENABLE_TMR_MASK, 0U)
#define XTmrCtr_EnableIntr(BaseAddress, TmrCtrNumber) XTC_CHANGE(BaseAddress, TmrCtrNumber, 0U, XTC_CSR_ENABLE_INT_MASK)
#define XTmrCtr_DisableIntr(BaseAddress, TmrCtrNumber)                                             \
    XTC_CHANGE(BaseAddress, TmrCtrNumber, XTC_CSR_ENABLE_INT_MASK | XTC_CSR_INT_OCCURED_MASK, 0U)
#define XTmrCtr_LoadTimerCounterReg(BaseAddress, TmrCtrNumber) XTC_CHANGE(BaseAddress, TmrCtrNumber, 0U, XTC_CSR_LOAD_MASK)
#define XTmrCtr_HasEventOccurred(BaseAddress, TmrCtrNumber)                                        \
    ((XTmrCtr_GetControlStatusReg(BaseAddress, TmrCtrNumber) & XTC_CSR_INT_OCCURED_MASK) == XTC_CSR_INT_OCCURED_MASK)

#endif
