/* Single instructions of a Cortex-A9. */
#ifndef XPSEUDO_ASM_H
#define XPSEUDO_ASM_H

#include "xil_types.h"
#include "xreg_cortexa9.h"

#define mfcpsr()                                                                                   \
    ({                                                                                             \
        u32 value_;                                                                                \
        __asm__ volatile("mrs %0, cpsr" : "=r"(value_)::"memory");                                 \
        value_;                                                                                    \
    })
#define mtcpsr(value) __asm__ volatile("msr cpsr, %0" ::"r"(value) : "memory", "cc")
#define cpsiei() __asm__ volatile("cpsie i" ::: "memory")
#define cpsidi() __asm__ volatile("cpsid i" ::: "memory")
#define cpsief() __asm__ volatile("cpsie f" ::: "memory")
#define cpsidf() __asm__ volatile("cpsid f" ::: "memory")
#define isb() __asm__ volatile("isb" ::: "memory")
#define dsb() __asm__ volatile("dsb" ::: "memory")
#define dmb() __asm__ volatile("dmb" ::: "memory")

/* `register` is one of xreg_cortexa9.h. */
#define mtcp(register, value) __asm__ volatile("mcr " register ::"r"(value) : "memory")
#define mfcp(register)                                                                             \
    ({                                                                                             \
        u32 value_;                                                                                \
        __asm__ volatile("mrc " register : "=r"(value_)::"memory");                                \
        value_;                                                                                    \
    })

#endif
