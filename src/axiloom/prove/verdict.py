"""What a prover says of a property: whether it holds, to which bound, and who said so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias

CYCLES = "cycles"


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
    unit: str = CYCLES
    """Of the bound."""
    certified: str = ""
    """Of what holds or is never seen without a bound: who else has checked the proof."""
    loop: int | None = None
    """Of what is owed for ever: the first of the cycles that come again and again."""

    def __str__(self) -> str:
        """``v3.reset: holds, unbounded, certified by bitwuzla``"""
        said = [self.answer.value, *filter(None, [self.how_far])]
        said += [f"certified by {self.certified}"] if self.certified else []
        return f"{'.'.join(filter(None, (self.module, self.port, self.name)))}: {', '.join(said)}"

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
        """Nothing was found in so many cycles: more was asked for, and no engine proved it."""
        return self.answer is Answer.HOLDS and self.bound is not None and self.unit == CYCLES

    @property
    def stated(self) -> bool:
        """It was asked of so many words, commands, sizes or waits alone, and holds of these."""
        return self.answer is Answer.HOLDS and self.bound is not None and self.unit != CYCLES

    @property
    def proof(self) -> bool:
        """It says something of all runs, which another engine may certify."""
        return self.bound is None and self.answer in (Answer.HOLDS, Answer.NEVER)

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


def _row(verdict: Verdict) -> tuple[str, ...]:
    place = f"{verdict.module}.{verdict.port}" if verdict.port else verdict.module
    time = "cached" if verdict.cached else f"{verdict.seconds:.1f}"
    answer = "bounded" if verdict.bounded else verdict.answer.value
    return place, verdict.name, answer, verdict.how_far, time, verdict.solver


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
    rules = [verdict for verdict in verdicts if verdict.answer not in (Answer.SEEN, Answer.NEVER)]
    parts = [f"{sum(rule.unbounded for rule in rules)} hold without a bound"]
    proofs = [verdict for verdict in verdicts if verdict.proof]
    stated = Counter(rule.unit for rule in rules if rule.stated)
    if certified := sum(bool(proof.certified) for proof in proofs):
        parts[0] += f" ({certified} of {len(proofs)} proofs without a bound certified)"
    parts += [f"{count} for some {unit} alone" for unit, count in stated.items()]
    counts = {
        "not proved, looked at to a bound": sum(rule.bounded for rule in rules),
        "violated": sum(rule.answer is Answer.VIOLATED for rule in rules),
        "not decided": sum(rule.answer is Answer.OPEN for rule in rules),
    }
    parts += [f"{count} {text}" for text, count in counts.items() if count]
    if covers := len(verdicts) - len(rules):
        seen = sum(verdict.answer is Answer.SEEN for verdict in verdicts)
        parts.append(f"{seen} of {covers} covers seen")
    return f"{len(rules)} properties: {', '.join(parts)}"


DERIVED = ("good", "bounded")
"""What JSON has of a verdict beside its fields."""


def as_json(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    return [asdict(verdict) | {name: getattr(verdict, name) for name in DERIVED} for verdict in verdicts]
