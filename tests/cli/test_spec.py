"""``axiloom spec show`` and ``axiloom list`` speak of every built-in accelerator."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom import isa
from axiloom.cli import main
from axiloom.isa.instructions import library


@pytest.mark.parametrize("encoding", ["bitmask", "literals"])
@pytest.mark.parametrize(
    ("name", "post"), [("v4_16", False), ("v4_16", True), ("conv_v3", False), ("conv_v4", True)]
)
def test_shown_specifications_are_files(name: str, post: bool, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "shown.json"
    options = ["--post"] if post else []
    assert main(["spec", "show", name, "--encoding", encoding, *options, "-o", str(path)]) == 0
    assert isa.load(path) == isa.builtin(name, encoding=encoding, post=post)


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    for kernel in isa.KERNELS:
        assert all(f"  {name} " in shown for name in isa.builtins(kernel))


def test_post_where_it_makes_no_sense(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spec", "show", "v1_4", "--post"]) == 2
    assert "v1_4 has no post-processing" in capsys.readouterr().err


def test_check_proves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.json"
    path.write_text(isa.dumps(isa.builtin("v1_4")))
    assert main(["spec", "check", str(path), "--prove"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].endswith("v1_4: no faults; 1 opcodes, flows Ns")
    assert "v1_4: 169 properties: 168 hold without a bound" in shown[1]
    path.write_text(isa.dumps(isa.builtin("loopback")))
    assert main(["spec", "check", str(path)]) == 0
    assert main(["spec", "check", str(path), "--prove"]) == 3
    assert "loopback: there is no formal model of the form copy yet" in capsys.readouterr().err


IMPOSSIBLE = """
word = input(32)
y = memory(64, type=int8)

@instruction(word[0:2] == 1)
def right():
    y[word[8:14]] = int8(word[16:24])

@instruction(word[0:2] == 5)
def wide():
    y[0] = 1

@instruction(word[0:2] == 2 and word[1:3] == 2)
def crossed():
    y[1] = 1

@instruction(word[0:2] == 3)
def bounded():
    at = word[8:14]
    require(at > 40)
    require(at + word[2:4] < 40)
    y[at] = 1
"""


def test_what_no_command_can_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("z3")
    path = tmp_path / "mine.isa"
    path.write_text(IMPOSSIBLE)
    assert main(["spec", "check", str(path)]) == 3
    shown = capsys.readouterr().err.splitlines()
    assert [line.split(" can")[0].split("mine.isa:")[-1] for line in shown] == [
        "10: wide", "14: crossed", "21: bounded"
    ]  # fmt: skip
    assert "`word[0:2] == 5` is false" in shown[0]
    path.write_text(
        IMPOSSIBLE.replace("== 5", "== 0").replace("word[1:3]", "word[2:4]").replace("> 40", ">= 37")
    )
    assert main(["spec", "check", str(path)]) == 0


@pytest.mark.parametrize("name", library.targets())
def test_check_built_in(name: str) -> None:
    assert main(["spec", "check", name]) == 0
