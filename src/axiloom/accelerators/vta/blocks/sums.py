"""What sums of products blocks compute: an entry of `SUMS` for each operation that makes some.

An entry looks at a node of the saturated graph. It gives a `Layer`, or raises `RefusedError` with what would
be accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from axiloom.accelerators.vta.blocks import conv, matmul
from axiloom.accelerators.vta.blocks.conv import Convolution
from axiloom.accelerators.vta.blocks.epilogue import Requantise
from axiloom.base.errors import CompileError
from axiloom.graph.graph import Type
from axiloom.graph.ops.convolution import dims_of, windows_of
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.egraph.saturated import ENode
from axiloom.selection.program.program import Program

BLOCK = 16


class RefusedError(CompileError):
    """A sum that no block computes."""


@dataclass(frozen=True)
class Layer:
    """`names`: arrays of its program for the two factors. The weights, factor 1, lie in blocks there:
    `split` is their shape with blocks apart, `order` the order of its dimensions in the array."""

    program: Callable[[InstructionSet, Requantise], Program]
    names: tuple[str, str]
    split: tuple[int, ...]
    order: tuple[int, ...]


Sums: TypeAlias = Callable[[ENode, Sequence[Type], Type], Layer]


def _need(condition: bool, what: str) -> None:
    if not condition:
        raise RefusedError(what)


def _split(type_: Type, blocked: Mapping[int, str]) -> tuple[tuple[int, ...], dict[str, int]]:
    """The shape with these dimensions in blocks, and where each part is then: ``n`` blocks, ``n.`` within."""
    shape: list[int] = []
    at: dict[str, int] = {}
    for dimension, size in enumerate(type_.shape):
        name = blocked.get(dimension, str(dimension))
        at[name] = len(shape)
        if dimension in blocked:
            _need(
                size % BLOCK == 0, f"{size} channels or columns: blocks have {BLOCK}; fill them up with zeros"
            )
            at[f"{name}."] = len(shape) + 1
            shape += [size // BLOCK, BLOCK]
        else:
            shape.append(size)
    return tuple(shape), at


def _product(node: ENode, types: Sequence[Type], result: Type) -> Layer:
    """Rows by a matrix, whichever of its dimensions is summed over."""
    a, b = types
    attributes = node.given
    _need(attributes["lhs_batch"] == (), "products in a batch")
    _need(
        attributes["lhs_contracting"] == (len(a.shape) - 1,),
        "a sum over another dimension than the left one's last",
    )
    _need(len(b.shape) == 2, f"a right factor of {b}: a matrix is needed")
    contracting = attributes["rhs_contracting"]
    k, n = (0, 1) if contracting == (0,) else (1, 0)
    split, at = _split(b, {k: "k", n: "n"})
    m = prod(a.shape[:-1])
    return Layer(
        lambda isa, how: matmul.lowered(m, b.shape[n], b.shape[k], isa, how),
        ("a", "b"),
        split,
        tuple(at[name] for name in ("n", "k", "n.", "k.")),
    )


def _dense(node: ENode, types: Sequence[Type], result: Type) -> Layer:
    a = types[0]
    as_product = {
        "lhs_batch": (), "rhs_batch": (), "lhs_contracting": (len(a.shape) - 1,), "rhs_contracting": (1,)
    }  # fmt: skip
    return _product(ENode("dot_general", node.operands, tuple(as_product.items())), types, result)


def _convolution(node: ENode, types: Sequence[Type], result: Type) -> Layer:
    """One picture, channels last."""
    x, w = types
    attributes = node.given
    dims = dims_of(str(attributes["dims"]))
    _need(dims.rank == 2, f"a convolution over {dims.rank} dimensions: 2 are taken")
    image = (dims.batch, *dims.spatial, dims.feature)
    result_image = (dims.result_batch, *dims.result_spatial, dims.result_feature)
    _need(
        image == result_image == (0, 1, 2, 3),
        f"pictures as {attributes['dims']}: channels last are taken, b01f and b01f",
    )
    _need(x.shape[0] == 1, f"{x.shape[0]} pictures: one is taken at a time")
    _need(attributes["feature_group_count"] == 1, "a convolution in groups")
    windows = windows_of(attributes, 2)
    taps = {w.shape[i] for i in dims.kernel_spatial}
    pads, strides = {*windows.low, *windows.high}, {*windows.strides}
    _need(len(taps) == 1, "filters that are not square")
    _need(len(pads) == 1 and len(strides) == 1, "pads or strides that differ by side")
    _need({*windows.base, *windows.dilation} == {1}, "a dilated convolution")
    (pad,), (stride,), (many,) = pads, strides, taps
    _need(0 <= pad <= conv.MOST_PADS, f"{pad} pads: 0 to {conv.MOST_PADS} are taken")
    split, at = _split(w, {dims.kernel_in: "k", dims.kernel_out: "n"})
    layer = Convolution(x.shape[1], x.shape[2], x.shape[3], w.shape[dims.kernel_out], many, stride, pad)
    spatial = [str(i) for i in dims.kernel_spatial]
    return Layer(
        lambda isa, how: conv.lowered(layer, isa, how),
        ("x", "w"),
        split,
        tuple(at[name] for name in ("n", "k", *spatial, "n.", "k.")),
    )


SUMS: Mapping[str, Sums] = {"dot_general": _product, "dense": _dense, "convolution": _convolution}
"""By operation. Their factors are int8 and their sums int32."""
