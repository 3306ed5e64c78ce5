"""Pooling: named ops of linalg that xDSL has not, or whose body there forgets the output.

The second input has the window's shape and no contents; loops over the window are reductions.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import PoolingOperation
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.irdl import irdl_op_definition


class _Pooling(PoolingOperation, ABC):
    """Base. `LAYOUT`: the dims of image and output, by letters; `HOW`: the op on integers and on floats."""

    LAYOUT: ClassVar[str]
    HOW: ClassVar[tuple[type[Operation], type[Operation]]]

    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        kinds = cls.body_arg_types((*inputs, *outputs))
        how = cls.HOW[0 if isinstance(kinds[-1], IntegerType) else 1]

        @Builder.implicit_region(kinds)
        def body(args: tuple[BlockArgument, ...]) -> None:
            linalg.YieldOp(how(args[2], _widened(args[0], kinds[-1])))  # type: ignore[arg-type, call-arg]

        return body

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        dims = [AffineDimExpr(number) for number in range(6)]
        loop = dict(zip(self.LAYOUT, dims, strict=False))
        strides, dilations = self.strides.get_values(), self.dilations.get_values()
        image = [
            loop[d] * strides["hw".index(d)] + dims[4 + "hw".index(d)] * dilations["hw".index(d)]
            if d in "hw"
            else loop[d]
            for d in self.LAYOUT
        ]
        return (
            AffineMap(6, 0, tuple(image)),
            AffineMap(6, 0, tuple(dims[4:])),
            AffineMap(6, 0, tuple(dims[:4])),
        )


def _widened(pixel: SSAValue, kind: Attribute) -> SSAValue:
    """A narrow pixel as an element of the result: linalg casts it with its sign."""
    if not isinstance(kind, IntegerType) or not isinstance(pixel.type, IntegerType):
        return pixel
    return arith.ExtSIOp(pixel, kind).result if pixel.type.width.data < kind.width.data else pixel


_MAX = (arith.MaxSIOp, arith.MaximumfOp)
_MIN = (arith.MinSIOp, arith.MinimumfOp)
_SUM = (arith.AddiOp, arith.AddfOp)


@irdl_op_definition
class PoolingNchwMaxOp(_Pooling):
    name = "linalg.pooling_nchw_max"
    LAYOUT: ClassVar[str] = "nchw"
    HOW: ClassVar[tuple[type[Operation], type[Operation]]] = _MAX


@irdl_op_definition
class PoolingNchwSumOp(_Pooling):
    name = "linalg.pooling_nchw_sum"
    LAYOUT: ClassVar[str] = "nchw"
    HOW: ClassVar[tuple[type[Operation], type[Operation]]] = _SUM


@irdl_op_definition
class PoolingNhwcMaxOp(_Pooling):
    name = "linalg.pooling_nhwc_max"
    LAYOUT: ClassVar[str] = "nhwc"
    HOW: ClassVar[tuple[type[Operation], type[Operation]]] = _MAX


@irdl_op_definition
class PoolingNhwcMinOp(_Pooling):
    name = "linalg.pooling_nhwc_min"
    LAYOUT: ClassVar[str] = "nhwc"
    HOW: ClassVar[tuple[type[Operation], type[Operation]]] = _MIN


@irdl_op_definition
class PoolingNhwcSumOp(_Pooling):
    name = "linalg.pooling_nhwc_sum"
    LAYOUT: ClassVar[str] = "nhwc"
    HOW: ClassVar[tuple[type[Operation], type[Operation]]] = _SUM


POOLING: tuple[type[Operation], ...] = (
    PoolingNchwMaxOp,
    PoolingNchwSumOp,
    PoolingNhwcMaxOp,
    PoolingNhwcMinOp,
    PoolingNhwcSumOp,
)
