/* <assert.h> of bare-metal programs: a false assertion ends the program with exit code 134, as abort() does elsewhere;
 * a debugger finds it in axl_assertion. No include guard: NDEBUG may change between two inclusions. */
#include <stdint.h>

#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : axl_assert_failed(__FILE__ ": " #condition))
#endif

#ifndef AXL_ASSERT_H
#define AXL_ASSERT_H
#ifdef __cplusplus
extern "C" {
#endif
extern volatile uint32_t axiloom_exit_code;
void axiloom_exit(void) __attribute__((noreturn));
#ifdef __cplusplus
}
#endif

static volatile const char *axl_assertion __attribute__((unused));

__attribute__((noreturn, unused)) static void axl_assert_failed(const char *text)
{
    axl_assertion = text;
    axiloom_exit_code = 134;
    axiloom_exit();
}
#ifndef __cplusplus
#undef static_assert
#define static_assert _Static_assert
#endif
#endif
