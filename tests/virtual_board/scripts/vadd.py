"""A block of Vitis HLS that reads and writes memory itself: pointers and a size in registers."""

import numpy as np
from pynq import Overlay, allocate

overlay = Overlay("vadd.bit")
ip = overlay.vadd_0
a, b, c = (allocate(shape=(300,), dtype=np.int32) for _ in range(3))
a[:], b[:], c[:] = np.arange(300), 5 * np.arange(300), 0
for buffer in (a, b, c):
    buffer.flush()
for register, buffer in ((0x10, a), (0x1C, b), (0x28, c)):
    ip.write(register, buffer.device_address & 0xFFFFFFFF)
    ip.write(register + 4, buffer.device_address >> 32)
ip.write(0x34, 300)
ip.write(0x00, 1)
while not ip.read(0x00) & 0x4:
    pass
c.invalidate()
assert np.array_equal(c, a + b), c
print("right")
