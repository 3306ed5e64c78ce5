"""The command, its input and output; and, where the measurements are, the profile against the board."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from axiloom import boards, cli
from axiloom.base.errors import UsageError
from axiloom.boards import Fidelity
from axiloom.calibration import measurements, profile, report, traces
from axiloom.calibration.measurements import Configuration, Measurement, Point
from axiloom.calibration.report import Prediction

HEADER = "driver,accel,size,flow,M,N,K,metric,value,unit,noise_percent,flag\n"
ROW = "manual,v1,4,Ns,64,64,64,task-clock,54.4,msec,0.1,\n"


def csv(folder: Path, text: str) -> Path:
    path = folder / "measured.csv"
    path.write_text(text)
    return path


def test_reading(tmp_path: Path) -> None:
    flagged = "cpu,,,,16,16,16,L1-dcache-loads,1851954,count,0.15,noisy>5%\n"
    one, other = measurements.read(csv(tmp_path, HEADER + ROW + flagged))
    assert one == Measurement(
        Point(Configuration("manual", "v1", 4, "Ns"), 64, 64, 64), "task-clock", 54.4, False
    )
    assert (str(one.point), str(other.point), other.flagged) == (
        "manual v1_4 Ns 64x64x64",
        "cpu 16x16x16",
        True,
    )
    assert measurements.points([one, other, one]) == [other.point, one.point]
    assert measurements.points([one, other], max_size=32) == [other.point]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("driver,accel\n", "no column size, flow, M, N, K, metric, value, flag"),
        (
            HEADER + ROW.replace("manual", "magic"),
            "2: driver must be one of cpu, manual, generated, not 'magic'",
        ),
        (HEADER + ROW.replace("54.4", "fast"), "2: size, M, N, K and value must be numbers"),
        (HEADER + ROW.replace("54.4", "0"), "2: value must be positive, not 0"),
    ],
)
def test_faults(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        measurements.read(csv(tmp_path, text))


def test_without_measurements(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(measurements, "find", lambda path: path)
    assert cli.main(["calibrate", "--check"]) == 0
    assert "skipped, there are no measurements: set AXILOOM_DATA" in capsys.readouterr().out


def test_bare_metal_has_nothing_to_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = csv(tmp_path, HEADER + ROW)
    assert cli.main(["calibrate", "--board", "pynq-z2", "--data", str(path)]) == 2
    assert "board pynq-z2 has no [os]" in capsys.readouterr().err


def prediction(size: int, metric: str, error: float, flagged: bool = False) -> Prediction:
    point = Point(Configuration("manual", "v1", 4, "Ns"), size, size, size)
    return Prediction(Measurement(point, metric, 100.0, flagged), 100.0 * (1 + error))


def test_errors_are_of_unflagged_large_problems() -> None:
    made = [prediction(64, "task-clock", -0.10), prediction(128, "task-clock", 0.02)]
    made += [prediction(32, "task-clock", 5.0), prediction(256, "task-clock", 5.0, flagged=True)]
    made += [prediction(64, "L1-dcache-loads", 0.04), prediction(64, "L1-dcache-stores", -0.06)]
    band = report.fidelity(made, "here")
    assert (band.task_clock_mean, band.task_clock_worst, band.l1d_mean) == pytest.approx((0.06, 0.10, 0.06))
    text = report.table(made, "Title")
    assert re.search(r"manual v1_4 Ns +6.0% +10.0% +4.0% +4.0% +6.0% +6.0%", text)


def test_profile_keeps_its_comments() -> None:
    text = '# top\nname = "x"\n[cost]\nalu = 0.75 # why\nload = 1.0\n[os.start]\ncycles = 9_000 # ns\n'
    made = profile.updated(text, {"cost.alu": 0.4812, "os.start.cycles": 1234567.2}, None)
    assert (
        made
        == '# top\nname = "x"\n[cost]\nalu = 0.481 # why\nload = 1.0\n[os.start]\ncycles = 1_234_567 # ns\n'
    )
    band = Fidelity("data, with commas", 0.01, 0.2, 0.03)
    twice = profile.updated(profile.updated(made, {}, band), {"cost.load": 2}, band)
    assert twice.count("[fidelity]") == 1
    assert tomllib.loads(twice)["fidelity"]["task_clock_worst"] == 0.2
    assert tomllib.loads(twice)["cost"] == {"alu": 0.481, "load": 2}
    with pytest.raises(UsageError, match=r"the profile has no cost\.magic"):
        profile.updated(text, {"cost.magic": 1}, None)


@pytest.mark.slow
def test_traces_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    board = boards.load("pynq-z2-linux")
    point = Point(Configuration("cpu", "", 0, ""), 16, 16, 16)
    first = traces.simulate(point, board)
    monkeypatch.setattr(traces.core, "run_cpu", None)  # a second simulation would call it
    assert traces.simulate(point, board) == first


def test_check_of_one_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs that the fit never saw, of a single configuration: held against the profile as it is."""
    board = boards.load("pynq-z2-linux")
    point = Point(Configuration("cpu", "", 0, ""), 64, 64, 64)
    trace = traces.simulate(point, board)
    rows = [f"cpu,,,,64,64,64,task-clock,{trace['task-clock'] / 1e6 / 1.25},msec,0.1,\n"]
    rows += [
        f"cpu,,,,64,64,64,{name},{trace[name] / 1.1},count,0.1,\n"
        for name in ("L1-dcache-loads", "L1-dcache-stores")
    ]
    assert cli.main(["calibrate", "--check", "--data", str(csv(tmp_path, HEADER + "".join(rows)))]) == 0
    out = capsys.readouterr().out
    assert "Only one configuration: there is no fit without it" in out
    band = "task-clock within 25.0% on average, 25.0% at worst; L1D accesses within 10.0% on average"
    assert f"pynq-z2-linux, simulated: {band} (measured.csv, 1 configurations, M from 64)" in out
    assert f"stated in the profile: {board.fidelity or 'not calibrated'}" in out


@pytest.mark.slow
def test_fidelity(capsys: pytest.CaptureFixture[str]) -> None:
    """The goal, on the sizes that take minutes: docs/boards.md has the command for all of them."""
    if measurements.find() is None:
        pytest.skip("no measurements: set AXILOOM_DATA")
    assert cli.main(["calibrate", "--check", "--max-size", "64", "--jobs", "2"]) == 0
    found = re.search(
        r"task-clock within ([\d.]+)% on average, ([\d.]+)% at worst; L1D accesses within ([\d.]+)%",
        capsys.readouterr().out,
    )
    assert found is not None
    mean, worst, accesses = map(float, found.groups())
    assert mean <= 5
    assert worst <= 15
    assert accesses <= 10
