"""One program on two accelerators of one system, v3_8 and v4_16: in turn and at once, and when one hangs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from axiloom import boards, isa
from axiloom.base.errors import HangError, SpecError, UsageError
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.job import Job, Result
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.drivergen import compile_mlir, matmul_mlir
from axiloom.isa import AcceleratorSpec
from axiloom.library.sessions import Chip

HERE = Path(__file__).parent / "drivers"
ROUNDS = 6
SPECS = isa.place([isa.builtin("v3_8"), isa.builtin("v4_16")])
PARTS = ("compute", "load", "store", "dma_wait", "idle")

RNG = np.random.default_rng(21)
A0, A1 = (RNG.integers(-1000, 1000, (ROUNDS, size, size), np.int32) for size in (8, 16))
B0, B1 = (RNG.integers(-1000, 1000, (size, size), np.int32) for size in (8, 16))
INPUTS = {"A0": A0, "B0": B0, "A1": A1, "B1": B1}
OUTPUTS = {"C0": (A0.shape, "int32"), "C1": (A1.shape, "int32")}

Compile = Callable[..., Path]


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    folder = tmp_path_factory.mktemp("several")

    def build(irq: bool = False, **defines: int) -> Path:
        out = folder / f"several{irq}{'_'.join(f'{k}{v}' for k, v in defines.items())}.elf"
        board = boards.load(boards.DEFAULT)
        return compile_bare([HERE / "several.c"], out, board=board, spec=SPECS, irq=irq, defines=defines)

    return build


@pytest.fixture(scope="module")
def both() -> Soc:
    return Soc(System(SPECS, watchdog_cycles=5000))


def check(result: Result) -> None:
    assert (result.outputs["C0"] == A0 @ B0).all()
    assert (result.outputs["C1"] == A1 @ B1).all()
    assert result.stale == []
    assert sum(result.fabric[part] for part in PARTS) == result.fabric["cycles"]
    cells = result.profile.cells.values()
    assert sum(sum(row.values()) for row in cells) == result.fabric["cycles"]


@pytest.mark.slow
def test_in_turn_and_at_once(both: Soc, elf: Compile) -> None:
    jobs = [Job(elf(TURNS=turns), INPUTS, OUTPUTS) for turns in (1, 0)]
    in_turn, at_once = both.run_many(jobs)
    for result in (in_turn, at_once):
        check(result)
        small, large = result.accelerators["v3_8"], result.accelerators["v4_16"]
        assert (small["words_in"], small["words_out"]) == (ROUNDS * (4 + 2 * 64), ROUNDS * 64)
        assert (large["words_in"], large["words_out"]) == (ROUNDS * (8 + 2 * 256), ROUNDS * 256)
        assert small["transfers_in"] == small["transfers_out"] == large["transfers_in"] == ROUNDS
        assert small["compute"] == ROUNDS * 8**3 / SPECS[0].macs
        assert large["compute"] == ROUNDS * 16**3 / SPECS[1].macs
        assert result.fabric["words_in"] == small["words_in"] + large["words_in"]
        assert result.fabric["transfers_out"] == 2 * ROUNDS
    # What one accelerator does while the other one does something too is counted once.
    busy = [result.fabric["cycles"] - result.fabric["idle"] for result in (in_turn, at_once)]
    assert at_once.fabric["cycles"] < in_turn.fabric["cycles"]
    assert busy[1] < busy[0]


@pytest.mark.slow
def test_asleep_until_an_interrupt_of_either(both: Soc, elf: Compile) -> None:
    result = both.run(elf(irq=True), INPUTS, OUTPUTS)
    check(result)
    assert result.fabric["polls"] < 20  # of dma_init


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hang", "parts"),
    [
        (
            1,
            [
                "v4_16: m_axis (from the device, S2MM) stalls, the device sends nothing: 256 words",
                "v3_8: input: last opcode rC is complete",
                "v4_16: input: last opcode cC is complete (518 words in)",
            ],
        ),
        (
            2,
            [
                "v3_8: the accelerator stopped with UNKNOWN_OPCODE",
                "is 0x00000077 where an opcode should be (last opcode sA)",
                "v4_16: input: ",
            ],
        ),
    ],
)
def test_a_hang_names_the_accelerator(both: Soc, elf: Compile, hang: int, parts: list[str]) -> None:
    with pytest.raises(HangError) as caught:
        both.run(elf(HANG=hang), INPUTS)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.slow
def test_runs_repeat_and_a_reset_reaches_both(both: Soc, elf: Compile) -> None:
    jobs = [Job(elf(), INPUTS, OUTPUTS), Job(elf(HANG=1), INPUTS), Job(elf(), INPUTS, OUTPUTS)]
    first, hung, again = both.run_many(jobs, check=False)
    assert hung.hang
    for result in (first, again):
        check(result)
    assert (first.fabric, first.counters, first.profile) == (again.fabric, again.counters, again.profile)


@pytest.mark.slow
def test_the_fixture_places_them_and_the_program_has_their_names(soc: Callable[..., Chip]) -> None:
    chip = soc(["v3_8", "v4_16"])
    assert list(chip.specs) == SPECS
    check(chip.run(HERE / "several.c", INPUTS, OUTPUTS))
    with pytest.raises(UsageError, match="matmul runs on one accelerator, not on v3_8, v4_16"):
        chip.matmul(16, 16, 16)


def test_there_is_no_timeline_of_several() -> None:
    with pytest.raises(UsageError, match="a timeline is drawn of one accelerator"):
        Soc(System(SPECS), timeline=True)


def test_they_must_fit_together(tmp_path: Path) -> None:
    unplaced = [isa.builtin("v3_8"), isa.builtin("v4_16")]
    with pytest.raises(SpecError, match=r"v4_16: dma_config\.id: 0 is the DMA of v3_8 too"):
        System(unplaced)
    with pytest.raises(SpecError, match=r"v4_16: dma_config\.address: 65536 bytes from 0x40400000 overlap"):
        compile_bare([HERE / "several.c"], tmp_path / "several.elf", spec=unplaced)


def generated(specs: list[AcceleratorSpec], folder: Path) -> Path:
    """An ELF of several_generated.c and the two drivers that it uses."""
    sources = [HERE / "several_generated.c"]
    for name, spec, problem in (("small", specs[0], (24, 32, 16)), ("large", specs[1], (48, 16, 32))):
        driver = compile_mlir(matmul_mlir(*problem).replace("@matmul", f"@{name}"), spec)
        guard = f"AXILOOM_{name.upper()}_H"
        (folder / f"{name}.h").write_text(driver.header.replace("AXILOOM_DRIVER_H", guard))
        (folder / f"{name}.c").write_text(driver.c.replace(f'"{driver.header_name}"', f'"{name}.h"'))
        sources.append(folder / f"{name}.c")
    out = folder / "several.elf"
    board = boards.load(boards.DEFAULT)
    return compile_bare(sources, out, board=board, spec=specs, include=[folder])


@pytest.mark.parametrize("sg", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_generated_drivers_in_turn(sg: bool, tmp_path: Path) -> None:
    specs = [spec.replace(dma=replace(spec.link.dma, scatter_gather=sg)) for spec in SPECS]
    rng = np.random.default_rng(22)
    shapes = {"A0": (24, 16), "B0": (16, 32), "A1": (48, 32), "B1": (32, 16)}
    inputs = {name: rng.integers(-1000, 1000, shape, np.int32) for name, shape in shapes.items()}
    outputs = {"C0": ((24, 32), "int32"), "C1": ((48, 16), "int32")}
    result = Soc(System(specs)).run(generated(specs, tmp_path), inputs, outputs)
    assert (result.outputs["C0"] == 2 * (inputs["A0"] @ inputs["B0"])).all()
    assert (result.outputs["C1"] == 2 * (inputs["A1"] @ inputs["B1"])).all()
    assert result.stale == []


@pytest.mark.every(2)
@pytest.mark.parametrize("irq", [False, True])
@pytest.mark.parametrize("sg", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_one_has_under_way_outlasts_the_turn_of_the_other(sg: bool, irq: bool, tmp_path: Path) -> None:
    specs = [spec.replace(dma=replace(spec.link.dma, scatter_gather=sg)) for spec in SPECS]
    board = boards.load(boards.DEFAULT)
    driver = compile_bare(
        [HERE / "several_series.c"], tmp_path / "series.elf", board=board, spec=specs, irq=irq
    )
    result = Soc(System(specs)).run(driver, INPUTS, OUTPUTS)
    check(result)
    assert result.accelerators["v3_8"]["words_in"] == ROUNDS * (4 + 2 * 64)
    assert (result.fabric["transfers_in"] > 2 * ROUNDS) == sg


@pytest.mark.slow
def test_icarus_agrees_in_every_cycle(both: Soc, elf: Compile) -> None:
    jobs = [Job(elf(), INPUTS, OUTPUTS), Job(elf(HANG=1), INPUTS)]
    ours, hung = both.run_many(jobs, check=False)
    theirs, stuck = Soc(System(SPECS, sim="icarus", watchdog_cycles=5000)).run_many(jobs, check=False)
    check(theirs)
    assert (ours.fabric, ours.counters, ours.accelerators) == (
        theirs.fabric,
        theirs.counters,
        theirs.accelerators,
    )
    assert hung.hang == stuck.hang
