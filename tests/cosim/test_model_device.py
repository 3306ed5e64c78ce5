"""The functional model in the accelerator's place: what comes out is what RTL gives, by the same driver."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.some import slow

from axiloom import boards, isa
from axiloom.base.cache import cached_build, content_hash
from axiloom.base.errors import HangError, SimulatorError, SpecError, UsageError
from axiloom.cosim import core
from axiloom.cosim.build import verilator
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.job import Job
from axiloom.cosim.model_device import MODEL_RTL, Models, Timing
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.hw.rtl_files.verilator import find
from axiloom.hw.soc.accelerator import build
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.opcode_map.model import FunctionalModel
from axiloom.report.types import Report
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import report_of

V3_4 = isa.builtin("v3_4")
OURS = Path(__file__).parent / "drivers"
SHARED = Path(__file__).parents[1] / "system" / "drivers"
HARNESS = Path(__file__).with_name("model_harness.cpp")
RNG = np.random.default_rng(5)
A, B = RNG.integers(-(2**31), 2**31, (2, 4, 4), np.int64).astype(np.int32)
OUTPUTS = {"C": ((4, 4), "int32")}
MOVED = ("words_in", "words_out", "transfers_in", "transfers_out")


# --- through the whole system -----------------------------------------------------------------------------


def report(problem: str, spec: AcceleratorSpec, *, model: bool = False) -> Report:
    return report_of(ProblemRun(Workload.of(problem), System(spec, model=model)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "width", "scatter_gather", "problem"),
    [
        ("v1_4", 32, False, "matmul:12x8x16"),
        slow("v4_16", 128, True, "matmul:40x33x24:int8"),
        pytest.param("conv_v3", 32, False, "conv:5x6,3,3x3,4", marks=pytest.mark.slow),
        slow("conv_v4", 64, True, "conv:7x8,5,3x3,9,stride=2,pad=1:int8"),
        ("identity", 32, False, "copy:100"),
        pytest.param("loopback", 64, True, "copy:100", marks=pytest.mark.slow),
    ],
)
def test_it_moves_and_computes_what_rtl_does(
    name: str, width: int, scatter_gather: bool, problem: str
) -> None:
    built_in = isa.builtin(name, data_type="int8" if problem.endswith("int8") else "int32")
    spec = isa.revise(
        built_in, stream_width=width, dma=replace(built_in.link.dma, scatter_gather=scatter_gather)
    )
    rtl, model = report(problem, spec), report(problem, spec, model=True)
    assert rtl["result"]["matches"]
    assert model["result"]["matches"]
    assert rtl["stale"] == model["stale"] == []
    assert {key: rtl["fabric"][key] for key in MOVED} == {key: model["fabric"][key] for key in MOVED}
    assert rtl["config"]["driver_hash"] == model["config"]["driver_hash"]
    assert (rtl["config"]["rtl"], model["config"]["rtl"]) == ("generated", MODEL_RTL)


@pytest.mark.slow
def test_the_array_takes_the_stated_cycles() -> None:
    fabric = report("matmul:12x8x16", isa.builtin("v1_4"), model=True)["fabric"]
    assert fabric["compute"] == 12 * 8 * 16 // isa.builtin("v1_4").macs


def test_no_limit_is_claimed_of_stated_cycles() -> None:
    found = report("matmul:8x8x8", isa.builtin("v1_4"), model=True)
    assert found["limit"]["ratio"] is None
    from axiloom.report.build import table

    assert f"RTL: {MODEL_RTL}" in table(found)
    assert "Limit" not in table(found)


@pytest.mark.slow
def test_kernels_share_a_build() -> None:
    """What an accelerator computes is not in the Verilog: the next kernel begins at once."""
    made = [Soc(System(isa.builtin(name), model=True)) for name in ("v1_4", "v3_16", "identity")]
    wide = Soc(System(isa.revise(isa.builtin("v1_4"), stream_width=64), model=True))
    assert len({soc.build_id for soc in made}) == 1
    assert wide.build_id != made[0].build_id


def test_verilog_of_the_users_own_and_the_model_do_not_go_together(tmp_path: Path) -> None:
    rtl = UserRtl.__new__(UserRtl)
    rtl.top = "mine"
    with pytest.raises(
        UsageError, match="mine or the functional model takes the accelerator's place, not both"
    ):
        Soc(System(V3_4, user_rtl=rtl, model=True))


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    folder = tmp_path_factory.mktemp("elf")

    def build(source: Path) -> Path:
        board = boards.load(boards.DEFAULT)
        return compile_bare([source], folder / f"{source.stem}.elf", board=board, include=[SHARED])

    return build


@pytest.fixture(
    scope="module",
    params=["verilator", pytest.param("icarus", marks=pytest.mark.icarus)],
)
def soc(request: pytest.FixtureRequest) -> Soc:
    made = Soc(System(V3_4, sim=request.param, watchdog_cycles=20_000, model=True))
    made.build()
    return made


def right(elf: Callable[[Path], Path], *, reset: bool = True) -> Job:
    return Job(elf(SHARED / "right.c"), {"A": A, "B": B}, OUTPUTS, reset=reset)


@pytest.mark.every(2)
def test_a_driver_by_hand(soc: Soc, elf: Callable[[Path], Path]) -> None:
    (result,) = soc.run_many([right(elf)])
    assert (result.outputs["C"] == A @ B).all()
    assert (result.fabric["words_in"], result.fabric["words_out"]) == (17 + 17 + 1 + 1, 16)
    assert result.fabric["load"] == 36
    assert result.fabric["store"] == 16
    assert result.fabric["compute"] == 4 * 4 * 4 / V3_4.macs


@pytest.mark.slow
@pytest.mark.icarus
def test_both_simulators_agree_in_every_cycle(elf: Callable[[Path], Path]) -> None:
    jobs = [right(elf), right(elf, reset=False)]
    found = [Soc(System(V3_4, sim=sim, model=True)).run_many(jobs) for sim in ("verilator", "icarus")]
    assert [one.fabric for one in found[0]] == [one.fabric for one in found[1]]
    assert [one.counters for one in found[0]] == [one.counters for one in found[1]]


def test_numbers_for_which_there_is_no_rtl(elf: Callable[[Path], Path]) -> None:
    """float32, by a driver by hand that moves words: our RTL is refused, the model runs."""
    spec = isa.builtin("v3_4", data_type="float32")
    with pytest.raises(SpecError, match="float32"):
        build(spec)
    a, b = RNG.integers(-1000, 1000, (2, 4, 4)).astype(np.float32) / 8
    inputs = {"A": a.view(np.int32), "B": b.view(np.int32)}
    result = Soc(System(spec, model=True)).run(elf(SHARED / "right.c"), inputs, OUTPUTS)
    assert (result.outputs["C"].view(np.float32) == a @ b).all()


@pytest.mark.slow
def test_it_keeps_its_state_unless_reset(soc: Soc, elf: Callable[[Path], Path]) -> None:
    half = Job(elf(OURS / "half.c"), {"A": A})
    rest = Job(elf(OURS / "resume.c"), {"A": A, "B": B}, OUTPUTS, reset=False)
    for jobs in (
        [half, rest],
        [half, right(elf)],  # reset in the middle of a payload
        [half, right(elf, reset=False)],  # reset by the driver: dma_init resets what it feeds
    ):
        assert (soc.run_many(jobs)[1].outputs["C"] == A @ B).all()


@pytest.mark.every(2)
def test_an_error_of_the_model_is_diagnosed(soc: Soc, elf: Callable[[Path], Path]) -> None:
    wrong, after = soc.run_many([Job(elf(SHARED / "unknown_opcode.c")), right(elf)], check=False)
    assert wrong.hang is not None
    assert "the accelerator stopped with UNKNOWN_OPCODE at word 1: 0x99 is no opcode" in wrong.hang
    assert (after.outputs["C"] == A @ B).all()


@pytest.mark.every(2)
def test_a_hang_is_diagnosed(soc: Soc, elf: Callable[[Path], Path]) -> None:
    with pytest.raises(HangError, match=r"m_axis .* stalls, the device sends nothing: 16 words expected"):
        soc.run(elf(SHARED / "missing_store.c"), {"A": A, "B": B})


@pytest.mark.slow
def test_a_system_of_two_models(tmp_path: Path) -> None:
    """Both by one program, at once; when one stops, it is named."""
    specs = isa.place([isa.builtin("v3_8"), isa.builtin("v4_16")])
    board, driver = boards.load(boards.DEFAULT), SHARED / "several.c"
    a0, a1 = (RNG.integers(-1000, 1000, (6, size, size), np.int32) for size in (8, 16))
    b0, b1 = (RNG.integers(-1000, 1000, (size, size), np.int32) for size in (8, 16))
    inputs, outputs = {"A0": a0, "B0": b0, "A1": a1, "B1": b1}, {"C0": a0.shape, "C1": a1.shape}
    jobs = [
        Job(
            compile_bare([driver], tmp_path / f"{hang}.elf", board=board, spec=specs, defines={"HANG": hang}),
            inputs,
            {name: (shape, "int32") for name, shape in outputs.items()},
        )
        for hang in (0, 2)
    ]
    right, wrong = Soc(System(specs, model=True, watchdog_cycles=5000)).run_many(jobs, check=False)
    assert (right.outputs["C0"] == a0 @ b0).all()
    assert (right.outputs["C1"] == a1 @ b1).all()
    assert right.accelerators["v3_8"]["compute"] == 6 * 8**3 // specs[0].macs
    assert right.accelerators["v4_16"]["compute"] == 6 * 16**3 // specs[1].macs
    assert wrong.hang is not None
    assert "v3_8: the accelerator stopped with UNKNOWN_OPCODE at word 66: 0x77 is no opcode" in wrong.hang


# --- the ports, cycle by cycle ------------------------------------------------------------------------------


class _Outputs(ctypes.Structure):
    _fields_ = [
        *(
            (name, ctypes.c_uint32)
            for name in ("s_tready", "m_tvalid", "m_tlast", "compute", "error", "busy")
        ),
        ("m_tdata", ctypes.c_uint32 * 4),
    ]


class Ports:
    """The module's ports; each `cycle` gives the outputs before an edge, under these inputs."""

    def __init__(self, width: int) -> None:
        core_library, model = core.library(), verilator.RTL / "axl_model.v"

        def build(folder: Path) -> None:
            options = ["-Wno-fatal", f"-DAXL_WIDTH={width}", "--top-module", "axiloom_model", "--Mdir", "out"]
            verilator.verilate([*options, model], "the model's ports", folder)
            include = find().root / "include"
            flags = [
                f"-I{include}",
                f"-I{include}/vltstd",
                "-Iout",
                "-O0",
                "-fPIC",
                "-shared",
                *verilator.COMMON,
            ]
            runtime = [include / f"verilated{part}.cpp" for part in ("", "_dpi", "_threads")]
            unit = folder / "unit.cpp"
            files = [*sorted((folder / "out").glob("*.cpp")), HARNESS]
            unit.write_text("".join(f'#include "{file}"\n' for file in files))
            link = [
                f"-L{core_library.parent}",
                f"-l:{core_library.name}",
                f"-Wl,-rpath,{core_library.parent}",
            ]
            verilator.compile_cxx(
                [*flags, unit, *runtime, *link, "-o", "ports.so"], "the model's ports", folder
            )

        key = content_hash(verilator.identity(), str(width), str(core_library), model, HARNESS)
        self._library = ctypes.CDLL(str(cached_build("test-model", key, build) / "ports.so"))
        self._lanes = width // 32

    def cycle(self, *, rst: bool = False, beat: Any = None, ready: bool = False) -> _Outputs:
        out = _Outputs()
        words = np.zeros(4, np.uint32)
        if beat is not None:
            words[: self._lanes] = beat
        self._library.cycle(
            int(rst),
            int(beat is not None),
            words.ctypes.data_as(ctypes.c_void_p),
            int(ready),
            ctypes.byref(out),
        )
        return out

    def reset(self) -> None:
        for _ in range(3):
            self.cycle(rst=True)


