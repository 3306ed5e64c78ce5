/* Registers of AXI GPIO: AMD PG144, "Register Space". */
#ifndef XGPIO_L_H
#define XGPIO_L_H

#include "xil_assert.h"
#include "xil_io.h"
#include "xil_types.h"

#define XGPIO_DATA_OFFSET 0x0U
#define XGPIO_TRI_OFFSET 0x4U
#define XGPIO_DATA2_OFFSET 0x8U
#define XGPIO_TRI2_OFFSET 0xCU
#define XGPIO_CHAN_OFFSET 8U
#define XGPIO_GIE_OFFSET 0x11CU
#define XGPIO_ISR_OFFSET 0x120U
#define XGPIO_IER_OFFSET 0x128U
#define XGPIO_IR_MASK 0x3U
#define XGPIO_IR_CH1_MASK 0x1U
#define XGPIO_IR_CH2_MASK 0x2U
#define XGPIO_GIE_GINTR_ENABLE_MASK 0x80000000U

#define XGpio_In32 Xil_In32
#define XGpio_Out32 Xil_Out32
#define XGpio_ReadReg(BaseAddress, RegOffset) Xil_In32((BaseAddress) + (RegOffset))
#define XGpio_WriteReg(BaseAddress, RegOffset, Data) Xil_Out32((BaseAddress) + (RegOffset), (u32)(Data))

#endif
