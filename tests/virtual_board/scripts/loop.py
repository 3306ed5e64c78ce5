"""A DMA and a FIFO: what is sent comes back."""

import numpy as np
from pynq import Overlay, allocate

overlay = Overlay("fifo.bit")
dma = overlay.axi_dma_0
for size in (1, 5, 1000, 3000):
    data = allocate(shape=(size,), dtype=np.uint32)
    back = allocate(shape=(size,), dtype=np.uint32)
    for i in range(min(size, 100)):
        data[i] = i + 0xCAFE0000
    dma.sendchannel.transfer(data)
    dma.recvchannel.transfer(back)
    dma.sendchannel.wait()
    dma.recvchannel.wait()
    assert np.array_equal(data, back), size
    assert dma.recvchannel.transferred == data.nbytes
    del data, back
print("right")
