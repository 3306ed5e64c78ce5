"""A driver of one's own for a block, bound by its type, and one for a hierarchy."""

import numpy as np
from pynq import DefaultHierarchy, DefaultIP, Overlay, allocate


class Taps(DefaultIP):
    bindto = ["axiloom:user:fir16:1.0"]  # noqa: RUF012 (as PYNQ has it)

    def load(self, values):
        for i, value in enumerate(values):
            self.write(4 * i, int(value))


class Filter(DefaultHierarchy):
    @staticmethod
    def checkhierarchy(description):
        return {"dma", "taps"} <= set(description["ip"])

    def run(self, samples):
        sent, got = allocate(72, np.int16), allocate(64, np.int32)
        sent[:] = samples
        self.dma.recvchannel.transfer(got)
        self.dma.sendchannel.transfer(sent)
        self.dma.sendchannel.wait()
        self.dma.recvchannel.wait()
        return np.array(got)


overlay = Overlay("fir16.bit")
assert type(overlay.filter).__name__ == "Filter"
overlay.filter.taps.load([0] * 8 + [1])
samples = np.arange(72)
assert np.array_equal(overlay.filter.run(samples), samples[8:])
overlay.filter.taps.load([1] + [0] * 8)
assert np.array_equal(overlay.filter.run(samples), samples[:64])
print("right")
