"""How a window lies along the dimensions of an array, and how it moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from axiloom.base.affine import Affine
from axiloom.nests.poly.sets import domain, function
from axiloom.nests.program import Load
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.loops import bounds
from axiloom.nests.schedule.schedule import Placed


@dataclass(frozen=True)
class Axis:
    """A dimension of the array: `base`, over the loops, is where the window begins; it holds `extent`
    elements, of which `step` are new in each iteration of `loop`. Without a loop all are new."""

    base: Affine
    extent: int
    around: Affine
    """The part of `base` that loops outside give."""
    reach: tuple[int, int]
    """The least and largest subscript that is ever read, but for `around`."""
    loop: str = ""
    step: int = 0
    first: int = 0
    last: int = 0

    @property
    def kept(self) -> int:
        return max(0, self.extent - self.step) if self.loop else 0

    @property
    def lead(self) -> int:
        """Iterations that fill it before the first one."""
        return -(-self.extent // self.step) - 1 if self.loop else 0

    @property
    def travel(self) -> int:
        """Elements that it passes over."""
        return self.extent + self.step * (self.last - self.first)

    def since_first(self) -> Affine:
        """How far the window has moved from its first place."""
        return (Affine.name(self.loop) - self.first) * self.step if self.loop else Affine.of(0)


def axis_of(
    placed: Placed, lanes: Sequence[str], loops: Sequence[str], uses: Sequence[Load], k: int, what: str
) -> Axis:
    """Dimension `k` of what the statement reads by `uses`: all that its unrolled `lanes` read in an iteration
    of the others. `loops` are those that the window moves with. Raises ScheduleError if subscripts differ in
    how they move."""
    bases = set()
    low, high = 0, -1
    ranges = {lane: limits for lane in lanes if (limits := bounds(placed, lane)) is not None}
    for number, use in enumerate(uses):
        form = use.subscripts[k]
        base = Affine.sum([(n, f) for n, f in form.terms if n not in lanes])
        least, most = (form - base).range(ranges)
        low, high = (least, most) if not number else (min(low, least), max(high, most))
        bases.add(base)
    if len(bases) != 1:
        raise ScheduleError(
            f"{what}: subscripts {' and '.join(sorted(map(str, bases)))} of dimension {k} move differently"
        )
    base = bases.pop()
    moving = [loop for loop in loops if base.coefficient(loop)]
    around = Affine.sum([(n, f) for n, f in base.terms if n not in loops], base.constant)
    values = [_values(placed, use.subscripts[k] - around) for use in uses]
    reach = min(least for least, _ in values), max(most for _, most in values)
    if not moving:
        return Axis(base + low, high - low + 1, around, reach)
    step = base.coefficient(moving[0])
    if len(moving) > 1 or step < 0:
        raise ScheduleError(f"{what}: subscript {base} of dimension {k} does not move forwards with one loop")
    limits = bounds(placed, moving[0])
    assert limits is not None
    return Axis(base + low, high - low + 1, around, reach, moving[0], step, *limits)


def _values(placed: Placed, form: Affine) -> tuple[int, int]:
    """The least and largest value of the form for the statement."""
    image = domain(placed.loops, placed.domain).apply(function(placed.loops, (form,)))
    return image.dim_min_val(0).to_python(), image.dim_max_val(0).to_python()
