"""The printed Verilog means the same to every simulator, as Verilog and as SystemVerilog, and to Yosys.

The same words with the same gaps go through it in Verilator and in ``iverilog -g2005`` and ``-g2012`` (which
cocotb's own runner passes); every output is compared in every cycle.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.hw.dma.dma_bench import (
    IDLE,
    IOC,
    IOC_ENABLE,
    MM2S_DMACR,
    MM2S_DMASR,
    MM2S_LENGTH,
    MM2S_SA,
    RUN,
    S2MM_DA,
    S2MM_DMACR,
    S2MM_DMASR,
    S2MM_LENGTH,
)
from tests.isa.conv_streams import Convolution, conv_program
from tests.isa.streams import matmul_program

from axiloom import isa
from axiloom.cosim.bench import run_cocotb
from axiloom.hw.rtl_files import yosys
from axiloom.hw.verilog import emit as verilog
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import TileRule
from axiloom.isa.opcode_map.model import FunctionalModel

BENCH = Path(__file__).parent / "simulator_bench"
RUNS = {
    "verilator": ("verilator", ".v"),
    "iverilog -g2005": ("icarus", ".v"),
    "iverilog -g2012": ("icarus", ".sv"),  # which is what a name that ends so gets
}


def small_conv() -> AcceleratorSpec:
    return isa.builtin("conv_v3").replace(buffers={"I": 32, "F": 32, "O": 16})


def small_loopback(words: int) -> AcceleratorSpec:
    return isa.revise(isa.builtin("loopback"), tile=TileRule((words,)), buffers={"A": words, "C": words})


def random(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-(1 << 20), 1 << 20, shape)


def random_words(count: int) -> list[int]:
    return [word % (1 << 32) for word in random((count,), 0).tolist()]


def matmul_words(spec: AcceleratorSpec) -> list[int]:
    total = (8, 8, 8)
    operands = {o: random(spec.operand_shape(o, total), seed) for seed, o in enumerate("AB")}
    order = isa.loop_orders(spec, "Cs")[0]
    steps = matmul_program(spec, "Cs", order, spec.tile.size, operands)
    return [word for step in steps for word in step.words]


def conv_words(spec: AcceleratorSpec) -> list[int]:
    problem = Convolution(3, 5, 5, 2, 3, 3)
    operands = {"I": random((3, 5, 5), 0), "F": random((2, 3, 3, 3), 1)}
    order = isa.loop_orders(spec, "Fs")[0]
    tile = {"oc": 1, "oh": 1, "ow": 1, "ic": 3}
    steps = conv_program(spec, "Fs", order, tile, problem, operands)
    return [word for step in steps for word in step.words]


def in_all(top: str, text: str, job: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the bench saw, in each cycle and at the end: the same in all simulators."""
    results = {}
    for name, (sim, suffix) in RUNS.items():
        source, result, told = folder / f"dut{suffix}", folder / "result.json", folder / "job.json"
        source.write_text(text)
        told.write_text(json.dumps({"seed": 1, "result": str(result), **job}))
        monkeypatch.setenv("AXILOOM_BENCH_JOB", str(told))
        bench = BENCH / ("soc.py" if top.endswith("soc") else "streams.py")
        assert run_cocotb([source], bench, top=top, sim=sim) == 1
        results[name] = json.loads(result.read_text())
        result.unlink()
    first, *others = results.values()
    for other in others:
        assert first == other
    return first


@pytest.mark.every(3)
@pytest.mark.icarus
@pytest.mark.parametrize("name", ["v3_4", "conv_v3", "loopback"])
def test_an_accelerator_is_the_same_in_all(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "v3_4":
        spec = isa.builtin(name)
        words = matmul_words(spec)
    elif name == "conv_v3":
        spec = small_conv()
        words = conv_words(spec)
    else:
        spec = small_loopback(8)
        words = random_words(24)
    text = verilog.emit(spec, "accelerator")
    seen = in_all("axiloom_accelerator", text, {"words": words}, tmp_path, monkeypatch)
    model = FunctionalModel(spec)
    expected = model.feed(np.asarray(words, dtype=np.uint32)).tolist()
    assert seen["received"] == [
        list(beat) for beat in zip(expected, model.tlast.astype(int).tolist(), strict=True)
    ]
    assert expected
    assert seen["error"] == 0


@pytest.mark.slow
@pytest.mark.icarus
def test_the_dma_is_the_same_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = random_words(24)
    size = 4 * len(words)
    job = {
        "words": words,
        "source": 0x0FE0,  # not in one page
        "target": 0x9000,
        "accesses": [
            [S2MM_DMACR, RUN | IOC_ENABLE],
            [S2MM_DA, 0x9000],
            [S2MM_LENGTH, size],
            [MM2S_DMACR, RUN],
            [MM2S_SA, 0x0FE0],
            [MM2S_LENGTH, size],
            [MM2S_SA],
            *[[MM2S_DMASR], [S2MM_DMASR]] * 40,
            [S2MM_LENGTH],
        ],
    }
    seen = in_all("axiloom_soc", verilog.emit(small_loopback(24)), job, tmp_path, monkeypatch)
    assert seen["written"] == words
    assert seen["read"][0] == 0x0FE0
    assert seen["read"][-3:] == [IOC | IDLE, IOC | IDLE, size]


@pytest.mark.every(2)
@pytest.mark.synth
@pytest.mark.parametrize("dialect", ["", "-sv"])
@pytest.mark.parametrize(
    "name", [*(pytest.param(one, marks=pytest.mark.slow) for one in ("v3_4", "loopback")), "conv_v3"]
)
def test_yosys_reads_it_without_a_word(name: str, dialect: str, tmp_path: Path) -> None:
    """No warning, no latch, nothing without a driver or with two."""
    spec = {"v3_4": isa.builtin("v3_4"), "conv_v3": small_conv(), "loopback": small_loopback(8)}[name]
    if name == "v3_4":
        spec = isa.revise(spec, dma=replace(spec.link.dma, scatter_gather=True))
    (tmp_path / "top.v").write_text(verilog.emit(spec))
    (tmp_path / "read.ys").write_text(
        f"read_verilog {dialect} top.v; hierarchy -check -top axiloom_soc; proc; check -assert\n"
        "select -assert-none t:$dlatch t:$dlatchsr t:$sr\n"
    )
    done = subprocess.run(yosys.command("read.ys"), cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "Warning" not in done.stdout + done.stderr
