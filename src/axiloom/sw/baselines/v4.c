/* v4_16 by hand: v3 with tiles of any size, TM x TN x TK (m, n, k), that each opcode is followed by. */
#if !defined(TM) || !defined(TN) || !defined(TK)
#error "give the tile: -DTM=.. -DTN=.. -DTK=.."
#endif

#include "matmul.h"

#if TM <= 0 || TN <= 0 || TK <= 0 || TM % S || TN % S || TK % S
#error "TM, TN and TK must be positive multiples of S"
#elif M % TM || N % TN || K % TK
#error "M, N and K must be multiples of TM, TN and TK: this driver does not pad"
#elif TM * TK > 4096 || TK * TN > 4096 || TM * TN > 4096
#error "a buffer of v4 holds 4096 words: TM * TK, TK * TN and TM * TN must not be more"
#elif TM >= 1024 || TN >= 1024 || TK >= 1024
#error "TM, TN and TK have 10 bits each in the word that follows an opcode"
#endif

enum { DIMS = TM | TN << 10 | TK << 20 };

static int32_t *put_opcode(int32_t *to, int32_t opcode) { return put(put(to, opcode), DIMS); }
static int32_t *put_answer(int32_t *to) { return put_opcode(put_opcode(to, COMPUTE), STORE_C); }

#include "flows.h"
