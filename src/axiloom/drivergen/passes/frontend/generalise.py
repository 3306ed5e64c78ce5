"""Named linalg ops become `linalg.generic`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, ModuleOp, StringAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation, NamedOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Operation, Region
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from axiloom.drivergen.dialects.patterns import rewrite


@dataclass(frozen=True)
class Generalise(ModulePass):
    """Rewrite every named op but `linalg.fill`, which later passes treat by name, as a `linalg.generic`.

    So too `linalg.transpose`, `linalg.broadcast` and `linalg.reduce`.

    ::

        linalg.matmul ins(%A, %B : memref<4x8xi32>, memref<8x4xi32>) outs(%C : memref<4x4xi32>)

        linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, ...],
                        iterator_types = ["parallel", "parallel", "reduction"], doc = "linalg.matmul"}
            ins(%A, %B : memref<4x8xi32>, memref<8x4xi32>) outs(%C : memref<4x4xi32>) {
        ^bb0(%0 : i32, %1 : i32, %2 : i32):
          %3 = arith.muli %0, %1 : i32
          %4 = arith.addi %3, %2 : i32
          linalg.yield %4 : i32
        }

    Attributes of the op (a trait written by hand) and its location stay; `doc` keeps its name for messages.
    """

    name = "accel-generalise"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite(op, _Structured(), _Broadcast(), _Reduce())


class _Structured(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LinalgStructuredOperation, rewriter: PatternRewriter) -> None:
        if isinstance(op, NamedOperation | linalg.TransposeOp) and not isinstance(op, linalg.FillOp):
            _replace(op, _of_structured(op), rewriter)


class _Broadcast(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: linalg.BroadcastOp, rewriter: PatternRewriter) -> None:
        _replace(op, _of_broadcast(op), rewriter)


class _Reduce(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: linalg.ReduceOp, rewriter: PatternRewriter) -> None:
        _replace(op, _of_reduce(op), rewriter)


def _replace(old: Operation, generic: linalg.GenericOp, rewriter: PatternRewriter) -> None:
    generic.location = old.location
    generic.attributes |= {k: v for k, v in old.attributes.items() if not k.startswith("linalg.")}
    for result, hinted in zip(generic.results, old.results, strict=True):
        result.name_hint = hinted.name_hint
    rewriter.replace(old, generic)


def _of_structured(old: LinalgStructuredOperation) -> linalg.GenericOp:
    return linalg.GenericOp(
        old.inputs,
        old.outputs,
        old.body.clone(),
        old.get_indexing_maps(),
        old.get_iterator_types(),
        old.results.types,
        doc=StringAttr(old.name),
    )


def _projected(loops: int, dims: list[int]) -> AffineMapAttr:
    return AffineMapAttr(AffineMap(loops, 0, tuple(AffineDimExpr(dim) for dim in dims)))


def _of_broadcast(old: linalg.BroadcastOp) -> linalg.GenericOp:
    loops = len(old.init.type.get_shape())  # type: ignore[attr-defined]
    kept = [dim for dim in range(loops) if dim not in old.dimensions.get_values()]
    return linalg.GenericOp(
        [old.input],
        [old.init],
        old.hidden_region.clone(),
        [_projected(loops, kept), _projected(loops, list(range(loops)))],
        [IteratorTypeAttr.parallel()] * loops,
        old.results.types,
        doc=StringAttr(old.name),
    )


def _of_reduce(old: linalg.ReduceOp) -> linalg.GenericOp:
    loops = len(old.input.type.get_shape())  # type: ignore[attr-defined]
    reduced = old.dimensions.get_values()
    body: Region = old.region.clone()
    return linalg.GenericOp(
        [old.input],
        [old.init],
        body,
        [
            _projected(loops, list(range(loops))),
            _projected(loops, [dim for dim in range(loops) if dim not in reduced]),
        ],
        [
            IteratorTypeAttr.reduction() if dim in reduced else IteratorTypeAttr.parallel()
            for dim in range(loops)
        ],
        old.results.types,
        doc=StringAttr(old.name),
    )
