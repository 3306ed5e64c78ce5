"""The kernels that accelerators execute, and the forms in which devices execute them.

What a kernel's loops, operands and settings are is said here once; specifications, checks, models, hardware
and driver generator read it. A device's form follows from the operands that its specification gives:

- ``MATMUL``: C[m,n] += A[m,k] B[k,n]
- ``IMAGE``: a convolution whose device takes an image tile and walks over it itself
- ``WINDOW``: a convolution whose host cuts out each window; the device makes the dot product
- ``COPY``: C[n] += A[n], words that come back as they went: for bringing a board up
- any other kernel has the form that :func:`plain_form` makes of it
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import numpy.typing as npt

from axiloom.isa.kernels.language.kernel import Kernel
from axiloom.isa.kernels.named import KERNELS as NAMED

Array = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Setting:
    """A value besides the tile's sizes that an instruction can set, and that stays until it is set again."""

    name: str
    reset: int = 0
    lowest: int = 0
    """The device refuses less."""
    signed: bool = False
    """8 bits, two's complement; the device takes the lowest 8 bits of its field."""


@dataclass(frozen=True)
class Form:
    """A way to execute a kernel: what travels, and what a tile is.

    An operand's elements travel row major. Where `dense`, they follow each other without gaps, except that
    each index of the first `rows` dims begins on a beat; zeros fill up the beat before it, and the last one.
    Else the operand's last dim is whole words, and its tile whole beats.
    """

    name: str
    kernel: str
    """The MLIR operation, ``linalg.matmul``."""
    dims: tuple[str, ...]
    """Sizes of a tile."""
    loops: tuple[str, ...]
    """Dims over whose tiles the host runs; a tile has the problem's whole size in the others."""
    reductions: tuple[str, ...]
    """Dims that are summed over."""
    operands: Mapping[str, tuple[str, ...]]
    """Operand to the dims and settings that are its shape; the last one is the result."""
    channel: str
    """The dim of the result that has its own bias and scale in post-processing."""
    settings: tuple[Setting, ...] = ()
    rows: Mapping[str, int] = field(default_factory=dict)
    dense: bool = True
    """Elements are packed over all dims; else along the last one, and a specification may list the dims of an
    operand in any order."""
    unit: tuple[str, ...] = ()
    """Dims that are 1 in every tile."""
    highest: Mapping[str, int] = field(default_factory=dict)
    """The largest sizes and settings that a device holds; elsewhere its buffers are the limit."""
    array: tuple[str, str] | None = None
    """Dims that lie across the rows and the columns of the device's array. Its buffers of F and O hold whole
    blocks, so they have room for these dims rounded up (:attr:`axiloom.isa.AcceleratorSpec.array`)."""
    laid: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Operand to the settings by which a load lays it out: compute needs the same ones."""
    saves: bool = False
    """The device keeps several results, one after the other (`save`), until they are stored together."""
    computes: Kernel | None = None
    """The kernel as data, where the form was made from it: the functional model evaluates its body."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(self.operands)[:-1]

    @property
    def output(self) -> str:
        return tuple(self.operands)[-1]

    @property
    def moved(self) -> Mapping[str, tuple[str, ...]]:
        """Operand to the loops that move its tile: ``I`` to ``oh, ow, ic``."""
        if self.computes is not None:
            return {operand: self.computes.moved(operand) for operand in self.operands}
        return _MOVED[self.name]

    @property
    def multiplies(self) -> bool:
        """It computes; else words come back as they went."""
        return self.computes is not None or bool(self.reductions)

    @property
    def of_matrices(self) -> bool:
        """A product of matrices: whatever can be written as one is for such a device."""
        return self.computes is None and self.kernel == MATMUL.kernel

    @property
    def convolves(self) -> bool:
        """A convolution with an engine of our own."""
        return self.computes is None and self.kernel == _CONV

    @property
    def walks(self) -> bool:
        """The device walks over an image tile itself, with stride, dilation and padding."""
        return self.convolves and not self.saves

    @property
    def overwrites(self) -> bool:
        """A result takes the place of what was there, and is not joined with it."""
        return self.computes is not None and self.computes.combine is None

    @property
    def adds_up(self) -> bool:
        """The host may add partial results to what it has."""
        return self.computes is None or self.computes.combine == "add"


_CONV = "linalg.conv_2d_nchw_fchw"
_CONV_DIMS = ("oc", "oh", "ow", "ic", "fh", "fw")
_IMAGE_HIGHEST = {
    **dict.fromkeys(("oc", "oh", "ow", "ic", "ih", "iw"), 2047),
    **dict.fromkeys(("fh", "fw"), 31),
    **dict.fromkeys(("sh", "sw", "dh", "dw"), 15),
    **dict.fromkeys(("pt", "pl"), 255),
}

