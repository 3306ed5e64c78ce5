/* The older names of xil_types.h. */
#ifndef XBASIC_TYPES_H
#define XBASIC_TYPES_H

#include "xil_types.h"

typedef u8 Xuint8;
typedef u16 Xuint16;
typedef u32 Xuint32;
typedef s8 Xint8;
typedef s16 Xint16;
typedef s32 Xint32;
typedef float Xfloat32;
typedef double Xfloat64;
typedef unsigned int Xboolean;
#define XTRUE 1
#define XFALSE 0

#endif
