"""A DMA by its registers alone, as people do it who take no driver."""

import numpy as np
from pynq import MMIO, Overlay, allocate

overlay = Overlay("xsa/fifo.xsa")
dma = MMIO(overlay.ip_dict["axi_dma_0"]["phys_addr"], 0x10000)
data, back = allocate(64, np.uint32), allocate(64, np.uint32)
data[:] = np.arange(64)
data.flush()
dma.write(0x00, 4)
while dma.read(0x00) & 4:
    pass
for control in (0x00, 0x30):
    dma.write(control, 1)
dma.write(0x48, back.physical_address)
dma.write(0x58, back.nbytes)
dma.write(0x18, data.physical_address)
dma.write(0x28, data.nbytes)
while not dma.read(0x34) & 2:
    pass
back.invalidate()
assert np.array_equal(data, back)
print("right")
