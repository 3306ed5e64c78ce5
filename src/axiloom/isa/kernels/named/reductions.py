"""Sums and extremes over the last dim."""

from __future__ import annotations

from axiloom.isa.kernels.language.kernel import PARALLEL, REDUCTION, Kernel


def _rows(name: str, body: str) -> Kernel:
    return Kernel(name, {"m": PARALLEL, "k": REDUCTION}, {"A": {"m": "m", "k": "k"}, "C": {"m": "m"}}, body)


KERNELS = (
    _rows("reduce_sum", "C + A"),
    _rows("reduce_max", "max(C, A)"),
    _rows("reduce_min", "min(C, A)"),
)
