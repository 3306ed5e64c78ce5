"""What the upper steps of the bring-up ladder compute: one tile, and a whole kernel, of any accelerator.

Both are compiled by the driver generator, and beside them the same functions for the CPU. An identity is an
operand under which the result shows the other one as it was sent: so words that are lost, doubled or swapped
show at their places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from axiloom.base.errors import UsageError
from axiloom.drivergen import ConvProblem, parse_workload
from axiloom.isa import AcceleratorSpec
from axiloom.isa.kernels.forms import COPY, IMAGE, MATMUL, WINDOW

EDGE = 8
"""Channels and rows of a small tile of a convolution, where the accelerator leaves them open."""


@dataclass(frozen=True)
class Problem:
    """What a step computes: two operands in, one out, sizes in elements."""

    mlir: str
    """A module with one function, ``@ladder``."""
    counts: tuple[int, int, int]
    """Elements of both operands and of the result; 0 where there is no second one."""
    of: tuple[int, ...] | None = None
    """The tile that its driver is made of, where the generator would take a larger one."""


@dataclass(frozen=True)
class Problems:
    """Of an accelerator: one tile, a whole kernel, and how they are spoken of."""

    tile: Problem
    kernel: Problem
    identity: str
    """C: whether element `i` of the second operand is 1 in an identity of the tile's sizes; else it is 0."""
    product: str
    """``A times B``."""
    by_identity: str
    """``A times the identity``."""
    square: bool
    """The operands may take each other's place."""


def problems(spec: AcceleratorSpec) -> Problems:
    """The problems of `spec`."""
    if spec.form.name not in MAKERS:
        raise UsageError(f"{spec.name}: the ladder has no problems for {spec.kernel}")
    return MAKERS[spec.form.name](spec)


def _matmul(spec: AcceleratorSpec) -> Problems:
    m, n, k = spec.tile.size
    return Problems(
        _product(spec, m, n, k),
        _product(spec, 3 * m, 2 * n, 2 * k),
        identity=f"i / {n}u == i % {n}u",
        product="A times B",
        by_identity="A times the identity",
        square=m == n == k,
    )


def _product(spec: AcceleratorSpec, m: int, n: int, k: int) -> Problem:
    text = parse_workload(f"matmul:{m}x{n}x{k}:{spec.data_type.value}").mlir
    return Problem(text.replace("@matmul", "@ladder"), (m * k, k * n, m * n))


def _copied(spec: AcceleratorSpec) -> Problems:
    """Words that count up show where one is lost; then any words."""
    (n,) = spec.tile.size

    def of(count: int) -> Problem:
        text = parse_workload(f"copy:{count}").mlir
        return Problem(text.replace("@copy", "@ladder"), (count, 0, count))

    return Problems(of(n), of(9 * n + 1), "i + 1 == 0", "words", "words that count up", square=False)


def _convolution(spec: AcceleratorSpec) -> Problems:
    oc, oh, ow, ic, fh, fw = spec.tile.size
    if spec.tile.flexible:
        oc, oh, ow, ic = (_small(spec, dim) for dim in range(4))
    kernel = [2 * oc + oc // 2, 2 * oh + oh // 2, 2 * ow + ow // 2, ic + ic // 2]
    if spec.form.saves:
        # Results one after the other make a tile here.
        oc, oh, ow, ic = 1, 4, 4, ic if not spec.tile.flexible else 4
        kernel = [3, 6, 6, 10 if spec.tile.flexible else ic]
    several = (oc, oh, ow, ic, fh, fw) if spec.tile.flexible and not spec.form.saves else None
    taps, centre = fh * fw, fh // 2 * fw + fw // 2
    return Problems(
        _filtered(spec, (oc, oh, ow, ic, fh, fw)),
        _filtered(spec, (*kernel, fh, fw), several),
        identity=f"i % {taps}u == {centre}u && i / {taps}u % {ic}u == i / {taps * ic}u",
        product="image and filters",
        by_identity="an image, and filters that take its pixels as they are",
        square=False,
    )


def _small(spec: AcceleratorSpec, dim: int) -> int:
    """A size below the tile's, in whole granules."""
    granule = (spec.tile.granule or spec.tile.size)[dim]
    return max(granule, min(EDGE, spec.tile.size[dim]) // granule * granule)


def _filtered(spec: AcceleratorSpec, sizes: tuple[int, ...], tile: tuple[int, ...] | None = None) -> Problem:
    oc, oh, ow, ic, fh, fw = sizes
    ih, iw = oh + fh - 1, ow + fw - 1
    conv_problem = ConvProblem((ih, iw), ic, (fh, fw), oc, dtype=spec.data_type.value)
    counts = (ic * ih * iw, oc * ic * fh * fw, oc * oh * ow)
    return Problem(conv_problem.mlir.replace("@conv", "@ladder"), counts, tile)


MAKERS: Mapping[str, Callable[[AcceleratorSpec], Problems]] = {
    MATMUL.name: _matmul,
    COPY.name: _copied,
    IMAGE.name: _convolution,
    WINDOW.name: _convolution,
}
"""Who makes the problems, by the name of a form."""
