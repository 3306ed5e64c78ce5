"""Choosing the accelerator together with its driver: array, buffers, stream and DMA under a device's limits.

For each variant of a specification the cost model says how its best driver does; Yosys then says of the best
variants, one after the other, whether they fit. What cannot fit by its multipliers or its memory alone is
left out before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from axiloom import boards, isa
from axiloom.choice import ranked, ranked_by_model
from axiloom.drivergen.cost import Choice
from axiloom.drivergen.problem import Problem
from axiloom.errors import CompileError, SpecError, UsageError
from axiloom.estimate import Estimate, estimate
from axiloom.hw.resources import XC7Z020, Resources
from axiloom.isa import AcceleratorSpec
from axiloom.isa.types import WORD_BITS, DataType

Progress = Callable[[str], None]
Estimator = Callable[[AcceleratorSpec], Estimate]

DEVICES: Mapping[str, Resources] = {"xc7z020": XC7Z020}
"""Devices whose fabric runs at the board's own clock: those of the boards with a profile."""
MACS = (64, 128, 256)
BUFFERS = (1, 2, 4)
"""Times as large as in the specification."""
REPLAYED = 8
"""Variants, the best by the model, whose drivers are gone through step by step."""

_HALVES = 2
"""Every buffer is there twice: one is filled while the other is used."""
_BRAM_BITS = 36 * 1024


@dataclass(frozen=True)
class Variant:
    """A specification and the best way to use it. `estimate` is None where nobody asked."""

    spec: AcceleratorSpec
    choice: Choice
    estimate: Estimate | None = None

    @property
    def seconds(self) -> float:
        return self.choice.seconds


@dataclass(frozen=True)
class HardwareChoice:
    """`rows`: variants, the fastest first, up to the chosen one; `base`: the specification as it was."""

    problem: Problem
    device: str
    rows: tuple[Variant, ...]
    base: Variant
    variants: int
    excluded: int
    """Of the variants: those that cannot fit by multipliers or memory alone."""

    @property
    def chosen(self) -> Variant:
        return self.rows[-1]


def variants(spec: AcceleratorSpec) -> Iterator[AcceleratorSpec]:
    """The specification with other arrays, buffers, streams and DMAs, as far as its rules allow.

    Raises :exc:`UsageError` for one whose tile is fixed: its array is its tile.
    """
    if not spec.tile.flexible:
        raise UsageError(
            f"{spec.name}: its tile is fixed, and with it array and buffers; hardware is chosen for "
            "accelerators with flexible tiles (v4_16)"
        )
    for macs, larger, width, sg in product(MACS, BUFFERS, (32, 64, 128), (False, True)):
        buffers = {name: words * larger for name, words in spec.buffers.items()}
        name = f"{spec.name}_{macs}m{'' if larger == 1 else f'_{larger}b'}_{width}{'_sg' if sg else ''}"
        try:
            yield isa.revise(
                spec,
                name=name,
                macs=macs,
                buffers=buffers,
                stream_width=width,
                dma=replace(spec.dma, scatter_gather=sg),
            )
        except SpecError:
            continue  # not a size that this array, or this stream, can have


def least(spec: AcceleratorSpec) -> Resources:
    """What `spec` takes at least, whoever maps it: its products, and the bits of its buffers."""
    products = 3 if spec.data_type is DataType.INT32 else 1
    bits = sum(spec.buffers.values()) * WORD_BITS * _HALVES
    return Resources(dsp=spec.macs * products, lut=0, ff=0, bram36=bits / _BRAM_BITS)


def choose_hardware(
    problem: Problem,
    spec: AcceleratorSpec,
    device: str,
    *,
    board: str = boards.DEFAULT,
    estimator: Estimator | None = None,
    progress: Progress = lambda _: None,
) -> HardwareChoice:
    """The fastest variant of `spec` for `problem` that fits `device`, with its driver, and what was faster.

    `estimator` says what a variant takes (default: Yosys, minutes for each that is not in the cache). Raises
    :exc:`UsageError` for another device, :exc:`CompileError` if nothing fits.
    """
    if device not in DEVICES:
        raise UsageError(f"device {device!r}: hardware can be chosen for {', '.join(DEVICES)}")
    asked = estimator or (lambda one: estimate(one, device, route=False, progress=progress))
    every = list(variants(spec))
    possible = [one for one in every if least(one).fits(DEVICES[device])]
    progress(f"{len(possible)} variants of {spec.name} by the cost model")
    modelled = sorted(_best(problem, possible, board), key=lambda one: one.seconds)
    progress(f"{REPLAYED} variants step by step")
    replayed = [_replayed(problem, one, board) for one in modelled[:REPLAYED]]
    # Of two as fast as each other the smaller one: fewer multipliers, less memory, a narrower stream.
    order = sorted(
        replayed,
        key=lambda one: (one.seconds, one.spec.macs, sum(one.spec.buffers.values()), one.spec.stream_width),
    )
    rows: list[Variant] = []
    for one in (*order, *modelled[REPLAYED:]):
        found = asked(one.spec)
        rows.append(replace(one, estimate=found))
        if found.fits:
            break
    if not rows or rows[-1].estimate is None or not rows[-1].estimate.fits:
        raise CompileError(f"no variant of {spec.name} fits {device}")
    base = _replayed(problem, next(_best(problem, [spec], board)), board)
    return HardwareChoice(problem, device, tuple(rows), base, len(every), len(every) - len(possible))


def _best(problem: Problem, specs: Iterable[AcceleratorSpec], board: str) -> Iterator[Variant]:
    """With the best driver of each, by the model; one that no tile fits is left out."""
    for spec in specs:
        ways = ranked_by_model(problem, spec, board=board)
        if ways:
            yield Variant(spec, ways[0])


def _replayed(problem: Problem, variant: Variant, board: str) -> Variant:
    return replace(variant, choice=ranked(problem, variant.spec, board=board)[0])
