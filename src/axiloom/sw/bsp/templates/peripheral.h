/* Written by Axiloom: the registers of @name@, as Vivado's template of a peripheral calls them. */
#ifndef @upper@_S00_AXI_H
#define @upper@_S00_AXI_H

#include "xil_io.h"
#include "xil_types.h"
#include "xparameters.h"
#include "xstatus.h"

#define @upper@_mWriteReg(BaseAddress, RegOffset, Data) Xil_Out32((BaseAddress) + (RegOffset), (u32)(Data))
#define @upper@_mReadReg(BaseAddress, RegOffset) Xil_In32((BaseAddress) + (RegOffset))
