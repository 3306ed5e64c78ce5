"""reuse: a window over an array that moves with the loops, so that an iteration reads what is new only.

The window is a local array of registers, from which the statement reads at fixed places. Each iteration
shifts it and reads one new column. With two loops the rows above come from line buffers: one element is new.
::

    for i, j:                                     A_w[r][c] = A_w[r][c + 1]             (c < C - 1)
      B[i][j] = A[i][j] + A[i + 1][j + 1]   ->    A_w[r][C - 1] = A_l[r][j + C - 1]     (r < R - 1)
                                                  A_w[R - 1][C - 1] = A[i + R - 1][j + C - 1]
                                                  A_l[r][j + C - 1] = A_w[r + 1][C - 1] (r < R - 1)
                                                  B[i][j] = A_w[0][0] + A_w[1][1]

The loops begin earlier than the statement's own domain by the iterations that fill window and lines: they
count from 0, and the statement is executed after those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import islpy as isl

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Storage
from axiloom.nests.poly.dependences import dependences
from axiloom.nests.poly.sets import conditions, domain
from axiloom.nests.program import Array, Load, Statement, loads
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.loops import depth_of, fresh, place_of, replaced, substituted, within
from axiloom.nests.schedule.primitives.axes import Axis, axis_of
from axiloom.nests.schedule.primitives.layout import array_of
from axiloom.nests.schedule.primitives.rebase import (
    in_loops,
    local,
    mapped,
    rebased,
    room_for,
    with_arrays,
    with_statements,
)
from axiloom.nests.schedule.registry import primitive
from axiloom.nests.schedule.schedule import Cyclic, Layout, Placed, Schedule

LONG = 128
"""Line buffers of more elements are block RAM."""


@primitive
def reuse(schedule: Schedule, array: str, statement: str, *loops: str) -> Schedule:
    """`statement` reads `array` through a window that moves with `loops`: the innermost one that is not
    unrolled, or that one and the one around it, for a window with line buffers.

    This changes the program: see the module. What is unrolled within the loops may move over the window
    (kernels), and make it move by several elements an iteration (lanes). Refused if a subscript does not move
    by a constant with each loop, or if the array is written in the loops.
    """
    what = " ".join(["reuse", array, statement, *loops])
    array_of(schedule, array)
    based = rebased(schedule)
    placed = place_of(based, statement)
    running = [loop for loop in placed.loops if loop not in schedule.unrolled]
    if not 1 <= len(loops) <= 2 or list(loops) != running[-len(loops) :]:
        raise ScheduleError(
            f"{what}: a window moves with the innermost loop that is not unrolled, or with the last two: "
            f"{' '.join(running[-2:])}"
        )
    inside = within(based, placed, depth_of(placed, loops[0]))
    for member in inside:
        if member.statement.target.array == array:
            raise ScheduleError(f"{what}: {member.statement.name} writes {array} within loop {loops[0]}")
    uses = [load for load in loads(placed.statement.value) if load.array == array]
    if not uses:
        raise ScheduleError(f"{what}: {statement} does not read {array}")
    window = _Window.of(based, placed, array_of(schedule, array), uses, loops, what)
    done = window.applied()
    _initialised(schedule, done, array, what)
    return done


def _initialised(before: Schedule, after: Schedule, array: str, what: str) -> None:
    """The window is a box: of an array of the program's own, all in it must have been written."""
    old = {statement.name for statement in before.program.statements}
    for read in dependences(after.program).live_in:
        if read.statement.name not in old and not after.program.array(read.array).role.is_given:
            at = read.elements.range().sample_point()
            count = at.get_space().dim(isl.dim_type.set)
            element = "".join(
                f"[{at.get_coordinate_val(isl.dim_type.set, k).to_python()}]" for k in range(count)
            )
            raise ScheduleError(
                f"{what}: the window would hold {read.array}{element}, which nothing has written: {array} is "
                f"written at the points that are read only, and these are no box"
            )


