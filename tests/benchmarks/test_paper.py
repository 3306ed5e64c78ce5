"""`python -m benchmarks.paper`: quick runs of the experiments, what they write, and what is missing or
wrong."""

from __future__ import annotations

import csv
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from benchmarks import paper as experiments
from benchmarks.paper import contents, document, plots, sides
from benchmarks.paper.__main__ import main
from benchmarks.paper.experiment import Case, Experiment, Measured, Options, geometric_mean
from benchmarks.paper.runner import COUNTERS, run

from axiloom import boards, isa, sw
from axiloom.drivergen import Call
from axiloom.read.mlir.model import read as read_model
from axiloom.run.by_hand import ByHand
from axiloom.sweep import networks
from axiloom.sweep.store import key

SMALL = (8, 8, 8)
MODEL = Path(__file__).parents[1] / "fixtures" / "quantised" / "transformer.mlir"
"""Of a network, for the experiment that has one."""


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as text:
        return list(csv.DictReader(text))


def experiment(*found: Case) -> Experiment:
    """One that compares side ``a`` with side ``b``."""
    return Experiment(
        "tiny",
        "A tiny experiment",
        lambda _options: list(found),
        lambda measured: [{"size": str(m.labels["size"]), "ratio": str(m.ratio("a", "b"))} for m in measured],
        lambda measured: f"{len(measured)} cases.",
        lambda figure, measured: plots.bars(figure.subplots(), [1], {"a": [measured[0].get("a")]}),
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", experiments.NAMES)
@pytest.mark.parametrize("quick", [True, False])
def test_cases_are_distinct_and_quick_ones_are_fewer_or_smaller(name: str, quick: bool) -> None:
    found = experiments.find(name)
    assert found.name == name
    cases = found.cases(Options(quick=quick, model=MODEL))
    labels = [tuple(case.labels.items()) for case in cases]
    assert len(set(labels)) == len(labels)
    for case in cases:
        keys = [key(point) for point in case.sides.values()]
        assert len(set(keys)) == len(keys), "two sides of a case are the same run"
    full = found.cases(Options(model=MODEL))
    work = [sum(_volume(p) for case in some for p in case.sides.values()) for some in (cases, full)]
    assert work[0] < work[1] if quick else work[0] == work[1]


def _volume(point: dict[str, Any]) -> int:
    if point["kind"] == networks.KIND:
        return 1
    size = point["problem"].split(":")[1].split("x")
    return int(np.prod([int(part) for part in size]))


def test_tables_need_no_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "can_draw", lambda: False)
    done = run(
        experiment(), Options(), output=tmp_path / "out", store=tmp_path / "store", jobs=1, progress=False
    )
    assert (done.drawing, done.exit_code) == ("", 0)
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"tiny.csv", "tiny.txt"}


@pytest.mark.slow
def test_a_quick_figure_writes_csv_table_and_plot(tmp_path: Path, capsys) -> None:
    command = ["fig12", "--quick", "--jobs", "1", "--output", str(tmp_path)]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert printed == (tmp_path / "fig12.txt").read_text() + "\n"
    assert "Specialised copies, times what it was before" in printed
    assert printed.endswith("\n\nError band of pynq-z2: not calibrated.\n\n")
    found = rows(tmp_path / "fig12.csv")
    columns = list(found[0])
    assert columns[:4] == ["accelerator", "size", "flow", "side"]
    assert {"task-clock-ns", "branch-instructions", "cache-references", "limit-ratio"} < set(columns)
    measured = {(row["flow"], row["side"]) for row in found if not row["missing"]}
    assert {(flow, side) for flow in ("Ns", "As", "Bs", "Cs") for side in ("CPU", "by hand", "before")} <= (
        measured
    )
    drawn = (tmp_path / "fig12.svg").read_bytes()
    assert b"<svg" in drawn
    assert b"<dc:date>" not in drawn
    # What has been run is not run again, and gives the same files.
    finished = (tmp_path / "results.jsonl").read_text().count('"result"')
    assert main(command) == 0
    assert (tmp_path / "results.jsonl").read_text().count('"result"') == finished
    assert (tmp_path / "fig12.svg").read_bytes() == drawn