def instructions(spec: AcceleratorSpec, tiles: int) -> np.ndarray[Any, Any]:
    """Words of `tiles` times sA, sB, cC, rC, with random operands."""
    words: list[int] = []
    for _ in range(tiles):
        for name in ("sA", "sB", "cC", "rC"):
            opcode = spec.opcodes[name]
            head = np.zeros(isa.head_words(spec, opcode), np.uint32)
            head[0] = opcode.literal
            loads = [spec.operand_words(operand) for operand in opcode.sends]
            words += [*head, *RNG.integers(0, 2**32, sum(loads), np.uint32)]
    return np.array(words, np.uint32)


@pytest.mark.slow
@pytest.mark.parametrize("width", [slow(32), 128])
@pytest.mark.parametrize(("offered", "taken"), [(1.0, 1.0), (0.5, 0.5), (1.0, 0.1), (0.1, 1.0)])
def test_any_handshake_gives_the_models_words(width: int, offered: float, taken: float) -> None:
    spec = isa.revise(V3_4, stream_width=width)
    words = instructions(spec, 3)
    model = FunctionalModel(spec)
    expected, flags = model.feed(words), model.tlast
    lanes = spec.link.beat_words
    ports, models = Ports(width), Models(core.library(), [spec])
    ports.reset()

    beats = list(words.reshape(-1, lanes))
    got: list[int] = []
    last: list[int] = []
    waiting: tuple[list[int], int] | None = None  # what was offered and not taken
    holding = False
    for _ in range(40_000):
        # As AXI-Stream wants: what is offered stays until it is taken.
        holding = bool(beats) and (holding or RNG.random() < offered)
        ready = RNG.random() < taken
        out = ports.cycle(beat=beats[0] if holding else None, ready=ready)
        offer = (list(out.m_tdata[:lanes]), out.m_tlast) if out.m_tvalid else None
        assert waiting is None or offer == waiting
        waiting = offer if not ready else None
        if offer and ready:
            got += offer[0]
            last += [0] * (lanes - 1) + [offer[1]]
        if holding and out.s_tready:
            beats.pop(0)
            holding = False
        if len(got) >= len(expected):
            break
    assert got == list(expected)
    assert last == [int(flag) for flag in flags]
    assert not beats
    assert not any(ports.cycle(ready=True).busy for _ in range(3))
    models.check()


