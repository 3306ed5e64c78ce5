"""Random nests of a product, and a nest unrolled: what the tests of this room are held against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

from hypothesis import strategies as st

from axiloom.plan import Command, Level, Num, Plan, Receive, Region, Send, Span, Words
from axiloom.plan.numbers import ceil_div

Order = Sequence[str]
Sizes = dict[str, int]
Heads = tuple[int, int]
ARRAYS = {"A": "mk", "B": "kn", "C": "mn"}
SIZES = st.fixed_dictionaries({dim: st.integers(1, 96) for dim in "mnk"})
TILES = st.fixed_dictionaries({dim: st.integers(1, 24) for dim in "mnk"})
ORDERS = st.sampled_from(list(permutations("mnk")))


def product(order: Order, sizes: Sizes, tile: Mapping[str, Num], heads: Heads) -> Plan:
    """Load A, load B, compute; C comes back in its own loops. `heads`: words in front of the tiles."""
    trips = {dim: ceil_div(sizes[dim], tile[dim]) for dim in order}

    def moved(array: str) -> tuple[Num, Region]:
        rows, cols = ARRAYS[array]
        along = Span(tile[cols], sizes[cols], ((cols, tile[cols]),), 1)
        down = Span(tile[rows], sizes[rows], ((rows, tile[rows]),), sizes[cols])
        return tile[rows] * tile[cols], Region(array, (down, along), (0, 1), 32)

    loads = [
        Command(f"s{array}", (Words(head), Send(*moved(array))), loads=True)
        for array, head in zip("AB", heads, strict=True)
    ]
    back = Command("cC", (Words(1), Receive(*moved("C"))))
    levels = [Level(dim, trips[dim]) for dim in order]
    if order[-1] == "k":
        levels[-1] = replace(levels[-1], pre=(*loads, Command("c", (Words(1),))))
        levels[-2] = replace(levels[-2], post=(back,))
    else:
        levels[-1] = replace(levels[-1], pre=(*loads, back))
    return Plan.of(levels)


@st.composite
def nests(draw: st.DrawFn) -> Plan:
    """Up to four loops; in front of the loop inside each and behind it, tiles that some of them move."""
    depth = draw(st.integers(1, 4))
    names = "abcd"[:depth]

    def command(number: int, where: str, index: int) -> Command:
        moved = draw(st.sets(st.sampled_from(names[: number + 1])))
        words = draw(st.integers(1, 9))
        span = Span(words, 99, tuple((name, words) for name in sorted(moved)), 1)
        region = Region(f"{names[number]}{where}{index}", (span,), (0,), 32)
        return Command(f"s{region.array}", (Words(1), Send(words, region)))

    def commands(number: int, where: str, least: int) -> tuple[Command, ...]:
        return tuple(command(number, where, index) for index in range(draw(st.integers(least, 2))))

    return Plan.of(
        [
            Level(
                name,
                draw(st.integers(1, 5)),
                commands(number, "pre", number == depth - 1),
                commands(number, "post", 0) if number < depth - 1 else (),
            )
            for number, name in enumerate(names)
        ]
    )


def unrolled(plan: Plan) -> Iterator[tuple[Command, tuple[int, ...]]]:
    """Each command of one plan with the iterations of the loops around it."""

    def walk(level: int, at: tuple[int, ...]) -> Iterator[tuple[Command, tuple[int, ...]]]:
        if level == len(plan.levels):
            return
        for i in range(plan.levels[level].trips):
            yield from ((command, (*at, i)) for command in plan.levels[level].pre)
            yield from walk(level + 1, (*at, i))
            yield from ((command, (*at, i)) for command in plan.levels[level].post)

    return walk(0, ())


def begins(plan: Plan, command: Command, at: Sequence[int]) -> dict[object, tuple[int, ...]]:
    """Where its tiles begin, by array."""
    now = {level.name: i for level, i in zip(plan.levels, at, strict=False)}
    regions = [move.region for move in command.moves if isinstance(move, Send | Receive)]
    return {
        region.array: tuple(sum(now[name] * step for name, step in span.loops) for span in region.spans)
        for region in regions
    }