@pytest.mark.slow
def test_sizes_replace_the_usual_ones(capsys) -> None:
    for name in ("fig10", "fig11", "fig13", "against-hand", "crossover"):
        found = experiments.find(name).cases(Options(quick=True, sizes=(48, 80)))
        assert {case.labels["size"] for case in found} == {48, 80}
    for wrong in ("40", "0", "64,", "a"):
        assert main(["fig10", "--sizes", wrong]) == 2
        assert "positive multiples of 16" in capsys.readouterr().err


def test_figures_go_between_their_marks(tmp_path: Path) -> None:
    file = tmp_path / "some.md"
    after = "between\n<!-- python -m benchmarks.paper limit --><!-- end -->\n"
    file.write_text(f"# One\n<!-- python -m benchmarks.paper fig10 -->\nold\n<!-- end -->\n{after}")
    for _ in range(2):
        document.fill(file, "fig10", "Title\n\na  b\n1  2\n\nSo it is.\n", "<svg/>\n")
        assert file.read_text() == (
            "# One\n<!-- python -m benchmarks.paper fig10 -->\n![fig10](images/fig10.svg)\n\n"
            f"```\na  b\n1  2\n\nSo it is.\n```\n<!-- end -->\n{after}"
        )
        assert (tmp_path / "images" / "fig10.svg").read_text() == "<svg/>\n"


def test_a_file_without_the_marks_is_refused_before_anything_runs(tmp_path: Path, capsys) -> None:
    file = tmp_path / "some.md"
    file.write_text("# One\n<!-- python -m benchmarks.paper fig10 -->\nno end\n")
    command = ["fig10", "--markdown", str(file), "--output", str(tmp_path / "out")]
    assert main(command) == 2
    said = (
        f"{file} has no line `<!-- python -m benchmarks.paper fig10 -->` with a line `<!-- end -->` after it"
    )
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    file.unlink()
    assert main(command) == 2
    assert f"cannot read {file}" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fig16", "ablation", "crossover", "limit"])
def test_other_kinds_of_experiments_run_quickly(name: str, tmp_path: Path) -> None:
    """The others have the sides of fig12 and fig17, which have tests of their own."""
    done = run(
        experiments.find(name),
        Options(quick=True, model=MODEL),
        output=tmp_path,
        store=tmp_path / "r.jsonl",
        jobs=1,
    )
    assert done.failed == []
    assert done.exit_code == 0
    for ending in ("csv", "txt", "svg"):
        assert (tmp_path / f"{name}.{ending}").stat().st_size > 100
    assert any(one.sides for one in done.measured)


@pytest.mark.slow
def test_what_cannot_be_done_is_missing_and_the_rest_goes_on(tmp_path: Path) -> None:
    can = sides.on_cpu(SMALL, "cpu_neon")
    cannot = sides.generated(SMALL, isa.builtin("v3_4"), flow="Cs", pipeline="no-such-pass")
    one = experiment(Case({"size": 8}, {"a": can, "b": cannot}))
    done = run(one, Options(), output=tmp_path, store=tmp_path / "r.jsonl", jobs=1)
    assert (done.exit_code, done.failed) == (0, [])
    assert "missing: b, 1 of 1 cases (UsageError: unknown" in done.text
    good, bad = rows(tmp_path / "tiny.csv")
    assert good["side"] == "a"
    assert int(good["task-clock-ns"]) > 0
    assert bad["side"] == "b"
    assert bad["task-clock-ns"] == ""
    assert "no-such-pass" in bad["missing"]


