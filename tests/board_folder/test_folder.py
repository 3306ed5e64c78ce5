"""The folder as a whole: written whole or not at all, the same each time, every file read by a tool."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from axiloom import board_folder, isa
from axiloom.base.errors import UsageError
from axiloom.board_folder import Contents
from axiloom.board_folder.check import check as checks
from axiloom.boards import hardware, hosts
from axiloom.cli import main
from axiloom.cosim.build.toolchain import linux_target
from axiloom.cosim.job import Job
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System

Made = dict[str, Contents]


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.slow
def test_two_folders_of_one_plan_are_the_same(made: Made) -> None:
    plan = board_folder.make(
        hardware.load("zcu104"), [isa.builtin("v1_4")], dma=board_folder.XILINX, rebase=True
    )
    assert board_folder.contents(plan) == made["xilinx"]


@pytest.mark.slow
def test_nothing_of_this_machine_is_in_it(folders: dict[str, Path]) -> None:
    for name, content in tree(folders["own"]).items():
        assert str(folders["own"].parent).encode() not in content, name
        assert str(Path.cwd()).encode() not in content, name


def test_a_folder_that_is_there_stays(made: Made, tmp_path: Path) -> None:
    target = tmp_path / "mine"
    target.mkdir()
    (target / "notes.txt").write_text("important")
    plan = made["xilinx"]
    with pytest.raises(UsageError, match="mine is there already: choose another folder, or replace it with"):
        board_folder.write(plan, target)
    with pytest.raises(UsageError, match=r"is no board folder .* --force does not replace it"):
        board_folder.write(plan, target, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert (target / "notes.txt").read_text() == "important"


def test_force_replaces_a_folder_of_ours(made: Made, tmp_path: Path) -> None:
    target = tmp_path / "board"
    plan = made["xilinx"]
    board_folder.write(plan, target)
    (target / "left over").write_text("")
    board_folder.write(plan, target, force=True)
    assert not (target / "left over").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["board"]


def test_a_folder_that_fails_half_way_leaves_nothing(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_path: Path, _text: str, **_options: str) -> int:
        raise OSError("no space left")

    plan = made["xilinx"]
    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(OSError, match="no space left"):
        board_folder.write(plan, tmp_path / "board")
    assert list(tmp_path.iterdir()) == []


EACH = """
import subprocess, sys
words = sys.argv[1:]
out = words.index("-o")
del words[out:out + 2]
rest = [word for word in words if word != "-static" and not word.startswith("-Wl,")]
sys.exit(subprocess.run([*rest, "-c"]).returncode)
"""
"""Compiles what it should link: a C library for Linux is built first, which takes a minute for each CPU."""


@pytest.mark.slow
@pytest.mark.parametrize(("which", "cpu"), [("own", "cortex_a9"), ("xilinx", "cortex_a53")])
def test_every_file_is_sound(folders: dict[str, Path], tmp_path: Path, which: str, cpu: str) -> None:
    rows = checks.check(folders[which], tuple(tool for tool in checks.TOOLS if tool != "c"))
    assert [(row.tool, row.faults) for row in rows if row.faults] == []
    folder = tmp_path / "folder"
    shutil.copytree(folders[which], folder)
    (tmp_path / "each.py").write_text(EACH)
    compiler = [sys.executable, "-m", "ziglang", "cc", *linux_target(hosts.get(cpu)).flags]
    for goal in ("linux", "ladder"):
        every = " ".join([sys.executable, str(tmp_path / "each.py"), *compiler])
        subprocess.run(["make", "-s", goal, f"LINUX_CC={every}"], cwd=folder, check=True)
    assert {path.name for path in folder.glob("*.o")} == {"selftest.o", "ladder.o"}  # each of all sources


@pytest.mark.slow
@pytest.mark.parametrize("which", ["own", "xilinx"])
def test_every_file_is_sound_and_read_by_a_tool(folders: dict[str, Path], which: str) -> None:
    rows = checks.check(folders[which])
    assert [(row.tool, row.faults) for row in rows if row.faults] == []
    if not any(row.skipped for row in rows):
        assert checks.unchecked(folders[which], rows) == []


@pytest.mark.slow
def test_c_that_does_not_compile_is_found(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(folders["xilinx"], folder)
    with (folder / "sw/v1_4/driver.c").open("a") as file:
        file.write("static int never(void) { return 0; }\n")
    rows = {row.tool: row.faults for row in checks.check(folder, ("c",))}
    assert "never" in rows["zig cc (linux)"][0]
    assert rows["zig cc (ladder)"] == ()


def test_what_the_manifest_says(folders: dict[str, Path]) -> None:
    found = json.loads((folders["xilinx"] / "board.json").read_text())
    assert (found["board"], found["part"], found["dma"]) == ("zcu104", "xczu7ev-ffvc1156-2-e", "xilinx")
    assert found["accelerators"][0]["registers"] == "0xa0000000"
    assert [one["segment"] for one in found["addresses"]] == [
        "axi_dma_0/S_AXI_LITE/Reg",
        "zynq_ultra_ps_e_0/SAXIGP2/HP0_DDR_LOW",
        "zynq_ultra_ps_e_0/SAXIGP2/HP0_DDR_LOW",
    ]


@pytest.mark.parametrize("which", ["own", "xilinx"])
def test_what_the_board_runs_is_copied_there(folders: dict[str, Path], which: str) -> None:
    """The README's step 4: each file that its commands name is in the line of scp, which leaves it flat."""
    text = (folders[which] / "README.md").read_text()
    (line,) = re.findall(r"^scp (.+) BOARD:$", text, re.MULTILINE)
    there = {Path(word).name for word in line.split()}
    run = re.findall(r"^sudo (?:\./(\w+)|-E python3 (\S+) (\S+))", text, re.MULTILINE)
    named = {name for names in run for name in names if name}
    assert {"selftest", "ladder"} <= named <= there
    assert {path.name for path in (folders[which] / "python").glob("*.py")} <= named


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "kv"
    words = ["board", "new", "kv260", "--accel", "v1_4", "--dma", "xilinx-sg", "-o", str(target)]
    assert main(words) == 0
    assert f"{target}: " in capsys.readouterr().out
    specs = isa.load_all(target / "accelerator.json")
    assert specs["v1_4"].link.dma.address == 0xA000_0000
    assert specs["v1_4"].link.dma.scatter_gather
    assert main(words) == 2
    assert capsys.readouterr().err == (
        f"axiloom: {target} is there already: choose another folder, or replace it with --force\n"
    )
    assert main(["board", "check", str(target), "--only", "spec,vivado"]) == 0
    assert main(["board", "check", str(tmp_path)]) == 2
    assert main(["board", "check", str(target), "--only", "tclsh"]) == 2


