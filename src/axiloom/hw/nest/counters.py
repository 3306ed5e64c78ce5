"""The counters of a pipe: from one iteration to the next, with bounds that counters further out decide."""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from axiloom.hw.nest.circuit import Counter, Piece
from axiloom.hw.nest.forms import Forms, Range, plain


def first_values(counters: tuple[Counter, ...]) -> dict[str, int]:
    """The counters in the first iteration."""
    values: dict[str, int] = {}
    for counter in counters:
        values[counter.name] = _value(counter.lower, values)
    return values


def _value(pieces: tuple[Piece, ...], at: Mapping[str, int]) -> int:
    return next(piece.value.value(at) for piece in pieces if all(form.value(at) >= 0 for form in piece.when))


class Counters:
    """`values` are signals by name, in the cycle of the issue; `ended` is high in the last iteration.

    They go on after a cycle with `advance`, and to the first iteration after one with `start`.
    """

    def __init__(
        self, m: Module, name: str, counters: tuple[Counter, ...], start: Value, advance: Value
    ) -> None:
        self.ranges: dict[str, Range] = {counter.name: counter.range for counter in counters}
        self.values: dict[str, Value] = {}
        for counter in counters:
            low, high = counter.range
            shape = range(low, high + 1) if (low, high) != (0, 0) else 1
            self.values[counter.name] = Signal(shape, name=f"{name}_{plain(counter.name)}", reset_less=True)
        self.forms = Forms(m, f"{name}_form", self.values, self.ranges)
        """Over the iteration that is issued."""
        after: dict[str, Value] = {}
        outer = Forms(m, f"{name}_next", after, self.ranges)  # over the one after it
        first = first_values(counters)
        lasts = [self._last(m, name, counter) for counter in counters]
        self.ended: Value = Cat(*lasts).all() if lasts else Const(1, 1)
        for position, current in enumerate(counters):
            value = self.values[current.name]
            steps: Value = Cat(*lasts[position + 1 :]).all() if position + 1 < len(counters) else Const(1, 1)
            then = Mux(lasts[position], outer.choose(current.lower), value + 1)
            if self._is_read_by(current.name, counters[position + 1 :]):
                coming = Signal.like(value, name=f"{name}_next_{plain(current.name)}")
                m.d.comb += coming.eq(Mux(steps, then, value))
                after[current.name], then = coming, coming
            with m.If(advance & steps):
                m.d.sync += value.eq(then)
            with m.If(start):
                m.d.sync += value.eq(first[current.name])

    def _last(self, m: Module, name: str, counter: Counter) -> Value:
        low, high = counter.range
        if low == high:
            return Const(1, 1)
        last = Signal(name=f"{name}_{plain(counter.name)}_last")
        m.d.comb += last.eq(self.values[counter.name] == self.forms.choose(counter.upper))
        return last

    @staticmethod
    def _is_read_by(name: str, inner: tuple[Counter, ...]) -> bool:
        """A lower bound further in needs to know the next value."""
        forms = [form for counter in inner for piece in counter.lower for form in (piece.value, *piece.when)]
        return any(name in form.names for form in forms)
