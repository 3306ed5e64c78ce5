"""What the library refuses, and what its values say of themselves."""

from __future__ import annotations

import json
import pickle
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from tests.hw.rtl_files.test_packaged import core

import axiloom as ax

EXAMPLES = Path(__file__).parents[2] / "examples"
LOOPS = EXAMPLES / "loops" / "smooth.c"
ROWS = str(EXAMPLES / "selection" / "rows32.isa")


def test_faults_of_a_file_are_said_not_raised(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text('{"accelerators": [{"name": "mine"}]}')
    mine = ax.device(file)
    assert len(mine.faults) > 1
    with pytest.raises(ax.Error, match="mine"):
        mine.spec  # noqa: B018


def test_a_device_can_be_typed_again() -> None:
    device = ax.device("v4_16", stream_width=64, post=True)
    assert repr(device) == "ax.device('v4_16', post=True, stream_width=64)"
    assert eval(repr(device)) == device


def test_an_instruction_set_is_a_device(tmp_path: Path) -> None:
    device = ax.device(ROWS, defines={"ROWS": 64}, lanes=8)
    assert repr(device) == f"ax.device({ROWS!r}, defines={{'ROWS': 64}}, lanes=8)"
    assert eval(repr(device)) == device != ax.device(ROWS)
    assert device.faults == ()
    assert "s_axis_tdata" in device.verilog("accelerator")
    text = Path(ROWS).read_text()
    (tmp_path / "mine.isa").write_text(text.replace("def load(", "def load(n: "))
    assert len(ax.device(tmp_path / "mine.isa").faults) == 1


def test_commands_are_a_plan_of_their_own_instruction_set(tmp_path: Path) -> None:
    """Written by hand: rows are loaded and stored again."""
    file = tmp_path / "copy.program"
    shutil.copy(ROWS, tmp_path)
    shape = {"shape": [8, 32], "number": "bfloat16", "memory": "d0"}
    arrays = [
        {"name": "x", "role": "in", "base": 0, **shape},
        {"name": "y", "role": "out", "base": 512, **shape},
    ]
    commands = [["load", {"n": 8, "out": 0, "base": 0}], ["store", {"n": 8, "row": 0, "base": 512}]]
    whole = {"target": "rows32.isa", "name": "copy", "arrays": arrays, "commands": commands, "constants": {}}
    file.write_text(json.dumps(whole))
    plan = ax.plan(file)
    assert plan.arguments == {"x": ("bfloat16", (8, 32))}
    x = np.linspace(-1, 1, 256, dtype=np.float32).reshape(8, 32)
    assert np.array_equal(plan.job({"x": x}).results["y"], plan.job({"x": x}).values["x"])
    with pytest.raises(ax.Error, match=r"takes no `z`; it takes x"):
        plan.job({"z": x})
    with pytest.raises(ax.Error, match=r"is a program of rows32\.isa, not of vta"):
        ax.plan(file, on="vta")
    with pytest.raises(ax.Error, match="run on their instruction set"):
        ax.plan(file, on="v3_4")


def test_a_packaged_core_is_a_device(tmp_path: Path) -> None:
    mine = ax.device(core(tmp_path))
    assert [note for note in mine.notes if note.startswith("to do")] == []
    assert mine.user_rtl is not None
    assert mine.user_rtl.top == mine.name == "rowmul"
    under = ax.device(EXAMPLES / "verilog_accelerator" / "rowmul.json", rtl=tmp_path / "component.xml")
    assert under.asked.top == "rowmul"
    assert under.faults == ()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ax.device("system.hwh"), "accepted are built-in names"),
        (lambda: ax.device("core.xml"), "core.xml: no such file"),
        (lambda: ax.device(ROWS, dma="sg", size=4), "`size, dma` is not of .*rows32.isa"),
        (lambda: ax.device("v3_4", lanes=4), "`lanes` is of instruction sets with meaning"),
        (lambda: ax.device("none.isa").name, "none.isa: no such file"),
        (lambda: ax.device(ROWS).spec, "has no opcode map: take `instructions`"),
        (lambda: ax.explore("matmul:8x8x8", on=ROWS), "is an instruction set with meaning"),
        (lambda: ax.plan("matmul:8x8x8", on=ROWS), "executes a model's file, or commands"),
        (lambda: ax.plan(ax.nest(LOOPS), on=ROWS), "executes a model's file, or commands"),
        (lambda: ax.soc(ROWS).matmul(8, 8, 8), "has no opcode map, so drivers of it are your own"),
        (lambda: ax.plan("a.mlir", on=[ROWS, "v3_4"]), "rows32.isa is alone, or beside 'cpu'"),
        (lambda: ax.plan("a.mlir", on=ROWS, calls=2), "are not of programs of commands"),
        (lambda: ax.plan("a.program"), "a.program: no such file"),
        (lambda: ax.read("matmul:64x64"), "is not understood"),
        (lambda: ax.read("matmul:8x8x8", defines={"N": 4}), "are for files of C"),
        (lambda: ax.plan("matmul:8x8x8", on=[]), "no accelerator"),
        (
            lambda: ax.plan("matmul:8x8x8", on=[ax.device("v3_4"), ax.device("v4_4", dma="sg")]),
            "same options",
        ),
        (lambda: ax.plan("matmul:8x8x8", on="v3_4", board="none"), "none"),
        (lambda: ax.run(ax.plan("matmul:8x8x8", on="v3_4"), on="v4_4"), "leave on out"),
        (lambda: ax.prove(["a.v", "b.json"]), "several files are Verilog"),
        (lambda: ax.nest("matmul:8x8x8"), "no loops"),
        (lambda: ax.device("mine.json", size=4), "are of built-in accelerators"),
        (lambda: ax.device("v3_4", dma="SG"), "is 'simple' or 'sg'"),
        (lambda: ax.device("v3_4", macs="many"), "is a number, or 'most'"),
        (lambda: ax.device("v3_4", top="core"), "give the files, too"),
        (lambda: ax.soc(ax.device("v3_4"), size=4), "has its options already"),
        (lambda: ax.plan("matmul:8x8x8", on="v3_4", stall="often"), "a seed, a range of seeds, or 'off'"),
        (lambda: ax.plan(LOOPS, calls=2), "leave `on`, `flow`, `calls`"),
        (lambda: ax.nest(ax.read(LOOPS), defines={"N": 4}), "of files of C alone"),
        (lambda: ax.explore("copy:64", on="loopback"), "no cost model that ranks"),
        (lambda: ax.explore(ax.nest(LOOPS), on="v3_4"), "takes `part` and `seconds` alone"),  # type: ignore[call-overload]
        (lambda: ax.explore("matmul:8x8x8", seconds=3), "the search of schedules"),  # type: ignore[call-overload]
        (lambda: ax.explore(ax.nest(LOOPS), seconds=0), "is a number above 0"),
        (lambda: ax.explore(ax.nest(LOOPS), part="xc7"), "no part 'xc7'; there are xc7z010"),
    ],
)
def test_what_is_refused_is_one_line(call: object, message: str) -> None:
    with pytest.raises(ax.Error, match=message):
        call()  # type: ignore[operator]


