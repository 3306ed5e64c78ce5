"""A block of Vitis HLS: sizes and ap_start in registers, matrices on streams."""

import numpy as np
from pynq import Overlay, allocate

overlay = Overlay("matmul_start.bit")
ip, dma = overlay.matmul_start_0, overlay.axi_dma_0
rng = np.random.default_rng(0)
for rows, cols, depth in ((8, 8, 8), (3, 5, 7)):
    a, b = rng.integers(-9, 9, (rows, depth)), rng.integers(-9, 9, (depth, cols))
    ip.write(0x10, rows)
    ip.write(0x18, cols)
    ip.write(0x20, depth)
    ip.register_map.CTRL.AP_START = 1
    sent = allocate(shape=(depth * (rows + cols),), dtype=np.int32)
    got = allocate(shape=(rows, cols), dtype=np.int32)
    sent[:] = np.concatenate([a.ravel(), b.ravel()])
    dma.sendchannel.transfer(sent)
    dma.recvchannel.transfer(got)
    dma.sendchannel.wait()
    dma.recvchannel.wait()
    while not ip.register_map.CTRL.AP_DONE:
        pass
    assert np.array_equal(got, a @ b), (got, a @ b)
print("right")
