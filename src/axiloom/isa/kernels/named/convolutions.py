"""Convolutions: of all channels, in groups, and each channel by itself."""

from __future__ import annotations

from axiloom.isa.kernels.language.kernel import PARALLEL, REDUCTION, WINDOW, Kernel

_PIXELS = {"oh": PARALLEL, "ow": PARALLEL}
_TAPS = {"fh": WINDOW, "fw": WINDOW}
_WALK = {"ih": "oh * sh + fh * dh", "iw": "ow * sw + fw * dw"}


def _same(*dims: str) -> dict[str, str]:
    return {dim: dim for dim in dims}


KERNELS = (
    Kernel(
        "linalg.conv_2d_nchw_fchw",
        {"oc": PARALLEL, **_PIXELS, "ic": REDUCTION, **_TAPS},
        {
            "I": {"ic": "ic", **_WALK},
            "F": _same("oc", "ic", "fh", "fw"),
            "O": _same("oc", "oh", "ow"),
        },
        "O + I * F",
        ("convolution",),
    ),
    Kernel(
        "linalg.depthwise_conv_2d_nchw_chw",
        {"c": PARALLEL, **_PIXELS, **_TAPS},
        {"I": {"c": "c", **_WALK}, "F": _same("c", "fh", "fw"), "O": _same("c", "oh", "ow")},
        "O + I * F",
        ("depthwise convolution",),
    ),
    Kernel(
        "linalg.conv_2d_ngchw_gfchw",
        {"g": PARALLEL, "oc": PARALLEL, **_PIXELS, "ic": REDUCTION, **_TAPS},
        {
            "I": {"g": "g", "ic": "ic", **_WALK},
            "F": _same("g", "oc", "ic", "fh", "fw"),
            "O": _same("g", "oc", "oh", "ow"),
        },
        "O + I * F",
        ("grouped convolution",),
    ),
)
