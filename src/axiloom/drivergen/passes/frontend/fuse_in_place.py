"""What is done to each element of a result becomes a kernel that the accelerator applies in place."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from axiloom import isa
from axiloom.drivergen.dialects.views import constant_fill
from axiloom.drivergen.match.in_place import IN_PLACE, chain, match_part, named, starts_from_zero
from axiloom.drivergen.match.matmul import NoMatchError
from axiloom.drivergen.match.trait import is_annotated
from axiloom.isa import AcceleratorSpec


def _fuse(op: linalg.GenericOp, part: AcceleratorSpec) -> bool:
    """Fuse as many ops behind `op` as a flow of `part` applies; whether there are any."""
    if is_annotated(op) or IN_PLACE in op.attributes:
        return False
    try:
        match_part(op, part)
    except NoMatchError:
        return False
    if part.form.adds_up and not part.form.overwrites and not starts_from_zero(op):
        return False
    behind, names = [], []
    for follower in chain(op):
        name = named(follower, part.in_place)
        if name is None:
            break
        behind.append(follower)
        names.append(name)
    flows = {part.applied(flow) for flow in part.flows.values()}
    count = next((n for n in range(len(names), 0, -1) if tuple(names[:n]) in flows), 0)
    for follower in behind[:count]:
        _join(op, follower)
    if count:
        op.attributes[IN_PLACE] = ArrayAttr([StringAttr(name) for name in names[:count]])
    return count > 0


def _join(op: linalg.GenericOp, behind: linalg.GenericOp) -> None:
    """The result of `op` takes the place of that of `behind`."""
    if behind.results:
        op.results[0].name_hint = behind.results[0].name_hint
        behind.results[0].replace_all_uses_with(op.results[0])
    elif behind.outputs[0] is not op.outputs[0]:
        fill = constant_fill(op, op.outputs[0])
        if fill is not None:
            fill[0].operands[len(fill[0].operands) - 1] = behind.outputs[0]
        op.operands[len(op.operands) - 1] = behind.outputs[0]
    Rewriter.erase_op(behind)


@dataclass(frozen=True)
class FuseInPlace(ModulePass):
    """Make an op and those behind it that change its result element by element one op of the accelerator.

    ::

        linalg.fill ins(%zero : i32) outs(%O : memref<4x6x6xi32>)
        linalg.generic {...} ins(%I, %F : ...) outs(%O : memref<4x6x6xi32>) {...}
        linalg.generic {...} outs(%O : memref<4x6x6xi32>) {
        ^bb0(%o: i32):
          %r = arith.maxsi %o, %zero : i32
          linalg.yield %r : i32
        }

        linalg.fill ins(%zero : i32) outs(%O : memref<4x6x6xi32>)
        linalg.generic {...} ins(%I, %F : ...) outs(%O : memref<4x6x6xi32>)
            attrs = {accel.in_place = ["relu"]} {...}

    Where `accelerator` has the kernel in place, a flow that applies it, sums that start from zero, and where
    nobody else reads what lies between the two ops. They may be on memrefs or on tensors. What stays as it
    is, may be another kernel of the accelerator. Comes behind accel-generalise and before accel-bufferise.
    """

    name = "accel-fuse-in-place"

    accelerator: str | AcceleratorSpec

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        spec = isa.find(self.accelerator) if isinstance(self.accelerator, str) else self.accelerator
        parts = [part for part in spec.parts if part.in_place]
        for generic in [o for o in op.walk() if isinstance(o, linalg.GenericOp)]:
            if generic.parent is not None:  # else it was joined with one before
                any(_fuse(generic, part) for part in parts)