@dataclass(frozen=True)
class _Window:
    schedule: Schedule
    placed: Placed
    array: Array
    axes: tuple[Axis, ...]
    row: int | None
    column: int
    what: str

    @classmethod
    def of(
        cls, schedule: Schedule, placed: Placed, array: Array, uses: Sequence[Load], loops: Sequence[str],
        what: str,
    ) -> _Window:  # fmt: skip
        lanes = [loop for loop in placed.loops if loop in schedule.unrolled]
        axes = [axis_of(placed, lanes, loops, uses, k, what) for k in range(len(array.shape))]
        moving = {axis.loop: k for k, axis in enumerate(axes) if axis.loop}
        for loop in loops:
            if sum(axis.loop == loop for axis in axes) > 1:
                raise ScheduleError(f"{what}: several dimensions of {array.name} move with loop {loop}")
            if loop not in moving:
                raise ScheduleError(
                    f"{what}: {array.name} does not move with loop {loop}: nothing is new there"
                )
        row = moving[loops[0]] if len(loops) == 2 else None
        return cls(schedule, placed, array, tuple(axes), row, moving[loops[-1]], what)

    def applied(self) -> Schedule:
        """The schedule with the window."""
        name, number = self.array.name, self.array.number
        window = local(self.schedule, f"{name}_w", tuple(axis.extent for axis in self.axes), number)
        based = with_arrays(self.schedule, window)
        line = local(based, f"{name}_l", self._line_shape(), number)
        lined = self.row is not None and self.axes[self.row].kept > 0
        if lined:
            based = with_arrays(based, line)
        layouts = {**based.layouts, window.name: Layout(Cyclic(window.shape), Storage.REGISTERS)}
        if lined:
            layouts[line.name] = Layout(self._line_banks(line), _line_storage(line))
        depth = max(self.placed.loops.index(axis.loop) for axis in self.axes if axis.loop)
        prefix, static = self.placed.order[: 2 * depth + 2], int(self.placed.order[2 * depth + 2])
        steps = self._steps(window, line)
        roomy = room_for(based, prefix, static, len(steps))
        added, lanes = [], set(based.unrolled)
        for k, step in enumerate(steps):
            placed = step.placed(roomy, (*prefix, static + k), self._outside(depth))
            lanes |= set(placed.loops[depth + 1 :])
            added.append(placed)
        changed = self._reading(place_of(roomy, self.placed.statement.name), window)
        done = with_statements(replace(roomy, unrolled=frozenset(lanes)), [changed], added)
        return replace(self._from_zero(done), layouts=layouts)

    def _from_zero(self, schedule: Schedule) -> Schedule:
        """The loops count the iterations that fill the window too."""
        for axis in self.axes:
            if axis.loop:
                placed = place_of(schedule, self.placed.statement.name)
                inside = within(schedule, placed, depth_of(placed, axis.loop))
                value = {axis.loop: Affine.name(axis.loop) + (axis.first - axis.lead)}
                schedule = replaced(schedule, [substituted(member, value) for member in inside])
        return rebased(schedule)

    def _reading(self, placed: Placed, window: Array) -> Placed:
        def moved(load: Load) -> Load:
            if load.array != self.array.name:
                return load
            places = tuple(x - axis.base for x, axis in zip(load.subscripts, self.axes, strict=True))
            return Load(window.name, places, load.number)

        return replace(
            placed, statement=replace(placed.statement, value=mapped(placed.statement.value, moved))
        )

    def _line_shape(self) -> tuple[int, ...]:
        return tuple(
            max(1, axis.kept) if k == self.row else axis.travel if k == self.column else axis.extent
            for k, axis in enumerate(self.axes)
        )

    def _line_banks(self, line: Array) -> Cyclic:
        step = self.axes[self.column].step
        return Cyclic(tuple(min(step, n) if k == self.column else n for k, n in enumerate(line.shape)))

    def _outside(self, depth: int) -> tuple[Affine, ...]:
        """The domain of the loops around the statements of the window: earlier than the statement's own."""
        loops = self.placed.loops[: depth + 1]
        points = domain(self.placed.loops, self.placed.domain)
        inner = len(self.placed.loops) - depth - 1
        from_outside = points.project_out(isl.dim_type.set, depth + 1, inner)
        moving = {axis.loop: axis for axis in self.axes if axis.loop}
        forms: list[Affine] = []
        still = from_outside
        for k in reversed(range(depth + 1)):
            if loops[k] in moving:
                still = still.project_out(isl.dim_type.set, k, 1)
                axis = moving[loops[k]]
                value = Affine.name(loops[k])
                forms += [value - (axis.first - axis.lead), axis.last - value]
        parts = conditions(still.coalesce(), [loop for loop in loops if loop not in moving])
        if len(parts) != 1:
            raise ScheduleError(f"{self.what}: the loops around the window have no one range: {still}")
        return (*parts[0], *forms)

    def _steps(self, window: Array, line: Array) -> list[_Step]:
        """Shift, from the lines, new, into the lines; those that there are."""
        column = self.axes[self.column]
        everywhere = {k: (0, axis.extent) for k, axis in enumerate(self.axes)}
        entering = {**everywhere, self.column: (column.kept, column.extent)}
        ranges = {"shift": {**everywhere, self.column: (0, column.kept)}, "new": entering}
        if self.row is not None:
            row = self.axes[self.row]
            ranges["above"] = ranges["keep"] = {**entering, self.row: (0, row.kept)}
            ranges["new"] = {**entering, self.row: (row.kept, row.extent)}
        kinds = [kind for kind in ("shift", "above", "new", "keep") if kind in ranges]
        steps = [_Step(kind, self, ranges[kind], window, line) for kind in kinds]
        return [step for step in steps if all(high > low for low, high in step.ranges.values())]


