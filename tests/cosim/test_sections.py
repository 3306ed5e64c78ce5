"""Calls of a function: how long each takes, and what it leaves in the program's arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from axiloom import boards
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.core import Core

BOARD = boards.load("pynq-z2")
CALLS = 4
PROGRAM = f"""
#include <stdint.h>
int32_t sums[2];
int16_t other[3];
__attribute__((noinline)) int add(int32_t n) {{
    sums[0] += n;
    sums[1] -= n;
    other[2] = (int16_t)(10 * n);
    return 0;
}}
int main(void) {{
    for (int32_t n = 1; n <= {CALLS}; n++)
        if (add(n))
            return 1;
    return 0;
}}
"""


def program(folder: Path) -> Path:
    source = folder / "program.c"
    source.write_text(PROGRAM)
    return compile_bare([source], folder / "program.elf", board=BOARD, opt="-O1")


def test_each_call_is_measured_and_what_it_left_is_kept(tmp_path: Path) -> None:
    core = Core(BOARD)
    core.begin(program(tmp_path))
    core.section_at("add")
    core.section_keep({"sums": ((2,), "int32"), "other": ((3,), "int16")})
    core.run()
    cycles, kept = core.section_cycles(), core.section_outputs()
    assert len(cycles) == len(kept) == CALLS
    assert cycles[0] > 2 * cycles[-1]  # code and data come from memory once
    for number, arrays in enumerate(kept, 1):
        total = number * (number + 1) // 2
        np.testing.assert_array_equal(arrays["sums"], [total, -total])
        np.testing.assert_array_equal(arrays["other"], [0, 0, 10 * number])


def test_nothing_is_kept_unless_somebody_asks(tmp_path: Path) -> None:
    core = Core(BOARD)
    elf = program(tmp_path)
    core.begin(elf)
    core.section_at("add")
    core.section_keep({"sums": ((2,), "int32")})
    core.begin(elf)
    core.section_at("add")
    core.run()
    assert len(core.section_cycles()) == CALLS
    assert core.section_outputs() == []
