"""From instructions to lines: of functions in the program, and of those that the linker has dropped."""

from __future__ import annotations

from pathlib import Path

from axiloom import boards, isa
from axiloom.cosim import lines
from axiloom.cosim.build.user_code import compile_user
from axiloom.cosim.elf import load

SOURCE = """int never_called(int x) {
    return 3 * x;
}
int main(void) {
    return 0;
}
"""


def test_a_dropped_function_has_lines_and_no_place(tmp_path: Path) -> None:
    source = tmp_path / "driver.c"
    source.write_text(SOURCE)
    board = boards.load(boards.DEFAULT)
    elf, _ = compile_user([source], tmp_path / "driver.elf", board=board, spec=(isa.builtin("v3", 4),))
    program, places = load(elf), lines.read(elf)
    assert places.at(program.symbol("main").address) == "driver.c:5"
    assert places.at(0) is None
    assert {line for *_, line in places.rows} >= {2, 5}
