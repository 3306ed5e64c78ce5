"""IR before (``passes/*.mlir``) and after (``golden/*.mlir``) each pass.

The first line of a file says which passes run, in the syntax of axiloom-opt.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from axiloom.drivergen import opt

CASES = sorted((Path(__file__).parent / "passes").glob("*.mlir"))


@pytest.mark.every(4)
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_pass(case: Path, golden: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]) -> None:
    passes = case.read_text().splitlines()[0].removeprefix("// ")
    code = opt.main(["-p", passes, str(case)])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    golden(out, case.name)


@pytest.mark.every(4)
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_result_parses_and_prints_the_same(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    after = case.parent.parent / "golden" / case.name
    assert opt.main([str(after)]) == 0
    assert capsys.readouterr().out == after.read_text()


def test_every_pass_has_a_case() -> None:
    ran = " ".join(case.read_text().splitlines()[0] for case in CASES)
    assert [one.name for one in opt.PASSES if one.name not in ran] == []


def test_packets_take_turns_in_two_places_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    case = next(case for case in CASES if case.stem == "place_turns")
    assert opt.main(["-p", "accel-place{buffers=3}", str(case)]) == 2
    assert capsys.readouterr().err == "axiloom-opt: accel-place: buffers is 0, 1 or 2, not 3\n"