MATMUL = Form(
    name="matmul",
    kernel="linalg.matmul",
    dims=("m", "n", "k"),
    loops=("m", "n", "k"),
    reductions=("k",),
    operands={"A": ("m", "k"), "B": ("k", "n"), "C": ("m", "n")},
    channel="n",
    dense=False,
)
IMAGE = Form(
    name="image",
    kernel=_CONV,
    dims=_CONV_DIMS,
    loops=("oc", "oh", "ow", "ic"),
    reductions=("ic", "fh", "fw"),
    operands={"I": ("ic", "ih", "iw"), "F": ("oc", "ic", "fh", "fw"), "O": ("oc", "oh", "ow")},
    channel="oc",
    settings=(
        Setting("ih", 1, 1),
        Setting("iw", 1, 1),
        Setting("sh", 1, 1),
        Setting("sw", 1, 1),
        Setting("dh", 1, 1),
        Setting("dw", 1, 1),
        Setting("pt"),
        Setting("pl"),
    ),
    rows={"F": 1},
    highest=_IMAGE_HIGHEST,
    array=("oc", "ow"),
    laid={"I": ("sw", "fw", "pl")},
)
WINDOW = Form(
    name="window",
    kernel=_CONV,
    dims=_CONV_DIMS,
    loops=("oc", "oh", "ow", "ic"),
    reductions=("ic", "fh", "fw"),
    operands={"I": ("ic", "fh", "fw"), "F": ("oc", "ic", "fh", "fw"), "O": ("oc", "oh", "ow")},
    channel="oc",
    unit=("oc", "oh", "ow"),
    highest={"ic": 65535, "fh": 255, "fw": 255},
    saves=True,
)
COPY = Form(
    name="copy",
    kernel="linalg.copy",
    dims=("n",),
    loops=("n",),
    reductions=(),
    operands={"A": ("n",), "C": ("n",)},
    channel="n",
)
_CONV_MOVED = {"I": ("oh", "ow", "ic"), "F": ("oc", "ic"), "O": ("oc", "oh", "ow")}
_MOVED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    MATMUL.name: MATMUL.operands,
    IMAGE.name: _CONV_MOVED,
    WINDOW.name: _CONV_MOVED,
    COPY.name: COPY.operands,
}

FORMS = (MATMUL, IMAGE, WINDOW, COPY)
KERNELS = tuple(dict.fromkeys([*(form.kernel for form in FORMS), *NAMED]))

CHANNELS = "P"
"""The operand of post-processing: two words for each channel of a tile, see
:mod:`axiloom.isa.kernels.requantise`."""
CHANNEL_WORDS = 2
POST_SETTINGS = (
    Setting("zp", 0, -128, True),
    Setting("lo", -128, -128, True),
    Setting("hi", 127, -128, True),
)


@cache
def plain_form(kernel: Kernel) -> Form:
    """The form in which a device executes `kernel` where we have no engine with a form of its own.

    Every size can be set; tiles travel dense, an operand's dims in the order of the kernel.
    """
    values = [Setting(name, 1, 1) for name in (*kernel.derived, *kernel.settings)]
    return Form(
        name=f"plain {kernel.name}",
        kernel=kernel.name,
        dims=tuple(kernel.iterators),
        loops=kernel.loops,
        reductions=kernel.reductions,
        operands={operand: tuple(dims) for operand, dims in kernel.operands.items()},
        channel=([*kernel.operands[kernel.output]] or [""])[-1],
        settings=tuple(values),
        computes=kernel,
    )


def form_of(kernel: str, data: Mapping[str, tuple[str, ...]], own: Kernel | None = None) -> Form:
    """The form of a kernel with these operands; where none fits whole, the one that fits best.

    `own`: the kernel that a specification writes out itself.
    """
    if own is not None:
        return plain_form(own)
    if kernel in NAMED and not any(form.kernel == kernel for form in FORMS):
        return plain_form(NAMED[kernel])

    def fitting(form: Form) -> int:
        return sum(sorted(data.get(o, ())) == sorted(dims) for o, dims in form.operands.items())

    return max([form for form in FORMS if form.kernel == kernel] or FORMS, key=fitting)


def extent(outputs: int, taps: int, stride: int = 1, dilation: int = 1) -> int:
    """Rows (columns) of an image under `outputs` rows of a convolution's result, padding included."""
    return (outputs - 1) * stride + (taps - 1) * dilation + 1


def matmul(a: Array, b: Array) -> Array:
    """A (m, k) times B (k, n) mod 2^32."""
    return a @ b


def convolution(image: Array, filters: Array, sizes: Mapping[str, int]) -> Array:
    """O (oc, oh, ow) mod 2^32 of an image (ic, ih, iw) and filters (oc, ic, fh, fw).

    ``O[oc, oh, ow] = sum F[oc, ic, fh, fw] * I'[ic, oh * sh + fh * dh - pt, ow * sw + fw * dw - pl]``, where
    I' is 0 outside of the image. `sizes` has oh, ow and the settings of `IMAGE`.
    """
    oc, ic, taps_h, taps_w = filters.shape
    height, width = sizes["oh"], sizes["ow"]
    result = np.zeros((oc, height * width), dtype=np.uint32)
    for i in range(taps_h):
        rows = np.arange(height) * sizes["sh"] + i * sizes["dh"] - sizes["pt"]
        for j in range(taps_w):
            columns = np.arange(width) * sizes["sw"] + j * sizes["dw"] - sizes["pl"]
            result += filters[:, :, i, j] @ _picked(image, rows, columns).reshape(ic, height * width)
    return result.reshape(oc, height, width)


def _picked(image: Array, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> Array:
    """image[:, rows, columns] as (ic, rows, columns), zero outside."""
    _, height, width = image.shape
    inside = ((rows >= 0) & (rows < height))[:, None] & ((columns >= 0) & (columns < width))[None, :]
    there = image[:, rows.clip(0, height - 1)[:, None], columns.clip(0, width - 1)[None, :]]
    return np.where(inside, there, np.uint32(0))
