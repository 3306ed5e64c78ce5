"""Choosing the accelerator together with its driver: array, buffers, stream and DMA under a device's limits.

Variants of a specification come out of :mod:`axiloom.explore.order` the fastest first, each with the best
driver for every product. Yosys, and nextpnr where it knows the device, are then asked about one after the
other, until the fastest that is left is known to fit, at the clock that it reaches.

Hardware is chosen best first. Variants are sorted by the least time that they may take (array, then
model, then replay), so few are examined closely. The smallest variant within 1 % of the fastest is taken.
If a design does not fit, every design that is smaller in nothing is assumed not to fit. The prediction of
a network covers its products alone, so the simulation of the best N decides. For TinyBERT the prediction
put 128-bit streams first (129.6 ms predicted, 326.8 simulated).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, product

from axiloom import boards, isa
from axiloom.base.errors import CompileError, SpecError, UsageError
from axiloom.boards.ecp5.synthesis import Ecp5Resources
from axiloom.boards.synthesis.resources import Resources
from axiloom.explore.estimate import DEVICES, Estimate, Used, estimate, is_routed, within
from axiloom.explore.order import Order, Variant
from axiloom.explore.products import Work
from axiloom.hw.soc.least import memory_bits, multipliers
from axiloom.isa import AcceleratorSpec
from axiloom.isa.check.link import STREAM_WIDTHS

Progress = Callable[[str], None]
Estimator = Callable[[AcceleratorSpec], Estimate]

MACS = (16, 32, 64, 128, 256)
BUFFERS = (1, 2, 4)
"""Times as large as in the specification."""
CLOSE = 0.01
"""About how exact predictions are: of what is as close to the fastest as this, the smallest is taken."""

_BRAM_BITS = 36 * 1024
_EBR_BITS = 18 * 1024


@dataclass(frozen=True)
class Tried:
    """A variant about which Yosys was asked, at the clock of the time in `variant`.

    `reached`: whether nextpnr has reached that clock, None where nobody routed it.
    """

    variant: Variant
    estimate: Estimate
    reached: bool | None = None

    @property
    def fits(self) -> bool:
        return self.estimate.fits


@dataclass(frozen=True)
class HardwareChoice:
    """`found`: what fits, the fastest first; `refused`: what was faster and does not fit; `base`: the
    specification as it was."""

    work: Work
    device: str
    board: str
    clock_hz: float
    """The fabric's, where a design reaches it."""
    refused: tuple[Tried, ...]
    found: tuple[Tried, ...]
    base: Tried
    variants: int
    excluded: int
    """Of the variants: those that cannot fit by multipliers or memory alone."""

    @property
    def chosen(self) -> Tried:
        """By the prediction."""
        return self.found[0]

    def board_of(self, tried: Tried) -> str:
        """What to simulate `one` on: the board, its fabric as slow as nextpnr says."""
        clock = tried.variant.clock_hz
        return (
            self.board if clock == boards.load(self.board).fabric_hz else boards.at_clock(self.board, clock)
        )


@dataclass(frozen=True)
class Kept:
    """What of the hardware is not chosen; None: it is."""

    macs: int | None = None
    stream_width: int | None = None
    scatter_gather: bool | None = None


def variants(spec: AcceleratorSpec, kept: Kept = Kept()) -> Iterator[AcceleratorSpec]:
    """The specification with other arrays, buffers, streams and DMAs, as far as its rules and `kept` allow.

    Raises :exc:`UsageError` for one whose tile is fixed: its array is its tile.
    """
    if not spec.tile.flexible:
        raise UsageError(
            f"{spec.name}: its tile is fixed, so array and buffers are fixed too; hardware is chosen for "
            "accelerators with flexible tiles (v4_16)"
        )
    arrays = MACS if kept.macs is None else (kept.macs,)
    widths = STREAM_WIDTHS if kept.stream_width is None else (kept.stream_width,)
    dmas = (False, True) if kept.scatter_gather is None else (kept.scatter_gather,)
    for macs, larger, width, sg in product(arrays, BUFFERS, widths, dmas):
        buffers = {name: words * larger for name, words in spec.buffers.items()}
        name = f"{spec.name}_{macs}m{'' if larger == 1 else f'_{larger}b'}_{width}{'_sg' if sg else ''}"
        try:
            yield isa.revise(
                spec,
                name=name,
                macs=macs,
                buffers=buffers,
                stream_width=width,
                dma=replace(spec.link.dma, scatter_gather=sg),
            )
        except SpecError:
            continue  # not a size that this array, or this stream, can have


