"""Average pooling, as linalg has it: sums over a window. The division by its size is an op of its own
behind it."""

from __future__ import annotations

from axiloom.isa.kernels.language.kernel import Kernel
from axiloom.isa.kernels.named.pooling import IMAGE, RESULT, WINDOWED

KERNELS = (
    Kernel("linalg.pooling_nchw_sum", WINDOWED, {"I": IMAGE, "O": RESULT}, "O + I", ("average pooling",)),
)
