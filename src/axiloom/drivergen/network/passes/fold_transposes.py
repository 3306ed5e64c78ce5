"""What only moves elements becomes the way in which the next op reads them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.passes import ModulePass

from axiloom.drivergen.network.passes import generics


def _fold(op: linalg.GenericOp) -> bool:
    """One input of `op`; True if there was one to fold."""
    maps = generics.maps_of(op)
    for number, value in enumerate(op.inputs):
        source = value.owner
        if not isinstance(source, linalg.GenericOp) or not generics.moves_only(source):
            continue
        inner = generics.maps_of(source)[0]
        read = generics.substitute(inner, generics.through(source, maps[number]), maps[number].num_dims)
        changed = [*maps[:number], read, *maps[number + 1 :]]
        if not _loops_known(changed):
            continue
        inputs = [*op.inputs[:number], source.inputs[0], *op.inputs[number + 1 :]]
        generics.replace(op, generics.rebuild(op, inputs, list(op.outputs), op.body.clone(), changed))
        return True
    return False


def _loops_known(maps: list[AffineMap]) -> bool:
    """Each loop is the index of some operand's dim, so that its length can be told."""
    loops = {e.position for m in maps for e in m.results if isinstance(e, AffineDimExpr)}
    return len(loops) == maps[0].num_dims


def _is_identity(op: linalg.GenericOp) -> bool:
    """A copy that no op changes afterwards."""
    if not generics.moves_only(op) or op.inputs[0].type != op.results[0].type:
        return False
    inner, outer = generics.maps_of(op)
    users = [use.operation for use in op.results[0].uses]
    changed = any(isinstance(u, linalg.GenericOp) and op.results[0] in u.outputs for u in users)
    return inner == outer and not changed


@dataclass(frozen=True)
class FoldTransposes(ModulePass):
    """Read an input where it is, instead of a copy with its elements in other places.

    ::

        %t = linalg.generic {(d0, d1) -> (d1, d0), (d0, d1) -> (d0, d1)} ins(%B : tensor<8x4xi8>) {yield %in}
        %C = linalg.generic {..., (m, n, k) -> (k, n), ...} ins(%A, %t : ...)

        %C = linalg.generic {..., (m, n, k) -> (n, k), ...} ins(%A, %B : ...)

    Transpositions, broadcasts and copies, for any `linalg.generic` that reads them.
    """

    name = "accel-fold-transposes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [o for o in op.ops if isinstance(o, func.FuncOp) and not o.is_declaration]:
            again = True
            while again:
                again = False
                for inner in list(function.body.block.ops):
                    if isinstance(inner, linalg.GenericOp):
                        again = _fold(inner) or again
            for inner in list(function.body.block.ops):
                if isinstance(inner, linalg.GenericOp) and _is_identity(inner):
                    inner.results[0].replace_all_uses_with(inner.inputs[0])
            generics.drop_unused(function.body.block)
