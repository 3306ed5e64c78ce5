"""Matrix products become convolutions of one tap, for accelerators that have only those."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StridedLayoutAttr,
    i64,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects.product import requantises
from axiloom.drivergen.match.matmul import NoMatchError, match, operand_loops, sizes
from axiloom.isa.kernels.forms import IMAGE

LANES = 8
"""Pixels of a row are a multiple of that where they can be: the columns of an array."""
WIDE = 256
"""Pixels of a row at most, where n has such a divisor: tiles are made of whole rows."""
_LOOPS = ("oc", "oh", "ow", "ic", "fh", "fw")


def rows_and_columns(n: int) -> tuple[int, int] | None:
    """n columns of a matrix as rows of pixels; None where the device has no words for them."""
    most = IMAGE.highest["ow"]
    divisors = [d for d in range(1, min(n, most) + 1) if n % d == 0 and n // d <= IMAGE.highest["oh"]]
    if not divisors:
        return None
    ow = max(divisors, key=lambda d: (d % LANES == 0 and d <= WIDE, d))
    return n // ow, ow


def _expanded(builder: Builder, value: SSAValue, groups: Sequence[Sequence[int]]) -> SSAValue:
    """A matrix with each of its dims as several: `groups` has their sizes."""
    kind = value.type
    assert isinstance(kind, MemRefType)
    strides = kind.get_strides()
    assert strides is not None
    shape = [size for group in groups for size in group]
    inner: list[int | None] = []
    for group, stride in zip(groups, strides, strict=True):
        behind = [prod(group[number + 1 :]) for number in range(len(group))]
        inner += [None if stride is None else stride * count for count in behind]
    ends = [sum(len(group) for group in groups[:number]) for number in range(len(groups))]
    names = ArrayAttr(
        ArrayAttr(IntegerAttr(end + n, i64) for n in range(len(group)))
        for end, group in zip(ends, groups, strict=True)
    )
    op = memref.ExpandShapeOp.create(
        operands=[value],
        properties={"reassociation": names, "static_output_shape": DenseArrayBase.from_list(i64, shape)},
        result_types=[MemRefType(kind.element_type, shape, StridedLayoutAttr(inner, None))],
    )
    op.results[0].name_hint = value.name_hint
    builder.insert(op)
    return op.results[0]


def _rewrite(op: linalg.GenericOp) -> None:
    try:
        found = match(op)
    except NoMatchError:
        return
    size = dict(zip(found.dims, sizes(op), strict=True))
    pixels = rows_and_columns(size["n"])
    if found.host or requantises(op) is not None or pixels is None:
        return
    named = {
        name: (value, [found.dims[loop] for loop in operand_loops(op, number)])
        for number, (name, value) in enumerate(zip(found.operands, op.operands, strict=True))
    }
    layouts = {"A": ["m", "k"], "B": ["k", "n"], "C": ["m", "n"]}
    if any(named[name][1] != dims for name, dims in layouts.items()):
        return
    builder = Builder(InsertPoint.before(op))
    filters = _expanded(builder, named["A"][0], [[size["m"]], [size["k"], 1, 1]])
    image = _expanded(builder, named["B"][0], [[size["k"]], list(pixels)])
    result = _expanded(builder, named["C"][0], [[size["m"]], list(pixels)])
    dims: dict[str, AffineExpr] = {name: AffineDimExpr(number) for number, name in enumerate(_LOOPS)}
    maps: dict[str, list[AffineExpr]] = {
        "A": [dims["oc"], dims["ic"], dims["fh"], dims["fw"]],
        "B": [dims["ic"], dims["oh"] + dims["fh"], dims["ow"] + dims["fw"]],
        "C": [dims["oc"], dims["oh"], dims["ow"]],
    }
    views = {"A": filters, "B": image, "C": result}
    kinds = [IteratorTypeAttr.parallel()] * 3 + [IteratorTypeAttr.reduction()] * 3
    conv = linalg.GenericOp(
        [views[name] for name in found.operands[:2]],
        [result],
        op.body.clone(),
        [AffineMapAttr(AffineMap(len(_LOOPS), 0, tuple(maps[name]))) for name in found.operands],
        kinds,
        [],
        doc=op.doc,
    )
    conv.location = op.location
    builder.insert(conv)
    Rewriter.erase_op(op)


@dataclass(frozen=True)
class AsConvolution(ModulePass):
    """Let the rows of A be filters of one tap, and the columns of B pixels of an image with k channels.

    ::

        linalg.generic {...} ins(%A, %B : memref<6x4xi8>, memref<4x16xi8>) outs(%C : memref<6x16xi32>) {...}

        %A_1 = memref.expand_shape %A [[0], [1, 2, 3]] output_shape [6, 4, 1, 1] : ...
        %B_1 = memref.expand_shape %B [[0], [1, 2]] output_shape [4, 1, 16] : ...
        %C_1 = memref.expand_shape %C [[0], [1, 2]] output_shape [6, 1, 16] : ...
        linalg.generic {...} ins(%A_1, %B_1 : ...) outs(%C_1 : memref<6x1x16xi32>) {...}

    For products C[m, n] += A[m, k] B[k, n] of matrices that lie row by row; what is transposed, has batches
    or rounds its sums stays as it is. Comes behind accel-bufferise and before accel-annotate.
    """

    name = "accel-as-convolution"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for generic in [o for o in op.walk() if isinstance(o, linalg.GenericOp)]:
            _rewrite(generic)
