"""How a generated function leaves with the status of a call that failed."""

from __future__ import annotations

TRY = """\
/* Leave the function with the status of a call that failed. */
#define TRY(call)                             \\
    do {                                      \\
        const dma_status try_status = (call); \\
        if (try_status != DMA_OK)             \\
            return try_status;                \\
    } while (0)
"""
