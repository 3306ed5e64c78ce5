/* Registers of a UART: UG585, B.33. */
#ifndef XUARTPS_HW_H
#define XUARTPS_HW_H

#include "xil_io.h"
#include "xparameters.h"

#define XUARTPS_CR_OFFSET 0x00U
#define XUARTPS_MR_OFFSET 0x04U
#define XUARTPS_IER_OFFSET 0x08U
#define XUARTPS_IDR_OFFSET 0x0CU
#define XUARTPS_IMR_OFFSET 0x10U
#define XUARTPS_ISR_OFFSET 0x14U
#define XUARTPS_BAUDGEN_OFFSET 0x18U
#define XUARTPS_RXTOUT_OFFSET 0x1CU
#define XUARTPS_RXWM_OFFSET 0x20U
#define XUARTPS_MODEMCR_OFFSET 0x24U
#define XUARTPS_MODEMSR_OFFSET 0x28U
#define XUARTPS_SR_OFFSET 0x2CU
#define XUARTPS_FIFO_OFFSET 0x30U
#define XUARTPS_BAUDDIV_OFFSET 0x34U
#define XUARTPS_TXWM_OFFSET 0x44U

#define XUARTPS_CR_TORST 0x40U
#define XUARTPS_CR_TX_DIS 0x20U
#define XUARTPS_CR_TX_EN 0x10U
#define XUARTPS_CR_RX_DIS 0x08U
#define XUARTPS_CR_RX_EN 0x04U
#define XUARTPS_CR_TXRST 0x02U
#define XUARTPS_CR_RXRST 0x01U

#define XUARTPS_MR_CHMODE_MASK 0x300U
#define XUARTPS_MR_CHMODE_NORM 0x000U
#define XUARTPS_MR_CHMODE_ECHO 0x100U
#define XUARTPS_MR_CHMODE_L_LOOP 0x200U
#define XUARTPS_MR_CHMODE_R_LOOP 0x300U

#define XUARTPS_IXR_RXOVR 0x0001U
#define XUARTPS_IXR_RXEMPTY 0x0002U
#define XUARTPS_IXR_RXFULL 0x0004U
#define XUARTPS_IXR_TXEMPTY 0x0008U
#define XUARTPS_IXR_TXFULL 0x0010U
#define XUARTPS_IXR_OVER 0x0020U
#define XUARTPS_IXR_FRAMING 0x0040U
#define XUARTPS_IXR_PARITY 0x0080U
#define XUARTPS_IXR_TOUT 0x0100U
#define XUARTPS_IXR_MASK 0x3FFFU

#define XUARTPS_SR_RXEMPTY 0x02U
#define XUARTPS_SR_RXFULL 0x04U
#define XUARTPS_SR_TXEMPTY 0x08U
#define XUARTPS_SR_TXFULL 0x10U
#define XUARTPS_SR_TACTIVE 0x800U

#define XUartPs_ReadReg(BaseAddress, RegOffset) Xil_In32((BaseAddress) + (u32)(RegOffset))
#define XUartPs_WriteReg(BaseAddress, RegOffset, RegisterValue)                                    \
    Xil_Out32((BaseAddress) + (u32)(RegOffset), (u32)(RegisterValue))
#define XUartPs_IsReceiveData(BaseAddress) (!(Xil_In32((BaseAddress) + XUARTPS_SR_OFFSET) & XUARTPS_SR_RXEMPTY))
#define XUartPs_IsTransmitFull(BaseAddress) ((Xil_In32((BaseAddress) + XUARTPS_SR_OFFSET) & XUARTPS_SR_TXFULL) != 0U)
#define XUartPs_IsTransmitEmpty(InstancePtr)                                                       \
    ((Xil_In32((InstancePtr)->Config.BaseAddress + XUARTPS_SR_OFFSET) & XUARTPS_SR_TXEMPTY) != 0U)

#ifdef __cplusplus
extern "C" {
#endif
void XUartPs_SendByte(UINTPTR BaseAddress, u8 Data);
u8 XUartPs_RecvByte(UINTPTR BaseAddress);
void XUartPs_ResetHw(UINTPTR BaseAddress);
#ifdef __cplusplus
}
#endif

#endif
