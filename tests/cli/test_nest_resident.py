"""``axiloom nest --plan`` and ``--run``: figures, exit codes, the page, and inputs from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.commands import main
from tests.markup import Checked

from axiloom.nest import measure

SOURCE = """
void rows(float A[9][6], float x[6], float y[9])
{
    for (int i = 0; i < 9; i++) {
        y[i] = 0.0f;
        for (int j = 0; j < 6; j++)
            y[i] += A[i][j] * x[j];
    }
}
"""
SCHEDULE = "fission S1 i\nreorder S1 j i\nunroll S1 i 3\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows")
    (path / "rows.c").write_text(SOURCE)
    (path / "rows.sched").write_text(SCHEDULE)
    return path


def nest(folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """The exit code and what is written as JSON."""
    out = folder / "out.json"
    code = main(["nest", str(folder / "rows.c"), *words, "--json", str(out)])
    found: dict[str, Any] = json.loads(out.read_text())
    return code, found


@pytest.fixture(scope="module")
def ran(folder: Path) -> dict[str, Any]:
    code, found = nest(
        folder, "--schedule", str(folder / "rows.sched"), "--run", "--report", str(folder / "page")
    )
    assert code == 0
    return found


@pytest.mark.slow
def test_a_run_says_what_it_promises(ran: dict[str, Any]) -> None:
    assert ran["result"]["matches"] is True
    assert ran["result"]["elements"] == 9
    assert ran["cycles"]["predicted"] == ran["cycles"]["simulated"] >= ran["cycles"]["bound"]
    assert ran["bound"] == {"of": "multiply-adds", "work": 54, "units": ran["parallel"]}
    assert ran["ii"] >= 1
    assert set(ran["resources"]) == {"dsp", "lut", "ff", "bram36"}
    assert ran["device"]["fits"]
    assert ran["search"] is None
    assert [each["predicted"] for each in ran["fifos"]] == [each["simulated"] for each in ran["fifos"]]


@pytest.mark.slow
def test_a_plan_foretells_the_run(ran: dict[str, Any], folder: Path) -> None:
    code, found = nest(folder, "--schedule", str(folder / "rows.sched"), "--plan")
    assert code == 0
    assert found["result"] is None
    assert found["cycles"] == {**ran["cycles"], "simulated": None}
    same = {"ii", "why", "parallel", "resources", "pipes", "memories", "device", "bound"}
    assert {name: found[name] for name in same} == {name: ran[name] for name in same}


def test_a_schedule_is_worth_something(folder: Path, ran: dict[str, Any]) -> None:
    _, found = nest(folder, "--plan")
    assert found["why"].startswith("recurrence")
    assert found["cycles"]["predicted"] > 4 * ran["cycles"]["predicted"]


@pytest.mark.usefixtures("ran")
def test_a_wrong_result_is_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What came out is bent, since the RTL is right; the build comes from the cache."""
    right = measure.execute

    def bent(*arguments: Any) -> Any:
        ran = right(*arguments)
        ran.results["y"][4] *= -1
        return ran

    monkeypatch.setattr(measure, "execute", bent)
    code, found = nest(folder, "--schedule", str(folder / "rows.sched"), "--run")
    assert code == 1
    assert found["result"]["mismatches"] == 1
    assert found["result"]["first"].startswith("y[4] is ")
    assert "WRONG in 1 of 9 elements; first: y[4] is" in capsys.readouterr().out


@pytest.mark.usefixtures("ran")
def test_a_wrong_prediction_is_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = measure.execute

    def late(*arguments: Any) -> Any:
        ran = right(*arguments)
        return measure.replace(ran, simulated=ran.simulated + 1)

    monkeypatch.setattr(measure, "execute", late)
    assert nest(folder, "--schedule", str(folder / "rows.sched"), "--run")[0] == 1
    assert "WRONG, not the same" in capsys.readouterr().out


