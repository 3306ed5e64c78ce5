"""Loops of annotated ops in another order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from axiloom.drivergen.dialects.patterns import rewrite
from axiloom.drivergen.match.trait import Trait, is_annotated


def in_order(trait: Trait, order: Sequence[str]) -> Trait:
    """With the loops in that order, inside of those of the host that it does not name."""
    outer = [loop for loop in trait.order if trait.dims[loop] not in order]
    inner = [trait.dims.index(dim) for dim in order]
    return replace(trait, order=(*outer, *inner))


@dataclass(frozen=True)
class _Ordered(RewritePattern):
    order: tuple[str, ...]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: linalg.GenericOp, rewriter: PatternRewriter) -> None:
        if not is_annotated(op):
            return
        trait = Trait.of(op)
        wanted = in_order(trait, self.order)
        if wanted.order == trait.order:
            return
        wanted.write(op)
        rewriter.notify_op_modified(op)


@dataclass(frozen=True)
class Interchange(ModulePass):
    """Put the loops of annotated ops into another order; those that the order does not name stay outside.

    ::

        linalg.generic {...} attrs = {permutation_map = affine_map<(m, n, k) -> (m, n, k)>, ...}

        linalg.generic {...} attrs = {permutation_map = affine_map<(m, n, k) -> (n, k, m)>, ...}

    Option: `order`, names of loops, outermost first. Comes behind accel-annotate. Whether the flow computes a
    right result in that order is for the caller to know (:func:`axiloom.isa.loop_orders`).
    """

    name = "accel-interchange"

    order: tuple[str, ...]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite(op, _Ordered(self.order))
