#include "axiloom.h"

const char *dma_status_text(dma_status status) {
    switch (status) {
    case DMA_OK: return "ok";
    case DMA_ERR_NOT_READY: return "dma_init was not called, or the DMA does not leave reset";
    case DMA_ERR_ARGUMENT: return "bad argument: null or unaligned pointer, or a tile smaller than its content";
    case DMA_ERR_BOUNDS: return "offset and length leave the DMA window";
    case DMA_ERR_LENGTH: return "transfer of zero words, or longer than the LENGTH register holds";
    case DMA_ERR_BUSY: return "the channel's last transfer has not been waited for";
    case DMA_ERR_HALTED: return "the DMA halted with an error bit";
    case DMA_ERR_SHORT: return "TLAST came before all the words asked for";
    case DMA_ERR_TIMEOUT: return "timed out";
    case DMA_ERR_LONG: return "more words came than were asked for";
    case DMA_ERR_ALIGNMENT: return "a matrix that the DMA reads must begin on a beat of the stream, one it writes on a cache line";
    }
    return "unknown status";
}
