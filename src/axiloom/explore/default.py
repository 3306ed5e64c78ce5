"""What is taken where nobody says otherwise: the hardware of a built-in accelerator, and how it is used.

Each DMA and stream width that is left open is tried with the best use that the cost model knows on it, and
the fastest is taken. What stands beside it is the same problem as published: flow and tile of the
specification, blocking transfers, a DMA in direct register mode, a stream of 32 bits.

Without ``--accel`` the accelerator is a choice, too, but not between kinds. A user who names none got v3,
up to five times slower than v4 on the same part. Between v3 and v4 the same model decides, replayed;
between v4 and conv_v4 it does not: conv_v4's model of a product by 1 x 1 filters does not know what
copying its operands costs (0.83 ms foretold, 1.96 simulated at 256^3 int8), so a problem's own kind comes
first. A network gets one accelerator, that with most of its multiply-adds, with post-processing. conv_v4
and v4_16 together would need 256 of the 220 multipliers of a XC7Z020 for int8, and win nothing there:
ResNet18 takes 88.7 ms on conv_v4 alone and 88.9 on both.

A network takes the coherent port where the model sees no difference. The model knows no layer on the CPU.
Behind a plain port what the accelerator writes leaves the caches, and these layers read it from memory:
TinyBERT's take 8.6 instead of 7.9 ms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from axiloom import boards, drivergen, isa
from axiloom.base.errors import CompileError, SpecError, UsageError
from axiloom.drivergen.dialects.mlir import parse
from axiloom.drivergen.match import by_hand
from axiloom.drivergen.network import compile_network
from axiloom.drivergen.pipeline.pipelines import PIPELINES
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.explore.hardware import most
from axiloom.isa import AcceleratorSpec
from axiloom.report.build import EACH
from axiloom.report.types import Choice
from axiloom.run import cpu_layers
from axiloom.run.choice import ranks
from axiloom.run.resolve import BEST, Foreseen, foreseen, resolve

PUBLISHED = "published"
WIDTHS = (64, 32, 128)
"""Bits of the streams; of what is as fast the first one is taken."""
FAR = 0.3
"""Drivers are not gone through on hardware that the model says is slower by more: of 40 sizes, the fastest in
the end was the model's."""
CLOSE = 0.02
"""Hardware that is faster by less than this is as fast."""
NEAR = 0.15
"""The same for convolutions: their model was 4 to 13 % off on the layers of ResNet18."""
ROUGH = 0.3
"""... without scatter-gather: of copies their model knows the words, but not the driver."""
BY_DEFAULT = ("int8",)
"""Types whose arrays are as large as the part allows: two products share a multiplier."""


@dataclass(frozen=True)
class Open:
    """What of the hardware nobody has said."""

    dma: bool = True
    stream_width: bool = True
    macs: bool = True
    port: bool = True


@dataclass(frozen=True)
class Default:
    """Hardware, its use, and what that has won; `choice` is None where nothing was chosen."""

    specs: tuple[AcceleratorSpec, ...]
    schedule: Schedule
    choice: Choice | None = None

    @property
    def spec(self) -> AcceleratorSpec:
        return self.specs[0]


def of_problem(
    text: str,
    spec: AcceleratorSpec,
    asked: Schedule,
    left: Open = Open(),
    *,
    board: str | boards.Board = boards.DEFAULT,
    name: str = "input.mlir",
    calls: int = 1,
) -> Default:
    """For the largest product in the MLIR `text`; `asked` and what is not `left` open stay.

    Times are of a program that calls the driver `calls` times. A pipeline says which DMA it needs, and
    `published` means all that was published. Raises what :func:`axiloom.run.resolve.foreseen` raises for the
    accelerator as it is given.
    """
    if asked.pipeline == PUBLISHED or by_hand.annotated(parse(text, name)):
        return Default((spec,), resolve(text, spec, asked, board=board, name=name, calls=calls))
    as_asked = Default(
        (spec,), resolve(text, spec, replace(asked, flow=_named(asked)), board=board, name=name)
    )
    known = asked.pipeline is None or asked.pipeline in PIPELINES
    best: tuple[float, AcceleratorSpec, Foreseen] | None = None
    ways = list(hardware(spec, asked.pipeline, left, board))
    for candidate in _near(text, ways, asked, board, name, calls) if known else ways:
        if not known:  # the model knows no other passes
            return Default((candidate,), resolve(text, candidate, asked, board=board, name=name))
        try:
            forecast = foreseen(text, candidate, asked, board=board, name=name, calls=calls)
        except (CompileError, UsageError):
            if asked.flow == BEST:
                raise
            return as_asked  # the compiler says better what is wrong
        if forecast.seconds is None:
            return as_asked
        if best is None or forecast.seconds < best[0] * (1 - _closer(candidate, *best[1:])):
            best = forecast.seconds, candidate, forecast
    assert best is not None
    seconds, chosen, forecast = best
    if not _compiles(text, chosen, forecast.schedule, name):  # ops beside the largest one
        return as_asked
    # Of later calls of blocking drivers no model knows what the caches hold.
    before = published(text, spec, board=board, name=name) if calls == 1 else None
    said = _said(chosen, left, board) | {
        key: value
        for key, value, asked_for in (
            ("flow", forecast.schedule.flow, _named(asked)),
            ("order", ",".join(forecast.schedule.order or ()), asked.order),
            ("tile", _tile(chosen, forecast.schedule), asked.tile),
            ("pipeline", forecast.schedule.pipeline, asked.pipeline),
        )
        if asked_for is None and value
    }
    return Default((chosen,), forecast.schedule, _choice(said, seconds, before, calls))


