"""What POM reports, and what is counted here: for each kernel at its own size."""

from __future__ import annotations

from dataclasses import dataclass
from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Published:
    """`cycles`: of csynth's estimate, as the speed-ups of its tables imply. `dsp` and `lut` as it reports them.
    `work`: multiply-adds (or points of a stencil) by the size."""

    cycles: float
    dsp: int
    lut: int
    lanes: int
    unit: str
    work: Callable[[Mapping[str, int]], int]


def _points(passes: int, colours: int = 1) -> Callable[[Mapping[str, int]], int]:
    return lambda s: passes * colours * (s["n"] - 2) ** 2


PUBLISHED: Mapping[str, Published] = {
    "gemm": Published(2.148e9, 166, 30_966, 32, "MAC", lambda s: s["n"] ** 3),
    "bicg": Published(1_048_588, 160, 43_823, 32, "MAC", lambda s: 2 * s["n"] ** 2),
    "gesummv": Published(1.0526e6, 160, 27_595, 32, "MAC", lambda s: 2 * s["n"] ** 2),
    "two_mm": Published(4.311e9, 166, 38_577, 32, "MAC", lambda s: 2 * s["n"] ** 3),
    "three_mm": Published(8.606e9, 160, 32_995, 16, "MAC", lambda s: 3 * s["n"] ** 3),
    "blur": Published(8.38e6, 48, 14_549, 12, "point", _points(2, 3)),
    "edge_detect": Published(8.38e6, 183, 47_872, 12, "point", _points(2, 3)),
    "gaussian": Published(2.787e7, 177, 52_751, 27, "MAC",
                          lambda s: 6 * s["taps"] * (s["n"] - s["taps"]) ** 2),
    "jacobi_1d": Published(1.691e7, 14, 3_746, 2, "point", lambda s: 2 * s["steps"] * (s["n"] - 2)),
    "jacobi_2d": Published(3.433e10, 44, 13_178, 4, "point", lambda s: 2 * s["steps"] * (s["n"] - 2) ** 2),
    "heat": Published(1.684e7, 20, 3_832, 2, "point", lambda s: 2 * s["steps"] * (s["n"] - 2)),
    "seidel": Published(7.53e10, 73, 20_892, 1, "point", lambda s: s["steps"] * (s["n"] - 2) ** 2),
    "vgg16": Published(4.295e7, 40, 52_837, 8, "MAC", lambda s: 313_196_544),
    "resnet18": Published(1.423e8, 30, 52_484, 4, "MAC", lambda s: 555_417_600),
}  # fmt: skip
"""POM's BICG starts 32 multiply-adds every second cycle, GESUMMV 16 points of two. Its Seidel computes something
else (its schedule is illegal)."""
OWN_SIZE: Mapping[str, Mapping[str, int]] = {
    **{
        name: {"n": 4096} for name in ("gemm", "bicg", "gesummv", "two_mm", "three_mm", "blur", "edge_detect")
    },
    "gaussian": {"n": 4096, "taps": 7},
    **{name: {"n": 4096, "steps": 4096} for name in ("jacobi_1d", "jacobi_2d", "heat", "seidel")},
    "vgg16": {"channels": 64, "size": 32},
    "resnet18": {"channels": 64, "size": 32},
}
