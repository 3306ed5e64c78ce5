"""Pooling: an extreme over a window that slides over each channel by itself."""

from __future__ import annotations

from axiloom.isa.kernels.language.kernel import PARALLEL, WINDOW, Kernel

WINDOWED = {"c": PARALLEL, "oh": PARALLEL, "ow": PARALLEL, "fh": WINDOW, "fw": WINDOW}
IMAGE = {"c": "c", "ih": "oh * sh + fh * dh", "iw": "ow * sw + fw * dw"}
RESULT = {"c": "c", "oh": "oh", "ow": "ow"}

KERNELS = (
    Kernel("linalg.pooling_nchw_max", WINDOWED, {"I": IMAGE, "O": RESULT}, "max(O, I)", ("max pooling",)),
    Kernel("pooling_nchw_min", WINDOWED, {"I": IMAGE, "O": RESULT}, "min(O, I)", ("min pooling",)),
)
