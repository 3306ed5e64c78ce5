"""``axiloom spec show`` and ``axiloom list`` speak of every built-in accelerator."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom import isa
from axiloom.cli import main


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
    assert "v1_4: 217 properties: 216 hold without a bound" in shown[1]
    path.write_text(isa.dumps(isa.builtin("loopback")))
    assert main(["spec", "check", str(path)]) == 0
    assert main(["spec", "check", str(path), "--prove"]) == 3
    assert "loopback: there is no formal model of the form copy yet" in capsys.readouterr().err