def least(spec: AcceleratorSpec, device: str = "xc7z020") -> Used:
    """The least resources of `spec`, an accelerator with an array: its products, and its buffers' bits.

    On an ECP5 products may be in LUTs.
    """
    bits = memory_bits(spec)
    if is_routed(device):
        return Ecp5Resources(multiplier=0, lut=0, ff=0, ebr=-(-bits // _EBR_BITS))
    return Resources(dsp=multipliers(spec), lut=0, ff=0, bram36=bits / _BRAM_BITS)


def has_room(spec: AcceleratorSpec, board: str | boards.Board = boards.DEFAULT) -> bool:
    """Whether the board's part has the multipliers and the memory of `spec`'s array and buffers.

    Synthesis alone says whether it fits as a whole.
    """
    on = boards.load(board).resources
    return multipliers(spec) <= on.dsp48 and memory_bits(spec) / _BRAM_BITS <= on.bram36


def most(spec: AcceleratorSpec, board: str | boards.Board = boards.DEFAULT) -> AcceleratorSpec:
    """`spec` with as many multiply-adds as its tile can use and the board's part has multipliers for.

    The rest of it stays; synthesis alone says whether it fits as a whole. Raises :exc:`UsageError` if not
    even the fewest of :data:`MACS` do.
    """
    on = boards.load(board)
    limit = on.resources.dsp48
    for macs in sorted(MACS, reverse=True):
        try:
            revised = isa.revise(spec, macs=macs)
        except SpecError:
            continue  # not a size that its tile can have
        if multipliers(revised) <= limit:
            return revised
    raise UsageError(
        f"{spec.name}: no array of {min(MACS)} multiply-adds or more can be had with its tile and the "
        f"{limit} multipliers of {on.name}"
    )


def choose_hardware(
    work: Work,
    spec: AcceleratorSpec,
    device: str,
    *,
    board: str = boards.DEFAULT,
    clock_hz: float | None = None,
    pipelines: Sequence[str] | None = None,
    route: bool = False,
    count: int = 1,
    kept: Kept = Kept(),
    estimator: Estimator | None = None,
    progress: Progress = lambda _: None,
) -> HardwareChoice:
    """The fastest variant of `spec` for `work` that fits `device`, with its drivers, and what was tried.

    Its fabric runs at `clock_hz` (default: the board's), or slower where nextpnr says so: with `route` it is
    asked about each, otherwise what it said before counts. The next best are found too, up to `count`, but
    not what is larger without being faster. `kept`: what is not chosen. `estimator` says what a variant takes
    (default: Yosys; minutes for each that is not in the cache). Raises :exc:`UsageError` for an unknown
    device, :exc:`CompileError` if nothing fits.
    """
    if device not in DEVICES:
        raise UsageError(f"device {device!r} is unknown: use one of {', '.join(DEVICES)}")
    asked = estimator or (lambda variant: estimate(variant, device, route=route or None, progress=progress))
    every = list(variants(spec, kept))
    possible = [variant for variant in every if within(least(variant, device), DEVICES[device])]
    clock = clock_hz or boards.load(board).fabric_hz
    order = Order(work, possible, board, clock, pipelines, progress)
    search = _Search(order, asked, clock)
    fitting = tuple(islice(search.fitting(), count))
    if not fitting:
        raise CompileError(f"no variant of {spec.name} fits {device}")
    base = search.ask(order.exact(spec, clock))
    excluded = len(every) - len(possible)
    return HardwareChoice(
        work, device, board, clock, tuple(search.refused), fitting, base, len(every), excluded
    )


@dataclass
class _Search:
    order: Order
    asked: Estimator
    clock_hz: float
    refused: list[Tried] = field(default_factory=list)
    """They do not fit."""
    settled: list[Tried] = field(default_factory=list)
    """They fit, but nextpnr did not reach the clock, so that others may be faster."""

    def fitting(self) -> Iterator[Tried]:
        """What fits, the fastest first; of what is as fast the smallest, and none that is larger."""
        while True:
            best = min(self.settled, key=lambda tried: tried.variant.seconds, default=None)
            near = self._next()
            if best and (not near or best.variant.seconds <= near[0].seconds * (1 + CLOSE)):
                self.settled.remove(best)
                yield best
                continue
            if not near:
                return
            variant = min(near, key=lambda variant: size(variant.spec))
            self.order.drop({other.spec.name for other in near if is_larger(other.spec, variant.spec)})
            tried = self.ask(variant)
            if not tried.fits:
                self.refused.append(tried)
                self.order.drop_where(partial(is_larger, than=variant.spec))
            elif tried.variant is variant:
                yield tried
            else:
                self.settled.append(tried)
                self.order.slow_down(tried.variant.clock_hz, partial(is_larger, than=variant.spec))

    def _next(self) -> list[Variant]:
        """The fastest that is left, and what is as fast."""
        near: list[Variant] = []
        for variant in self.order:
            if near and variant.seconds > near[0].seconds * (1 + CLOSE):
                break
            near.append(variant)
        return near

    def ask(self, variant: Variant) -> Tried:
        """With the clock that nextpnr reached, where it did not reach that of `variant`."""
        estimate = self.asked(variant.spec)
        if estimate.routed is None:
            return Tried(variant, estimate)
        if estimate.routed.fmax_hz >= variant.clock_hz:
            return Tried(variant, estimate, reached=True)
        slower = float(estimate.routed.fmax_hz // 1e6 * 1e6)
        return Tried(self.order.exact(variant.spec, slower), estimate, reached=True)


def size(spec: AcceleratorSpec) -> tuple[int, ...]:
    """The key by which the smallest of equally fast designs is taken: multipliers, memory, stream, DMA."""
    return (spec.macs, sum(spec.buffers.values()), spec.link.stream_width, int(spec.link.dma.scatter_gather))


def is_larger(spec: AcceleratorSpec, than: AcceleratorSpec) -> bool:
    """Smaller in nothing: where `than` does not fit, it does not fit, and its clock is no faster."""
    return all(a >= b for a, b in zip(size(spec), size(than), strict=True))
