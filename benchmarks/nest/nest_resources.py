"""Resources of circuits, foretold by `nests/resources` and counted by Yosys: needs the extra [synth].

The formulas were made on the designs of `KNOWN`; nobody looked at those of `UNSEEN` while making them. A
design that was off, and whose cause was looked for, goes over to `KNOWN`, and a new one takes its place.
`--draw 30 --seed 1` draws other designs, by a seed and before anybody has seen what Yosys counts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from random import Random

from axiloom.base.cache import cached_build
from axiloom.base.errors import CompileError, UsageError
from axiloom.boards.synthesis.resources import synthesise
from axiloom.hw.nest.circuit import Circuit
from axiloom.hw.nest.operators import operator
from axiloom.hw.verilog.nest import emit_nest
from axiloom.nests.dataflow import plan
from axiloom.nests.lower import lower
from axiloom.nests.program import Expression, Op, Program
from axiloom.nests.read import c
from axiloom.nests.resources import estimate
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.primitives.unroll import unroll
from axiloom.nests.schedule.replay import replay

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
    "atax": """void atax(T A[24][32], T x[32], T y[32]) {
  T tmp[24];
  for (int i = 0; i < 24; i++) tmp[i] = 0;
  for (int i = 0; i < 24; i++) for (int j = 0; j < 32; j++) tmp[i] += A[i][j] * x[j];
  for (int j = 0; j < 32; j++) y[j] = 0;
  for (int i = 0; i < 24; i++) for (int j = 0; j < 32; j++) y[j] += A[i][j] * tmp[i];
}""",
    "2mm": """void two(T A[24][20], T B[20][32], T C[32][16], T D[24][16]) {
  T tmp[24][32];
  for (int i = 0; i < 24; i++) for (int j = 0; j < 32; j++) tmp[i][j] = 0;
  for (int i = 0; i < 24; i++) for (int k = 0; k < 20; k++) for (int j = 0; j < 32; j++)
    tmp[i][j] += A[i][k] * B[k][j];
  for (int i = 0; i < 24; i++) for (int k = 0; k < 32; k++) for (int j = 0; j < 16; j++)
    D[i][j] += tmp[i][k] * C[k][j];
}""",
    "syrk": """void syrk(T A[24][20], T C[24][24], T alpha) {
  for (int i = 0; i < 24; i++) for (int k = 0; k < 20; k++) for (int j = 0; j <= i; j++)
    C[i][j] += alpha * A[i][k] * A[j][k];
}""",
    "jacobi2d": """void jacobi2d(T A[18][34], T B[18][34], T w) {
  for (int i = 1; i < 17; i++) for (int j = 1; j < 33; j++)
    B[i][j] = w * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
}""",
    "conv": """void conv(T X[20][20], T W[3][3], T Y[18][18]) {
  for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++) for (int i = 0; i < 18; i++)
    for (int j = 0; j < 18; j++) Y[i][j] += X[i + p][j + q] * W[p][q];
}""",
    "doitgen": """void doitgen(T A[6][8][24], T C[24][24], T out[6][8][24]) {
  for (int r = 0; r < 6; r++) for (int q = 0; q < 8; q++) for (int s = 0; s < 24; s++)
    for (int p = 0; p < 24; p++) out[r][q][p] += A[r][q][s] * C[s][p];
}""",
    "gemver": """void gemver(T A[24][24], T u[24], T v[24], T x[24], T y[24], T z[24], T beta) {
  T B[24][24];
  for (int i = 0; i < 24; i++) for (int j = 0; j < 24; j++) B[i][j] = A[i][j] + u[i] * v[j];
  for (int j = 0; j < 24; j++) for (int i = 0; i < 24; i++) x[i] += beta * B[j][i] * y[j];
  for (int i = 0; i < 24; i++) x[i] += z[i];
}""",
    "chain": """void chain(T A[2][320], T B[2][320], T C[2][320]) {
  T s[2][320];
  T t[2][320];
  for (int i = 0; i < 2; i++) for (int j = 0; j < 320; j++) s[i][j] = A[i][j] + B[i][j];
  for (int i = 0; i < 2; i++) for (int j = 0; j < 320; j++) t[i][j] = s[i][j] * s[i][j];
  for (int i = 0; i < 2; i++) for (int j = 0; j < 320; j++) C[i][j] = t[i][j] - B[i][j];
}""",
    "late": """void late(T A[16][64], T B[16], T C[16][64]) {
  T s[16][64];
  for (int i = 0; i < 16; i++) for (int j = 0; j < 64; j++) { s[i][j] = A[i][j] * A[i][j]; B[i] += A[i][j]; }
  for (int i = 0; i < 16; i++) for (int j = 0; j < 64; j++) C[i][j] = s[i][j] + B[i];
}""",
}

TYPES = {"float32": "float", "int32": "int", "int16": "short", "int8": "signed char"}

CLOSE = 0.10
FUNCTIONS = {"2mm": "two"}

Design = tuple[str, str, int] | tuple[str, str, int, str]
"""Kernel, format, lanes of the innermost loop of every statement; how nests run: ``turns``, one after the
other; ``plan``, at the same time where they can, values pass in FIFOs; ``share``, on the same operators."""

KNOWN: tuple[Design, ...] = (
    ("gemm", "float32", 4),
    ("gemm", "int16", 8),
    ("mvt", "int32", 2),
    ("mvt", "float32", 8),
    ("bicg", "float32", 4),
    ("jacobi1d", "int32", 4),
    ("trmm", "float32", 2),
    ("twice", "int8", 4),
    ("blur", "float32", 2),
    ("bicg", "int32", 4),
    ("jacobi1d", "int16", 2),
    ("jacobi2d", "int8", 2),
    ("blur", "fixed<16,8>", 1),
    ("trmm", "int32", 4),
    ("2mm", "int16", 4, "share"),
    ("twice", "int16", 4, "plan"),
    ("jacobi2d", "int32", 1),
)
UNSEEN: tuple[Design, ...] = (
    ("gemm", "int8", 16),
    ("gemm", "fixed<16,8>", 4),
    ("gemm", "float32", 3),
    ("mvt", "int16", 4),
    ("mvt", "float32", 1),
    ("bicg", "int8", 2),
    ("gesummv", "int16", 8),
    ("gesummv", "float32", 2),
    ("jacobi2d", "int16", 2),
    ("trmm", "int16", 1),
    ("relu", "float32", 4),
    ("relu", "int16", 16),
    ("twice", "int32", 2, "plan"),
    ("atax", "int16", 4, "plan"),
    ("twice", "int8", 8, "plan"),
    ("atax", "int32", 2, "plan"),
    ("atax", "float32", 2),
    ("2mm", "float32", 2, "share"),
    ("2mm", "int8", 2, "share"),
    ("syrk", "float32", 1),
    ("conv", "int8", 2),
    ("conv", "float32", 1),
    ("doitgen", "int32", 2),
    ("gemver", "float32", 1),
    ("gemver", "int32", 2, "plan"),
    ("chain", "int32", 2, "plan"),
    ("chain", "int16", 8, "plan"),
    ("late", "int32", 1, "plan"),
    ("gesummv", "float32", 3),
    ("doitgen", "int16", 4),
    ("mvt", "int8", 2, "plan"),
    ("gemver", "int16", 1, "plan"),
)


def circuit(kernel: str, number: str, lanes: int, form: str = "turns") -> Circuit:
    kind = TYPES.get(number, "float")
    text = KERNELS[kernel].replace("T ", f"{kind} ").replace("(T)", f"({kind})")
    program = c.parse(text, f"{kernel}.c", FUNCTIONS.get(kernel, kernel)).program
    schedule = Schedule.of(program if number in TYPES else _as(program, number))
    for placed in schedule.statements if lanes > 1 else ():
        loop = placed.loops[-1]
        alone = [
            statement
            for statement in schedule.statements
            if statement.statement.name == placed.statement.name
        ]
        if loop == alone[0].loops[-1]:
            schedule = unroll(schedule, placed.statement.name, loop, lanes)
    if form == "share":
        schedule = replay(
            schedule, f"share {' '.join(statement.statement.name for statement in schedule.statements)}"
        )
    return lower(schedule, plan(schedule) if form == "plan" else None).circuit


def _as(program: Program, number: str) -> Program:
    """Of another format than C has, in the place of float."""

    def changed(tree: Expression) -> Expression:
        tree = replace(tree, number=number)
        return replace(tree, operands=tuple(map(changed, tree.operands))) if isinstance(tree, Op) else tree

    arrays = tuple(replace(array, number=number) for array in program.arrays)
    statements = tuple(replace(statement, value=changed(statement.value)) for statement in program.statements)
    return replace(program, arrays=arrays, statements=statements)


MOST_LUTS = 2000
"""Foretold, of a design that is drawn: Yosys takes a minute for it."""


def drawn(count: int, seed: int) -> tuple[Design, ...]:
    """Designs that no list above has, all different; which ones says the seed alone."""
    rng, designs = Random(seed), list[Design]()
    while len(designs) < count:
        design: Design = (
            *(rng.choice(sorted(KERNELS)), rng.choice((*TYPES, "fixed<16,8>")), rng.choice((1, 2, 3, 4, 8))),
            rng.choice(("turns", "plan", "share")),
        )
        short = design[:3] if design[3] == "turns" else design
        if {design, short} & {*KNOWN, *UNSEEN, *designs}:
            continue
        try:
            lut = estimate(circuit(*design)).total.lut
        except (CompileError, UsageError):  # the schedule is refused, or cannot be built
            continue
        designs += [design] * (lut <= MOST_LUTS)
    return tuple(designs)


def compared(designs: tuple[Design, ...], parts: bool = False) -> Iterator[tuple[str, dict[str, float]]]:
    """Name, and the error in each resource that there is, of each; prints them."""
    print(f"{'design':28}{'DSP':>10}{'LUT':>20}{'FF':>20}{'BRAM36':>11}")
    for design in designs:
        name = f"{design[0]} {design[1]} x{' '.join(map(str, design[2:]))}"
        built = circuit(*design)
        verilog = emit_nest(built, operator, readable=False)
        used = synthesise(verilog.text, verilog.top, cached_build)
        estimated = estimate(built).total
        errors = {
            what: getattr(estimated, what) / there - 1 if there else float(getattr(estimated, what) > 0)
            for what, there in asdict(used).items()
        }
        print(
            f"{name:28}{estimated.dsp:5}/{used.dsp:4}{estimated.lut:8}/{used.lut:5} {errors['lut']:+5.0%}"
            f"{estimated.ff:8}/{used.ff:5} {errors['ff']:+5.0%}{estimated.bram36:6}/{used.bram36:4}",
            flush=True,
        )
        for part, amount in estimate(built).parts.items() if parts else ():
            print(f"    {part:20}{amount}")
        yield name, errors


def report(designs: tuple[Design, ...], parts: bool) -> set[str]:
    """The names of those that are off by more than `CLOSE` in any resource; prints all of it."""
    rows = list(compared(designs, parts))
    for what in ("dsp", "lut", "ff", "bram36"):
        sizes = sorted(abs(errors[what]) for _, errors in rows)
        within = sum(size <= CLOSE for size in sizes)
        print(
            f"{what:6}: {within} of {len(sizes)} within {CLOSE:.0%}, median "
            f"{sizes[len(sizes) // 2]:.1%}, largest {sizes[-1]:.1%}"
        )
    off = {name for name, errors in rows if max(map(abs, errors.values())) > CLOSE}
    print(f"{len(rows) - len(off)} of {len(rows)} designs within {CLOSE:.0%} in all four"
          f"{': not ' + ', '.join(sorted(off)) if off else ''}")  # fmt: skip
    return off


def main(words: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks nest_resources", description=__doc__)
    parser.add_argument("--draw", type=int, help="so many other designs, in the place of the lists")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-v", action="store_true", help="the parts of what is foretold")
    asked = parser.parse_args(words)
    lists = {"looked at": KNOWN, "unseen": UNSEEN}
    if asked.draw is not None:
        lists = {f"drawn by seed {asked.seed}": drawn(asked.draw, asked.seed)}
    off = set[str]()
    for title, designs in lists.items():
        print(f"-- {title}: foretold / Yosys")
        off |= report(designs, asked.v)
    if off:
        raise SystemExit(f"off by more than {CLOSE:.0%}: {', '.join(sorted(off))}")


if __name__ == "__main__":
    main(sys.argv[1:])
