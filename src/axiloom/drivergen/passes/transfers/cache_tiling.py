"""Loops in blocks, so that what is read again is in the board's L2 still.

Cache tiling moves a loop only if nothing but loops is around it. Then the device keeps no tile from one
iteration to the next that a block could take away. The pass's costs count sets of L2: rows that are a
power of two apart share few sets.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, Region
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects.mlir import index
from axiloom.drivergen.nest.nest import Nest, nests
from axiloom.isa.contract.types import DmaConfig
from axiloom.plan import Num, Plan
from axiloom.plan.blocks import best
from axiloom.plan.caches import Caches, nest_cost


def block(nest: Nest, number: int, count: int) -> None:
    """Put a loop over blocks of loop `number` around the nest; for blocks of one there is none inside."""
    level, root = nest.levels[number], nest.root
    old, name = level.loop, level.name
    size = count * level.step
    body = Block(arg_types=[IndexType()])
    outer = scf.ForOp(old.lb, old.ub, index(root, size), [], Region(body))
    outer.attributes, root.attributes = dict(root.attributes), {}
    Rewriter.insert_op(outer, InsertPoint.before(root))
    end = index(outer, size)
    root.detach()  # type: ignore[no-untyped-call]
    body.add_ops([root, scf.YieldOp()])
    if count == 1:
        body.args[0].name_hint = name
        last = old.body.block.last_op
        assert last is not None
        Rewriter.erase_op(last)
        Rewriter.inline_block(old.body.block, InsertPoint.before(old), [body.args[0]])
        Rewriter.erase_op(old)
        return
    body.args[0].name_hint = f"{name}_block"
    old.operands[1] = end
    level.counter.name_hint = f"{name}_in"
    at = arith.AddiOp(body.args[0], level.counter)
    at.result.name_hint = name
    Rewriter.insert_op(at, InsertPoint.at_start(old.body.block))
    level.counter.replace_uses_with_if(at.result, lambda use: use.operation is not at)


@dataclass(frozen=True)
class CacheTiling(ModulePass):
    """Run a loop in blocks where L2 then holds what the loops around it read again.

    ::

        scf.for %m = %c0 to %c16 step %c4 {
          scf.for %n = %c0 to %c96 step %c4 {
            ...                                                  all of B for each %m

        scf.for %n_block = %c0 to %c96 step %c8 {
          scf.for %m = %c0 to %c16 step %c4 {
            scf.for %n_in = %c0 to %c8 step %c4 {
              %n = arith.addi %n_block, %n_in : index
              ...                                                8 columns of B for all %m

    Which loop and how large the blocks are is what costs least by :mod:`axiloom.plan.blocks`; a nest whose
    matrices fit stays as it is. The words that travel are the same, in another order.

    Options: `l2_size` (bytes) and `l2_ways` of the board; `buffers`, `keep` and `loops` as
    accel-coalesce-loops has them, if that follows (`buffers=0`: it does not). Blocks are of equal size, so
    that a prime number of tiles has none.
    """

    name = "accel-cache-tiling"

    l2_size: int = Caches.l2_size
    l2_ways: int = Caches.l2_ways
    buffers: int = 0
    keep: bool = False
    loops: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for _, nest in list(nests(op)):
            chosen = self.best(nest.plan(), nest.dma)
            if chosen is not None:
                block(nest, *chosen)

    def best(self, plan: Plan, dma: DmaConfig) -> tuple[int, int] | None:
        """The loop and the iterations a block that cost least, None if there is nothing to gain."""
        caches = Caches(self.l2_size, self.l2_ways)

        def cost(plan: Plan) -> Num:
            return nest_cost(plan, dma, caches, buffers=self.buffers, keep=self.keep, loops=self.loops)

        return best(plan, cost)[0]
