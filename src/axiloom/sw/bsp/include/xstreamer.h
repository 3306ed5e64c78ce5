/* Bytes to and from a FIFO of words: a word that is not whole waits here. */
#ifndef XSTREAMER_H
#define XSTREAMER_H

#include "xil_types.h"

typedef struct XStrm_Streamer {
    u8 Bytes[4];
    unsigned Index;      /* of the next byte: 0 to 4 */
    unsigned FrmByteCnt; /* of the packet that is read */
} XStrm_RxFifoStreamer, XStrm_TxFifoStreamer;

#endif
