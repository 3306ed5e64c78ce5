"""``--coverage``: lines of a driver and of Verilog, where each has a branch that nothing reaches."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from axiloom.base.errors import UsageError
from axiloom.cli import main
from axiloom.cosim.coverage import check_counts
from axiloom.cosim.system import System
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa import load

EXAMPLE = Path("examples/verilog_accelerator").resolve()
DRIVER = """
#include "axiloom.h"
#define FAR __attribute__((aligned(65536))) // of such, one takes the other's place in what is counted
FAR int twice(int x) {
    return 2 * x; // 12
}
FAR int minus(int x) {
    return -x; // 12
}
int never_called(int x) {
    return 3 * x; // 0
}
int main(void) {
    volatile int sum = 0; // 1
    for (int i = 0; i < 12; i++) // 13
        sum += twice(i) + minus(i); // 12
    if (sum == 7) {
        sum = twice(0); // 0
    }
    return sum != 66; // 1
}
"""


def counts(info: str) -> dict[str, dict[int, int]]:
    """File to line to count, of LCOV's text, whose sums are checked."""
    files = {}
    for record in info.split("end_of_record\n")[:-1]:
        rows = [row.split(":", 1) for row in record.splitlines()]
        fields = dict(rows)
        lines = dict(map(int, value.split(",")) for name, value in rows if name == "DA")  # type: ignore[misc]
        assert int(fields["LF"]) == len(lines)
        assert int(fields["LH"]) == sum(count > 0 for count in lines.values())
        files[fields["SF"]] = lines
    return files


def test_lines_of_driver_and_rtl(tmp_path: Path) -> None:
    driver, rtl, info = tmp_path / "driver.c", tmp_path / "rowmul.v", tmp_path / "run.info"
    driver.write_text(DRIVER)
    text = (EXAMPLE / "rowmul.v").read_text()
    planted = text.replace("count <= 0;", "count <= 0;\n if (&acc[0])\n count <= 1;", 1)
    assert planted != text
    rtl.write_text(planted)
    words = ["--spec", str(EXAMPLE / "rowmul.json"), "--rtl", str(rtl), "--top", "rowmul", "--stall", "off"]
    assert main(["simulate", str(driver), *words, "-O0", "--coverage", str(info)]) == 0
    files = counts(info.read_text())
    assert sorted(files) == [str(driver), str(rtl)]
    expected = {
        number: int(line.rpartition("// ")[2])
        for number, line in enumerate(DRIVER.splitlines(), 1)
        if line.rpartition("// ")[2].isdecimal()
    }
    assert {line: files[str(driver)][line] for line in expected} == expected
    lines = dict(enumerate(planted.splitlines(), 1))
    reached = {lines[line].strip(): count for line, count in files[str(rtl)].items()}
    assert reached["state <= FETCH;"] > 0
    assert reached["count <= 1;"] == 0
    assert reached["b[count] <= s_axis_tdata;"] == 0
    if genhtml := shutil.which("genhtml"):
        subprocess.run([genhtml, "-q", "-o", str(tmp_path / "page"), str(info)], check=True)


def test_of_rtl_that_is_not_counted_it_is_said() -> None:
    spec = load(EXAMPLE / "rowmul.json")
    system = System(spec, sim="icarus", user_rtl=UserRtl([EXAMPLE / "rowmul.v"], "rowmul"))
    with pytest.raises(UsageError, match="Verilator counts the lines of RTL"):
        check_counts(system)
