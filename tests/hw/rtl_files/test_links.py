"""Any character may be in the path of a user's RTL, and messages name that path."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from axiloom.base.errors import BuildError
from axiloom.cosim.build import verilator
from axiloom.hw.rtl_files.lint import lint
from axiloom.hw.rtl_files.ports import read_ports
from axiloom.hw.rtl_files.user_rtl import UserRtl

STREAM = Path(__file__).parents[3] / "examples" / "hardware" / "stream_matmul"
NAMES = ("a $b", 'a"b', "a'b", "a,b", "a:b", "a%b", "a#b", "aü", "a\nb", "a\\b", "-a;b")


@pytest.mark.parametrize("name", NAMES)
def test_files_are_read_wherever_they_are(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    shutil.copytree(STREAM, folder)
    (folder / "multiply.sv").rename(folder / f"{name}.sv")
    files = (folder / "matmul_stream.sv", folder / f"{name}.sv")
    assert {port.name for port in read_ports(files, "matmul_stream")} >= {"S_AXIS_TDATA", "M_AXIS_TDATA"}
    assert lint("module top;\nendmodule\n", "top", UserRtl(files, "matmul_stream")) == []
    inside = shutil.copytree(STREAM, tmp_path / "plain")
    assert verilator.read_sources(files)[0] == verilator.read_sources([inside / "matmul_stream.sv"])[0]


def test_a_message_names_the_file_as_the_user_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("a $b")
    folder.mkdir()
    (folder / "it's.sv").write_text(
        '`include "inner.svh"\nmodule m(input wire clk);\n  wire x = ;\nendmodule\n'
    )
    (folder / "inner.svh").write_text("\n")
    with pytest.raises(BuildError, match=r"user RTL module m: a \$b/it's\.sv:3:\d+: syntax error"):
        read_ports((folder / "it's.sv",), "m")
    (folder / "inner.svh").write_text("module broken;\n  wire = 1;\nendmodule\n")
    with pytest.raises(BuildError, match=r"a \$b/inner\.svh:2:\d+: syntax error"):
        read_ports((folder / "it's.sv",), "m")
