"""``--rtl``: each command honours it or says why not; figures of ours never stand for the user's."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from axiloom import isa
from axiloom.base.errors import BuildError
from axiloom.cli import main
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.explore import estimate
from axiloom.explore.asked import Asked
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.sweep.points import hardware, point, run

EXAMPLE = Path(__file__).parents[2] / "examples" / "verilog_accelerator"
SPEC, FILE = EXAMPLE / "rowmul.json", EXAMPLE / "rowmul.v"
RTL = ["--spec", str(SPEC), "--rtl", str(FILE), "--top", "rowmul"]
COMMANDS = [
    "run matmul:8x8x8",
    "simulate x.c",
    "compile matmul:8x8x8",
    "explore matmul:8x8x8",
    "explore matmul:8x8x8 --confirm 1",
    "sweep matmul:8x8x8",
    "verilog",
    "estimate",
    "bring-up",
    "board new pynq-z2 -o never",
]


def refused(capsys: pytest.CaptureFixture[str], code: int, *words: str) -> str:
    assert main(words) == code
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    return err


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_is_there_and_its_top(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    message = refused(capsys, 5, *command.split(), "--rtl", "gone.v", "--top", "rowmul")
    assert message == "axiloom: user RTL gone.v: no such file\n"
    assert "--rtl: needs --top NAME" in refused(capsys, 2, *command.split(), "--rtl", str(FILE))
    assert "--top: names the top module of --rtl" in refused(capsys, 2, *command.split(), "--top", "rowmul")


def test_a_file_for_each_rtl_and_seeds_of_pauses(capsys: pytest.CaptureFixture[str]) -> None:
    folder = EXAMPLE.parent / "hardware" / "stream_matmul"
    files = [word for file in sorted(folder.glob("*.sv")) for word in ("--rtl", str(file))]
    words = ["run", "matmul:4x8x6", "--spec", str(folder / "matmul_stream.json"), "--top", "matmul_stream"]
    assert main([*words, *files, "--stall", "2-3"]) == 0
    assert "the same result with seeds 2, 3 (" in capsys.readouterr().out
    assert "matmul_stream" in refused(capsys, 5, *words, *files[2:], "--quiet")


@pytest.mark.parametrize("seeds", ["9-3", "5-", "0", "-", "some"])
def test_seeds_of_pauses_that_are_none(seeds: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "matmul:8x8x8", *RTL, f"--stall={seeds}"]) == 2
    assert "--stall" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_stream_that_the_ports_do_not_have(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = command.split()
    if command == "explore matmul:8x8x8":
        words += ["--confirm", "1"]
    Path("x.c").write_text("int main(void) { return 0; }\n")
    message = refused(capsys, 2, *words, *RTL, "--stream-width", "64")
    assert message == "axiloom: --stream-width 64: the streams of rowmul (--rtl) have 32 bits\n"
    data = json.loads(SPEC.read_text())
    data["accelerators"][0]["stream_width"] = 64
    Path("wide.json").write_text(json.dumps(data))
    message = refused(capsys, 5, *words, "--spec", "wide.json", *RTL[2:])
    assert message == (
        "axiloom: user RTL module rowmul: s_axis_tdata and m_axis_tdata have 32 bits, "
        "the stream_width of rowmul is 64: make them equal\n"
    )
    assert not Path("never").exists()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("explore matmul:8x8x8", "--rtl: the cost model knows generated RTL alone; give --confirm N"),
        ("explore matmul:8x8x8 --device xc7z020", "axiloom hardware has no option `--rtl`"),
        (
            "explore matmul:8x8x8 --confirm 1 --show 3",
            "--show: with --rtl the rows that --confirm N simulates",
        ),
        ("run matmul:8x8x8 --macs 4", "--macs: sizes a generated array; --rtl has its own"),
        ("run matmul:8x8x8 --board ulx3s", "axiloom serial run has no option `--rtl`"),
    ],
)
def test_what_rtl_of_ones_own_cannot_have(
    command: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refused(capsys, 2, *command.split(), *RTL)
    assert not Path("never").exists()


@pytest.mark.parametrize(
    "command",
    ["sweep matmul:8x8x8", "verilog", "simulate x.c", "board new pynq-z2 --dma xilinx -o never"],
)
def test_one_file_for_two_accelerators(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*command.split(), "--accel", "v1_4,v3_4", *RTL[2:]]
    assert "--rtl takes the place of one" in refused(capsys, 2, *words)


def test_a_driver_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "matmul:8x8x8", *RTL]) == 0
    with_rtl = capsys.readouterr().out
    assert main(["compile", "matmul:8x8x8", "--spec", str(SPEC)]) == 0
    assert with_rtl == capsys.readouterr().out


@pytest.mark.slow
def test_simulations_have_it_and_predictions_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """Of RTL that multiplies wrongly a sweep and an exploration say so: it is what they simulate."""
    common = ["matmul:8x8x8", *RTL, "--jobs", "1", "--store", "store.jsonl"]
    assert main(["sweep", *common, "--flows", "Bs", "--output", "runs.csv"]) == 0
    (row,) = csv.DictReader(Path("runs.csv").read_text().splitlines())
    assert (row["rtl"], row["error"]) == ("rowmul", "")
    assert main(["explore", *common, "--confirm", "1", "--json", "found.json"]) == 0
    out = capsys.readouterr().out
    assert "simulated with RTL rowmul" in out
    assert "predicted" not in out
    (found,) = json.loads(Path("found.json").read_text())
    assert found["rtl"] == "rowmul"
    assert {row["predicted_ms"] for row in found["rows"]} == {None}
    assert all(row["simulated_ms"] > 0 for row in found["rows"])

    Path("wrong.v").write_text(FILE.read_text().replace("acc[n] + s_axis_tdata", "acc[n] - s_axis_tdata"))
    wrong = [*common[:1], "--spec", str(SPEC), "--rtl", "wrong.v", "--top", "rowmul", *common[-4:]]
    with pytest.raises(BuildError, match="Duplicate declaration of module: 'rowmul'"):
        UserRtl([FILE, Path("wrong.v")], "rowmul")
    assert main(["sweep", *wrong, "--flows", "Bs", "--output", "runs.csv"]) == 1
    (row,) = csv.DictReader(Path("runs.csv").read_text().splitlines())
    assert row["error"].startswith("MismatchError")


def test_points_know_the_text_of_it() -> None:
    """The key changes with the text and not with the place; the hardware differs from ours."""
    spec = isa.load(SPEC)
    Path("rowmul.v").write_text(FILE.read_text())

    def made(path: Path) -> dict[str, Any]:
        return point("matmul:8x8x8:int32", spec, user_rtl=UserRtl([path], "rowmul"))

    here, there = made(Path("rowmul.v")), made(FILE)
    assert here == there
    ours = point("matmul:8x8x8:int32", spec)
    assert "rtl" not in ours
    assert hardware(ours) != hardware(here)
    Path("rowmul.v").write_text(FILE.read_text() + "// changed\n")
    assert made(Path("rowmul.v")) != there
    simulated = run(here).system.user_rtl
    assert simulated is not None
    assert simulated.files[0].read_text() == FILE.read_text()


@pytest.mark.every(2)
@pytest.mark.parametrize("device", ["xc7z020", "ecp5-85k"])
def test_an_estimate_reads_the_users_files(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to Yosys, which would take minutes: what it is to read."""
    seen: dict[str, Any] = {}

    def stop(sources: object, _top: str, _cached: object, theirs: object = ()) -> None:
        seen.update(sources=str(sources), theirs=theirs)
        raise BuildError("stopped before Yosys")

    monkeypatch.setattr(estimate.resources, "synthesise", stop)
    monkeypatch.setattr(estimate.ecp5, "synthesise", stop)
    assert main(["estimate", *RTL, "--device", device]) == 5
    assert seen["theirs"] == (("rowmul.v", FILE.read_text()),)
    assert "rowmul user (" in seen["sources"]


@pytest.mark.synth
@pytest.mark.slow
def test_an_estimate_is_of_the_users_rtl(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["estimate", "--spec", str(SPEC), "--device", "xc7z020", "--json", "found.json"]
    assert main([*command, *RTL[2:]]) == 0
    assert "rowmul, RTL rowmul, with its DMA on xc7z020" in capsys.readouterr().out
    (theirs,) = json.loads(Path("found.json").read_text())
    assert theirs["rtl"] == "rowmul"
    assert theirs["resources"]["dsp"]["used"] == 24  # eight products of 32 bits


def test_a_soc_refuses_another_width() -> None:
    spec = isa.revise(isa.load(SPEC), stream_width=64)
    with pytest.raises(BuildError, match="have 32 bits, the stream_width of rowmul is 64"):
        Soc(System(spec, user_rtl=UserRtl([FILE], "rowmul")))


def test_a_sweep_takes_the_files_first_accelerator(capsys: pytest.CaptureFixture[str]) -> None:
    from axiloom.cli.explore.sweep import points

    found = points(["matmul:8x8x8"], Asked(file=SPEC))
    assert {one["spec"]["accelerators"][0]["name"] for one in found} == {"rowmul"}
