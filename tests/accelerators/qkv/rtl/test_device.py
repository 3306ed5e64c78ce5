"""The RTL against the simulator of its text, bit for bit: random programs with every instruction, pauses on
both streams, resets in the middle, faults; and the cycles of each command. `transfers.py`, `product.py`,
`product_rows.py`, `elementwise.py`, `softmax.py`, `row_memory.py`, `task.py`, `cycles.py`, `units.py`."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.accelerators.qkv.rtl.device_bench import (
    OPCODES,
    Bench,
    Command,
    elements,
    packets,
    random_commands,
    text_of,
    word,
)
from tests.some import slow

from axiloom.hw.command.fault import Fault

SMALL = [Bench("qkv", 8, 4), Bench("qkv_double", 8, 2), Bench("rows64", 16, 4, rows=4)]
MORE = [
    Bench("rows64", 8, 2, 32),
    Bench("rows64", 16, 16, rows=2),  # one block of rows
    Bench("rows64", 16, 8, 128, rows=4),
    Bench("rows64", 16, 2, rows=16),
    Bench("qkv", 16, 4, rows=8),
    Bench("qkv", 8, 8, 32),
    Bench("qkv", 16, 2, 128),
    Bench("qkv_double", 8, 8),
    Bench("qkv_double", 16, 16),
]
ALL = [*SMALL, *(pytest.param(one, marks=pytest.mark.slow) for one in MORE)]


def _filled(bench: Bench, seed: int) -> list[Command]:
    """Every row of every memory gets something; QKV's d2 by a product."""
    rng, n = random.Random(seed), bench.columns
    loads = [name for name in OPCODES[bench.name] if name.startswith("load") and name != "load_cm"]
    found = [(name, {"n": 2 * n, "out": 0, "base": 2 * n * rng.randrange(64)}) for name in loads]
    if bench.name == "rows64":
        found.append(("load_1", {"n": 2 * n, "out": 2 * n, "base": 2 * n * rng.randrange(64)}))
    return [*found, ("gemm", {"a": 0, "b": n})]


def _everything(bench: Bench) -> list[Command]:
    """Stores of all that the memories have."""
    n = bench.columns
    moves = [name for name in OPCODES[bench.name] if name.startswith("mov")]
    stores = [name for name in OPCODES[bench.name] if name.startswith("store") and name != "store_cm"]
    found: list[Command] = [(name, {"n": 2 * n, "row": 0, "base": 0}) for name in stores]
    if bench.name == "rows64":
        return [*found, ("store_1", {"n": 2 * n, "row": 2 * n, "base": 0})]
    return [*found, (moves[0], {"n": n, "row": 0, "out": 0}), (stores[0], {"n": n, "row": 0, "base": 0})]


def _memory(bench: Bench, seed: int) -> np.ndarray:
    size = bench.isa.memories["d0"].shape[0]
    return elements(np.random.default_rng(seed), size // 2).view(np.uint8)


@pytest.mark.every(3)
@pytest.mark.parametrize("bench", ALL, ids=str)
@pytest.mark.parametrize("pauses", [slow((0, 0)), (90, 120)], ids=["", "pauses"])
def test_random_programs(bench: Bench, pauses: tuple[int, int]) -> None:
    """Several one after the other without a reset, then one after a reset in the middle of another one."""
    segments, expected, foretold = [], [], []
    simulator = bench.simulator()
    for seed in range(5):
        rng = random.Random(seed)
        if seed == 4:
            rest, _ = bench.beats(random_commands(bench, rng, 20), bench.simulator())
            segments.append(bench.segment(rest, stops=rng.randrange(300, 900)))
            expected.append(None)
            foretold.append(None)
            simulator.reset()
        simulator.state["d0"][:] = _memory(bench, seed)
        commands = random_commands(bench, rng, 25)
        if seed in (0, 4):
            commands = [*_filled(bench, seed), *commands]
        commands = [*commands, *_everything(bench)]
        sent, stored = bench.beats(commands, simulator)
        segments.append(bench.segment(sent, resets=seed in (0, 4)))
        expected.append(stored)
        foretold.append(bench.cycles.program(commands))
    outcomes = bench.run(segments, pause_in=pauses[0], pause_out=pauses[1])
    for outcome, stored, cycles in zip(outcomes, expected, foretold, strict=True):
        if stored is None:
            continue
        assert outcome.error == Fault.NONE
        assert packets(outcome, bench.width) == stored
        assert not len(outcome.rest)
        if pauses == (0, 0):
            assert outcome.cycles == cycles


@pytest.mark.every(3)
@pytest.mark.parametrize("bench", ALL, ids=str)
def test_cycles_of_each_command(bench: Bench) -> None:
    n = bench.columns
    rows = [0, 1, n - 1, n]
    commands = [one for seed in range(3) for one in random_commands(bench, random.Random(seed), 40)]
    chosen = {(name, fields.get("n")): (name, fields) for name, fields in commands}
    assert {name for name, _ in chosen} == set(OPCODES[bench.name])
    assert set(rows) - {n - 1} <= {fields for _, fields in chosen}
    segments = [bench.segment(bench.beats([one], bench.simulator())[0]) for one in chosen.values()]
    outcomes = bench.run(segments)
    found = {key: outcome.cycles for key, outcome in zip(chosen, outcomes, strict=True)}
    assert found == {key: bench.cycles.program([one]) for key, one in chosen.items()}


@pytest.mark.every(3)
@pytest.mark.parametrize("bench", SMALL, ids=str)
def test_faults_stop_it(bench: Bench) -> None:
    n = bench.columns
    fine, stored = bench.beats(_everything(bench), bench.simulator())
    rows = bench.machine.depths["d2"]
    illegal = word(bench.name, "softmax", {"n": n, "row": rows - n + 1})
    outcomes = bench.run(
        [bench.segment([*fine, illegal, *fine]), bench.segment([*fine, 0, *fine]), bench.segment(fine)]
    )
    assert [one.error for one in outcomes] == [Fault.ILLEGAL, Fault.UNKNOWN, Fault.NONE]
    assert [len(packets(one, bench.width)) for one in outcomes] == [len(stored)] * 3


@pytest.mark.slow
def test_another_memory_and_another_instruction_are_other_rtl() -> None:
    """QKV with d1 half as long again, a move to d1 of d2's rows by another opcode, and a transposing move."""
    text = text_of("qkv").replace("d1 = memory(2 *", "d1 = memory(3 *").replace("<= 2 * N)", "<= 3 * N)")
    text = text.replace("word[0:4] == 5", "word[0:4] == 9")
    text += '''

@instruction(word[0:4] == 5)
def turn():
    """d1[out:out + 64] = d2, transposed."""
    out = word[20:28]
    require(out + 64 <= 128)
    for r in range(64):
        for c in lanes(64):
            d1[out + c, r] = d2[r, c]
'''
    bench = Bench("qkv", 8, 4, text=text)
    assert dict(bench.machine.depths) == {"d1": 24, "d2": 8}
    simulator = bench.simulator()
    simulator.state["d0"][:] = _memory(bench, 7)
    n = 8
    sent, _ = bench.beats(
        [("load_rm", {"n": 3 * n, "out": 0, "base": 0}), ("gemm", {"a": 3, "b": n})], simulator
    )
    for code in (9 | n << 4 | 2 * n << 20, 5 | 5 << 20):
        sent.append(code)
        simulator.command(word=code)
    rest, stored = bench.beats([("store_rm", {"n": 3 * n, "row": 0, "base": 0})], simulator)
    (outcome,) = bench.run([bench.segment([*sent, *rest])])
    assert packets(outcome, 64) == stored
