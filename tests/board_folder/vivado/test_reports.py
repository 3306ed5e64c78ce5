"""Vivado's reports, in the forms that its releases write, as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from axiloom.board_folder.vivado import vivado_reports
from axiloom.board_folder.vivado.vivado_reports import ReportError

SEVEN = """\
1. Slice Logic
--------------

+----------------------------+-------+-------+------------+-----------+-------+
|          Site Type         |  Used | Fixed | Prohibited | Available | Util% |
+----------------------------+-------+-------+------------+-----------+-------+
| Slice LUTs                 |  8006 |     0 |          0 |     53200 | 15.05 |
|   LUT as Logic             |  7990 |     0 |          0 |     53200 | 15.02 |
| Slice Registers            |  8906 |     0 |          0 |    106400 |  8.37 |
+----------------------------+-------+-------+------------+-----------+-------+

+-------------------+------+-------+------------+-----------+-------+
|     Site Type     | Used | Fixed | Prohibited | Available | Util% |
+-------------------+------+-------+------------+-----------+-------+
| Block RAM Tile    | 24.5 |     0 |          0 |       140 | 17.50 |
|   RAMB36/FIFO*    |   24 |     0 |          0 |       140 | 17.14 |
+-------------------+------+-------+------------+-----------+-------+

+----------------+------+-------+------------+-----------+-------+
|    Site Type   | Used | Fixed | Prohibited | Available | Util% |
+----------------+------+-------+------------+-----------+-------+
| DSPs           |  192 |     0 |          0 |       220 | 87.27 |
+----------------+------+-------+------------+-----------+-------+
"""

ULTRASCALE = """\
+----------------------------+--------+-------+-----------+-------+
|          Site Type         |  Used  | Fixed | Available | Util% |
+----------------------------+--------+-------+-----------+-------+
| CLB LUTs*                  |   7000 |     0 |    230400 |  3.04 |
| CLB Registers              |   8000 |     0 |    460800 |  1.74 |
| URAM                       |      0 |     0 |        96 |  0.00 |
+----------------------------+--------+-------+-----------+-------+
"""

KINDS = ("WNS(ns)", "TNS(ns)"), ("WHS(ns)", "THS(ns)"), ("WPWS(ns)", "TPWS(ns)")
COLUMNS = "    " + "  ".join(
    f"{worst}      {total}  {total[:-4]} Failing Endpoints  {total[:-4]} Total Endpoints"
    for worst, total in KINDS
)
TIMING = """\
------------------------------------------------------------------------------------------------
| Design Timing Summary
| ---------------------
------------------------------------------------------------------------------------------------

{columns}
    -------      -------  ---------------------
      {wns}        0.000                      {failing}                24001        0.021        0.000 \
                     0                24001        3.750        0.000                       0      9100

------------------------------------------------------------------------------------------------
| Clock Summary
| -------------
------------------------------------------------------------------------------------------------

Clock       Waveform(ns)         Period(ns)      Frequency(MHz)
-----       ------------         ----------      --------------
clk_fpga_0  {{0.000 5.000}}        10.000          100.000


------------------------------------------------------------------------------------------------
| Intra Clock Table
| -----------------
------------------------------------------------------------------------------------------------

Clock             WNS(ns)      TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints      WHS(ns)
-----             -------      -------  ---------------------  -------------------      -------
clk_fpga_0        {wns}        0.000                      0                24001        0.021


------------------------------------------------------------------------------------------------
| Inter Clock Table
| -----------------
"""


def test_resources_of_7_series() -> None:
    found = vivado_reports.utilization(SEVEN)
    assert {name: row["used"] for name, row in found.items()} == {
        "lut": 8006, "ff": 8906, "bram36": 24.5, "dsp": 192,
    }  # fmt: skip
    assert found["dsp"] == {"used": 192, "available": 220, "percent": 87.27}


def test_resources_of_ultrascale() -> None:
    found = vivado_reports.utilization(ULTRASCALE)
    assert {name: row["used"] for name, row in found.items()} == {"lut": 7000, "ff": 8000, "uram": 0}


def test_a_report_of_something_else() -> None:
    with pytest.raises(ReportError, match="no line of Slice LUTs, CLB LUTs"):
        vivado_reports.utilization("nothing here")
    with pytest.raises(ReportError, match="no Design Timing Summary"):
        vivado_reports.timing("nothing here")


@pytest.mark.parametrize(
    ("wns", "failing", "met", "fmax"), [("1.250", 0, True, 114.29), ("-0.417", 12, False, 96.0)]
)
def test_timing(wns: str, failing: int, met: bool, fmax: float) -> None:
    found = vivado_reports.timing(TIMING.format(columns=COLUMNS, wns=wns, failing=failing))
    assert found["wns_ns"] == float(wns)
    assert found["setup_failing"] == failing
    assert found["setup_endpoints"] == 24001
    assert found["whs_ns"] == 0.021
    assert found["met"] is met
    clock = {"period_ns": 10.0, "frequency_mhz": 100.0, "wns_ns": float(wns), "fmax_mhz": fmax}
    assert found["clocks"] == {"clk_fpga_0": clock}


def test_a_design_without_timed_paths() -> None:
    summary = "    WNS(ns)      TNS(ns)      WHS(ns)\n    -------      -------      -------\n    NA  NA  NA\n"
    with pytest.raises(ReportError, match="is the clock constrained"):
        vivado_reports.timing(summary)


@pytest.mark.parametrize(("wns", "failing", "code"), [("0.100", 0, 0), ("-0.100", 3, 1)])
def test_the_program(tmp_path: Path, wns: str, failing: int, code: int) -> None:
    (tmp_path / "utilization.rpt").write_text(SEVEN)
    (tmp_path / "timing.rpt").write_text(TIMING.format(columns=COLUMNS, wns=wns, failing=failing))
    program = Path(vivado_reports.__file__)
    done = subprocess.run([sys.executable, program, tmp_path, "--check"], capture_output=True, text=True)
    assert done.returncode == code
    assert f"timing is {'NOT ' if failing else ''}met" in done.stdout
    written = json.loads((tmp_path / "report.json").read_text())
    assert written["utilization"]["dsp"]["used"] == 192
    assert written["timing"]["met"] == (not failing)


def test_the_program_without_reports(tmp_path: Path) -> None:
    program = Path(vivado_reports.__file__)
    done = subprocess.run([sys.executable, program, tmp_path], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == f"{tmp_path}/utilization.rpt is not there: run vivado/build.tcl first\n"