@pytest.mark.slow
def test_problems_of_different_types(tmp_path: Path) -> None:
    words = ["board", "new", "pynq-z2", "--accel", "v3_4,v1_4", "-o", str(tmp_path / "two")]
    problems = ["--problem", "matmul:8x8x8:int8", "--problem", "matmul:4x8x12:int16"]
    assert main([*words, *problems]) == 0
    specs = isa.load_all(tmp_path / "two/accelerator.json")
    assert [spec.data_type.value for spec in specs.values()] == ["int8", "int16"]
    assert "int16_t axl_arg_v1_4_0[48]" in (tmp_path / "two/sw/selftest.c").read_text()
    assert main([*words, "--force", *problems, "--data-type", "int32"]) == 4


def test_a_faulty_folder_ends_with_the_code_of_a_build(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "board"
    board_folder.write(made["xilinx"], target)
    path = target / "ip/axiloom_v1_4/component.xml"
    path.write_text(path.read_text().replace("</spirit:component>", ""))
    assert main(["board", "check", str(target), "--only", "vivado"]) == 5
    assert "not XML: no element found" in capsys.readouterr().out


@pytest.mark.slow
def test_a_file_of_ones_own_is_not_moved_unasked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "mine.json"
    spec.write_text(isa.dumps(isa.builtin("v1_4")))
    words = ["board", "new", "kv260", "--spec", str(spec), "--dma", "xilinx", "-o", str(tmp_path / "kv")]
    assert main(words) == 3
    assert "dma_config.address: 0x40400000 is not behind M_AXI_HPM0_FPD" in capsys.readouterr().err
    assert main([*words, "--rebase"]) == 0


def test_boards_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["board", "list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == hardware.names()


@pytest.mark.slow
@pytest.mark.parametrize("names", [("v3_4",), ("v3_4", "v1_4"), ("conv_v4",)])
def test_the_self_test_is_right_in_simulation(tmp_path: Path, names: tuple[str, ...]) -> None:
    """The folder's own Makefile, its program, and its specification's hardware."""
    specs = isa.place([isa.builtin(name, data_type="int8") for name in names])
    plan = board_folder.make(hardware.load("pynq-z2"), specs)
    board_folder.write(board_folder.contents(plan), tmp_path / "folder")
    subprocess.run(
        ["make", "-s", "baremetal", f"PYTHON={sys.executable}"], cwd=tmp_path / "folder", check=True
    )
    loaded = list(isa.load_all(tmp_path / "folder/accelerator.json").values())
    soc = Soc(System(loaded[0] if len(loaded) == 1 else loaded))
    soc.build()
    (result,) = soc.run_many([Job(tmp_path / "folder/build/selftest.elf", {}, {})])
    assert result.exit_code == 0


@pytest.mark.slow
def test_bare_metal_of_an_ultrascale(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    plan = board_folder.make(hardware.load("zcu104"), [isa.builtin("v1_4")], rebase=True)
    board_folder.write(board_folder.contents(plan), folder)
    subprocess.run(["make", "-s", "baremetal", f"PYTHON={sys.executable}"], cwd=folder, check=True)
    soc = Soc(System(isa.load(folder / "accelerator.json"), board="zcu104"))
    (result,) = soc.run_many([Job(folder / "build/selftest.elf")])
    assert result.exit_code == 0


@pytest.mark.slow
def test_linux_programs_are_right_in_simulation(tmp_path: Path) -> None:
    """The self-test and the ladder as they go onto the board."""
    folder = tmp_path / "folder"
    plan = board_folder.make(hardware.load("pynq-z2"), [isa.builtin("v3_4")])
    board_folder.write(board_folder.contents(plan), folder)
    command = ["make", "-s", "linux", "ladder", f"PYTHON={sys.executable}"]
    subprocess.run(command, cwd=folder, check=True)
    soc = Soc(System(isa.load(folder / "accelerator.json")))
    soc.build()
    test, ladder = soc.run_many(
        [Job(folder / "build" / name, strict=True) for name in ("selftest", "ladder")]
    )
    assert (test.exit_code, ladder.exit_code) == (0, 0)
    line = r"v3_4: round {} is right, checksum 0x[0-9a-f]+, \d+ us\n"
    assert re.fullmatch("".join(line.format(i) for i in (1, 2, 3)), test.console)
    assert ladder.console.endswith("all steps are passed\n")


@pytest.mark.slow
def test_a_board_of_the_open_flow(tmp_path: Path) -> None:
    """The files of the open flow in place of those for Vivado, and the driver for the PC."""
    folder = tmp_path / "ulx3s"
    plan = board_folder.make(hardware.load("ulx3s"), [isa.builtin("v1_4")])
    board_folder.write(board_folder.contents(plan), folder)
    assert not (folder / "vivado").exists()
    rows = checks.check(folder)
    assert [(row.tool, row.faults) for row in rows if row.faults] == []
    if not any(row.skipped for row in rows):
        assert checks.unchecked(folder, rows) == []
    pins = folder / "openflow/pins.lpf"
    pins.write_text(pins.read_text().replace('LOCATE COMP "led[3]"', 'LOCATE COMP "led[8]"'))
    faults = [fault for row in checks.check(folder, ("openflow",)) for fault in row.faults]
    assert faults == ["led[8] is located, and is no port of axiloom_ulx3s", "led[3] has no site"]
