"""What kernels are measured against: multiply-adds of each, and cycles that were published, at Medium."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Size = Mapping[str, int]

MULTIPLY_ADDS: Mapping[str, Callable[[Size], int]] = {
    "gemm": lambda s: s["NI"] * s["NJ"] * s["NK"],
    "2mm": lambda s: s["NI"] * s["NJ"] * s["NK"] + s["NI"] * s["NL"] * s["NJ"],
    "3mm": lambda s: s["NI"] * s["NJ"] * s["NK"] + s["NJ"] * s["NL"] * s["NM"] + s["NI"] * s["NL"] * s["NJ"],
    "atax": lambda s: 2 * s["M"] * s["N"],
    "bicg": lambda s: 2 * s["M"] * s["N"],
    "gesummv": lambda s: 2 * s["N"] ** 2,
    "mvt": lambda s: 2 * s["N"] ** 2,
    "symm": lambda s: s["M"] ** 2 * s["N"],
    "syr2k": lambda s: s["M"] * s["N"] * (s["N"] + 1),
    "syrk": lambda s: s["M"] * s["N"] * (s["N"] + 1) // 2,
    "trmm": lambda s: s["M"] * (s["M"] - 1) // 2 * s["N"],
    "correlation": lambda s: s["M"] * (s["M"] - 1) // 2 * s["N"],
}
"""In the loops of highest degree; of symm's middle term one a point."""

STREAM_HLS = {
    "gemm": 330_053,
    "2mm": 378_254,
    "3mm": 601_511,
    "atax": 15_855,
    "bicg": 8_033,
    "gesummv": 3_177,
    "mvt": 8_041,
}
"""Cycles in RTL simulation with a budget of 220 DSP (Stream-HLS's artefact, compare.csv)."""

POM = {"gemm": 1_331_076, "3mm": 2_034_985, "mvt": 40_036}
"""Cycles of POM's designs that compute the right thing, from the same file."""

ALLO = {"symm": 426_805, "syr2k": 296_183, "syrk": 293_543, "trmm": 492_613, "correlation": 498_690}
"""Cycles that Vitis HLS estimates of Allo's designs (csynth)."""
