/* Types of the vendor's API. */
#ifndef XIL_TYPES_H
#define XIL_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifndef TRUE
#define TRUE 1U
#endif
#ifndef FALSE
#define FALSE 0U
#endif

#define XIL_COMPONENT_IS_READY 0x11111111U
#define XIL_COMPONENT_IS_STARTED 0x22222222U

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef uintptr_t UINTPTR;
typedef intptr_t INTPTR;
typedef ptrdiff_t PTRDIFF;
typedef long LONG;
typedef unsigned long ULONG;
typedef char char8;

#define UPPER_32_BITS(n) ((u32)((u64)(n) >> 32))
#define LOWER_32_BITS(n) ((u32)(n))
#define ULONG64_HI_MASK 0xFFFFFFFF00000000U
#define ULONG64_LO_MASK (~ULONG64_HI_MASK)
#ifndef INLINE
#define INLINE __inline
#endif
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

typedef void (*XInterruptHandler)(void *InstancePtr);
typedef void (*XExceptionHandler)(void *InstancePtr);

#endif
