"""What may happen while words come in: the overlapped form of a schedule behind ports.

Each pair of nests is put into an order, by what they share:

- *none*: they share no element that one of them writes;
- *by blocks*: both have an outermost loop over as many blocks, and what they share lies in the same block or
  in an earlier one of the first nest: block b of the second nest waits for block b of the first;
- *whole*: the second nest begins when the first one has ended.

An array that has rows and is used in blocks only comes in blocks. With an outermost loop g of its nests,
block b are the rows that g = b uses: as many of each, none twice; the last block may be shorter. Its memory
then holds some blocks and not the whole array (a fold), and the copy of block b + `copies` waits for the last
user of block b. Results go in blocks too, if all of them can.

What g = 0 needs row by row and every g needs again (B of a product of matrices, by the loop of its sum) comes
between the first blocks, in groups of rows, and stays: g = 0 takes a group when it is there.

The order of the stream follows: what is needed whole first, then blocks in turn, and the groups in the first
turn. As row-wise kernels then work at the pace of the port: atax takes rows of A as they arrive, 10 of them
in flight so that a sum in its order needs no reassociation, and the next nest reads the rows from the same
memory. Products of matrices are limited by their multipliers then: what comes in before the first product and
what goes out after the last is a block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import combinations

import islpy as isl

from axiloom.base.affine import Affine
from axiloom.nests.poly import sets
from axiloom.nests.program import Array, Load, Role, loads
from axiloom.nests.schedule import Layout, Nest, Placed, Schedule

COPIES = 3
"""Blocks of an array that are there at once: one comes in, two nests work on one each."""
TURNS = 2
"""Blocks of an array that comes and goes, each in banks of its own: one is worked on; another comes when the
one before it has gone."""


class Wait(Enum):
    NONE = "none"
    BLOCKS = "by blocks"
    WHOLE = "whole"


@dataclass(frozen=True)
class Overlap:
    """`waits`: by the numbers of two nests, the earlier one first. `blocks`: rows of a block, by array.
    `groups`: rows of a group, and the loop whose iterations need one each, by array. `readers`: the nests
    that touch an array that is given; `first`: these arrays in the order of their first use. `sets`: arrays
    whose blocks come in turn, with their groups; one set comes after the other. `results`: those that go in
    blocks; all or none. `private`: arrays within one nest each block of which lives in one block of the
    nest."""

    waits: Mapping[tuple[int, int], Wait]
    blocks: Mapping[str, int]
    groups: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    readers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    first: tuple[str, ...] = ()
    sets: tuple[tuple[str, ...], ...] = ()
    results: tuple[str, ...] = ()
    private: Mapping[str, int] = field(default_factory=dict)

    def copies(self, array: Array, most: int) -> int:
        """Blocks of an array that there is room for."""
        if array.role.is_result:
            return TURNS
        return most if 2 * most * self.blocks[array.name] <= array.shape[0] else min(most, 2)

    def at_once(self, nests: tuple[int, ...]) -> int:
        """How many of `nests` may run at the same time, at most."""
        best = 1
        for size in range(2, len(nests) + 1):
            if any(
                all(self.waits[pair] is not Wait.WHOLE for pair in combinations(some, 2))
                for some in combinations(nests, size)
            ):
                best = size
        return best


def overlap(schedule: Schedule) -> Overlap:
    """What the nests of `schedule`, which is without ports, share."""
    nests, arrays = schedule.nests, schedule.program.arrays
    waits = {(a.number, b.number): _wait(a, b) for a, b in combinations(nests, 2)}
    users = {
        array.name: [
            nest for nest in nests if any(access.array == array.name for access, _, _ in _accesses(nest))
        ]
        for array in arrays
    }
    in_blocks = {array.name: size for array in arrays if (size := _blocks(array, users[array.name], waits))}
    results = tuple(array.name for array in arrays if array.role.is_result)
    if (
        any(name not in in_blocks for name in results)
        or len({_count(schedule, in_blocks, x) for x in results}) > 1
    ):
        in_blocks = {name: size for name, size in in_blocks.items() if name not in results}
        results = ()
    local = [array.name for array in arrays if array.role is Role.LOCAL and array.name in in_blocks]
    private = {name: in_blocks.pop(name) for name in local}
    readers = {
        array.name: tuple(nest.number for nest in users[array.name])
        for array in arrays
        if array.role.is_given
    }
    groups: dict[str, tuple[int, str]] = {}
    for name, numbers in readers.items():
        array = schedule.program.array(name)
        if len(numbers) == 1 and array.role is Role.IN and len(array.shape) > 1 and name not in in_blocks:
            beside = any(numbers[0] in readers.get(other, ()) for other in in_blocks)
            group = _groups(users[name][0], name, array.shape[0]) if beside else None
            if group is not None:
                groups[name] = group
    uses = {name: _first_use(nests, name, name in groups) for name in readers}
    first = tuple(sorted(readers, key=lambda name: uses[name]))
    sets: list[tuple[str, ...]] = []
    for name in first:
        if name in in_blocks:
            if sets and _in_turn(schedule, in_blocks, waits, readers, name, sets[-1]):
                sets[-1] = (*sets[-1], name)
            else:
                sets.append((name,))
    sets = [
        tuple(name for name in first if name in names or (name in groups and _together(readers, name, names)))
        for names in sets
    ]
    return Overlap(waits, in_blocks, groups, readers, first, tuple(sets), results, private)


def _blocks(array: Array, users: Sequence[Nest], waits: Mapping[tuple[int, int], Wait]) -> int | None:
    """Rows of a block of `array`, if it is used in blocks: what more than one nest uses is only given, and no
    nest waits for all of another one."""
    if len(array.shape) < 2 or not users or (len(users) > 1 and array.role is not Role.IN):
        return None
    if any(waits[a.number, b.number] is Wait.WHOLE for a, b in combinations(users, 2)):
        return None
    sizes = {_rows(nest, array.name) for nest in users}
    size = sizes.pop() if len(sizes) == 1 else None
    count = -(-array.shape[0] // size) if size else 0
    return size if count > 1 and all(_blocks_of(nest) == count for nest in users) else None


def _count(schedule: Schedule, blocks: Mapping[str, int], array: str) -> int:
    return -(-schedule.program.array(array).shape[0] // blocks[array])


def _in_turn(
    schedule: Schedule,
    blocks: Mapping[str, int],
    waits: Mapping[tuple[int, int], Wait],
    readers: Mapping[str, tuple[int, ...]],
    array: str,
    others: Sequence[str],
) -> bool:
    """Whether blocks of `array` may come between those of `others`: there are as many, and no nest that takes
    them has to wait for all of another."""
    if _count(schedule, blocks, array) != _count(schedule, blocks, others[0]):
        return False
    for reader in readers[array]:
        for other in (number for name in others for number in readers[name]):
            pair = (min(reader, other), max(reader, other))
            if reader != other and (
                waits[pair] is Wait.WHOLE or any(set(pair) <= mates for mates in schedule.shared)
            ):
                return False
    return True


def _together(readers: Mapping[str, tuple[int, ...]], array: str, blocks: Sequence[str]) -> bool:
    return any(set(readers[array]) & set(readers[other]) for other in blocks)


def _first_use(nests: Sequence[Nest], array: str, is_group: bool) -> tuple[int, int, bool]:
    """Nest, statement in it, and groups behind blocks."""
    for nest in nests:
        ordered = sorted(nest.statements, key=lambda placed: tuple(map(int, placed.order[::2])))
        for position, placed in enumerate(ordered):
            if any(
                access.array == array for access in (placed.statement.target, *loads(placed.statement.value))
            ):
                return nest.number, position, is_group
    return 1 << 30, 0, is_group


def with_reads(schedule: Schedule, overlap: Overlap) -> Schedule:
    """`schedule` whose memories have a read port for each nest that may read them at the same time."""
    layouts = dict(schedule.layouts)
    for array in schedule.program.arrays:
        readers = tuple(
            nest.number
            for nest in schedule.nests
            if any(access.array == array.name and not store for access, store, _ in _accesses(nest))
        )
        ports = overlap.at_once(readers) if readers else 1
        if ports > 1:
            layout = layouts.get(array.name, Layout())
            layouts[array.name] = replace(layout, ports=max(layout.ports, ports))
    return replace(schedule, layouts=layouts)


def _accesses(nest: Nest) -> Iterator[tuple[Load, bool, Placed]]:
    """Each access, whether it is a store, and its statement."""
    for statement in nest.statements:
        yield statement.statement.target, True, statement
        for load in loads(statement.statement.value):
            yield load, False, statement


def _rows(nest: Nest, array: str) -> int | None:
    """Rows of `array` in a block, if each iteration of the outermost loop uses rows of its own."""
    sizes: set[int] = set()
    for access, _, placed in _accesses(nest):
        if access.array != array:
            continue
        if not placed.loops:
            return None
        outer = placed.loops[0]
        row = placed.subscripts(access.subscripts)[0]
        size = row.coefficient(outer)
        rest = row - Affine.name(outer) * size
        low, high = _range(placed, rest)
        if size < 1 or low < 0 or high >= size:
            return None
        sizes.add(size)
    return sizes.pop() if len(sizes) == 1 else None


def _groups(nest: Nest, array: str, rows: int) -> tuple[int, str] | None:
    """Of the `rows` of `array` those in a group and the loop, if each iteration of the second loop reads rows
    of its own, whatever the first one's, and the first of the first loop's iterations all of them."""
    groups: set[tuple[int, str]] = set()
    for access, is_store, placed in _accesses(nest):
        if access.array != array:
            continue
        if is_store or len(placed.loops) < 2:
            return None
        outer, second = placed.loops[:2]
        row = placed.subscripts(access.subscripts)[0]
        size = row.coefficient(second)
        low, high = _range(placed, row - Affine.name(second) * size)
        if row.coefficient(outer) or size < 1 or low < 0 or high >= size:
            return None
        points = sets.domain(placed.loops, placed.domain).fix_val(isl.dim_type.set, 0, 0)
        taken = points.project_out(isl.dim_type.set, 2, len(placed.loops) - 2)
        if not taken.is_equal(isl.Set(f"{{ [0, k] : 0 <= k < {-(-rows // size)} }}")):
            return None
        groups.add((size, second))
    return groups.pop() if len(groups) == 1 else None


def _range(placed: Placed, form: Affine) -> tuple[int, int]:
    """Least and largest value of `form` in the domain."""
    names = placed.loops
    values = sets.domain(names, placed.domain).apply(sets.function(names, (form,)))
    return values.dim_min_val(0).to_python(), values.dim_max_val(0).to_python()


def _blocks_of(nest: Nest) -> int | None:
    """Iterations of the outermost loop, if all statements have it, it begins with 0 and has the same ones."""
    ends = set()
    for statement in nest.statements:
        if not statement.loops:
            return None
        ends.add(_range(statement, Affine.name(statement.loops[0])))
    if len(ends) != 1:
        return None
    ((low, high),) = ends
    return high + 1 if low == 0 else None


def _wait(first: Nest, then: Nest) -> Wait:
    """How `then`, the later one, waits for `first`."""
    blocks = _blocks_of(first) == _blocks_of(then) is not None
    wait = Wait.NONE
    for access, stores, a in _accesses(first):
        for other, writes, b in _accesses(then):
            if access.array != other.array or not (stores or writes):
                continue
            shared = _shared(a, access, b, other)
            if shared.is_empty():
                continue
            if not blocks:
                return Wait.WHOLE
            wait = Wait.BLOCKS
            # Names of loops may be the same in both: the second's come behind the first's.
            if not shared.intersect(_later(len(a.loops), len(b.loops))).is_empty():
                return Wait.WHOLE
    return wait


def _shared(a: Placed, load: Load, b: Placed, other: Load) -> isl.Set:
    """Instances of a and b, by their loops, that access the same element."""
    places = [
        sets.function(placed.loops, placed.subscripts(access.subscripts)).intersect_domain(
            sets.domain(placed.loops, placed.domain)
        )
        for placed, access in ((a, load), (b, other))
    ]
    return places[0].apply_range(places[1].reverse()).wrap().flatten()


def _later(first: int, then: int) -> isl.Set:
    """The first of `first` numbers is larger than the first of the `then` that follow."""
    names = [f"a{i}" for i in range(first)] + [f"b{i}" for i in range(then)]
    return isl.Set(f"{{ [{', '.join(names)}] : a0 > b0 }}")
