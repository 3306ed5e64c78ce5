"""Two accelerators with a DMA each, at work at the same time."""

import numpy as np
from pynq import Overlay, allocate

overlay = Overlay("v1_4_v1_8.bit")
rng = np.random.default_rng(2)
work = []
for dma, size in ((overlay.axi_dma_0, 4), (overlay.axi_dma_1, 8)):
    a, b = rng.integers(-9, 9, (2, size, size), dtype=np.int32)
    sent, got = allocate((2, size, size), np.int32), allocate((size, size), np.int32)
    sent[0], sent[1] = a, b
    dma.recvchannel.transfer(got)
    dma.sendchannel.transfer(sent)
    work.append((dma, sent, got, a @ b))
for dma, _, got, right in work:
    dma.sendchannel.wait()
    dma.recvchannel.wait()
    assert np.array_equal(got, right)
print("right")