@pytest.mark.usefixtures("ran")
def test_the_page_needs_nothing_but_itself(folder: Path, ran: dict[str, Any]) -> None:
    page = (folder / "page" / "index.html").read_text()
    assert "http" not in page
    assert "<script" not in page
    assert Checked(page).open == []
    for section in ("loops", "pipes", "slots-nest1", "roofline", "resources", "banks", "dependences", "run"):
        assert f'<section id="{section}">' in page
    assert f"{ran['cycles']['simulated']:,}" in page
    assert "Equal bit for bit in all 9 elements" in page
    words = ["--schedule", str(folder / "rows.sched"), "--run", "--report", str(folder / "page")]
    nest(folder, *words)
    assert (folder / "page" / "index.html").read_text() == page


@pytest.mark.usefixtures("ran")
def test_inputs_of_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, words = folder / "in.npz", ["--schedule", str(folder / "rows.sched"), "--run", "--input"]
    A, x = np.ones((9, 6), np.float32), np.arange(6, dtype=np.float32)
    np.savez(data, A=A, x=x)
    assert nest(folder, *words, str(data))[1]["seed"] is None
    for arrays, message in (
        ({"A": A}, "there is no x"),
        ({"A": A, "x": x, "z": x}, "rows takes no z; A, x"),
        ({"A": A, "x": x[:5]}, "x is float32 (5,), not float32 (6,)"),
        ({"A": A, "x": x.astype(np.float64)}, "x is float64 (6,), not float32 (6,)"),
    ):
        np.savez(data, **arrays)
        assert main(["nest", str(folder / "rows.c"), *words, str(data)]) == 2
        assert message in capsys.readouterr().err
    table = folder / "table.c"
    table.write_text("void f(int y[2]) { const int t[2] = {1, 2}; for (int i = 0; i < 2; i++) y[i] = t[i]; }")
    np.savez(data, t=np.array([1, 3], np.int32))
    assert main(["nest", str(table), "--run", "--input", str(data)]) == 2
    assert "t starts as table.c says; leave it out" in capsys.readouterr().err
    data.write_text("nothing")
    assert main(["nest", str(folder / "rows.c"), *words, str(data)]) == 2
    assert "no .npz file" in capsys.readouterr().err


@pytest.mark.usefixtures("ran")
def test_results_in_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a compiler's own program computes of the same inputs is for everybody to compare."""
    words, data, out = ["--schedule", str(folder / "rows.sched")], folder / "in.npz", folder / "out.npz"
    rng = np.random.default_rng(3)
    A, x = rng.integers(-9, 9, (9, 6)).astype(np.float32), rng.integers(-9, 9, 6).astype(np.float32)
    np.savez(data, A=A, x=x)
    assert nest(folder, *words, "--run", "--input", str(data), "--output", str(out))[0] == 0
    with np.load(out) as results:
        assert list(results) == ["y"]
        assert np.array_equal(results["y"], A @ x)
    assert main(["nest", str(folder / "rows.c"), *words, "--plan", "-o", str(out)]) == 2
    assert "--output: of a search: give --auto too" in capsys.readouterr().err


NARROW = """
from axiloom.nests.program.builder import Builder
def narrow(N=5):
    p = Builder("narrow")
    A, B = p.input("A", (N,), "int12"), p.input("B", (N,), "fixed<20,6>")
    C, D = p.output("C", (N,), "int12"), p.output("D", (N,), "fixed<20,6>")
    with p.loop("i", 0, N) as i:
        C[i] = A[i] * A[i] - A[i]
        D[i] = B[i] * B[i]
    return p
"""


@pytest.mark.slow
def test_numbers_that_c_does_not_have(folder: Path) -> None:
    """Of a program in Python; int12 wraps, its sign is repeated in the array of int16."""
    (folder / "narrow.py").write_text(NARROW)
    assert main(["nest", f"{folder / 'narrow.py'}:narrow", "--run"]) == 0


def test_one_program_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(folder / "rows.c")
    assert main(["nest", source, source, "--plan"]) == 2
    assert "axiloom nest plan does not know what to do with" in capsys.readouterr().err


def test_verilog_in_place_of_a_run(folder: Path) -> None:
    out = folder / "rows.v"
    assert main(["nest", str(folder / "rows.c"), "--emit", "verilog", "-o", str(out)]) == 0
    assert "module nest_rows (" in out.read_text()
