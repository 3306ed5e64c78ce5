"""Which ops behind an op are kernels that an accelerator applies to its result in place?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects import memref
from xdsl.dialects.builtin import ArrayAttr, StringAttr, TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Operation, SSAValue

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.dialects.product import requantises
from axiloom.drivergen.dialects.views import array_of, constant_fill
from axiloom.drivergen.match.conv import match_conv
from axiloom.drivergen.match.generic import body_of, match_kernel
from axiloom.drivergen.match.matmul import Match, NoMatchError, match
from axiloom.isa import AcceleratorSpec
from axiloom.isa.kernels.forms import MATMUL
from axiloom.isa.kernels.language.body import canonical, names, renamed
from axiloom.isa.kernels.language.kernel import Kernel

IN_PLACE = "accel.in_place"
"""Of an op: names of the kernels that the accelerator applies to its result, in their order."""


def applied(op: linalg.GenericOp) -> tuple[str, ...]:
    """The kernels in place that `op` was fused with."""
    found = op.attributes.get(IN_PLACE)
    if not isinstance(found, ArrayAttr):
        return ()
    return tuple(one.data for one in found if isinstance(one, StringAttr))


def finishes(op: linalg.GenericOp) -> bool:
    """Whether the device does something to the whole result, so that it must not come back in parts."""
    return requantises(op) is not None or bool(applied(op))


def match_part(op: linalg.GenericOp, part: AcceleratorSpec) -> Match:
    """`op` as the kernel of `part`; raises NoMatchError."""
    if part.form.computes is not None:
        return match_kernel(op, part.form.computes)
    return match(op) if part.form is MATMUL else match_conv(op, groups=True)


def chain(op: linalg.GenericOp) -> Iterator[linalg.GenericOp]:
    """The ops behind `op` that change its result element by element, each of the one before."""
    now = op
    while (behind := _reader(now)) is not None:
        yield behind
        now = behind


def named(op: linalg.GenericOp, kernels: Mapping[str, Kernel]) -> str | None:
    """The kernel in place that an op of a :func:`chain` is."""
    try:
        body = body_of(op)
    except NoMatchError:
        return None
    (read,) = set(names(body))
    for name, kernel in kernels.items():
        if canonical(renamed(body, {read: kernel.inputs[0]})) == canonical(kernel.body):
            return name
    return None


def starts_from_zero(op: linalg.GenericOp) -> bool:
    """Whether the sums of `op` are added to nothing else."""
    if isinstance(op.outputs[0].type, TensorType):
        fill = op.outputs[0].owner
        return isinstance(fill, linalg.FillOp) and accel.constant(fill.inputs[0]) == 0
    found = constant_fill(op, op.outputs[0])
    return found is not None and found[1] == 0


def _reader(op: linalg.GenericOp) -> linalg.GenericOp | None:
    """The op that reads the result of `op` next, if it is element by element and nobody else wants it."""
    if len(op.outputs) != 1:
        return None
    behind: Operation | None
    if op.results:
        value: SSAValue = op.results[0]
        if not value.has_one_use():
            return None
        behind = next(iter(value.uses)).operation
    else:
        value = op.outputs[0]
        behind = op.next_op
        while behind is not None and not _touches(behind, value):
            behind = behind.next_op
    if not isinstance(behind, linalg.GenericOp) or not _elementwise(behind, value):
        return None
    if not op.results and behind.outputs[0] is not value and not _private(value, op, behind):
        return None
    return behind


def _touches(op: Operation, value: SSAValue) -> bool:
    whole = array_of(value)
    return any(array_of(operand) is whole for one in op.walk() for operand in one.operands)


def _elementwise(op: linalg.GenericOp, value: SSAValue) -> bool:
    """Whether each element of the output of `op` is made of that of `value` in its place alone."""
    if len(op.outputs) != 1 or any(kind.data != IteratorType.PARALLEL for kind in op.get_iterator_types()):
        return False
    try:
        read = set(names(body_of(op)))
    except NoMatchError:
        return False
    if len(read) != 1:
        return False
    number = int(next(iter(read)))
    maps = [attr.data for attr in op.get_indexing_maps()]
    kinds = {op.operands[number].type.element_type, op.outputs[0].type.element_type}  # type: ignore[attr-defined]
    shapes = {op.operands[number].type.get_shape(), op.outputs[0].type.get_shape()}  # type: ignore[attr-defined]
    same = maps[number] == maps[-1] and len(kinds) == 1 and len(shapes) == 1
    others = [one for at, one in enumerate(op.operands) if at != number and one is value]
    return same and op.operands[number] is value and all(one is op.outputs[0] for one in others)


def _private(value: SSAValue, first: Operation, last: linalg.GenericOp) -> bool:
    """Whether `value` is an array of the function's own that nobody reads but `last`, whose output nothing
    touches from the fill of `value` on."""
    if not isinstance(value.owner, memref.AllocOp):
        return False
    found = constant_fill(first, value)
    begin: Operation | None = found[0] if found is not None else first
    users = {use.operation for use in value.uses} - {first, last, begin}
    if any(not isinstance(user, memref.DeallocOp) for user in users):
        return False
    while begin is not None and begin is not last:
        if _touches(begin, last.outputs[0]):
            return False
        begin = begin.next_op
    return begin is last
