"""The RTL against the simulator of its text, bit for bit: random programs with every instruction, pauses on
both streams, resets in the middle, faults; and the cycles of each command. `cycles.py`, `meanings.py`."""

from __future__ import annotations

import numpy as np
import pytest
from tests.accelerators.vta.rtl.device_bench import LOAD, Bench, Generator, packets, text_of, word
from tests.some import slow

from axiloom.accelerators.vta.rtl.device import Device
from axiloom.accelerators.vta.rtl.meanings import machine
from axiloom.base.errors import SpecError
from axiloom.hw.command.fault import Fault
from axiloom.isa.instructions.library import target
from axiloom.isa.instructions.read import parse

SMALL = [Bench(3, 8, 64, divided=32), Bench(2, 4, 32, divided=64)]
WHOLE = [Bench(2, 16, 64), Bench(3, 16, 32), Bench(3, 16, 128)]
ALL = [*SMALL, *(pytest.param(one, marks=pytest.mark.slow) for one in WHOLE)]


@pytest.mark.slow
@pytest.mark.parametrize("bench", ALL, ids=str)
@pytest.mark.parametrize("pauses", [slow((0, 0)), (90, 120)], ids=["", "pauses"])
def test_random_programs(bench: Bench, pauses: tuple[int, int]) -> None:
    """Several one after the other without a reset, then one after a reset in the middle of another one."""
    segments, expected, foretold = [], [], []
    simulator = bench.simulator()
    for seed in (0, 1, 4):
        generator = Generator(bench, np.random.default_rng(seed))
        if seed >= 4:
            host = generator.host()
            interrupted = bench.simulator()
            interrupted.state["dram"][:] = host
            rest, _ = bench.beats(generator.commands(60), interrupted)
            segments.append(bench.segment(rest, stops=100 + generator.below(600)))
            expected.append(None)
            foretold.append(0)
            simulator.reset()
        simulator.state["dram"][:] = generator.host()
        commands = generator.commands(60)
        if seed in (0, 4):
            commands = [*generator.filled(), *commands]
        commands = [*commands, *generator.everything()]
        sent, stored = bench.beats(commands, simulator)
        segments.append(bench.segment(sent, resets=seed in (0, 4)))
        expected.append(stored)
        foretold.append(bench.foretold(commands))
    outcomes = bench.run(segments, pause_in=pauses[0], pause_out=pauses[1])
    for outcome, stored, cycles in zip(outcomes, expected, foretold, strict=True):
        if stored is None:
            continue
        assert outcome.error == Fault.NONE
        assert packets(outcome, bench.width) == stored
        assert not len(outcome.rest)
        if pauses == (0, 0):
            assert outcome.cycles == cycles


@pytest.mark.slow
@pytest.mark.parametrize("bench", ALL, ids=str)
def test_cycles_of_each_command(bench: Bench) -> None:
    generator = Generator(bench, np.random.default_rng(5))
    commands = generator.commands(200)
    assert {one.name for one in commands} == {one.instruction for one in bench.machine.meanings.values()} - (
        {"load_acc_8bit"} if bench.m == 2 else set()
    )
    simulator = bench.simulator()
    simulator.state["dram"][:] = generator.host()
    outcomes = bench.run([bench.segment(bench.beats([one], simulator)[0]) for one in commands])
    assert [one.cycles for one in outcomes] == [bench.foretold([one]) for one in commands]


@pytest.mark.parametrize("bench", SMALL, ids=str)
def test_faults_stop_it(bench: Bench) -> None:
    depths = bench.machine.depths
    generator = Generator(bench, np.random.default_rng(0))
    simulator = bench.simulator()
    fine, stored = bench.beats(generator.everything(), simulator)
    wide = {"rows": 2, "count": 2, "sram": depths["inp"] - 4, "left": 1}
    illegal = [
        word(bench.m, "memory", opcode=LOAD, type=0, rows=2, count=1),
        word(bench.m, "memory", opcode=LOAD, type=2, **wide),
        word(bench.m, "memory", opcode=LOAD, type=1, rows=1, count=1, base=bench.dram // bench.block**2),
        word(bench.m, "gemm", opcode=2, last=depths["uop"] + 1),
    ]
    cases = [(one, Fault.ILLEGAL) for one in illegal] + [(6, Fault.UNKNOWN)]
    segments = []
    for one, _ in cases:
        parts = [one >> at & (1 << bench.width) - 1 for at in range(0, 128, bench.width)]
        segments.append(bench.segment([*fine, *parts, *fine]))
    outcomes = bench.run([*segments, bench.segment(fine)])
    assert [one.error for one in outcomes] == [*(fault for _, fault in cases), Fault.NONE]
    assert [len(packets(one, bench.width)) for one in outcomes] == [len(stored)] * len(outcomes)


def test_what_is_not_built() -> None:
    with pytest.raises(
        ValueError, match="stream width must divide the 128 bits of a vector, 32 or more, not 256"
    ):
        Device(Bench().machine, 256)
    with pytest.raises(SpecError, match=r"qkv.isa: 0 memories have square blocks of int8; a GEMM has one"):
        machine(target("qkv"))
    text = text_of()
    for right, wrong, message in (
        (
            "wgt[w, o, k] * inp[src, k]",
            "wgt[w, k, o] * inp[src, k]",
            r"vta.isa:\d+: no unit does what gemm does",
        ),
        ("shifted(a, int5(b))", "shifted(a, int4(b))", r"vta.isa:\d+: no unit does what alu does"),
        ("value >> max(by, 0)", "value >> max(by, 1)", r"vta.isa:\d+: no unit does what alu does"),
        ("int8(total)", "int8(total >> 8)", r"vta.isa:\d+: no unit does what gemm does"),
        (
            "y - above) * stride + x - left)\n                for o",
            "y) * stride + x)\n                for o",
            "load_wgt",
        ),
        ("ACCS = 8192, 2048, 1024, 2048", "ACCS = 8192, 2048, 1024, 1536", "a memory of 1536 rows"),
    ):
        assert right in text, right
        with pytest.raises(SpecError, match=message):
            machine(parse(text.replace(right, wrong), "vta.isa", "vta"))


@pytest.mark.slow
def test_another_encoding_is_other_rtl() -> None:
    """MIN by another code of the opcode: `alu` is opcode 5, and FINISH is 7."""
    text = text_of().replace(
        "LOAD, STORE, GEMM, FINISH, ALU = 0, 1, 2, 3, 4", "LOAD, STORE, GEMM, FINISH, ALU = 4, 3, 5, 7, 0"
    )
    bench = Bench(3, 8, 64, 32, text)
    codes = {0: 4, 1: 3, 2: 5, 3: 7, 4: 0}
    generator = Generator(bench, np.random.default_rng(3))
    simulator = bench.simulator()
    simulator.state["dram"][:] = generator.host()
    commands = [*generator.filled(), *generator.commands(30), *generator.everything()]
    turned = [type(one)(one.word & ~7 | codes[one.word & 7], one.name, one.fields) for one in commands]
    sent, stored = bench.beats(turned, simulator)
    (outcome,) = bench.run([bench.segment(sent)])
    assert packets(outcome, 64) == stored
