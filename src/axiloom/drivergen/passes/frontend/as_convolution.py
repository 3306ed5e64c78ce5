"""Matrix products become convolutions of one tap, for accelerators that have only those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from axiloom.drivergen.dialects.patterns import rewrite
from axiloom.drivergen.dialects.product import LEAN, is_lean
from axiloom.drivergen.dialects.views import expanded
from axiloom.drivergen.match.in_place import finishes
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


class _Convolution(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: linalg.GenericOp, rewriter: PatternRewriter) -> None:
        conv = _of_product(op, rewriter)
        if conv is not None:
            rewriter.replace(op, conv)


def _of_product(op: linalg.GenericOp, rewriter: PatternRewriter) -> linalg.GenericOp | None:
    """The convolution that a product is, on views of its operands; None where it is none."""
    try:
        product = match(op)
    except NoMatchError:
        return None
    size = dict(zip(product.dims, sizes(op), strict=True))
    pixels = rows_and_columns(size["n"])
    if finishes(op) or pixels is None:
        return None
    loops = (*product.host, *_LOOPS)
    dims: dict[str, AffineExpr] = {name: AffineDimExpr(number) for number, name in enumerate(loops)}
    taps, rows, columns = [dims["fh"], dims["fw"]], dims["oh"], dims["ow"]
    indexed: Mapping[str, Mapping[str, list[AffineExpr]]] = {
        "A": {"m": [dims["oc"]], "k": [dims["ic"], *taps]},
        "B": {"k": [dims["ic"]], "n": [rows + taps[0], columns + taps[1]]},
        "C": {"m": [dims["oc"]], "n": [rows, columns]},
    }
    shapes: dict[str, dict[str, Sequence[int]]] = {
        "A": {"k": [size["k"], 1, 1]},
        "B": {"n": pixels},
        "C": {"n": pixels},
    }
    views: list[SSAValue] = []
    maps: list[AffineMapAttr] = []
    for number, (name, value) in enumerate(zip(product.operands, op.operands, strict=True)):
        own = [product.dims[loop] for loop in operand_loops(op, number)]
        views.append(expanded(rewriter, value, [shapes[name].get(dim, [size[dim]]) for dim in own]))
        results = [expression for dim in own for expression in indexed[name].get(dim) or [dims[dim]]]
        maps.append(AffineMapAttr(AffineMap(len(loops), 0, tuple(results))))
    parallel, reduction = IteratorTypeAttr.parallel(), IteratorTypeAttr.reduction()
    kinds = [parallel] * (len(loops) - 3) + [reduction] * 3
    conv = linalg.GenericOp(views[:2], views[2:], op.body.clone(), maps, kinds, [], doc=op.doc)
    conv.location = op.location
    if is_lean(op):
        conv.attributes[LEAN] = op.attributes[LEAN]
    return conv


@dataclass(frozen=True)
class AsConvolution(ModulePass):
    """Let the rows of A be filters of one tap, and the columns of B pixels of an image with k channels.

    ::

        linalg.generic {...} ins(%A, %B : memref<6x4xi8>, memref<4x16xi8>) outs(%C : memref<6x16xi32>) {...}

        %A_1 = memref.expand_shape %A [[0], [1, 2, 3]] output_shape [6, 4, 1, 1] : ...
        %B_1 = memref.expand_shape %B [[0], [1, 2]] output_shape [4, 1, 16] : ...
        %C_1 = memref.expand_shape %C [[0], [1, 2]] output_shape [6, 1, 16] : ...
        linalg.generic {...} ins(%A_1, %B_1 : ...) outs(%C_1 : memref<6x1x16xi32>) {...}

    For products C[m, n] += A[m, k] B[k, n]; dims of transposed matrices stay where they are, and so do
    batches,
    over which the host loops. What rounds its sums stays as it is. Comes behind accel-unit-dims and before
    accel-annotate.
    """

    name = "accel-as-convolution"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite(op, _Convolution())