def _closer(spec: AcceleratorSpec, taken: AcceleratorSpec, forecast: Foreseen) -> float:
    """By how much it must be faster than what is `taken` so far. A DMA without scatter-gather may be as much
    slower, where drivers copy all tiles: it is less logic."""
    simpler = taken.link.dma.scatter_gather and not spec.link.dma.scatter_gather and forecast.copies
    return -CLOSE if simpler else _close(spec)


def _near(
    text: str,
    ways: list[AcceleratorSpec],
    asked: Schedule,
    board: str | boards.Board,
    name: str,
    calls: int,
) -> list[AcceleratorSpec]:
    """Hardware that may be the fastest by the model alone; all of it where drivers are not gone through."""
    if len(ways) == 1 or not all(map(ranks, ways)):
        return ways
    try:
        seconds = [
            foreseen(text, way, asked, board=board, name=name, exact=False, calls=calls).seconds
            for way in ways
        ]
    except (CompileError, UsageError):
        return ways  # what is wrong is said when they are asked again
    times = [time for time in seconds if time is not None]
    if len(times) < len(ways):
        return ways
    return [way for way, time in zip(ways, times, strict=True) if time <= min(times) * (1 + FAR)]


def _close(spec: AcceleratorSpec) -> float:
    if spec.form.of_matrices:
        return CLOSE
    return NEAR if spec.link.dma.scatter_gather else ROUGH


def of_network(
    mlir: str,
    weights: Mapping[str, np.ndarray[Any, Any]],
    specs: Sequence[AcceleratorSpec],
    asked: Schedule,
    left: Open = Open(),
    *,
    board: str | boards.Board = boards.DEFAULT,
    name: str = "input.mlir",
) -> Default:
    """One DMA and stream width for all layers of a network, by the model alone; each has its own schedule."""
    known = asked.pipeline is None or asked.pipeline in PIPELINES
    if asked.pipeline == PUBLISHED or not known:
        return Default(tuple(specs), asked)

    def use(spec: AcceleratorSpec, layer: str, where: str) -> Schedule:
        return resolve(layer, spec, replace(asked, flow=_named(asked)), board=board, name=where)

    driver = compile_network(mlir, list(specs), weights, schedule=use, name=name)
    counts = Counter(
        (layer.device, driver.texts[layer.function]) for layer in driver.layers if layer.device is not None
    )
    on = boards.load(board)
    beside = sum(
        cpu_layers.seconds(driver.on_cpu[layer.function], on)
        for layer in driver.layers
        if layer.device is None
    )
    best: tuple[float, tuple[AcceleratorSpec, ...]] | None = None
    ways = [list(hardware(spec, asked.pipeline, left, board)) for spec in specs]
    if beside:  # what the CPU reads next is in L2 behind a coherent port; no layer's own time shows that
        ways = [sorted(some, key=lambda spec: not spec.link.dma.coherent) for some in ways]
    for some in zip(*ways, strict=True):
        seconds = _sum(counts, some, asked, board, name)
        if seconds and (best is None or seconds < best[0] * (1 - CLOSE)):
            best = seconds, some
    if best is None:
        return Default(tuple(specs), asked)
    seconds, chosen = best
    times = [
        (count, published(text, specs[number], board=board, name=name))
        for (number, text), count in counts.items()
    ]
    known_times = [count * time for count, time in times if time]
    # What some layers alone take is not beside all of them.
    before = sum(known_times) + beside if len(known_times) == len(times) else None
    said = _said(chosen[0], left, board)
    keys = ("flow", "order", "tile") if any(ranks(spec) for spec in chosen) else ("order", "tile")
    said |= {key: EACH for key in keys if getattr(asked, key) in (None, BEST)}
    if asked.pipeline is None:
        said["pipeline"] = drivergen.default_pipeline(chosen[0])
    said_of_all = _choice(said, seconds + beside, before)
    return Default(chosen, replace(asked, flow=asked.flow or BEST), said_of_all)


