"""An MPSoC: clocks of its own registers, blocks at its own addresses, a FIR filter."""

import numpy as np
from pynq import Clocks, Overlay, allocate

overlay = Overlay("fir16.bit")
assert overlay.ip_dict["axi_dma_0"]["phys_addr"] == 0xA0000000
assert abs(Clocks.fclk0_mhz - 100) < 0.1, Clocks.fclk0_mhz
Clocks.fclk0_mhz = 50
assert abs(Clocks.fclk0_mhz - 50) < 0.1, Clocks.fclk0_mhz
overlay.leds_gpio.channel1.write(5, 0xF)
assert overlay.leds_gpio.channel1.read() == 5
taps = [1, -2, 3, 4, 5, 4, 3, -2, 1]
for i, tap in enumerate(taps):
    overlay.fir16_0.write(4 * i, tap)
sent, got = allocate(72, np.int16), allocate(64, np.int32)
sent[:] = np.arange(72) * 7 % 101 - 50
overlay.axi_dma_0.recvchannel.transfer(got)
overlay.axi_dma_0.sendchannel.transfer(sent)
overlay.axi_dma_0.sendchannel.wait()
overlay.axi_dma_0.recvchannel.wait()
assert np.array_equal(got, [np.dot(sent[i : i + 9].astype(int), taps) for i in range(64)]), got
print("right")
