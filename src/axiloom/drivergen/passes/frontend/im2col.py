"""Convolutions become matrix products, for accelerators that have only those."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Block, BlockArgument, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.match.conv import match_conv
from axiloom.drivergen.match.matmul import Match, NoMatchError, sizes

WINDOWS = "accel.windows"
"""`doc` of the op that puts the windows together: it stays on the CPU."""
CHANNELS, PIXELS = ("ic", "fh", "fw"), ("oh", "ow")


class _Conv:
    """One convolution on tensors in the layout NCHW, with its dims by name."""

    def __init__(self, op: linalg.GenericOp, match: Match) -> None:
        self.op = op
        self.match = match
        self.sizes = dict(zip(match.dims, sizes(op), strict=True))
        self.builder = Builder(InsertPoint.before(op))

    def shape(self, *dims: str) -> list[int]:
        return [self.sizes[d] for d in dims]

    def rewrite(self) -> None:
        operands = dict(zip(self.match.operands, self.op.operands, strict=True))
        host = list(self.match.host)
        windows = self._windows(operands["I"], host)
        taps = self._collapse(operands["F"], [["oc"], list(CHANNELS)])
        sums = self._collapse(operands["O"], [*([b] for b in host), ["oc"], list(PIXELS)])
        loops = [*host, "m", "n", "k"]
        dims: dict[str, AffineExpr] = {name: AffineDimExpr(n) for n, name in enumerate(loops)}
        maps = [
            AffineMapAttr(AffineMap(len(loops), 0, tuple(dims[d] for d in operand)))
            for operand in (["m", "k"], [*host, "k", "n"], [*host, "m", "n"])
        ]
        kinds = [IteratorTypeAttr.parallel()] * (len(loops) - 1) + [IteratorTypeAttr.reduction()]
        body = self.op.body.clone()
        product = linalg.GenericOp([taps, windows], [sums], body, maps, kinds, [sums.type], doc=self.op.doc)
        product.location = self.op.location
        self.builder.insert(product)
        groups, kind = self._groups([*([b] for b in host), ["oc"], list(PIXELS)]), self.op.results[0].type
        assert isinstance(kind, TensorType)
        whole = tensor.ExpandShapeOp.create(
            operands=[product.results[0]],
            properties={
                "reassociation": groups,
                "static_output_shape": DenseArrayBase.from_list(i64, list(kind.get_shape())),
            },
            result_types=[kind],
        )
        whole.results[0].name_hint = self.op.results[0].name_hint
        self.builder.insert(whole)
        self.op.results[0].replace_all_uses_with(whole.results[0])
        Rewriter.erase_op(self.op)

    def _windows(self, image: SSAValue, host: Sequence[str]) -> SSAValue:
        """(batches, taps, pixels): the element of the image for each tap and pixel."""
        settings = self.match.settings
        loops = [*host, *CHANNELS, *PIXELS]
        dims: dict[str, AffineExpr] = {name: AffineDimExpr(n) for n, name in enumerate(loops)}
        groups = [*([b] for b in host), list(CHANNELS), list(PIXELS)]
        if self.shape("fh", "fw") == [1, 1] and (settings["sh"], settings["sw"]) == (1, 1):
            return self._collapse(image, [*([b] for b in host), ["ic"], list(PIXELS)])
        rows = dims["oh"] * settings["sh"] + dims["fh"] * settings["dh"]
        columns = dims["ow"] * settings["sw"] + dims["fw"] * settings["dw"]
        element = image.type.element_type  # type: ignore[attr-defined]
        kind = TensorType(element, self.shape(*loops))
        empty = self.builder.insert(tensor.EmptyOp([], kind))
        block = Block(arg_types=[element, element])
        Builder(InsertPoint.at_end(block)).insert(linalg.YieldOp(block.args[0]))
        read = AffineMap(len(loops), 0, (*(dims[b] for b in host), dims["ic"], rows, columns))
        copy = linalg.GenericOp(
            [image],
            [empty.tensor],
            Region(block),
            [AffineMapAttr(read), AffineMapAttr(AffineMap.identity(len(loops)))],
            [IteratorTypeAttr.parallel()] * len(loops),
            [kind],
            doc=StringAttr(WINDOWS),
        )
        copy.location = self.op.location
        copy.results[0].name_hint = "windows"
        self.builder.insert(copy)
        return self._collapse(copy.results[0], groups)

    def _groups(self, groups: Sequence[Sequence[str]]) -> ArrayAttr[ArrayAttr[IntegerAttr]]:
        ends, numbered = 0, []
        for group in groups:
            numbered.append(ArrayAttr([IntegerAttr(ends + n, i64) for n in range(len(group))]))
            ends += len(group)
        return ArrayAttr(numbered)

    def _collapse(self, value: SSAValue, groups: Sequence[Sequence[str]]) -> SSAValue:
        kind = value.type
        assert isinstance(kind, TensorType)
        shape, at = [], 0
        for group in groups:
            size = 1
            for _ in group:
                size *= kind.get_shape()[at]
                at += 1
            shape.append(size)
        op = tensor.CollapseShapeOp.create(
            operands=[value],
            properties={"reassociation": self._groups(groups)},
            result_types=[TensorType(kind.element_type, shape)],
        )
        op.results[0].name_hint = value.name_hint
        self.builder.insert(op)
        return op.results[0]


def _plain(op: linalg.GenericOp, found: Match) -> bool:
    """Are image, filter and result in the order NCHW, FCHW?"""
    orders = {"I": [*found.host, "ic", "oh", "ow"], "F": ["oc", *CHANNELS], "O": [*found.host, "oc", *PIXELS]}
    for number, name in enumerate(found.operands):
        results = op.indexing_maps.data[number].data.results
        first = [min(e.used_dims(), key=lambda d: found.dims[d] not in PIXELS) for e in results]
        if [found.dims[d] for d in first] != orders[name]:
            return False
    return True


@dataclass(frozen=True)
class Im2col(ModulePass):
    """Put the windows of an image side by side: a convolution is the product of filters and windows.

    ::

        %O = linalg.conv_2d_nchw_fchw ins(%I, %F : tensor<1x8x6x6xi8>, tensor<4x8x3x3xi8>)
            outs(%Z : tensor<1x4x4x4xi32>) -> tensor<1x4x4x4xi32>

        %windows = linalg.generic {..., doc = "accel.windows"} ins(%I : ...) -> tensor<1x8x3x3x4x4xi8>
        %X = tensor.collapse_shape %windows [[0], [1, 2, 3], [4, 5]] : ... into tensor<1x72x16xi8>
        %T = tensor.collapse_shape %F [[0], [1, 2, 3]] : ... into tensor<4x72xi8>
        %S = linalg.generic {...} ins(%T, %X : ...) outs(%Z_1 : tensor<1x4x16xi32>) {...}
        %O = tensor.expand_shape %S [[0], [1], [2, 3]] output_shape [1, 4, 4, 4] : ...

    The CPU puts the windows together; a filter of one tap reads the image as it is. For convolutions in the
    layout NCHW whose sums do not start in an argument; comes behind accel-generalise, before accel-bufferise.
    """

    name = "accel-im2col"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for generic in [o for o in op.walk() if isinstance(o, linalg.GenericOp)]:
            try:
                match = match_conv(generic)
            except NoMatchError:
                continue
            in_place = isinstance(generic.outputs[0], BlockArgument)  # an argument is updated as it is
            if generic.results and not in_place and _plain(generic, match):
                _Conv(generic, match).rewrite()