@pytest.mark.slow
def test_it_does_not_run_ahead_of_its_buffers() -> None:
    """Nobody takes the results: with two of them waiting, no beat is taken, and the first stays offered while
    the compute of the second one ends."""
    ports, models = Ports(32), Models(core.library(), [V3_4])
    ports.reset()
    beats = list(instructions(V3_4, 6).reshape(-1, 1))
    tile = len(beats) // 6
    sent = 0
    offered: list[int] = []
    for _ in range(2_000):
        out = ports.cycle(beat=beats[sent])
        sent += out.s_tready
        offered.append(out.m_tvalid)
    assert offered == sorted(offered)
    assert offered[-1]
    assert sent == Timing().ahead * tile
    models.check()


@pytest.mark.slow
def test_a_result_comes_after_the_stated_cycles() -> None:
    ports, models = Ports(32), Models(core.library(), [V3_4], Timing(latency=40))
    ports.reset()
    beats = list(instructions(V3_4, 1).reshape(-1, 1))
    sent = computing = 0
    shown: list[int] = []
    for at in range(500):
        out = ports.cycle(beat=beats[sent] if sent < len(beats) else None)
        sent += out.s_tready and sent < len(beats)
        computing += out.compute
        if out.compute:
            ended = at + 1
        if out.m_tvalid:
            shown.append(at)
    assert computing == 4 * 4 * 4 // V3_4.macs
    assert shown[0] - ended == 40
    models.check()


def test_a_stopped_device_takes_nothing_until_reset() -> None:
    ports, models = Ports(32), Models(core.library(), [V3_4])
    ports.reset()
    taken = sum(ports.cycle(beat=[0x99]).s_tready for _ in range(20))
    assert taken == 1
    assert ports.cycle().error == DeviceError.UNKNOWN_OPCODE
    assert models.error(0).startswith("UNKNOWN_OPCODE at word 1")
    ports.reset()
    ports.cycle()
    out = ports.cycle()
    assert (out.error, out.s_tready) == (0, 1)


def test_a_model_that_fails_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: FunctionalModel, words: Any) -> None:
        raise ValueError("no such thing")

    ports, models = Ports(32), Models(core.library(), [V3_4])
    ports.reset()
    monkeypatch.setattr(FunctionalModel, "feed", broken)
    for _ in range(5):
        out = ports.cycle(beat=[1])
    assert out.error not in [*DeviceError]
    with pytest.raises(SimulatorError, match="the functional model failed with ValueError: no such thing"):
        models.check()
