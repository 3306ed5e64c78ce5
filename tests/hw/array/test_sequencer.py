# amaranth: UnusedElaboratable=no
"""Commands in order: the blocks of each compute, the half that each works on, what goes to the sender."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pytest
from amaranth.lib import data
from tests.hw.component_bench import simulate

from axiloom.hw.array.operand_buffer import BlockEnd
from axiloom.hw.array.result_buffer import MIN_BLOCK_CYCLES
from axiloom.hw.array.sequencer import Sequencer
from axiloom.hw.engine.commands import CommandKind


@dataclass(frozen=True)
class Walk:
    """An engine whose commands say the numbers as they are."""

    rows: int
    post: bool
    operands: tuple[str, str] = ("A", "B")
    most: tuple[int, int, int] = (4, 4, 16)
    command_dims: data.StructLayout = data.StructLayout({"m": 2, "n": 2, "k": 4, "row": 3})  # noqa: RUF009

    def work(self, dims: data.View) -> tuple[Any, Any, Any]:
        return dims.m, dims.n, dims.k

    def last_row(self, dims: data.View) -> Any:
        return dims.row


@dataclass(frozen=True)
class Command:
    kind: CommandKind
    m: int
    n: int
    k: int
    half_a: int
    half_b: int
    row: int  # the last that a block uses


def expected_events(commands: list[Command]) -> list[Any]:
    """Blocks and requests as they must come, each with all that is said of it."""
    events: list[Any] = []
    half, cleared = 0, True
    for one in commands:
        match one.kind:
            case CommandKind.COMPUTE:
                for m in range(one.m + 1):
                    for n in range(one.n + 1):
                        right = n == one.n
                        ends = (
                            BlockEnd.NEXT if right else BlockEnd.REPEAT,
                            BlockEnd.RESTART if right else BlockEnd.NEXT,
                        )
                        first, last = (m, n) == (0, 0), right and m == one.m
                        halves = (one.half_a, one.half_b)
                        events.append(
                            ("block", one.k + 1, ends, first, last, half, not cleared, one.row, halves)
                        )
                cleared = False
            case CommandKind.CLEAR:
                half, cleared = half if cleared else 1 - half, True
            case kind:
                events.append(("send", kind == CommandKind.REQUANTISE, half, cleared, (one.m, one.n, one.k)))
    return events


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "post"), [(2, False), (8, True)])
def test_commands_are_executed_in_order(rows: int, post: bool) -> None:
    rng = random.Random(rows)
    device = Sequencer(Walk(rows, post))
    kinds = [CommandKind.COMPUTE] * 3 + [CommandKind.STORE, CommandKind.CLEAR]
    kinds += [CommandKind.REQUANTISE] * post
    commands = [
        Command(rng.choice(kinds), *(rng.randrange(size) for size in (4, 4, 16, 2, 2, rows)))
        for _ in range(200)
    ]
    blocks: list[Any] = []
    sends: list[Any] = []
    order: list[str] = []
    held_starts = 0

    async def main(ctx: Any) -> None:
        nonlocal held_starts
        pending = list(commands)
        reads, firsts, since, idle, rows_before = 0, 0, 1000, 0, 0
        holds, held_half = 0, 0
        offered = False
        while idle < 30:
            offered = bool(pending) and (offered or rng.random() < 0.7)
            ctx.set(device.commands.valid, offered)
            one = pending[0] if pending else commands[0]
            payload = device.commands.payload
            for target, value in (
                (payload.kind, one.kind),
                (payload.half_a, one.half_a),
                (payload.half_b, one.half_b),
                *((payload.dims[name], getattr(one, name)) for name in ("m", "n", "k", "row")),
            ):
                ctx.set(target, value)
            ctx.set(device.requests.ready, holds == 0 and rng.random() < 0.5)
            ctx.set(device.held, holds > 0)
            ctx.set(device.held_half, held_half)
            if ctx.get(device.start):
                assert ctx.get(device.prepare)
                assert not (holds and held_half == ctx.get(device.half))
                held_starts += holds > 0
                order.append("compute")
            reads += ctx.get(device.control.valid)
            firsts += ctx.get(device.control.valid) and ctx.get(device.control.first)
            since += 1
            ends = ctx.get(device.a_end), ctx.get(device.b_end)
            step = device.step
            assert (ends != (BlockEnd.STAY, BlockEnd.STAY)) == ctx.get(step.block_done)
            last = bool(ctx.get(step.block_done) and ctx.get(step.last_block))
            assert ctx.get(device.finish) == last
            if ctx.get(step.block_done):
                assert ctx.get(device.busy)
                # The rows of the block before have been read.
                assert since >= max(rows_before, MIN_BLOCK_CYCLES)
                rows_before = ctx.get(step.last_row) + 1
                assert firsts == 1
                first, accumulate = (bool(ctx.get(step[name])) for name in ("first_block", "accumulate"))
                of_step = (first, last, ctx.get(step.half), accumulate, ctx.get(step.last_row))
                halves = (ctx.get(device.half_a), ctx.get(device.half_b))
                blocks.append(("block", reads, ends, *of_step, halves))
                reads, firsts, since = 0, 0, 0
            holds = max(0, holds - 1)
            if ctx.get(device.requests.valid) and ctx.get(device.requests.ready):
                asked = device.requests.payload
                dims = tuple(ctx.get(asked.dims[name]) for name in "mnk")
                requantise = bool(post and ctx.get(asked.requantise))
                sends.append(("send", requantise, ctx.get(asked.half), bool(ctx.get(asked.zero)), dims))
                order.append("send")
                if not sends[-1][3]:
                    holds, held_half = rng.randrange(1, 150), sends[-1][2]
            if offered and ctx.get(device.commands.ready):
                pending.pop(0)
                offered = False
            idle = 0 if pending or ctx.get(device.busy) else idle + 1
            await ctx.tick()

    simulate(device, main)
    expected = expected_events(commands)
    assert blocks == [event for event in expected if event[0] == "block"]
    assert sends == [event for event in expected if event[0] == "send"]
    asked = {CommandKind.COMPUTE: "compute", CommandKind.STORE: "send", CommandKind.REQUANTISE: "send"}
    assert order == [asked[one.kind] for one in commands if one.kind in asked]
    assert held_starts > 0, "no compute has begun while the other half was held"
