/* Messages of a program that is compiled with -DDEBUG. */
#ifndef XDEBUG_H
#define XDEBUG_H

#include "xil_printf.h"

#define XDBG_DEBUG_ERROR 0x00000001U
#define XDBG_DEBUG_GENERAL 0x00000002U
#define XDBG_DEBUG_ALL 0xFFFFFFFFU

#if defined(DEBUG) && !defined(NDEBUG)
#ifndef xdbg_current_types
#define xdbg_current_types XDBG_DEBUG_ALL
#endif
#define xdbg_stmnt(x) x
#define xdbg_printf(type, ...) ((type) & xdbg_current_types ? xil_printf(__VA_ARGS__) : (void)0)
#else
#define xdbg_stmnt(x)
#define xdbg_printf(...) ((void)0)
#endif

#endif