def hardware(
    spec: AcceleratorSpec, pipeline: str | None, left: Open, board: str | boards.Board
) -> Iterator[AcceleratorSpec]:
    """`spec` with what is `left` open of it, as far as its rules, the board and the pipeline allow."""
    on = boards.load(board)
    if left.macs and _as_large_as_it_gets(spec):
        larger = most(spec, on)
        spec = larger if larger.macs > spec.macs else spec
    in_place = pipeline is None or "zero-copy" in drivergen.optimisations(pipeline)
    direct = pipeline is None or not in_place
    ports = [spec.link.dma.coherent]
    if left.port:
        ports = [False, True] if on.coherent else [False]
    dmas = [sg for sg, able in ((True, in_place), (False, direct)) if able]
    for sg, coherent, width in product(
        dmas if left.dma else [spec.link.dma.scatter_gather],
        ports,
        WIDTHS if left.stream_width else [spec.link.stream_width],
    ):
        if left.stream_width and width > boards.through(on, coherent).fabric.port_bits:
            continue
        dma = replace(spec.link.dma, scatter_gather=sg, coherent=coherent)
        try:
            yield isa.revise(spec, stream_width=width, dma=dma)
        except SpecError:
            continue  # no whole words of a tile at this width


def published(
    text: str, spec: AcceleratorSpec, *, board: str | boards.Board = boards.DEFAULT, name: str = "input.mlir"
) -> float | None:
    """Seconds of the same as published, as far as the model knows."""
    plain = isa.builtin(spec.name, data_type=spec.data_type.value, post=bool(spec.post))
    try:
        call = max(
            drivergen.compile_mlir(text, plain, stop="linalg", name=name).calls,
            key=lambda call: call.multiply_adds,
        )
        as_it_is = Schedule(call.flow, None, call.tile, PUBLISHED)
        return foreseen(text, plain, as_it_is, board=board, name=name, exact=False).seconds
    except (CompileError, UsageError):
        return None


def _as_large_as_it_gets(spec: AcceleratorSpec) -> bool:
    """Not for windows, whose multipliers have no neighbours to share a factor with."""
    return spec.data_type.value in BY_DEFAULT and not spec.form.saves


def _tile(spec: AcceleratorSpec, schedule: Schedule) -> str:
    """As it was chosen; nothing where there is but one."""
    return "x".join(map(str, schedule.tile or ())) if spec.tile.flexible else ""


def _named(asked: Schedule) -> str | None:
    return None if asked.flow == BEST else asked.flow


def _sum(
    counts: Mapping[tuple[int, str], int],
    specs: Sequence[AcceleratorSpec],
    asked: Schedule,
    board: str | boards.Board,
    name: str,
) -> float:
    total = 0.0
    for (number, text), count in counts.items():
        try:
            forecast = foreseen(text, specs[number], asked, board=board, name=name, exact=False)
        except (CompileError, UsageError):
            continue  # a layer that no model knows decides nothing
        total += count * (forecast.seconds or 0.0)
    return total


def _compiles(text: str, spec: AcceleratorSpec, schedule: Schedule, name: str) -> bool:
    """Whether the schedule, chosen for the largest op, suits the others too."""
    plain = drivergen.compile_mlir(text, spec, stop="linalg", name=name)
    if len(plain.calls) == 1:
        return True
    try:
        drivergen.compile_mlir(text, spec, **schedule.options(), stop="calls", name=name)
    except (CompileError, UsageError):
        return False
    return True


def _said(spec: AcceleratorSpec, left: Open, board: str | boards.Board) -> dict[str, str]:
    said = {}
    if left.dma:
        said["dma"] = "sg" if spec.link.dma.scatter_gather else "simple"
    if left.stream_width:
        said["stream_width"] = str(spec.link.stream_width)
    if left.port and boards.load(board).coherent:
        said["port"] = boards.COHERENT if spec.link.dma.coherent else boards.PLAIN
    if left.macs and _as_large_as_it_gets(spec):
        said["macs"] = str(spec.macs)
    return said


def _choice(said: Mapping[str, str], seconds: float, before: float | None, calls: int = 1) -> Choice:
    choice: Choice = {
        "chosen": dict(said),
        "predicted_ms": round(seconds * 1e3, 4),
        "published_ms": round(before * 1e3, 4) if before else None,
    }
    return {**choice, "calls": calls} if calls > 1 else choice
