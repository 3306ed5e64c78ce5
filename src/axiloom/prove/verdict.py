"""What a prover says of a property: whether it holds, to which bound, and who said so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias


class Answer(StrEnum):
    """Of a property; of a cover (what must be able to happen) the opposite is wanted, see `Verdict.good`."""

    HOLDS = "holds"
    VIOLATED = "violated"
    SEEN = "seen"
    NEVER = "never seen"
    OPEN = "not decided"


@dataclass(frozen=True)
class Verdict:
    """Of one property of one module."""

    module: str
    port: str
    """The port it is about; empty: the module as a whole."""
    name: str
    text: str
    source: str
    """Where the rule stands; empty for our own."""
    answer: Answer
    bound: int | None
    """Cycles from reset that were looked at; None where an answer holds without a bound."""
    solver: str
    seconds: float
    cached: bool = False
    needed: bool = True
    """Of a cover: a port on which it cannot happen is none."""
    replay: str = ""
    """Folder with the counter-example."""
    unit: str = "cycles"
    """Of the bound."""
    certified: str = ""
    """Of what holds or is never seen without a bound: who else has checked the proof."""
    loop: int | None = None
    """Of what is owed for ever: the first of the cycles that come again and again."""

    def with_replay(self, folder: str) -> Verdict:
        return replace(self, replay=folder)

    @property
    def good(self) -> bool:
        return self.answer in (Answer.HOLDS, Answer.SEEN) or (self.answer is Answer.NEVER and not self.needed)

    @property
    def unbounded(self) -> bool:
        return self.answer is Answer.HOLDS and self.bound is None

    @property
    def bounded(self) -> bool:
        """Nothing was found in so many cycles, and more is not known."""
        return self.answer is Answer.HOLDS and self.bound is not None

    @property
    def how_far(self) -> str:
        """The bound in words."""
        if self.answer in (Answer.SEEN, Answer.VIOLATED):
            if self.bound is None:
                return ""
            return f"in cycle {self.bound}"
        if self.answer is Answer.OPEN:
            return ""
        return "unbounded" if self.bound is None else f"{self.bound} {self.unit}"


_HEADER = ("port", "property", "verdict", "bound", "s", "solver")


def _row(one: Verdict) -> tuple[str, ...]:
    place = f"{one.module}.{one.port}" if one.port else one.module
    time = "cached" if one.cached else f"{one.seconds:.1f}"
    answer = "bounded" if one.bounded and one.unit == "cycles" else one.answer.value
    return place, one.name, answer, one.how_far, time, one.solver


def line(verdict: Verdict | None, widths: Sequence[int]) -> str:
    """A line of :func:`table`, before all are known; None: its header. `widths` of the first two columns."""
    cells = _HEADER if verdict is None else _row(verdict)
    shown = (*(max(width, len(name)) for width, name in zip(widths, _HEADER, strict=False)), 11, 13, 6, 0)
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, shown, strict=True)).rstrip()


Say: TypeAlias = Callable[[Verdict, int], None]
"""Is told of each verdict as it is found, with the number of those that come (0: nobody knows)."""


def table(verdicts: Sequence[Verdict]) -> list[str]:
    """A line a verdict: module and port, name, answer, bound, seconds, solver."""
    rows = [_HEADER, *map(_row, verdicts)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many hold, and what does not."""
    rules = [one for one in verdicts if one.answer not in (Answer.SEEN, Answer.NEVER)]
    unbounded = sum(one.answer is Answer.HOLDS and one.bound is None for one in rules)
    bounded = sum(one.answer is Answer.HOLDS and one.bound is not None for one in rules)
    wrong = sum(one.answer is Answer.VIOLATED for one in rules)
    left = sum(one.answer is Answer.OPEN for one in rules)
    parts = [f"{unbounded} hold without a bound"]
    proofs = [one for one in verdicts if one.unbounded or (one.answer is Answer.NEVER and one.bound is None)]
    if certified := sum(bool(one.certified) for one in proofs):
        parts[0] += f" ({certified} of {len(proofs)} proofs without a bound certified)"
    parts += [f"{bounded} not proved, looked at to a bound"] if bounded else []
    parts += [f"{wrong} violated"] if wrong else []
    parts += [f"{left} not decided"] if left else []
    covers = len(verdicts) - len(rules)
    if covers:
        seen = sum(one.answer is Answer.SEEN for one in verdicts)
        parts.append(f"{seen} of {covers} covers seen")
    return f"{len(rules)} properties: {', '.join(parts)}"


DERIVED = ("good", "bounded")
"""What JSON has of a verdict beside its fields."""


def as_json(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    return [asdict(one) | {name: getattr(one, name) for name in DERIVED} for one in verdicts]