@pytest.mark.slow
def test_a_failure_is_told_and_sets_the_exit_code(tmp_path: Path) -> None:
    lost = sides.on_cpu(SMALL, "cpu_neon")
    del lost["kernel"]
    one = experiment(Case({"size": 8}, {"a": sides.on_cpu(SMALL, "cpu_naive"), "b": lost}))
    done = run(one, Options(), output=tmp_path, store=tmp_path / "r.jsonl", jobs=1)
    assert done.exit_code != 0
    assert len(done.failed) == 1
    assert "matmul:8x8x8" in done.failed[0]


def test_a_wrong_result_does_not_count() -> None:
    point = sides.on_cpu(SMALL, "cpu_neon")
    run_ = sides.points.run(point)
    right = {"C": run_.expected["axl_arg2"]}
    sides._check(run_, _ran(right), "it")
    wrong = {"C": right["C"] + np.eye(8, dtype=np.int32)}
    with pytest.raises(sides.MismatchError, match="it: 8 of 64 elements are wrong"):
        sides._check(run_, _ran(wrong), "it")


def _ran(outputs: dict[str, Any]) -> Any:
    return SimpleNamespace(outputs=outputs)


def test_all_sides_of_a_problem_get_the_same_data(tmp_path: Path) -> None:
    spec = isa.builtin("v3_4")
    hand = sides.by_hand(SMALL, spec, flow="Cs")
    ours = sides.generated(SMALL, spec, flow="As", pipeline="published")
    cpu = sides.on_cpu(SMALL, "cpu_neon")
    runs = [sides.points.run(point) for point in (hand, ours, cpu)]
    for other in runs[1:]:
        assert other.inputs.keys() == runs[0].inputs.keys()
        for symbol, array in runs[0].inputs.items():
            np.testing.assert_array_equal(other.inputs[symbol], array)


def test_programs_by_hand_get_our_inputs_under_their_names() -> None:
    ours = {f"axl_arg{number}": np.full((2, 3), number) for number in range(3)}
    given = ByHand.of("matmul:2x3x3").given(ours | {"axl_arg1": np.full((3, 3), 1)})
    assert {name: (array.shape, array.flat[0]) for name, array in given.items()} == {
        "A": ((2, 3), 0),
        "B": ((3, 3), 1),
        "C": ((2, 3), 2),
    }


def test_a_point_changes_with_the_hardware_and_with_the_code(monkeypatch) -> None:
    spec = isa.builtin("v3_4")
    first = sides.by_hand(SMALL, spec, flow="Cs")
    wide = sides.by_hand(SMALL, spec.replace(stream_width=64), flow="Cs")
    assert key(first) != key(wide)
    assert sides.group(first) != sides.group(wide)
    monkeypatch.setattr(sides, "fingerprint", lambda _board: "another")
    assert key(first) != key(sides.by_hand(SMALL, spec, flow="Cs"))


@pytest.mark.slow
def test_a_convolution_changes_with_its_program_and_its_hardware_only(monkeypatch) -> None:
    """All other code may be edited in the middle of a run of hours."""
    small, narrow = "conv:6_2_3_4_1", isa.builtin("conv_v4")
    before = sides.generated_conv(small, narrow, pipeline="copying")
    found = sides.by_content(before)
    assert found == before | {"code": found["code"]}
    monkeypatch.setattr(sides, "fingerprint", lambda _board: "another")
    again = sides.generated_conv(small, narrow, pipeline="copying")
    assert again["code"] == "another"
    assert sides.by_content(again) == found
    others = [
        sides.generated_conv(small, narrow.replace(stream_width=64), pipeline="copying"),
        sides.generated_conv(small, narrow, pipeline="published"),
        sides.conv_by_hand(small),
        sides.conv_on_cpu(small, "cpu_conv_neon"),
    ]
    assert len({found["code"], *(sides.by_content(one)["code"] for one in others)}) == 5
    matmul = sides.by_hand(SMALL, isa.builtin("v3_4"), flow="Cs")
    assert sides.by_content(matmul) == matmul


