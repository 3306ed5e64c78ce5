"""An accelerator in Amaranth's simulator, fed with word programs under random stalls.

The bench itself checks what always holds: TVALID and its payload wait for TREADY, an output never
starts while the device says that nothing is in flight, and reset clears everything that can be seen.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from amaranth.hdl import ClockDomain, Module
from amaranth.sim import Simulator

from axiloom.hw.soc.accelerator import build
from axiloom.isa import AcceleratorSpec
from axiloom.isa.opcode_map.model import FunctionalModel

QUIET_CYCLES = 12
"""A device that has had no word to take and nothing in flight for so long is done."""


@dataclass(frozen=True)
class Program:
    """Words for the device, in whole beats (what is left over stays away). `reset_after`: that many accepted
    words (rounded down to beats), then reset in the middle of everything;
    None: the device comes to rest first. `reset`: then reset it."""

    words: Sequence[int] | npt.NDArray[np.uint32]
    reset_after: int | None = None
    reset: bool = False


@dataclass
class Result:
    """What one program made the device do. `accepted`: beats that it took; `computing`: the cycles in which
    multiply-adds were active."""

    words: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    accepted: int = 0
    error: int = 0
    cycles: int = 0
    computing: list[int] = field(default_factory=list)


def simulate(
    spec: AcceleratorSpec,
    *programs: Program,
    stall_in: float = 0,
    stall_out: float = 0,
    gap: tuple[int, int] = (0, 0),
    seed: int = 0,
) -> list[Result]:
    """Runs the programs on one device, one after the other; a Result each. `gap`: after so many beats of each
    one's result, none is taken for so many cycles."""
    bench = _Bench(spec, random.Random(seed), stall_in, stall_out, gap)
    return bench.run(programs)


def check(spec: AcceleratorSpec, *programs: Program, **stalls: Any) -> list[Result]:
    """`simulate`, and everything that came out equals the functional model: words, TLAST, error."""
    model = FunctionalModel(spec)
    results = simulate(spec, *programs, **stalls)
    for program, result in zip(programs, results, strict=True):
        expected = model.feed(np.asarray(program.words, dtype=np.uint32))
        if program.reset_after is None:
            assert result.words == expected.tolist()
            assert result.last == model.tlast.astype(int).tolist()
            assert result.error == model.code, model.error
        else:
            assert result.words == expected.tolist()[: len(result.words)]
        if program.reset or program.reset_after is not None:
            model.reset()
    return results


class _Bench:
    def __init__(
        self,
        spec: AcceleratorSpec,
        rng: random.Random,
        stall_in: float,
        stall_out: float,
        gap: tuple[int, int],
    ) -> None:
        self.rng, self.stall_in, self.stall_out, self.gap = rng, stall_in, stall_out, gap
        self.device: Any = build(spec)
        self.domain = ClockDomain("sync")
        module = Module()
        module.domains += self.domain
        module.submodules.device = self.device
        self.simulator = Simulator(module)
        self.simulator.add_clock(1e-8)

    def run(self, programs: Sequence[Program]) -> list[Result]:
        results: list[Result] = []

        async def bench(ctx: Any) -> None:
            for program in programs:
                results.append(await self._program(ctx, program))
                if program.reset or program.reset_after is not None:
                    await self._reset(ctx)

        self.simulator.add_testbench(bench)
        self.simulator.run()
        return results

    async def _reset(self, ctx: Any) -> None:
        device = self.device
        ctx.set(device.s_axis.tvalid, 0)
        ctx.set(self.domain.rst, 1)
        for _ in range(self.rng.randint(1, 3)):
            await ctx.tick()
        ctx.set(self.domain.rst, 0)
        for output in (device.m_axis.tvalid, device.debug_busy, device.debug_error):
            assert ctx.get(output) == 0

    async def _program(self, ctx: Any, program: Program) -> Result:
        device, result = self.device, Result()
        s_axis, m_axis = device.s_axis, device.m_axis
        beat, width = self.device.spec.link.beat_words, self.device.spec.link.stream_width
        beats = [
            sum(int(word) << 32 * place for place, word in enumerate(program.words[at : at + beat]))
            for at in range(0, len(program.words) // beat * beat, beat)
        ]
        end = len(beats) if program.reset_after is None else program.reset_after // beat
        offered = taken = in_flight = False
        waiting: tuple[int, int] | None = None
        quiet = 0
        gap_after, gap_cycles = self.gap
        while quiet < QUIET_CYCLES:
            if program.reset_after is not None and result.accepted >= end:
                break
            offered = offered or (result.accepted < end and self.rng.random() >= self.stall_in)
            accept = self.rng.random() >= self.stall_out
            if gap_cycles and len(result.last) >= gap_after * beat:
                accept = False
                gap_cycles -= 1
            ctx.set(s_axis.tvalid, offered)
            ctx.set(s_axis.tdata, beats[result.accepted] if offered else self.rng.getrandbits(width))
            ctx.set(s_axis.tlast, self.rng.getrandbits(1))
            ctx.set(m_axis.tready, accept)
            valid, payload = ctx.get(m_axis.tvalid), (ctx.get(m_axis.tdata), ctx.get(m_axis.tlast))
            assert waiting is None or (valid and payload == waiting), "m_axis changed while it was stalled"
            assert in_flight or taken or not valid, "a word came out while nothing was in flight"
            waiting = payload if valid and not accept else None
            if valid and accept:
                result.words += [payload[0] >> 32 * place & 0xFFFF_FFFF for place in range(beat)]
                result.last += [0] * (beat - 1) + [payload[1]]
            if ctx.get(device.debug_compute):
                result.computing.append(result.cycles)
            busy = bool(ctx.get(device.debug_busy))
            assert in_flight or taken or not busy, "something began by itself while nothing was in flight"
            in_flight = busy or bool(valid)  # a word that is not taken may hold all the rest
            taken = bool(offered and ctx.get(s_axis.tready))
            result.error = ctx.get(device.debug_error)
            await ctx.tick()
            result.cycles += 1
            if taken:
                result.accepted += 1
                offered = False
            may_take = result.accepted < end and not (result.error and offered)
            quiet = 0 if taken or in_flight or may_take else quiet + 1
        return result


def sustained(spec: AcceleratorSpec, result: Result) -> float:
    """Operations (multiplies and adds) a cycle, from the first cycle that computes to the last."""
    span = result.computing[-1] - result.computing[0] + 1
    return 2 * spec.macs * len(result.computing) / span
