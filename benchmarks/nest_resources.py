"""Resources of circuits, foretold by `nests/resources` and counted by Yosys: needs the extra [synth].

The formulas were made on the designs of `KNOWN`; nobody looked at those of `UNSEEN` while making them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from axiloom.boards.synthesis.resources import synthesise
from axiloom.cosim.build.cache import cached_build
from axiloom.hw.nest.circuit import Circuit
from axiloom.hw.nest.operators import operator
from axiloom.hw.verilog.nest import emit_nest
from axiloom.nests.lower import lower
from axiloom.nests.read import c
from axiloom.nests.resources import estimate
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.primitives.unroll import unroll

KERNELS = {
    "gemm": """void gemm(T A[16][24], T B[24][32], T C[16][32]) {
  for (int i = 0; i < 16; i++) for (int k = 0; k < 24; k++) for (int j = 0; j < 32; j++)
    C[i][j] += A[i][k] * B[k][j];
}""",
    "mvt": """void mvt(T A[32][32], T x1[32], T x2[32], T y1[32], T y2[32]) {
  for (int j = 0; j < 32; j++) for (int i = 0; i < 32; i++) x1[i] += A[i][j] * y1[j];
  for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) x2[j] += A[i][j] * y2[i];
}""",
    "bicg": """void bicg(T A[24][40], T s[40], T q[24], T p[40], T r[24]) {
  for (int i = 0; i < 24; i++) for (int j = 0; j < 40; j++) {
    s[j] += r[i] * A[i][j];
    q[i] += A[i][j] * p[j];
  }
}""",
    "gesummv": """void gesummv(T A[32][32], T B[32][32], T x[32], T y[32], T u[32], T alpha, T beta) {
  for (int j = 0; j < 32; j++) for (int i = 0; i < 32; i++) {
    u[i] += alpha * (A[i][j] * x[j]);
    y[i] += beta * (B[i][j] * x[j]);
  }
}""",
    "jacobi1d": """void jacobi1d(T A[66], T B[66], T w) {
  for (int t = 0; t < 8; t++) {
    for (int i = 1; i < 65; i++) B[i] = w * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = 1; i < 65; i++) A[i] = w * (B[i - 1] + B[i] + B[i + 1]);
  }
}""",
    "blur": """void blur(T A[34][34], T B[32][32], T w) {
  for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++)
    B[i][j] = w * (A[i][j] + A[i][j + 1] + A[i][j + 2] + A[i + 1][j] + A[i + 1][j + 1]);
}""",
    "trmm": """void trmm(T A[24][24], T B[24][32]) {
  for (int i = 0; i < 24; i++) for (int k = i + 1; k < 24; k++) for (int j = 0; j < 32; j++)
    B[i][j] += A[k][i] * B[k][j];
}""",
    "relu": """void relu(T X[20][48], T Y[20][48]) {
  for (int i = 0; i < 20; i++) for (int j = 0; j < 48; j++) Y[i][j] = X[i][j] > 0 ? X[i][j] : (T)0;
}""",
    "twice": """void twice(T A[16][16], T B[16][16], T C[16][16], T D[16][16]) {
  T tmp[16][16];
  for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) tmp[i][j] = A[i][j] + B[i][j];
  for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) D[i][j] = tmp[i][j] * C[j][i];
}""",
}

TYPES = {"float32": "float", "int32": "int", "int16": "short", "int8": "signed char"}

Design = tuple[str, str, int]
"""Kernel, format, lanes of the innermost loop of every statement."""

KNOWN: tuple[Design, ...] = (
    ("gemm", "float32", 4),
    ("gemm", "int16", 8),
    ("mvt", "int32", 2),
    ("jacobi1d", "int32", 4),
    ("trmm", "float32", 2),
    ("twice", "int8", 4),
    ("blur", "float32", 2),
)
UNSEEN: tuple[Design, ...] = (
    *(("gemm", "float32", lanes) for lanes in (1, 2, 8)),
    *(("gemm", "int32", lanes) for lanes in (1, 4)),
    *(("gemm", "int8", lanes) for lanes in (4, 16)),
    *(("mvt", "float32", lanes) for lanes in (1, 4, 8)),
    *(("mvt", "int16", lanes) for lanes in (4,)),
    *(("bicg", "float32", lanes) for lanes in (1, 2, 4, 8)),
    *(("bicg", "int32", lanes) for lanes in (4,)),
    *(("gesummv", "float32", lanes) for lanes in (1, 2, 4)),
    *(("gesummv", "int16", lanes) for lanes in (8,)),
    *(("jacobi1d", "float32", lanes) for lanes in (1, 2)),
    *(("jacobi1d", "int16", lanes) for lanes in (4,)),
    *(("blur", "float32", lanes) for lanes in (1, 4)),
    *(("blur", "int8", lanes) for lanes in (4,)),
    *(("trmm", "int32", lanes) for lanes in (1, 4)),
    *(("relu", "float32", lanes) for lanes in (4,)),
    *(("twice", "float32", lanes) for lanes in (2,)),
)


def circuit(kernel: str, number: str, lanes: int) -> Circuit:
    text = KERNELS[kernel].replace("T ", f"{TYPES[number]} ").replace("(T)", f"({TYPES[number]})")
    schedule = Schedule.of(c.parse(text, f"{kernel}.c", kernel).program)
    for placed in schedule.statements if lanes > 1 else ():
        loop = placed.loops[-1]
        alone = [each for each in schedule.statements if each.statement.name == placed.statement.name]
        if loop == alone[0].loops[-1]:
            schedule = unroll(schedule, placed.statement.name, loop, lanes)
    return lower(schedule).circuit


def compared(designs: tuple[Design, ...]) -> Iterator[tuple[str, float, float]]:
    """Name, and the errors in LUTs and flip-flops, of each; prints them."""
    print(f"{'design':24}{'DSP':>10}{'LUT':>16}{'FF':>18}{'BRAM36':>12}")
    for kernel, number, lanes in designs:
        name = f"{kernel} {number} x{lanes}"
        built = circuit(kernel, number, lanes)
        verilog = emit_nest(built, operator, readable=False)
        used = synthesise(verilog.text, verilog.top, cached_build)
        found = estimate(built).total
        lut, ff = found.lut / used.lut - 1, found.ff / used.ff - 1
        print(
            f"{name:24}{found.dsp:4}/{used.dsp:4}{found.lut:7}/{used.lut:6} {lut:+5.0%}"
            f"{found.ff:7}/{used.ff:6} {ff:+5.0%}{found.bram36:6}/{used.bram36:4}",
            flush=True,
        )
        if "-v" in sys.argv:
            for part, amount in estimate(built).parts.items():
                print(f"    {part:20}{amount}")
        yield name, lut, ff


def main() -> None:
    for title, designs in (("looked at", KNOWN), ("unseen", UNSEEN)):
        print(f"-- {title}: foretold / Yosys")
        errors = list(compared(designs))
        for what, column in (("LUT", 1), ("FF", 2)):
            sizes = sorted(abs(float(row[column])) for row in errors)
            within = sum(size <= 0.10 for size in sizes)
            print(f"{what}: {within} of {len(sizes)} within 10 %, median {sizes[len(sizes) // 2]:.1%}, "
                  f"largest {sizes[-1]:.1%}")  # fmt: skip


if __name__ == "__main__":
    main()
