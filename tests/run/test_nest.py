"""A nest on the SoC: RTL by hand behind the packets that nests have, and the driver made for them."""

from pathlib import Path

import numpy as np
import pytest

from axiloom.base.errors import ProtocolError, SpecError
from axiloom.cli import main
from axiloom.cosim.system import System
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa import AcceleratorSpec
from axiloom.isa.check.link import link
from axiloom.nests.ports import packets
from axiloom.nests.program import Array, Program, Role
from axiloom.run.nest import NestRun
from axiloom.run.run import report_of

RTL = Path(__file__).parent.parent / "nests" / "ports" / "scaled.v"


def scaled(columns: int = 6) -> Program:
    """C = alpha * A + C."""
    arrays = (
        Array("alpha", (), "int32", Role.IN),
        Array("A", (3, columns), "int32", Role.IN),
        Array("C", (3, columns), "int32", Role.INOUT),
    )
    return Program("scaled", arrays, ())


def run_of(columns: int, scatter_gather: bool, *, wrong: bool = False) -> NestRun:
    program = scaled(columns)
    both = packets(program)
    reached = link(
        "scaled",
        packets=(both[0].words, both[1].words),
        multipliers=2,
        scatter_gather=scatter_gather,
    )
    random = np.random.default_rng(1)
    values = {
        "alpha": np.array(7, np.int32),
        "A": random.integers(-99, 99, (3, columns), np.int32),
        "C": random.integers(-99, 99, (3, columns), np.int32),
    }
    results = {"C": 7 * values["A"] + values["C"] + wrong}
    return NestRun(
        program,
        both,
        System(AcceleratorSpec(reached), user_rtl=UserRtl([RTL], "scaled")),
        values,
        results,
        "NumPy",
        3 * columns,
    )


@pytest.mark.slow
@pytest.mark.parametrize("scatter_gather", [True, False])
@pytest.mark.parametrize("columns", [6, 5])
def test_driver_and_rtl_meet(columns: int, scatter_gather: bool) -> None:
    """With 5 columns each row is filled up to a beat, in packets of as many beats."""
    report = report_of(run_of(columns, scatter_gather))
    assert report["result"]["matches"]
    assert report["fabric"]["words_in"] == 2 + 2 * 18
    assert report["stale"] == []


def test_a_wrong_result_is_seen() -> None:
    assert not report_of(run_of(6, True, wrong=True))["result"]["matches"]


@pytest.mark.slow
def test_tlast_is_where_the_packet_ends() -> None:
    """RTL for other packets is found out by the words on the streams."""
    with pytest.raises(ProtocolError, match="TLAST on word 18 of the 24 of Y"):
        report_of(run_of(8, True))


BOOLS = """
#include <stdbool.h>
bool f(bool a[5][3], unsigned char b[5][3], bool out[3][5]) {
  bool any = false;
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 3; j++) {
      out[j][i] = a[i][j] != (b[i][j] > 100);
      any = any || out[j][i];
    }
  return any;
}
"""
UNSIGNED = """
void f(unsigned TYPE a[3][5], unsigned TYPE out[5][3]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 5; j++) out[j][i] = a[i][j] * a[i][4 - j] >> 3;
}
"""

MIXED = """
#include <stdint.h>
void f(const int8_t a[3][6], const int8_t b[6][5], const int32_t bias[5], float scale, float x[3],
       int16_t state[3], int8_t low[3][5], int32_t c[3][5]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 5; j++) {
      c[i][j] = bias[j];
      for (int k = 0; k < 6; k++) c[i][j] += a[i][k] * b[k][j];
      low[i][j] = (int8_t)(c[i][j] >> 3);
    }
    state[i] += a[i][5];
    x[i] = x[i] * scale;
  }
}
"""


@pytest.mark.parametrize(
    ("text", "dma"),
    [
        (BOOLS, "sg"),
        pytest.param(MIXED, "sg", marks=pytest.mark.slow),
        pytest.param(MIXED, "simple", marks=pytest.mark.slow),
        pytest.param(BOOLS, "simple", marks=pytest.mark.slow),
        pytest.param(UNSIGNED.replace("TYPE", "short"), "simple", marks=pytest.mark.slow),
        pytest.param(UNSIGNED.replace("TYPE", "int"), "sg", marks=pytest.mark.slow),
    ],
)
def test_numbers_that_only_circuits_have(
    text: str, dma: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bools are bytes in memory; rows of 3 and 5 elements end within a beat."""
    file = tmp_path / "f.c"
    file.write_text(text, encoding="utf-8")
    assert main(["run", str(file), "--dma", dma]) == 0
    assert "Result: equal to" in capsys.readouterr().out


def test_no_model_of_a_packet() -> None:
    with pytest.raises(SpecError, match="no opcode map, so no functional model"):
        System(run_of(6, True).system.device, model=True)


POLYBENCH = Path(__file__).parent.parent.parent / "benchmarks" / "polybench"


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["atax", "bicg"])
def test_from_c_to_the_soc(kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Loops in C and a schedule: RTL, driver, SoC; results of one array and of two."""
    schedule = POLYBENCH / "schedules" / "ports" / f"{kernel}.sched"
    sizes = ["-D", "M=30", "-D", "N=40"]
    assert main(["run", str(POLYBENCH / f"{kernel}.c"), "--schedule", str(schedule), *sizes]) == 0
    assert f"Result: equal to {kernel}.c compiled by " in capsys.readouterr().out


ROWS = """
from axiloom.nests.program.builder import Builder

def rows(N=4):
    p = Builder("rows")
    A, x = p.input("A", (N, N), "int32"), p.input("x", (N,), "int32")
    y = p.output("y", (N,), "int32")
    with p.loop("i", 0, N) as i:
        y[i] = 0
        with p.loop("j", 0, N) as j:
            y[i] += A[i, j] * x[j]
    return p
"""

MATMUL = """
func.func @product(%a: tensor<2x3xi32>, %b: tensor<3x4xi32>, %c: tensor<2x4xi32>) -> tensor<2x4xi32> {
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xi32>, tensor<3x4xi32>)
                     outs(%c : tensor<2x4xi32>) -> tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}
"""


@pytest.mark.slow
def test_from_python_and_a_schedule_to_the_soc(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, schedule = tmp_path / "rows.py", tmp_path / "rows.sched"
    source.write_text(ROWS)
    schedule.write_text("fission S1 i\nreorder S1 j i\n")
    assert main(["run", f"{source}:rows", "-D", "N=3", "--schedule", str(schedule)]) == 0
    said = capsys.readouterr().out
    assert "Result: equal to the program as read, by " in said
    assert "Nests: " in said


@pytest.mark.slow
def test_from_linalg_and_a_search_to_the_soc(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The schedule that is printed is a schedule: the program takes it."""
    source, schedule = tmp_path / "product.mlir", tmp_path / "product.sched"
    source.write_text(MATMUL)
    assert main(["run", str(source), "--auto"]) == 0
    said = capsys.readouterr().out
    assert "Result: equal to the program as read, by " in said
    assert "Searched, with resident arrays: product: " in said
    section = said.partition("Searched, ")[2].partition("Nests: ")[0]
    found = [line for line in section.splitlines() if line.startswith("  ")]
    schedule.write_text("\n".join(found) + "\n")
    assert found
    assert main(["nest", str(source), "--schedule", str(schedule), "--plan"]) == 0