@pytest.mark.slow
def test_a_kernel_changes_with_the_headers_that_it_includes(monkeypatch, tmp_path: Path) -> None:
    point = sides.conv_on_cpu("conv:6_2_3_4_1", "cpu_conv_naive")
    before = sides.by_content(point)
    shutil.copytree(sw.BASELINES, tmp_path / "baselines")
    monkeypatch.setattr(sw, "BASELINES", tmp_path / "baselines")
    assert sides.by_content(point) == before
    header = tmp_path / "baselines" / "conv.h"
    header.write_text(header.read_text().replace("int32_t O[", "volatile int32_t O["))
    assert sides.by_content(point) != before


def test_a_convolution_changes_with_the_least_cycles_of_its_array(monkeypatch) -> None:
    """Its limit is made of them, and they are no part of the program."""
    point = sides.generated_conv("conv:6_2_3_4_1", isa.builtin("conv_v4"), pipeline="copying")
    monkeypatch.setattr(contents, "_hardware", lambda spec: spec)  # instead of its Verilog
    before = sides.by_content(point)
    monkeypatch.setattr(Call, "array_cycles", lambda _call, _spec: 1)
    assert sides.by_content(point) != before


def test_a_driver_that_does_not_compile_has_no_content() -> None:
    point = sides.generated_conv("conv:6_2_3_4_1", isa.builtin("conv_v4"), pipeline="zero-copy")
    assert sides.by_content(point) == point


def test_a_point_changes_with_a_profile_of_the_users_own(tmp_path: Path) -> None:
    profile = tmp_path / "mine.toml"
    text = (Path(boards.__file__).parent / "pynq-z2" / "profile.toml").read_text()
    found = []
    for cycles in (65, 66):
        profile.write_text(text.replace("ddr = 65 ", f"ddr = {cycles} "))
        sides.fingerprint.cache_clear()
        found.append(key(sides.on_cpu(SMALL, "cpu_neon", board=str(profile))))
    sides.fingerprint.cache_clear()
    assert found[0] != found[1]


def test_an_unknown_board_is_one_line_before_anything_runs(tmp_path: Path, capsys) -> None:
    assert main(["limit", "--board", "nowhere", "--output", str(tmp_path / "out")]) == 2
    assert "board 'nowhere' is unknown" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_missing_sides_have_no_ratio() -> None:
    figures = {"counters": dict.fromkeys(COUNTERS, 10)}
    one = Measured({"size": 8}, {"a": figures}, {"b": "UsageError: no"})
    assert one.get("b") is None
    assert one.ratio("a", "b") is None
    assert one.ratio("b", "a") is None
    assert replace(one, sides={"a": figures, "b": figures}).ratio("a", "b") == 1.0


def test_geometric_mean() -> None:
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert np.isnan(geometric_mean([]))


@pytest.mark.slow
@pytest.mark.parametrize("name", experiments.NAMES)
def test_tables_conclusions_and_plots_take_missing_figures(name: str) -> None:
    """With everything missing, and with one figure for every side."""
    found = experiments.find(name)
    figures = {
        "counters": dict.fromkeys(COUNTERS, 1_000_000),
        "fabric": {"cycles": 200},
        "limit": {"cycles": 100, "ratio": 2.0},
    }
    cases = found.cases(Options(quick=True, model=MODEL))
    for measured in (
        [Measured(c.labels, {}, dict.fromkeys(c.sides, "UsageError: no")) for c in cases],
        [Measured(c.labels, dict.fromkeys(c.sides, figures)) for c in cases],
    ):
        assert found.table(measured)
        assert found.conclude(measured).endswith(".")

        def draw(figure: Any, measured: list[Measured] = measured) -> None:
            found.plot(figure, measured)

        first = plots.svg(draw, found.title)
        assert first == plots.svg(draw, found.title)


