# amaranth: UnusedElaboratable=no
"""Computing and saving window by window, and sending what is saved, each command in its order."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.lib import data
from tests.hw.component_bench import simulate

from axiloom.hw.engine.commands import CommandKind, command_layout
from axiloom.hw.window.control import WindowSender, WindowSequencer

MACS = 4
COMMAND = command_layout("IF", data.StructLayout({"last_group": 3, "last_lane": 2}))


def steps_of(kind: CommandKind, last_group: int, last_lane: int) -> list[tuple[str, int]]:
    """What a command makes the array do: what, and the last lane of it."""
    if kind == CommandKind.COMPUTE:
        return [("add", MACS - 1)] * last_group + [("add", last_lane)]
    return {CommandKind.SAVE: [("save", 0)], CommandKind.CLEAR: [("clear", 0)]}.get(kind, [("send", 0)])


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(4))
def test_commands_are_steps_in_their_order(seed: int) -> None:
    """A store waits until no steps are under way; saving and clearing wait until all is sent."""
    rng = random.Random(seed)
    device = WindowSequencer(COMMAND, MACS)
    kinds = (CommandKind.COMPUTE, CommandKind.SAVE, CommandKind.CLEAR, CommandKind.STORE)
    commands = [(rng.choice(kinds), rng.randrange(8), rng.randrange(MACS)) for _ in range(150)]
    done: list[tuple[str, int]] = []
    starts = finishes = 0

    async def main(ctx: Any) -> None:
        nonlocal starts, finishes
        pending = list(commands)
        pipeline, sending, idle = 0, 0, 0
        while idle < 20:
            offered = bool(pending) and rng.random() < 0.8
            ctx.set(device.commands.valid, offered)
            if offered:
                kind, last_group, last_lane = pending[0]
                ctx.set(device.commands.payload.kind, kind)
                ctx.set(device.commands.payload.dims.last_group, last_group)
                ctx.set(device.commands.payload.dims.last_lane, last_lane)
            step = {name: ctx.get(device.step[name]) for name in ("add", "save", "clear")}
            ctx.set(device.under_way, pipeline > 0 or any(step.values()))
            ctx.set(device.sending, sending > 0)
            step = {name: ctx.get(device.step[name]) for name in ("add", "save", "clear")}
            step["send"] = ctx.get(device.send)
            assert sum(step.values()) <= 1
            for name, happens in step.items():
                if happens:
                    done.append((name, ctx.get(device.step.last_lane) if name == "add" else 0))
            if step["send"]:
                assert not pipeline
                assert not sending
                sending = rng.randrange(6) + 1
            if step["save"] or step["clear"]:
                assert not sending
            starts += ctx.get(device.start)
            finishes += ctx.get(device.finish)
            assert starts - finishes in (0, 1)
            pipeline = 5 if step["add"] or step["save"] or step["clear"] else max(0, pipeline - 1)
            sending = max(0, sending - 1)
            if offered and ctx.get(device.commands.ready):
                pending.pop(0)
            idle = 0 if pending else idle + 1
            await ctx.tick()

    simulate(device, main)
    assert done == [step for command in commands for step in steps_of(*command)]
    assert starts == finishes == sum(kind == CommandKind.COMPUTE for kind, _, _ in commands)


@pytest.mark.parametrize("stall", [0.0, 0.5])
def test_each_result_is_sent_once(stall: float) -> None:
    rng = random.Random(1)
    device = WindowSender(6)
    results = [rng.getrandbits(32) for _ in range(6)]

    async def main(ctx: Any) -> None:
        word = 0
        for count in (3, 0, 6, 1, 0, 5):
            ctx.set(device.start, 1)
            ctx.set(device.count, count)
            got: list[tuple[int, int]] = []
            for cycle in range(60):
                ready = rng.random() >= stall
                ctx.set(device.words.ready, ready)
                ctx.set(device.word, word)
                # As a memory with an enable: the word is there in the next cycle, and until the next one.
                if ctx.get(device.enable):
                    word = results[ctx.get(device.address)]
                if ctx.get(device.words.valid):
                    assert ctx.get(device.busy)
                    assert ctx.get(device.words.payload.count) == 1
                    if ready:
                        payload = device.words.payload
                        got.append((ctx.get(payload.elements), ctx.get(payload.last)))
                elif not ctx.get(device.busy) and cycle > 0:
                    assert len(got) == count
                await ctx.tick()
                ctx.set(device.start, 0)
                if stall == 0 and cycle == count + 1:
                    assert len(got) == count, "one a cycle"
            assert got == [(result, at == count - 1) for at, result in enumerate(results[:count])]
            assert not ctx.get(device.sending)
            assert ctx.get(device.closed_up)

    simulate(device, main)