def test_arrays_that_do_not_fit_are_named() -> None:
    plan = ax.plan("matmul:8x8x8", on="v3_4")
    with pytest.raises(ax.Error, match=r"`A` is float64 \(8, 8\); it takes int32 \(8, 8\)"):
        ax.run(plan, A=np.zeros((8, 8)))
    with pytest.raises(ax.Error, match="takes no `D`; it takes A, B, C"):
        ax.run(plan, D=np.zeros((8, 8), np.int32))


def test_a_plan_is_compiled_once_whatever_it_runs_on() -> None:
    plan = ax.plan("matmul:8x8x8", on="v3_4")
    a = plan.job({"A": np.ones((8, 8), np.int32)})
    compiled = a.driver
    b = plan.job({"A": np.zeros((8, 8), np.int32)})
    assert b.driver is plan.driver is compiled
    assert [int(job.inputs["axl_arg0"].sum()) for job in (a, b)] == [64, 0]


def test_a_run_is_right_and_says_so(tmp_path: Path) -> None:
    a, b = np.random.default_rng(0).integers(-9, 9, (2, 8, 8), np.int32)
    run = ax.run("matmul:8x8x8", on="v3_4", A=a, B=b, C=np.zeros((8, 8), np.int32), progress=False).check()
    assert (run.outputs["C"] == a @ b).all()
    assert run.right
    assert run.cycles >= run.limit.cycles
    assert f"{run.cycles:,} cycles" in repr(run)
    assert run.save(tmp_path).read_text().startswith("<!doctype html>")
    rows = ax.compare(run, run).rows
    assert [row["times"] for row in rows] == [1.0, 1.0]


def test_what_is_no_primitive_is_no_attribute() -> None:
    smooth = ax.nest(LOOPS)
    assert not hasattr(smooth, "program")
    assert hasattr(smooth, "tile")


def test_a_search_of_schedules_ends_in_time() -> None:
    """What is there when the time is over is the front; without a limit it is as fast as `best` says."""
    smooth = ax.nest(LOOPS)
    begun = time.monotonic()
    hurried = ax.explore(smooth, seconds=0.001, progress=False)
    assert time.monotonic() - begun < 20
    assert hurried.stopped
    assert hurried.best.cycles <= smooth.cycles
    ways = ax.explore(smooth, part="xc7z010", progress=False)
    assert not ways.stopped
    cycles = [row["cycles"] for row in ways.rows]
    assert cycles == sorted(cycles)
    assert ways.best.cycles == cycles[0] < smooth.cycles
    assert ways.bound <= cycles[0]
    assert all(row["dsp"] <= 80 for row in ways.rows)


def test_runs_and_plans_are_pickled_and_compared() -> None:
    run = ax.run("matmul:16x16x16", on="v3_16", flow="Cs")
    copy = pickle.loads(pickle.dumps(run))
    assert copy == run
    assert (copy.plan, copy.plan.c, repr(copy)) == (run.plan, run.plan.c, repr(run))
    assert ax.run(copy.plan) == run
    assert ax.run("matmul:16x16x16", on="v3_16", flow="Cs", seed=1) != run


def test_a_nest_of_one_statement_needs_no_name_and_what_nothing_reads_no_array() -> None:
    smooth = ax.nest(LOOPS)
    fast = smooth.tile(i=8)
    assert repr(fast) == repr(smooth.tile("S0", "i", 8)).replace("i 8", "i=8")
    assert fast.resources["lut"] > 0
    assert repr(smooth.reuse("image", "i", "j")) == repr(smooth.reuse("image", "S0", "i", "j"))
    copy = pickle.loads(pickle.dumps(ax.plan(fast)))
    assert copy == ax.plan(fast) != ax.plan(smooth)
