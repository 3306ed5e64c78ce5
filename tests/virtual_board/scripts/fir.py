"""A FIR filter with its coefficients in registers."""

import numpy as np
from pynq import Overlay, allocate

overlay = Overlay("fir16.bit")
taps = np.array([1, -2, 3, 4, 5, 4, 3, -2, 1], np.int64)
for i, tap in enumerate(taps):
    overlay.fir16_0.write(4 * i, int(tap))
samples = np.round(1000 * np.sin(2 * np.pi * np.arange(72) / 9)).astype(np.int16)
sent = allocate(72, np.int16)
got = allocate(64, np.int32)
sent[:] = samples
overlay.axi_dma_0.recvchannel.transfer(got)
overlay.axi_dma_0.sendchannel.transfer(sent)
overlay.axi_dma_0.sendchannel.wait()
overlay.axi_dma_0.recvchannel.wait()
right = np.array([np.dot(samples[i : i + 9].astype(np.int64), taps) for i in range(64)])
assert np.array_equal(got, right), (got, right)
print("right")
