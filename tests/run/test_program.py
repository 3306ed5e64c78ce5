"""Programs on the simulated SoC: their driver on the CPU, their RTL behind the DMA."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.accelerators.flexasr.test_layers import LAYERS
from tests.accelerators.qkv.attention import attention
from tests.accelerators.vta.blocks.test_layers import convolved
from tests.device.test_programs import N, small_device, within

from axiloom.accelerators.vta.blocks.conv import Convolution
from axiloom.accelerators.vta.blocks.conv import lowered as lower_conv
from axiloom.accelerators.vta.blocks.epilogue import Requantise
from axiloom.accelerators.vta.blocks.matmul import lowered as lower_matmul
from axiloom.accelerators.vta.matmul import matmul
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.device.rtl import device
from axiloom.device.values import random_values
from axiloom.isa.instructions.library import target
from axiloom.plan import Receive, Send
from axiloom.plan.figures import moves
from axiloom.run.program import ProgramRun
from axiloom.selection.drive.execute import execute as by_text
from axiloom.selection.program.program import Command, HostArray, Program

pytestmark = pytest.mark.slow


def _ragged() -> Program:
    """Arrays that are no whole beats, a spill to the host and back, a constant."""
    row = 2 * N
    arrays = (
        HostArray("a", "in", (10,), "uint8", 0, "d0"),
        HostArray("b", "in", (8 * row - 10,), "uint8", 10, "d0"),
        HostArray("k", "constant", (8, N), "bfloat16", 1024, "d0"),
        HostArray("t", "local", (8, N), "bfloat16", 2048, "d0"),
        HostArray("y", "out", (3,), "uint8", 4096, "d0"),
        HostArray("z", "out", (16 * row - 3,), "uint8", 4099, "d0"),
    )
    commands = (
        Command("load_rm", {"n": 8, "out": 0, "base": 0}),
        Command("store_rm", {"n": 8, "row": 0, "base": 2048}),
        Command("load_rm", {"n": 8, "out": 0, "base": 1024}),
        Command("load_rm", {"n": 8, "out": 8, "base": 2048}),
        Command("store_rm", {"n": 16, "row": 0, "base": 4096}),
    )
    constant = np.arange(8 * N, dtype=np.uint16).reshape(8, N) * 257
    return Program("qkv", "ragged", commands, arrays, {"k": constant})


def _run(
    program: Program, folder: Path, seed: int = 1
) -> tuple[ProgramRun, dict[str, np.ndarray], dict[str, np.ndarray]]:
    made = small_device(program.target)
    values = random_values(program, seed)
    results = by_text(program, made.isa, values)
    system = System([made.spec], user_rtl=made.rtl(folder))
    return ProgramRun(program, made, system, values, results, seed=seed), values, results


def test_attention_and_ragged_arrays(tmp_path: Path) -> None:
    """One build: the first program twice, and one that the CPU packs for."""
    first, values, results = _run(attention("qkv", 2, N), tmp_path)
    second, _, _ = _run(_ragged(), tmp_path)
    apart = {type(move) for move in moves(second.plan.body) if move.of}
    assert apart == {Send, Receive}
    assert len(second.plan.body) == 2
    assert within(results["y"], values["v1"])
    soc = Soc(first.system)
    soc.build()
    for place, run in enumerate((first, second, first)):
        folder = tmp_path / str(place)
        elf = run.build(folder)
        (result,) = soc.run_many([run.job(elf)])
        report = run.checked(result)
        assert report["result"]["matches"] is True
        assert result.stale == []
        foretold = run.device.foretold(run.program_of)
        assert foretold is not None
        assert result.section_cycles > foretold


def test_a_wrong_driver_is_found(tmp_path: Path) -> None:
    """A command with another row: the result is compared, and differs."""
    program = attention("qkv", 1, N)
    right, _, _ = _run(program, tmp_path)
    elf = tmp_path / "wrong"
    right.build(elf)
    text = (elf / "driver.c").read_text()
    word = f"dma_queue_pair({5 | N << 4:#x}u"
    assert text.count(word) == 2
    (elf / "driver.c").write_text(text.replace(word, f"dma_queue_pair({5 | (N - 1) << 4:#x}u", 1))
    program_file = right.system.compile(
        [elf / "driver.c", elf / "driver_main.c"], elf / "driver.elf", include=[elf]
    )
    soc = Soc(right.system)
    (result,) = soc.run_many([right.job(program_file)])
    assert right.checked(result)["result"]["matches"] is False


def test_layers_on_vta(tmp_path: Path) -> None:
    """64 x 64 x 64 of int8 with a bias, a shift and a clip, by hand, and two layers in tiles, with one build
    of the SoC: the results are NumPy's, not only the text's."""
    made = device(target("vta"))
    by_hand = matmul(64, 64, 64, shift=8)
    product = lower_matmul(40, 64, 320, made.isa, Requantise(10))
    layer, how = Convolution(9, 7, 32, 48, stride=2), Requantise(9, 0)
    convolution = lower_conv(layer, made.isa, how)
    cases = []
    for program, shift in ((by_hand, 8), (product, 10)):
        values = random_values(program, 1)
        a, b, bias = (values[name].astype(np.int64) for name in ("a", "b", "bias"))
        weights = b.transpose(1, 3, 0, 2).reshape(a.shape[1], -1)
        cases.append((program, values, np.clip((a @ weights + bias) >> shift, -128, 127)))
    values = random_values(convolution, 1)
    cases.append((convolution, values, convolved(layer, values, how)))
    system = System([made.spec], user_rtl=made.rtl(tmp_path))
    soc = Soc(system)
    soc.build()
    for program, values, expected in cases:
        run = ProgramRun(program, made, system, values, {"y": expected.astype(np.int8)}, "NumPy")
        (result,) = soc.run_many([run.job(run.build(tmp_path / program.name))])
        assert run.checked(result)["result"]["matches"] is True
        foretold = made.foretold(program)
        assert foretold is not None
        assert foretold < result.section_cycles


def test_flexasr_s_units(tmp_path: Path) -> None:
    """Max-pooling, a linear layer and an LSTM, with one build of the SoC: the results are FlexASR's own."""
    made = device(target("flexasr_units"))
    soc = Soc(System([made.spec], user_rtl=made.rtl(tmp_path)))
    soc.build()
    for one in LAYERS:
        run = ProgramRun(one.program, made, soc.system, one.values, {"y": one.expected}, "FlexASR's text")
        (result,) = soc.run_many([run.job(run.build(tmp_path / one.name))])
        assert run.checked(result)["result"]["matches"] is True
        foretold = made.foretold(one.program)
        assert foretold is not None
        print(f"{one.name}: {result.section_cycles} cycles of the call, {foretold} of the device")
        assert foretold < result.section_cycles
