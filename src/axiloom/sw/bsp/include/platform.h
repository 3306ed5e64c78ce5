/* What programs of Vitis' "Hello World" template call; here all is set up before main. */
#ifndef PLATFORM_H
#define PLATFORM_H

static inline void init_platform(void) {}
static inline void cleanup_platform(void) {}

#endif
