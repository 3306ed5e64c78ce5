/* What the convolutions by hand share: O (OC, OH, OW) = F (OC, IC, FH, FW) * I (IC, IH, IW), int32 sums that wrap.
 *
 * Sizes come from the compile line: -DIC=64 -DIH=58 -DIW=58 -DOC=64 -DFH=3 -DFW=3 -DSH=1 -DSW=1 (strides), and BITS, the
 * width of the elements of I and F: 32 (default) or 8. There is no padding: it is in the image already. */
#ifndef BASELINE_CONV_H
#define BASELINE_CONV_H

#include <stdint.h>

#ifndef BITS
#define BITS 32
#endif

#if !defined(IC) || !defined(IH) || !defined(IW) || !defined(OC) || !defined(FH) || !defined(FW)
#error "give the sizes: -DIC=.. -DIH=.. -DIW=.. -DOC=.. -DFH=.. -DFW=.. [-DSH=.. -DSW=..]"
#endif
#ifndef SH
#define SH 1
#define SW 1
#endif
#if FH > IH || FW > IW
#error "the filter is larger than the image"
#endif

enum { OH = (IH - FH) / SH + 1, OW = (IW - FW) / SW + 1 };

#if BITS == 32
typedef int32_t element;
#elif BITS == 8
typedef int8_t element;
#else
#error "BITS, the width of the elements of I and F, must be 8 or 32"
#endif

#ifdef LAYER
/* A layer of a network: a function of this name, on arrays that others have. */
static const element (*I)[IH][IW];
static const element (*F)[IC][FH][FW];
static int32_t (*O)[OH][OW];
#else
/* Read and written by name, by the simulator or by whoever links against the program. */
element I[IC][IH][IW] __attribute__((aligned(64)));
element F[OC][IC][FH][FW] __attribute__((aligned(64)));
int32_t O[OC][OH][OW] __attribute__((aligned(64)));
#endif

#endif
