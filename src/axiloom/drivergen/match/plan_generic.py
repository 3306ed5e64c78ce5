"""How an accelerator is used for a kernel that is data: the tile, the settings, and what the result begins
with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.linalg import ops as linalg
from xdsl.rewriter import Rewriter

from axiloom import isa
from axiloom.drivergen.dialects.mlir import fail
from axiloom.drivergen.dialects.views import constant_fill, zero_fill
from axiloom.drivergen.match.in_place import applied
from axiloom.drivergen.match.matmul import Match, terms
from axiloom.isa import AcceleratorSpec
from axiloom.isa.kernels.language.kernel import WINDOW, Kernel
from axiloom.isa.numerics import Numerics

COPIED_DIMS = 3
"""Of a tile, at most: the runtime copies planes of lines of elements."""


def settings_of(op: linalg.GenericOp, spec: AcceleratorSpec, found: Mapping[str, int]) -> dict[str, int]:
    """Strides and dilations of `op`, which the device must be able to take."""
    reset = {setting.name: setting.reset for setting in spec.settings}
    for name, value in found.items():
        if value != reset[name] and not spec.sets(name):
            what = f"{name} is {value}, and no opcode sets {name}, which is {reset[name]}"
            fail(op, f"{spec.name} cannot execute it: {what}")
    return dict(found)


def tile_of(
    op: linalg.GenericOp,
    spec: AcceleratorSpec,
    problem: Mapping[str, int],
    match: Match,
    given: Sequence[int] | None,
) -> tuple[int, ...]:
    """The tile of an op that is the kernel by `match`: the one that is `given`, or the accelerator's own,
    smaller where it must be."""
    kernel, settings = spec.form.computes, match.settings
    assert kernel is not None
    units = spec.tile.granule or spec.tile.size
    for dim, unit in zip(spec.dims, units, strict=True):
        if problem[dim] % unit:
            what = f"{dim} is {problem[dim]}, and it takes multiples of {unit} only"
            fail(op, f"{spec.name} cannot execute it: {what}")
    tile = tuple(given) if given is not None else _default(spec, kernel, problem)
    for dim, size in zip(spec.dims, tile, strict=True):
        if dim not in spec.form.loops and size != problem[dim]:
            fail(
                op,
                f"{spec.name} cannot execute it: a tile has the whole of {dim}, {problem[dim]}, not {size}",
            )
    if given is None and spec.tile.flexible:
        tile = _copyable(op, spec, match, _fitting(spec, tile, settings))
        tile = _whole(op, spec, tile, problem)
    for dim, size in zip(spec.dims, tile, strict=True):
        if dim in whole_dims(op, spec) and problem[dim] % size:
            what = (
                f"tiles of {size} do not divide the {problem[dim]} of {dim}, and the host cannot join results"
            )
            fail(op, f"{spec.name} cannot execute it: {what}")
    if faults := isa.check_tile(spec, tile, settings=settings):
        fail(op, f"{spec.name} cannot execute it: {'; '.join(faults)}")
    return tile


def _default(spec: AcceleratorSpec, kernel: Kernel, problem: Mapping[str, int]) -> tuple[int, ...]:
    if not spec.tile.flexible:
        return spec.tile.size
    sizes = zip(spec.dims, spec.tile.size, strict=True)
    return tuple(problem[d] if kernel.iterators[d] == WINDOW else min(size, problem[d]) for d, size in sizes)


def _fitting(spec: AcceleratorSpec, tile: tuple[int, ...], settings: Mapping[str, int]) -> tuple[int, ...]:
    """`tile`, its largest loop halved until it fits the buffers; as it is where that does not help."""
    units = dict(zip(spec.dims, spec.tile.granule or tile, strict=True))
    now = dict(zip(spec.dims, tile, strict=True))
    while isa.check_tile(spec, tuple(now.values()), settings=settings):
        open_ = [dim for dim in spec.form.loops if now[dim] > units[dim]]
        if not open_:
            return tile
        largest = max(open_, key=lambda dim: now[dim])
        now[largest] = max(units[largest], now[largest] // 2 // units[largest] * units[largest])
    return tuple(now.values())


def _copyable(
    op: linalg.GenericOp,
    spec: AcceleratorSpec,
    match: Match,
    tile: tuple[int, ...],
) -> tuple[int, ...]:
    """`tile` with its smallest sizes made one granule where an operand's tile has too many dims to copy."""
    units = dict(zip(spec.dims, spec.tile.granule or tile, strict=True))
    now = dict(zip(spec.dims, tile, strict=True))
    for number, operand in enumerate(match.operands):
        if operand not in spec.data:  # a window's size, which does not travel
            continue
        strides = _strides(op, spec, match, number)
        while _copied(spec.operand_shape(operand, tuple(now.values()), match.settings), strides):
            open_ = [loop for loop in spec.form.moved[operand] if now[loop] > units[loop]]
            if not open_:
                break  # the copy says so
            least = min(open_, key=lambda loop: now[loop])
            now[least] = units[least]
    return tuple(now.values())


