"""Which ops of a network become one layer that is written by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, func, tensor
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, Operation

from axiloom.drivergen.network.cpu.form import Form

_STARTS = (arith.ConstantOp, tensor.EmptyOp, linalg.FillOp)


@dataclass(frozen=True)
class Group:
    """Ops that one form takes together, the last one last."""

    form: Form
    ops: tuple[Operation, ...]


def groups(
    block: Block, forms: Sequence[Form], function: Callable[[Sequence[Operation]], func.FuncOp]
) -> Mapping[Operation, Group]:
    """By each op of them. `function` makes a function of some ops, as a layer would be."""
    grouped: dict[Operation, Group] = {}
    ops = [op for op in block.ops if not isinstance(op, _STARTS)]
    for number, op in enumerate(ops):
        if not isinstance(op, linalg.GenericOp):
            continue
        for form in forms:
            some = _together(ops[max(number + 1 - form.ops, 0) : number + 1])
            alone = len(some) == 1
            if alone or any(member in grouped for member in some) or not _used_inside(some):
                continue
            if form.statements(function(some)) is not None:
                grouped |= dict.fromkeys(some, Group(form, tuple(some)))
    return grouped


def _together(ops: Sequence[Operation]) -> list[Operation]:
    """With what pads the first one's image."""
    first = ops[0]
    pads = [v.owner for v in first.operands if isinstance(v.owner, tensor.PadOp) and v.has_one_use()]
    return [*pads, *ops]


def _used_inside(ops: Sequence[Operation]) -> bool:
    """Nobody else reads what lies between them."""
    return all(use.operation in ops for op in ops[:-1] for result in op.results for use in result.uses)
