"""One DMA sends, another receives, as in PYNQ's own tutorial: the design is somebody's Vivado's."""

import numpy as np
from pynq import Overlay, allocate

overlay = Overlay("streams.bit", download=False)
overlay.download()
send, receive = overlay.axi_dma_from_ps_to_pl, overlay.axi_dma_from_pl_to_ps
data, back = allocate(shape=(400,), dtype=np.uint32), allocate(shape=(400,), dtype=np.uint32)
data[:] = np.arange(400) * 3
send.sendchannel.transfer(data)
receive.recvchannel.transfer(back)
send.sendchannel.wait()
receive.recvchannel.wait()
assert np.array_equal(data, back)
print("right")
