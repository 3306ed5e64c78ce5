"""`Amount`: how much of an FPGA."""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass(frozen=True)
class Amount:
    """DSP48 slices, LUTs, flip-flops, and block RAMs in units of 36 Kbit. A part's limits are one as well."""

    dsp: int = 0
    lut: int = 0
    ff: int = 0
    bram36: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(
            self.dsp + other.dsp, self.lut + other.lut, self.ff + other.ff, self.bram36 + other.bram36
        )

    def __mul__(self, times: int) -> Amount:
        return Amount(self.dsp * times, self.lut * times, self.ff * times, self.bram36 * times)

    def fits(self, limits: Amount) -> bool:
        return all(used <= there for used, there in zip(astuple(self), astuple(limits), strict=True))
