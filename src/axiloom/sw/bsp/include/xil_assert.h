/* Assertions: a false one calls Xil_Assert, which does not come back. */
#ifndef XIL_ASSERT_H
#define XIL_ASSERT_H

#include "xil_types.h"

#define XIL_ASSERT_NONE 0U
#define XIL_ASSERT_OCCURRED 1U
#define XNULL NULL

typedef void (*Xil_AssertCallback)(const char8 *File, s32 Line);

extern u32 Xil_AssertStatus;
extern s32 Xil_AssertWait;
void Xil_Assert(const char8 *File, s32 Line);
void Xil_AssertSetCallback(Xil_AssertCallback Routine);
void XNullHandler(void *NullParameter);

#ifdef NDEBUG
#define Xil_AssertVoid(Expression)
#define Xil_AssertVoidAlways()
#define Xil_AssertNonvoid(Expression)
#define Xil_AssertNonvoidAlways()
#else
#define XIL_ASSERT_RETURNS(Expression, Result)                                                     \
    do {                                                                                           \
        if (Expression) {                                                                          \
            Xil_AssertStatus = XIL_ASSERT_NONE;                                                    \
        } else {                                                                                   \
            Xil_Assert(__FILE__, __LINE__);                                                        \
            Xil_AssertStatus = XIL_ASSERT_OCCURRED;                                                \
            return Result;                                                                         \
        }                                                                                          \
    } while (0)
#define Xil_AssertVoid(Expression) XIL_ASSERT_RETURNS(Expression, )
#define Xil_AssertVoidAlways() XIL_ASSERT_RETURNS(0, )
#define Xil_AssertNonvoid(Expression) XIL_ASSERT_RETURNS(Expression, 0)
#define Xil_AssertNonvoidAlways() XIL_ASSERT_RETURNS(0, 0)
#endif

#endif
