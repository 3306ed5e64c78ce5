# amaranth: UnusedElaboratable=no
"""Forms, conditions and places as signals, against the same in Python at every point."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import pytest
from amaranth.hdl import Const, Module, Signal
from tests.hw.component_bench import simulate

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Condition, Piece, Place, Term
from axiloom.hw.nest.forms import Forms, digits, place_range, place_values, plain, reciprocal

RANGES = {"i": (0, 9), "j": (-3, 4), "k": (2, 2)}
i, j, k = (Affine.name(name) for name in "ijk")


@pytest.mark.parametrize("number", [0, 1, 2, 3, 7, 15, 100, 240, 255, -1, -7, -220, 12345])
def test_digits_are_the_number_and_few(number: int) -> None:
    found = digits(number)
    assert sum(sign << position for sign, position in found) == number
    assert len(found) <= (abs(number).bit_length() + 2) // 2
    positions = [position for _, position in found]
    assert all(after - before > 1 for before, after in pairwise(positions))


def test_reciprocals_divide_every_number() -> None:
    for divisor, largest in product([1, 2, 3, 5, 7, 10, 25, 220], [0, 1, 9, 100, 1023]):
        factor, shift = reciprocal(divisor, largest)
        assert all((x * factor) >> shift == x // divisor for x in range(largest + 1)), (divisor, largest)


FORMS = [i, i + j, 5 * i - 3 * j + 7, -i, j, 220 * i + 7 * j, i - i + 4, k * 3 + 1, -k, 2 * j - 9]
CONDITIONS: list[Condition] = [
    *[(), (i - 5,), (5 - i,), (i - j,), (i - 3, 7 - i), (i - 4, 4 - i), (2 * i - 5,), (5 - 2 * i,)],
    *[(3 * j + 4,), (-3 * j - 4,), (2 * i - 5, 5 - 2 * i), (i + j - 3, 3 - i - j, j), (i + 1,), (-i - 1,)],
    *[(k - 2, 2 - k), (k - 3, 3 - k), (i - j - 1, j - i + 1)],
]
PLACES: list[Place] = [
    (Term(i),),
    (Term(i, 3, 2),),
    (Term(i + 3 * k, 1, 1, 3), Term(3 * i, 4, 5, 2)),
    (Term(7 * i + j + 3, 5, 3, 7), Term(k)),
    (Term(i, 1, 20),),
    (Term(i, 2, 1, 4), Term(i, 1, 4)),
    (Term(Affine.of(5)),),
    (Term(i, -2), Term(Affine.of(18))),
]


def piecewise(point: dict[str, int]) -> int:
    return point["i"] if point["i"] > point["j"] else 2 * point["j"] - 1


PIECES = (Piece((i - j - 1,), i), Piece((j - i,), 2 * j - 1))


def test_values_at_every_point() -> None:
    m = Module()
    signals: dict[str, Any] = {
        name: Signal(range(low, high + 1), name=name) for name, (low, high) in RANGES.items()
    }
    forms = Forms(m, "form", signals, RANGES)
    expected: list[tuple[Any, Any]] = []
    for form in FORMS:
        expected.append((forms.form(form), form.value))
    for condition in CONDITIONS:
        expected.append(
            (forms.holds(condition), lambda at, c=condition: int(all(x.value(at) >= 0 for x in c)))
        )
    for place in PLACES:
        expected.append((forms.place(place), lambda at, p=place: sum(map(term_value, p, [at] * len(p)))))
    expected.append((forms.choose(PIECES), piecewise))

    async def bench(ctx: Any) -> None:
        for point in product(*(range(low, high + 1) for low, high in RANGES.values())):
            at = dict(zip(RANGES, point, strict=True))
            for name, value in at.items():
                ctx.set(signals[name], value)
            await ctx.delay(1e-9)
            for number, (value, meaning) in enumerate(expected):
                assert ctx.get(value) == meaning(at), (number, at)

    simulate(_ticking(m), bench)


def term_value(term: Term, at: dict[str, int]) -> int:
    value = term.value.value(at) // term.divisor
    return term.factor * (value % term.modulus if term.modulus else value)


def _ticking(m: Module) -> Module:
    """The simulator wants a clock that drives something."""
    beat = Signal()
    m.d.sync += beat.eq(~beat)
    return m


def test_equal_forms_are_one_signal_and_constants_none() -> None:
    m = Module()
    signals: dict[str, Any] = {name: Signal(8, name=name) for name in RANGES}
    forms = Forms(m, "form", signals, RANGES)
    assert forms.form(i + j) is forms.form(j + i)
    assert forms.form(i) is signals["i"]
    assert forms.holds((i - 4,)) is forms.holds((i - 4, i - 4))
    assert isinstance(forms.form(k + 5), Const)
    assert isinstance(forms.holds((i,)), Const)
    assert isinstance(forms.place((Term(i, 1, 16),)), Const)


def test_places_reach_what_they_reach() -> None:
    for place in PLACES:
        values = {
            sum(term_value(term, at) for term in place)
            for point in product(*(range(low, high + 1) for low, high in RANGES.values()))
            for at in [dict(zip(RANGES, point, strict=True))]
        }
        low, high = place_range(place, RANGES)
        assert low <= min(values)
        assert max(values) <= high
        assert values <= place_values(place, RANGES)
    assert place_values((Term(i, 16, 1, 2), Term(Affine.of(3))), RANGES) == {3, 19}
    assert place_values((Term(i * 8 + 3, 1, 1, 24),), {"i": (0, 9)}) == {3, 11, 19}


def test_names_are_plain() -> None:
    assert [plain(name) for name in ("A", "a__b", "x.y", "_p_", "fixed<8,4>")] == [
        "A",
        "a_b",
        "x_y",
        "p",
        "fixed_8_4",
    ]
