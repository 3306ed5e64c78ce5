"""Which ops behind an op are kernels that an accelerator applies to its result in place?

An array may be the DMA's own for a while. Tiles that share cache lines are written in place while nobody
else touches the array. The lines of a tile, rounded outward, leave the caches before and after the tile.
The two ends of the array are cleaned once. For large arrays the driver empties both caches, which is
faster than a clean of each line by its address.

Caches are cleaned and emptied as a whole from 128 KiB on. By address a line costs a Cortex-A9 about 28
cycles, before and after a transfer: for the 400 KB of a layer's result 2.5 times what the layer takes. L1
by set and way is some 10,000 cycles. The model charges the PL310 for the dirty lines of its ways only. If
it took two cycles more for each of its 16,384 lines, both caches would still be emptied in the time of
1,600 lines, 50 KB. So the bound is 128 KiB, where it was the size of L2. Other hosts maintain by address:
their rows overlap with the device's work. To write results back while the CPU waits for the next tile was
tried for 512^3, as the end of the program cleans 16,000 lines: the waits are too short, 13 looks each, as
the CPU adds tile after tile.

From 64 KiB on was tried: the layer ``14_256_1_512_2``, whose result has 98 KiB, takes 2 % longer, as its
lines are dropped while the device works.

Drivers are made for the CPU's cache line. If a Cortex-A9 used lines of 64 bytes too, some of its results
could no longer be written in place. If a driver for lines of 32 bytes breaks a line of 64, it ends with
``DMA_ERR_ALIGNMENT``.
"""

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
    attribute = op.attributes.get(IN_PLACE)
    if not isinstance(attribute, ArrayAttr):
        return ()
    return tuple(name.data for name in attribute if isinstance(name, StringAttr))


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
    start = constant_fill(op, op.outputs[0])
    return start is not None and start[1] == 0


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
    return any(array_of(operand) is whole for inner in op.walk() for operand in inner.operands)


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
    others = [operand for at, operand in enumerate(op.operands) if at != number and operand is value]
    return same and op.operands[number] is value and all(operand is op.outputs[0] for operand in others)


def _private(value: SSAValue, first: Operation, last: linalg.GenericOp) -> bool:
    """Whether `value` is an array of the function's own that nobody reads but `last`, whose output nothing
    touches from the fill of `value` on."""
    if not isinstance(value.owner, memref.AllocOp):
        return False
    fill = constant_fill(first, value)
    begin: Operation | None = fill[0] if fill is not None else first
    users = {use.operation for use in value.uses} - {first, last, begin}
    if any(not isinstance(user, memref.DeallocOp) for user in users):
        return False
    while begin is not None and begin is not last:
        if _touches(begin, last.outputs[0]):
            return False
        begin = begin.next_op
    return begin is last
