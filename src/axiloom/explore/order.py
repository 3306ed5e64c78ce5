"""Variants of an accelerator for some work, the fastest first, each looked at no closer than needed.

What a variant takes at least is known at once: its array's cycles. The cost model says more, and a walk
through the drivers of the best ways is exact, but takes seconds for each. So a variant waits with the least
it may take, and the one in front is looked at more closely, until all is known of the one in front.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from axiloom import boards
from axiloom.base.errors import CompileError
from axiloom.drivergen.cost.model import Choice
from axiloom.drivergen.cost.selection import candidates
from axiloom.explore.products import Product, Work
from axiloom.isa import AcceleratorSpec
from axiloom.isa.files.post import without_post
from axiloom.run.choice import ranked, ranked_by_model

MODEL = 0.9
"""Share of the model's time that a variant takes at least: it is off by less than the rest."""


@dataclass(frozen=True)
class Variant:
    """A specification at a fabric clock, and the best way to use it for each product."""

    spec: AcceleratorSpec
    clock_hz: float
    choices: tuple[tuple[Product, Choice], ...]

    @property
    def seconds(self) -> float:
        """Of all products, one after another."""
        return sum(product.count * choice.seconds for product, choice in self.choices)


@dataclass(order=True)
class _Waiting:
    least: float
    number: int
    depth: int = field(compare=False)
    """How much is known: the array alone, the model, all."""
    spec: AcceleratorSpec = field(compare=False)
    variant: Variant | None = field(compare=False, default=None)


class Order:
    """Iterating gives the variants, the fastest first; what was found once stays."""

    def __init__(
        self,
        work: Work,
        specs: Sequence[AcceleratorSpec],
        board: str,
        clock_hz: float,
        pipelines: Sequence[str] | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._work, self._board, self._pipelines, self._progress = work, board, pipelines, progress
        self._clocks = {spec.name: clock_hz for spec in specs}
        self._known: dict[tuple[str, float, bool], Variant | None] = {}
        self._waiting = {number: self._first(number, spec) for number, spec in enumerate(specs)}

    def __iter__(self) -> Iterator[Variant]:
        waiting = list(self._waiting.values())
        heapq.heapify(waiting)
        while waiting:
            entry = heapq.heappop(waiting)
            if entry.variant is not None and entry.depth == len(_DEPTHS):
                yield entry.variant
                continue
            del self._waiting[entry.number]
            closer = self._closer(entry)
            if closer is not None:
                self._waiting[entry.number] = closer
                heapq.heappush(waiting, closer)

    def drop(self, names: Collection[str]) -> None:
        self.drop_where(lambda spec: spec.name in names)

    def drop_where(self, gone: Callable[[AcceleratorSpec], bool]) -> None:
        self._waiting = {number: entry for number, entry in self._waiting.items() if not gone(entry.spec)}

    def slow_down(self, clock_hz: float, slower: Callable[[AcceleratorSpec], bool]) -> None:
        """Those of which `slower` is true are clocked no faster than that."""
        for number, entry in self._waiting.items():
            if slower(entry.spec) and self._clocks[entry.spec.name] > clock_hz:
                self._clocks[entry.spec.name] = clock_hz
                self._waiting[number] = self._first(number, entry.spec)

    def exact(self, spec: AcceleratorSpec, clock_hz: float) -> Variant:
        """`spec` at that clock, gone through step by step.

        Raises CompileError if a product has no tile that fits its buffers.
        """
        variant = self._variant(spec, clock_hz, replayed=True)
        if variant is None:
            raise CompileError(f"{spec.name} has no tile that fits its buffers and windows")
        return variant

    def _first(self, number: int, spec: AcceleratorSpec) -> _Waiting:
        return _Waiting(self._work.multiply_adds / spec.macs / self._clocks[spec.name], number, 0, spec)

    def _closer(self, entry: _Waiting) -> _Waiting | None:
        """The same, better known; None if it cannot be used, or a smaller one is used in the same way."""
        clock = self._clocks[entry.spec.name]
        replayed, share = _DEPTHS[entry.depth]
        self._progress(f"{entry.spec.name} {'step by step' if replayed else 'by the cost model'}")
        variant = self._variant(entry.spec, clock, replayed=replayed)
        if variant is None or (not replayed and self._is_needless(variant)):
            return None
        return _Waiting(variant.seconds * share, entry.number, entry.depth + 1, entry.spec, variant)

    def _is_needless(self, variant: Variant) -> bool:
        """Another with smaller buffers, and else the same, is used in exactly the same way."""

        def kind(spec: AcceleratorSpec) -> tuple[object, ...]:
            return spec.macs, spec.link.stream_width, spec.link.dma

        return any(
            other is not None
            and (clock, replayed) == (variant.clock_hz, False)
            and kind(other.spec) == kind(variant.spec)
            and sum(other.spec.buffers.values()) < sum(variant.spec.buffers.values())
            and other.choices == variant.choices
            for (_, clock, replayed), other in self._known.items()
        )

    def _variant(self, spec: AcceleratorSpec, clock_hz: float, *, replayed: bool) -> Variant | None:
        key = (spec.name, clock_hz, replayed)
        if key not in self._known:
            self._known[key] = self._used(spec, clock_hz, ranked if replayed else ranked_by_model)
        return self._known[key]

    def _used(
        self, spec: AcceleratorSpec, clock_hz: float, ranking: Callable[..., list[Choice]]
    ) -> Variant | None:
        board, plain = boards.at_clock(self._board, clock_hz), without_post(spec)
        choices = []
        for product in self._work.products:
            among = candidates(plain, product.problem)
            if product.flow is not None:
                among = [candidate for candidate in among if candidate.flow == product.flow]
            ways = ranking(product.problem, plain, board=board, pipelines=self._pipelines, among=among)
            if not ways:
                return None
            choices.append((product, ways[0]))
        return Variant(spec, clock_hz, tuple(choices))


_DEPTHS = ((False, MODEL), (True, 1.0))
"""What comes next: whether drivers are gone through; the share of the time found that is the least."""
