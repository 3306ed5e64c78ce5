"""Mistakes of drivers are named with file and line, fail, and give the bytes of a truthful memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.simulation import driver_mistakes

SMALL = (
    "right",
    "right_late",
    "right_beside",
    "no_clean",
    "no_invalidate",
    "shared_line_invalidated",
    "shared_line_flushed",
    "read_before_the_wait",
    "receive_never_started",
    "length_cut_to_nothing",
    "receive_too_short",
    "send_restarted",
    "send_not_running",
    "source_unaligned",
    "wrong_offset",
    "no_memory_there",
    "wrong_base",
)


def check(tmp_path: Path, board: str, form: str, cases: list[driver_mistakes.Mistake]) -> None:
    found = driver_mistakes.run(board, form, cases, tmp_path)
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_a_few(tmp_path: Path) -> None:
    check(tmp_path, "A9", "C", [one for one in driver_mistakes.ALL if one.name in SMALL])


@pytest.mark.slow
@pytest.mark.parametrize("form", ["C", "ELF"])
@pytest.mark.parametrize("board", driver_mistakes.BOARDS)
def test_all(tmp_path: Path, board: str, form: str) -> None:
    check(tmp_path, board, form, list(driver_mistakes.ALL))


def test_a_check_can_fail(tmp_path: Path) -> None:
    """A right driver that is taken for a wrong one, and a mistake whose bytes are taken for new ones."""
    right = next(one for one in driver_mistakes.ALL if one.name == "right")
    lying = driver_mistakes.replace(right, code=9, seen=driver_mistakes.OLD, is_exact=False)
    system = driver_mistakes.system("A9", queue=False)
    elf = driver_mistakes.compiled(system, "C", tmp_path)
    [result] = driver_mistakes.results(system, elf, [right])
    assert right.faults(result, 32) == []
    assert len(lying.faults(result, 32)) == 3
