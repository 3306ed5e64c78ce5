"""What an experiment consists of: cases, each with its sides, and what is made of their figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import exp, log
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axiloom import boards
from benchmarks.paper.sides import Figures, Point

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Labels = dict[str, Any]
Row = dict[str, str]
"""A line of the printed table, column to cell."""

CLOCK, REFERENCES, BRANCHES = "task-clock", "cache-references", "branch-instructions"


@dataclass(frozen=True)
class Options:
    """What a user can choose about an experiment."""

    quick: bool = False
    """Fewer and smaller sizes."""
    sizes: tuple[int, ...] = ()
    """M = N = K instead of an experiment's own, where it has problems of that form."""
    pipeline: str = "copying"
    """Passes of our own drivers, where an experiment has one such side."""
    board: str = boards.DEFAULT
    layers: tuple[str, ...] = ()
    """Of a network instead of all, where an experiment has a network's."""
    scale: int = 0
    """As many times fewer channels in those layers; 0: as an experiment usually has them."""
    model: Path | None = None
    """The .mlir of a network instead of the experiment's own, where it has one."""

    def cubes(self, usual: Sequence[int], quick: Sequence[int]) -> tuple[int, ...]:
        """The sizes M = N = K of an experiment that usually has `usual`."""
        return self.sizes or tuple(quick if self.quick else usual)


@dataclass(frozen=True)
class Case:
    """One configuration: its labels, and the sides that are compared on it."""

    labels: Labels
    sides: dict[str, Point]


@dataclass(frozen=True)
class Measured:
    """A case after its runs. A side that a pipeline or the hardware cannot do is in `missing`."""

    labels: Labels
    sides: dict[str, Figures]
    missing: dict[str, str] = field(default_factory=dict)
    """Side to why there are no figures."""

    def get(self, side: str, counter: str = CLOCK) -> float | None:
        """A counter of a side; None if it is missing."""
        figures = self.sides.get(side)
        return None if figures is None else float(figures["counters"][counter])

    def ratio(self, side: str, base: str, counter: str = CLOCK) -> float | None:
        """Counter of `side` over that of `base`; None if one is missing."""
        ours, theirs = self.get(side, counter), self.get(base, counter)
        return None if ours is None or not theirs else ours / theirs


@dataclass(frozen=True)
class Experiment:
    """One experiment of ``python -m benchmarks.paper``."""

    name: str
    title: str
    cases: Callable[[Options], list[Case]]
    table: Callable[[Sequence[Measured]], list[Row]]
    conclude: Callable[[Sequence[Measured]], str]
    """One sentence or a few, from the figures alone."""
    plot: Callable[[Figure, Sequence[Measured]], None]
    takes: tuple[str, ...] = ()
    """Fields of `Options` that it honours, beside `quick` and `board`, which all do."""


def known(values: Iterable[float | None]) -> list[float]:
    """Those that are not missing."""
    return [value for value in values if value is not None]


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive values; NaN of none."""
    return exp(sum(map(log, values)) / len(values)) if values else float("nan")


def ms(nanoseconds: float | None) -> str:
    return "-" if nanoseconds is None else f"{nanoseconds / 1e6:,.3f}"


def times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}"


def unique(measured: Sequence[Measured], label: str) -> list[Any]:
    """Values of a label, in order of appearance."""
    return list(dict.fromkeys(case.labels[label] for case in measured))


def having(measured: Sequence[Measured], **labels: Any) -> list[Measured]:
    """The cases with these labels."""
    return [case for case in measured if all(case.labels[name] == value for name, value in labels.items())]