def _strides(op: linalg.GenericOp, spec: AcceleratorSpec, found: Match, number: int) -> list[int | None]:
    """Of an operand's dims on the device: elements in the host's array from one index to the next."""
    kernel, kind = spec.form.computes, op.operands[number].type
    assert kernel is not None
    assert isinstance(kind, MemRefType)
    strides, steps = kind.get_strides(), {}
    for at, expression in enumerate(op.indexing_maps.data[number].data.results):
        factors = {found.dims[loop]: factor for loop, factor in terms(expression).items()}
        stride = strides[at] if strides else None
        steps[frozenset(factors)] = stride, factors
    result: list[int | None] = []
    for index in kernel.maps[found.operands[number]].values():
        stride, factors = steps[frozenset(index.terms)]
        step = factors[index.plain] if index.plain else 1
        result.append(None if stride is None else stride * step)
    return result


def _copied(shape: Sequence[int], strides: Sequence[int | None]) -> bool:
    """Whether a copy of a tile goes over more dims than the runtime has: those that follow each other are
    one."""
    count, inner = 0, None
    for size, stride in reversed([*zip(shape, strides, strict=True)]):
        if size == 1:
            continue
        count += inner is None or stride is None or stride != inner
        inner = None if stride is None else size * stride
    return count > COPIED_DIMS


def whole_dims(op: linalg.GenericOp, spec: AcceleratorSpec) -> tuple[str, ...]:
    """Loops that are reduced over where the host cannot join results: one piece has all of them."""
    kernel = spec.form.computes
    assert kernel is not None
    if spec.form.adds_up and not applied(op):
        return ()
    return tuple(dim for dim in kernel.reductions if dim in spec.form.loops)


def _whole(
    op: linalg.GenericOp, spec: AcceleratorSpec, tile: tuple[int, ...], problem: Mapping[str, int]
) -> tuple[int, ...]:
    """`tile` with sizes that divide the problem in those loops."""
    units = spec.tile.granule or tile
    now = list(tile)
    for at, (dim, unit) in enumerate(zip(spec.dims, units, strict=True)):
        if dim in whole_dims(op, spec):
            now[at] = next(n for n in range(now[at], 0, -unit) if problem[dim] % n == 0)
    return tuple(now)


def take_over_start(op: linalg.GenericOp, spec: AcceleratorSpec) -> bool:
    """Whether results take the place of what was there; the fill that they begin with goes.

    Where the device joins results by another operation than a sum, the host cannot join them: the output
    must begin with what changes nothing, and results come whole.
    """
    form = spec.form
    if form.overwrites:
        return True
    if form.adds_up and not applied(op):
        return False
    if form.adds_up:  # what is done to sums in place is done to all of them: they come back whole
        fill = zero_fill(op, op.outputs[0])
        if fill is None:
            fail(op, f"{spec.name} cannot execute it: its sums do not start from 0")
        Rewriter.erase_op(fill)
        return True
    assert form.computes is not None
    combine = form.computes.combine
    start = constant_fill(op, op.outputs[0])
    neutral = _neutral(combine, spec.operand_type(form.output))
    if start is None or not neutral.among(start[1]):
        begins = "what is not known" if start is None else str(start[1])
        what = f"its output begins with {begins}; the device's begins with what `{combine}` leaves as it is"
        fail(op, f"{spec.name} cannot execute it: {what}: fill it with {neutral.value:.17g}")
    Rewriter.erase_op(start[0])
    return True


class _Neutral(NamedTuple):
    """What an operation leaves everything as it is with, and whether a number is that or beyond."""

    value: float
    among: Callable[[float], bool]


def _neutral(combine: str | None, kind: Numerics) -> _Neutral:
    lowest, highest = float(kind.real(kind.lowest)), float(kind.real(kind.highest))
    if combine == "max":
        return _Neutral(lowest, lambda value: value <= lowest)
    if combine == "min":
        return _Neutral(highest, lambda value: value >= highest)
    return _Neutral(1, lambda value: value == 1)