def test_the_fastest_flow_stands_beside_the_same_flow() -> None:
    """Case As: by hand 60, ours 30; case Cs: by hand 40, ours 10: freed of the flow, 60 / 10 and 40 / 10."""

    def figures(clock: int) -> dict[str, Any]:
        return {"counters": dict.fromkeys(COUNTERS, clock)}

    measured = [
        Measured(
            {"accelerator": "v3_8", "flow": flow, "size": 64},
            {"by hand": figures(hand), "all": figures(ours)},
        )
        for flow, hand, ours in (("As", 60, 30), ("Cs", 40, 10))
    ]
    found = experiments.find("against-hand")
    rows = found.table(measured)
    assert [row["all: speed"] for row in rows] == ["2.00", "4.00"]
    assert [row["| any flow: speed"] for row in rows] == ["6.00", "4.00"]
    assert [row["of best by hand"] for row in rows] == ["4.00", "4.00"]
    text = found.conclude(measured)
    assert "all against by hand: task-clock 2.83 times as fast (geometric mean of 2; 2.00 to 4.00" in text
    assert "all, any flow against by hand: task-clock 4.90 times" in text
    assert (
        "all, any flow against by hand, any flow: task-clock 4.00 times as fast (geometric mean of 1;" in text
    )


def test_ablation_says_what_a_pass_brings_alone_and_to_the_others() -> None:
    clocks = {"published": 80, "published + coalesce": 60, "copying": 20, "copying - coalesce": 30}

    def figures(clock: int) -> dict[str, Any]:
        return {"counters": dict.fromkeys(COUNTERS, clock)}

    labels = {"accelerator": "v3_16", "flow": "Cs", "size": "128x128x128"}
    found = experiments.find("ablation")
    text = found.conclude([Measured(labels, {side: figures(clock) for side, clock in clocks.items()})])
    assert "; coalesce 1.33 (1.33) alone, 1.50 (1.50) on top of the others;" in text
    assert "; double-buffer missing alone, missing on top of the others;" in text


DOCUMENT = Path(__file__).parents[2] / "benchmarks" / "paper" / "results.md"


@pytest.mark.parametrize("name", experiments.NAMES)
def test_the_document_shows_every_experiment(name: str) -> None:
    text = DOCUMENT.read_text()
    assert f"`python -m benchmarks.paper {name}`\n" in text
    block = text.split(document.begin(name))[1].split(document.END)[0]
    assert f"![{name}](images/{name}.svg)" in block
    assert "\nError band of pynq-z2: " in block
    assert "missing" not in block
    assert 1_000 < (DOCUMENT.parent / "images" / f"{name}.svg").stat().st_size < 150_000


def test_bench_refuses_an_unknown_name(capsys) -> None:
    assert main(["fig99"]) == 2
    assert "fig10" in capsys.readouterr().err


@pytest.mark.slow
def test_a_network_by_flow_and_passes(tmp_path: Path, capsys) -> None:
    command = ["fig17", "--model", str(MODEL), "--output", str(tmp_path), "--jobs", "1"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "4 of 4 sides of transformer ran, all exact." in printed
    sides_ = {row["side"]: row for row in rows(tmp_path / "fig17.csv")}
    assert set(sides_) == {"CPU, NEON", "Ns", "Best", "all passes"}
    assert float(sides_["Ns"]["task-clock-ns"]) > float(sides_["all passes"]["task-clock-ns"])
    assert float(sides_["all passes"]["limit-ratio"]) >= 1


def test_a_model_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    model = read_model(MODEL)
    model.write(tmp_path / "other.mlir")
    assert networks.keep(read_model(tmp_path / "other.mlir")) == networks.keep(model)
    first = next(iter(model.weights))
    changed = {**model.weights, first: model.weights[first] + np.int8(1)}
    assert networks.keep(replace(model, weights=changed)) != networks.keep(model)
