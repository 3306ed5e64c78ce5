"""partition, storage, stream: where arrays are kept. None of them changes the order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from axiloom.hw.nest.circuit import Storage
from axiloom.nests.program import Array, Role, loads
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.loops import unknown
from axiloom.nests.schedule.primitives.check import positive, whole
from axiloom.nests.schedule.registry import primitive
from axiloom.nests.schedule.schedule import Cyclic, Hyperplane, Layout, Schedule


@primitive
def partition(schedule: Schedule, array: str, kind: str, *numbers: int) -> Schedule:
    """Banks of an array.

    ``cyclic 1 16`` and ``block 4 1``: a factor for each dimension; a factor of 1 leaves it whole.
    ``complete 0 1``: each index of these dimensions has a bank; without numbers, of all.
    ``hyperplane 32 1 1``: 32 banks, element (x, y) in bank (1*x + 1*y) mod 32.
    """
    what = " ".join(["partition", array, kind, *map(str, numbers)])
    original = array_of(schedule, array)
    for number in numbers:
        whole(number, what, "each of these")
    makers: dict[str, Callable[[Array, tuple[int, ...], str], Cyclic | Hyperplane]]
    makers = {"cyclic": _cyclic, "block": _block, "complete": _complete, "hyperplane": _hyperplane}
    if kind not in makers:
        raise ScheduleError(f"{what}: {unknown('kind', kind, list(makers))}")
    banks = makers[kind](original, numbers, what)
    return _laid(schedule, array, replace(schedule.layouts.get(array, Layout()), partition=banks))


@primitive
def storage(schedule: Schedule, array: str, kind: str, ports: int = 1) -> Schedule:
    """What an array is kept in (block, distributed, registers), and how many reads a cycle a bank takes."""
    what = f"storage {array} {kind} {ports}"
    array_of(schedule, array)
    positive(ports, what, "the number of ports")
    names = [choice.value for choice in Storage]
    if kind not in names:
        raise ScheduleError(f"{what}: {unknown('kind', kind, names)}")
    layout = replace(schedule.layouts.get(array, Layout()), storage=Storage(kind), ports=ports)
    return _laid(schedule, array, layout)


@primitive
def stream(schedule: Schedule, array: str) -> Schedule:
    """The array passes from the nest that writes it to the one that reads it through a FIFO."""
    what = f"stream {array}"
    if array_of(schedule, array).role is Role.LOCAL:
        _one_each_side(schedule, array, what)
    return replace(schedule, streams=schedule.streams | {array})


def array_of(schedule: Schedule, name: str) -> Array:
    for array in schedule.program.arrays:
        if array.name == name:
            return array
    raise ScheduleError(unknown("array", name, [array.name for array in schedule.program.arrays]))


def _laid(schedule: Schedule, array: str, layout: Layout) -> Schedule:
    return replace(schedule, layouts={**schedule.layouts, array: layout})


def _factors(array: Array, numbers: tuple[int, ...], what: str) -> tuple[int, ...]:
    if len(numbers) != len(array.shape):
        raise ScheduleError(f"{what}: {array.name} has {len(array.shape)} dimensions: give a factor for each")
    for factor, extent in zip(numbers, array.shape, strict=True):
        if not 1 <= factor <= extent:
            raise ScheduleError(f"{what}: a factor is from 1 to the extent {extent}, not {factor}")
    return numbers


def _cyclic(array: Array, numbers: tuple[int, ...], what: str) -> Cyclic:
    return Cyclic(_factors(array, numbers, what))


def _block(array: Array, numbers: tuple[int, ...], what: str) -> Cyclic:
    factors = _factors(array, numbers, what)
    return Cyclic(factors, frozenset(k for k, factor in enumerate(factors) if factor > 1))


def _complete(array: Array, numbers: tuple[int, ...], what: str) -> Cyclic:
    whole_ones = numbers or tuple(range(len(array.shape)))
    for dim in whole_ones:
        if not 0 <= dim < len(array.shape):
            raise ScheduleError(f"{what}: {array.name} has dimensions 0 to {len(array.shape) - 1}, not {dim}")
    return Cyclic(tuple(extent if k in whole_ones else 1 for k, extent in enumerate(array.shape)))


def _hyperplane(array: Array, numbers: tuple[int, ...], what: str) -> Hyperplane:
    if len(numbers) != len(array.shape) + 1:
        raise ScheduleError(f"{what}: give the number of banks, then a coefficient for each dimension")
    return Hyperplane(numbers[1:], positive(numbers[0], what, "the number of banks"))


def _one_each_side(schedule: Schedule, array: str, what: str) -> None:
    writers = {int(e.order[0]) for e in schedule.statements if e.statement.target.array == array}
    readers = {
        int(e.order[0])
        for e in schedule.statements
        if any(load.array == array for load in loads(e.statement.value))
    }
    if len(writers) != 1 or len(readers) != 1 or not max(writers) < min(readers):
        raise ScheduleError(
            f"{what}: a stream has one nest that writes it and a later one that reads it, {array} is written "
            f"by nests {sorted(writers)} and read by nests {sorted(readers)}"
        )
