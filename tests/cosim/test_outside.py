"""Accesses of a program beside its arrays: seen at the first element and named with the line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from axiloom import boards, isa
from axiloom.cosim import lines, outside
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.build.user_code import CompileOptions
from axiloom.cosim.core import Core
from axiloom.cosim.system import System

DRIVER = Path(__file__).parent / "drivers" / "outside.c"
ARRAYS = ("A", "B", "C")
RIGHT = ("SIZE=5", "BEFORE=0", "COPIED=6")


def run(folder: Path, defines: Sequence[str], board: str = boards.DEFAULT, os: str = "none") -> Core:
    system = System(isa.builtin("v3", 4), board=board, os=os)
    elf, _ = system.compile_user([DRIVER], folder / "driver.elf", CompileOptions(tuple(defines)), ARRAYS)
    core = Core(system.profile)
    core.begin(elf, {"A": np.arange(24, dtype=np.int32).reshape(4, 6)})
    core.run(10_000_000)
    return core


def line_of(text: str) -> int:
    return next(i for i, line in enumerate(DRIVER.read_text().splitlines(), 1) if text in line)


@pytest.mark.parametrize("board", [boards.DEFAULT, pytest.param("zcu104", marks=pytest.mark.slow)])
def test_within_its_arrays_nothing_is_said(tmp_path: Path, board: str) -> None:
    assert run(tmp_path, RIGHT, board).outside() == []


def test_a_loop_that_reads_two_elements_too_many(tmp_path: Path) -> None:
    (found,) = run(tmp_path, ("SIZE=7", *RIGHT[1:])).outside()
    assert found.startswith(
        f"outside.c:{line_of('(volatile int32_t *)B')} reads bytes 20 to 27 of B, which has bytes 0 to 19; "
        "2 times, first at"
    )


def test_a_store_before_the_begin(tmp_path: Path) -> None:
    (found,) = run(tmp_path, ("SIZE=5", "BEFORE=1", "COPIED=6")).outside()
    assert found.startswith(f"outside.c:{line_of('-BEFORE')} writes bytes -4 to -1 of C")


def test_a_call_that_copies_too_much_is_named_by_the_line_that_calls(tmp_path: Path) -> None:
    """Also where two words are one access of the CPU's: LDM is looked at word by word."""
    (found,) = run(tmp_path, (*RIGHT[:2], "COPIED=8")).outside()
    assert f"outside.c:{line_of('memcpy(copy')}" in found
    assert " reads bytes 96 to 103 of A, which has bytes 0 to 95" in found


@pytest.mark.slow
def test_in_a_linux_process(tmp_path: Path) -> None:
    assert run(tmp_path, RIGHT, os="linux").outside() == []
    (found,) = run(tmp_path, ("SIZE=7", *RIGHT[1:]), os="linux").outside()
    assert " reads bytes 20 to 27 of B" in found


def test_the_program_executes_as_many_instructions_as_without_guards(tmp_path: Path) -> None:
    system = System(isa.builtin("v3", 4))
    counts = []
    for arrays in ((), ARRAYS):
        elf, _ = system.compile_user([DRIVER], tmp_path / "driver.elf", CompileOptions(RIGHT), arrays)
        core = Core(system.profile)
        core.begin(elf)
        core.run(10_000_000)
        counts.append(core.counters()["instructions"])
    assert counts[0] == counts[1]


def test_lines_of_a_program_without_debug_information(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("int main(void) { return 0; }")
    elf = compile_bare([tmp_path / "main.c"], tmp_path / "driver.elf")
    assert lines.read(elf) == lines.NONE
    assert lines.NONE.at(0x100000) is None


@pytest.mark.slow  # Zig compiles musl, once per machine
def test_lines_are_of_the_users_own_files(tmp_path: Path) -> None:
    """Zig compiles its C library with line tables, too, where the program has some."""
    (tmp_path / "mine.h").write_text("static inline int twice(int x) { return 2 * x + getpid(); }\n")
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include <unistd.h>\n#include "mine.h"\n'
        'int main(int n, char **all) { return printf("%s", *all) + twice(n); }\n'
    )
    elf = tmp_path / "program.elf"
    subprocess.run(
        [sys.executable, "-m", "ziglang", "cc", "-target", "arm-linux-musleabihf", "-mcpu=cortex_a9",
         *("-g", "-O1", "-static"),
         "main.c", "-o", elf],
        cwd=tmp_path, check=True,
    )  # fmt: skip
    assert {row[2] for row in lines.read(elf).rows} == {"main.c", "mine.h"}


def test_the_refusal_says_how_many_places_there_are() -> None:
    assert outside.refusal(["x.c:1 reads"]) == "the driver left its arrays: x.c:1 reads"
    assert outside.refusal(["x.c:1 reads", "x.c:2 writes"]).endswith("x.c:1 reads (1 more place)")
    assert outside.refusal(["a", "b", "c"]).endswith("a (2 more places)")
