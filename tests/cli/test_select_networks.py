"""``axiloom run NETWORK``: which way of selection is the default, what ``--select`` refuses, a whole run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.commands import keywords

from axiloom import isa
from axiloom.base import extras
from axiloom.cli import main
from axiloom.cli.run.network import say_selection
from axiloom.cli.run.program import by_text
from axiloom.cosim.system import System
from axiloom.library.plans import Layers
from axiloom.run import selection
from axiloom.run.network import Network, NetworkRun
from axiloom.run.selection import How

DIGITS = "tests/fixtures/quantised/digits_cnn.mlir"


def how(*more: str, accel: str = "conv_v4") -> How:
    given = keywords("network", "run", DIGITS, "--accel", accel, *more)
    layers: Layers = given["layers"]
    stands_in = bool(given["asked"].rtl)
    return selection.of_network([isa.builtin(accel)], layers.select, layers.offload_from, stands_in=stands_in)


@pytest.mark.parametrize(
    ("more", "because"),
    [
        (("--offload-from", "100"), "egraph weighs every product and knows no --offload-from"),
        (("--rtl", "model"), "the cycles of --rtl are in no cost model"),
    ],
)
def test_matching_with_its_reason(more: tuple[str, ...], because: str) -> None:
    assert how(*more) == How(egraph=False, asked=False, because=because)


def test_matching_where_a_kernel_has_no_patterns() -> None:
    assert (
        how(accel="loopback").because == "egraph has no patterns for `linalg.copy`, which loopback computes"
    )


def test_matching_where_a_solver_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "SOLVERS", ("no_such_solver",))
    assert how().because == f"egraph needs no_such_solver: {extras.install('select')}"
    assert how("--select", "matching") == How(egraph=False, asked=True)


def test_egraph_is_the_default() -> None:
    pytest.importorskip("egglog")
    pytest.importorskip("ortools")
    assert how() == How(egraph=True, asked=False)
    assert how("--select", "egraph") == How(egraph=True, asked=True)


def test_a_model_on_an_instruction_set_needs_no_option() -> None:
    assert by_text("attention.mlir", "qkv", None)
    assert by_text("attention.mlir", "mine.isa", None)
    assert not by_text("attention.mlir", "qkv", "matching")
    assert not by_text("attention.mlir", "v4", None)
    assert by_text("attention.mlir", None, "egraph")
    assert not by_text("matmul:16x16x16", "vta", None)


def test_the_reason_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    system = System(isa.builtin("v4_16", data_type="int8"))
    say_selection(NetworkRun(Network(DIGITS, ""), system, because="of a reason"), quiet=True)
    assert capsys.readouterr().out == "Selection: matching, because of a reason\n\n"
    say_selection(NetworkRun(Network(DIGITS, ""), system), quiet=True)  # as asked
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_options_that_choose_otherwise_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["run", DIGITS, "--select", "egraph", "--accel", "conv_v4", "--offload-from", "100"])
    assert code == 2
    assert "--offload-from: --select egraph weighs every product: leave it out" in capsys.readouterr().err


def test_one_op_has_no_choice(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["run", "matmul:16x16x16:int8", "--select", "egraph", "--accel", "v4_16"])
    assert code == 2
    assert (
        "axiloom run has no option `--select`, which is of `axiloom network run`" in capsys.readouterr().err
    )


@pytest.mark.slow
def test_a_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("egglog")
    pytest.importorskip("ortools")
    found = {}
    for way in (["--select", "matching"], ["--select", "egraph"], []):
        file = tmp_path / f"{len(found)}.json"
        options = ["--accel", "conv_v4,v4_16", "--post", "--dma", "sg", "--stream-width", "64"]
        assert main(["run", DIGITS, *way, *options, "--json", str(file)]) == 0
        found[" ".join(way)] = json.loads(file.read_text())
    said = capsys.readouterr().out
    assert said.count("Selected: 4 products, 3 on conv_v4, 1 on cpu") == 2
    assert said.count("Replayed: ") == 1  # the table is for those who ask
    matching, asked, default = found.values()
    assert [one["place"] for one in asked["network"]["selection"]] == ["conv_v4"] * 3 + ["cpu"]
    assert asked["result"]["matches"]
    for one in (asked, default):
        assert one["config"]["select"] == "egraph"
        assert one["config"]["driver_hash"] == asked["config"]["driver_hash"]
    # The second run of the same program comes from the store.
    assert len(default["network"]["kept"]["kept"]) == len(default["network"]["layers"])
    ms = [sum(row["ms"] for row in one["network"]["layers"]) for one in (matching, asked)]
    assert ms[1] < ms[0]