@dataclass(frozen=True)
class _Step:
    """A statement over part of the window, unrolled. `ranges`: of places, by dimension."""

    kind: str
    of: _Window
    ranges: dict[int, tuple[int, int]]
    window: Array
    line: Array

    def placed(
        self, schedule: Schedule, prefix: tuple[int | str, ...], outside: tuple[Affine, ...]
    ) -> Placed:
        axes, column, row = self.of.axes, self.of.column, self.of.row
        loops = [part for part in prefix if isinstance(part, str)]
        names: list[str] = []
        order = list(prefix)
        at: list[Affine] = []
        forms = list(outside)
        for k in range(len(axes)):
            low, high = self.ranges[k]
            if high - low == 1:
                at.append(Affine.of(low))
                continue
            name = fresh(schedule, f"{self.window.name}{k}_{self.kind}", names)
            names.append(name)
            order += [name, 0]
            at.append(Affine.name(name) + low)
            forms += [Affine.name(name), high - low - 1 - Affine.name(name)]
        here = Load(self.window.name, tuple(at), self.window.number)
        held = at
        if self.kind == "shift":
            beside = tuple(x + axes[k].step if k == column else x for k, x in enumerate(at))
            target, value = here, Load(self.window.name, beside, here.number)
        elif self.kind == "above":
            target, value = here, Load(self.line.name, self._in_line(at), here.number)
        elif self.kind == "keep":
            held = [x + axes[k].step if k == row else x for k, x in enumerate(at)]
            target = Load(self.line.name, self._in_line(at), here.number)
            value = replace(here, subscripts=tuple(held))
        else:
            element = tuple(axis.base + place for axis, place in zip(axes, at, strict=True))
            target, value = here, Load(self.of.array.name, element, here.number)
        iterators = (*loops, *names)
        forms += _needed(iterators, forms, self._defined(held))
        statement = Statement(
            f"{self.window.name}_{self.kind}", iterators, tuple(dict.fromkeys(forms)), target, value,
            (), self.of.array.name,
        )  # fmt: skip
        return in_loops(statement, order)

    def _in_line(self, at: Sequence[Affine]) -> tuple[Affine, ...]:
        """Places of the window in the line buffers: these do not move."""
        column = self.of.column
        return tuple(x + self.of.axes[k].since_first() if k == column else x for k, x in enumerate(at))

    def _defined(self, at: Sequence[Affine]) -> list[Affine]:
        """Where the window has reached the element at this place, and the statement will read it."""
        forms = []
        for k, (axis, place) in enumerate(zip(self.of.axes, at, strict=True)):
            if k in (self.of.column, self.of.row):
                forms.append(axis.since_first() + place)
            element = axis.base - axis.around + place
            forms += [element - axis.reach[0], axis.reach[1] - element]
            # Loops outside may move the range of the loop (a skew): in an iteration that only some of them
            # have, the window stands beside the array.
            forms += [axis.base + place, self.of.array.shape[k] - 1 - (axis.base + place)]
        return forms


def _needed(names: tuple[str, ...], forms: Sequence[Affine], more: Sequence[Affine]) -> list[Affine]:
    """Those of `more` that do not follow from `forms`."""
    points = domain(names, tuple(forms))
    return [form for form in more if not points.is_subset(domain(names, (form,)))]


def _line_storage(line: Array) -> Storage:
    return Storage.BLOCK if line.shape[-1] > LONG else Storage.DISTRIBUTED
