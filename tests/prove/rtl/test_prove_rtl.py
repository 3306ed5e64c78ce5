"""``axiloom prove rtl``: small engines hold; faults in the Verilog are found, shown, and gone when mended."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from axiloom import isa
from axiloom.cli import main
from axiloom.hw.verilog.emit import emit
from axiloom.isa import AcceleratorSpec
from axiloom.isa.formal.beats import model_of
from axiloom.prove.rtl import replay, verdicts
from axiloom.prove.rtl.maps import of_matmul
from axiloom.prove.rtl.maps import ours as maps
from axiloom.prove.rtl.maps.laid import settings
from axiloom.prove.verdict import Answer

EXAMPLE = Path("examples/verilog_accelerator")
MAP = json.loads((EXAMPLE / "rowmul_map.json").read_text())


def small(name: str, kind: str = "int16", **changes: object) -> AcceleratorSpec:
    spec = isa.builtin(name, 4, data_type=kind)
    tile = replace(spec.tile, size=(2, 2, 2))
    return isa.revise(
        spec, name=f"{name}_small", tile=tile, buffers={"A": 2, "B": 2, "C": 4}, macs=4, **changes
    )


# Faults by named signals, so that a fault survives another order or number of temporaries.
ADDRESS = (r"(signature_addr <= .+);", r"\1 + 1'h1;")
CLEAR = (r"(\d'h\w+: cleared <=) 1'h1;", r"\1 cleared;")

BUGS = {
    "signed for unsigned": (r"\$signed\(a\) \* \$signed\(b\)", "a * b"),
    "an address is off by one": ADDRESS,
    "halves swapped": (r"(assign half_0_sent = .*)\(!send_half\)", r"\1send_half"),
    "an unknown opcode is taken": (r"32'd1: known =", "32'd1, 32'd16: known ="),
    "does not accumulate": (r"row_held\[3\] \?", "1'h0 ?"),
    "a word is lost that waits": (r"if \(~full\) (held <= \w+;)", r"\1"),
}


ODD_SIZE = (r"(\(dims\[1:0\] <= \S+\)) & \(!dims\[0\]\)", r"\1")
"""Is taken; of v4 alone, whose other parts are those of v3."""

BUGS_OF_CONV_V4 = {
    "clear forgotten": CLEAR,
    "TLAST early": (r"assign tag\[1\] = channel_last & \w+;", "assign tag[1] = channel_last;"),
}


def one_tile() -> AcceleratorSpec:
    """v4 with buffers for one size of tile; words may still set others, and are refused."""
    return isa.revise(maps.small(isa.builtin("v4", data_type="int16")), buffers={"A": 2, "B": 2, "C": 4})


def found(spec: AcceleratorSpec, right: str, wrong: str, tmp_path: Path) -> None:
    """The fault is found; its run fails on this Verilog in a simulator, and passes on the good one."""
    good = emit(spec, "accelerator")
    faulty, places = re.subn(right, wrong, good)
    assert places, f"nothing in the Verilog is {right}"
    device = maps.device_of(spec, faulty)
    bad = [one for one in verdicts.prove(device, 20, folder=tmp_path) if not one.good]
    assert [one.answer for one in bad] == [Answer.VIOLATED]
    folder = Path(bad[0].replay)
    assert not replay.passes(folder, device)
    (folder / device.sources[0][0]).write_text(good)
    assert replay.passes(folder, device)


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_faults_are_found_and_shown(bug: str, tmp_path: Path) -> None:
    found(small("v3"), *BUGS[bug], tmp_path)


@pytest.mark.slow
def test_an_odd_size_of_v4(tmp_path: Path) -> None:
    found(one_tile(), *ODD_SIZE, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS_OF_CONV_V4)
def test_faults_of_conv_v4(bug: str, tmp_path: Path) -> None:
    found(maps.small(isa.builtin("conv_v4")), *BUGS_OF_CONV_V4[bug], tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("eight_words")
@pytest.mark.parametrize(
    "spec",
    [small("v1"), small("v3"), isa.builtin("v1_4"), isa.builtin("v3_4")],
    ids=lambda spec: spec.name,
)
def test_engines_refine_their_models(spec: AcceleratorSpec) -> None:
    found = verdicts.prove(maps.device_of(spec), 60)
    assert [one for one in found if not one.good] == []
    assert {"product", "reset", "wait"} <= {one.name for one in found}
    (together,) = (one for one in found if one.name == "overlap")
    assert together.answer is Answer.HOLDS
    assert together.bound in (4, 8)  # on a slow machine the fewer


def window(tmp_path: Path) -> AcceleratorSpec:
    """conv_v3 with small buffers, and without opcodes that combine bits."""
    told = json.loads(isa.dumps(isa.builtin("conv_v3")))
    one = told["accelerators"][0]
    one |= {"name": "conv_v3_small", "accel_size": [1, 1, 1, 2, 1, 1], "buffers": {"I": 2, "F": 2, "O": 2}}
    del one["bits"], one["device"]["sIcO"]
    one["opcode_map"] = one["opcode_map"].replace(", sIcO = [send_literal(70), send(I)]", "")
    one["opcode_flow_map"] = {"Fs": "opcode_flow<(sF ((sI cO save)) rO)>"}
    file = tmp_path / "spec.json"
    file.write_text(json.dumps(told))
    return isa.load(file)


@pytest.mark.slow
@pytest.mark.usefixtures("eight_words")
def test_windows(tmp_path: Path) -> None:
    """All is proved, but of words that set sizes only those that the rows say."""
    found = verdicts.prove(maps.device_of(window(tmp_path)), 60)
    assert [one for one in found if not one.good] == []
    of_words = {row.name: row.bound for row in found if row.unit == "words" and row.bound is not None}
    assert of_words.keys() == {"sH.0", "sC.0", "overlap"}
    assert of_words["sH.0"] == of_words["sC.0"] == 1
    holds = {one.name for one in found if one.answer is Answer.HOLDS}
    claims = {
        "product",
        "reset",
        "wait",
        "stopped",
        "cO",
        "save",
        "rO",
        "sF.0.last",
        "sH.0.bad_dims",
        "sC.0.bad_dims",
    }
    assert {*claims, "overlap"} <= holds


@pytest.mark.slow
def test_a_sum_that_is_not_cleared_is_found(tmp_path: Path) -> None:
    found(window(tmp_path), r"if \(\w+\[1\]\) total <= 32'd0;", "", tmp_path)


def example(tmp_path: Path, told: object, verilog: str | None = None) -> list[str]:
    """The command line on the example, with another map or other Verilog."""
    file, rtl = tmp_path / "map.json", tmp_path / "rowmul.v"
    file.write_text(told if isinstance(told, str) else json.dumps(told))
    rtl.write_text(verilog or (EXAMPLE / "rowmul.v").read_text())
    words = ["prove", "rtl", "--spec", str(EXAMPLE / "rowmul.json"), "--rtl", str(rtl), "--top", "rowmul"]
    return [*words, "--map", str(file), "--replay", str(tmp_path / "replay")]


@pytest.mark.slow
@pytest.mark.usefixtures("eight_words")
def test_verilog_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(example(tmp_path, MAP)) == 0
    assert "violated" not in capsys.readouterr().out


@pytest.mark.slow
def test_a_fault_in_verilog_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        (EXAMPLE / "rowmul.v")
        .read_text()
        .replace("m_axis_tlast  = count[2:0] == 3'd7", "m_axis_tlast = &count[1:0]")
    )
    assert main(example(tmp_path, MAP, text)) == 1
    assert "the RTL answers" in (said := capsys.readouterr().out)
    assert "TLAST 1" in said
    assert list(tmp_path.glob("replay/*/test_replay.py"))


@pytest.mark.parametrize(("kind", "words"), [("int32", (2097154 | 2 << 10, 4194306 | 2 << 10)), ("int8", ())])
def test_a_small_engine(kind: str, words: tuple[int, ...]) -> None:
    """Of v4: two tiles fit, and words that set them are those of the settings."""
    spec = maps.small(isa.builtin("v4", data_type=kind))
    tiles = [(shape["m"], shape["n"], shape["k"]) for shape in of_matmul.shapes(spec)]
    each = spec.data_type.per_word
    assert tiles == [(2, max(2, each), max(2, each)), (2, max(2, each), 2 * max(2, each))]
    made = settings(model_of(spec), of_matmul.shapes(spec))
    assert {len(some) for some in made.values()} == {2}
    assert not words or set(made.values()) == {words}


LINE = MAP["state"][0]


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("{", "not JSON"),
        ([], "must be an object with state, error, product"),
        ({}, "state is missing"),
        ({"state": [], "sate": 1}, "unknown key 'sate'; known are state, error, product"),
        ({"state": [{"register": "b[0]"}]}, "state[0]: holds is missing"),
        ({"state": [LINE | {"register": "bb[{i}]"}]}, "rowmul has no register bb[0]; it has"),
        ({"state": [LINE | {"register": "b[{j}]"}]}, "no such name: 'j'"),
        ({"state": [LINE | {"at": "row.9"}]}, "at: no action 'row.9' takes words; there are load_b.0, row.0"),
        ({"state": [LINE | {"at": "row.2"}]}, "at: no action 'row.2' takes words; there are load_b.0, row.0"),
        ({"state": [LINE | {"holds": "B[i] / 2"}]}, "only + - and * are understood"),
        ({"state": [LINE | {"holds": "open(1)"}]}, "'open(1)' is not understood"),
        ({"state": [], "product": "A"}, "product must be A*B or B*A"),
        ({"state": [], "error": "oops"}, "rowmul has no output oops"),
    ],
)  # fmt: skip
def test_maps_that_are_refused(
    told: object, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(example(tmp_path, told)) != 0
    said = capsys.readouterr()
    assert message in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_options_that_do_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "rtl", "--accel", "v3", "--map", "x.json"]) == 2
    assert main(["prove", "rtl", "--accel", "conv_v4"]) == 3
    assert "takes at most 1024: --small" in capsys.readouterr().err
    assert main(["prove", "rtl", "--accel", "v4"]) == 3
    assert "takes at most 1024: --small" in capsys.readouterr().err
    assert main(["prove", "rtl", "--accel", "v3", "--rtl", str(EXAMPLE / "rowmul.v"), "--top", "rowmul"]) == 2
    assert "needs --map" in capsys.readouterr().err
