"""Problems that the command line names in short: ``matmul:128x128x128:int8``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from axiloom.base.errors import UsageError
from axiloom.base.wording.names import number, shortened
from axiloom.drivergen.nest.results import ACCUMULATED, Results
from axiloom.drivergen.problems.elements import TYPES, elements
from axiloom.isa import numerics

MATMUL_FORM = f"matmul:MxNxK or matmul:MxNxK:TYPE, with TYPE {TYPES}"
_LIMIT = 1 << 16
"""Largest size of a dim: more does not fit the memory of any board here."""


@dataclass(frozen=True)
class Problem:
    """C[m, n] += A[m, k] B[k, n] with A and B of `dtype`, C of its accumulator, or as `results` says."""

    M: int
    N: int
    K: int
    dtype: str = "int32"
    results: Results = field(default=ACCUMULATED, repr=False)

    @property
    def mlir(self) -> str:
        return matmul_mlir(self.M, self.N, self.K, self.dtype)


def parse_problem(text: str) -> Problem:
    """The problem that `text` names; UsageError says what is accepted."""
    match = re.fullmatch(r"matmul:(\d+)x(\d+)x(\d+)(?::([\w<>, ]+))?", text, re.ASCII)
    named = shortened(text)
    if match is None:
        raise UsageError(f"problem `{named}` is not understood; accepted are {MATMUL_FORM}, or a file *.mlir")
    M, N, K = (number(match[i]) for i in (1, 2, 3))
    if not all(0 < size <= _LIMIT for size in (M, N, K)):
        raise UsageError(f"problem `{named}`: sizes must be from 1 to {_LIMIT}")
    return Problem(M, N, K, elements(named, match[4], MATMUL_FORM).name)


def matmul_mlir(M: int, N: int, K: int, dtype: str = "int32") -> str:
    """A function with one matmul: A (M, K), B (K, N) of `dtype`; C (M, N) of its accumulator is updated."""
    kind = numerics.of(dtype)
    element, total = kind.mlir, kind.accumulator.mlir
    a, b, c = f"memref<{M}x{K}x{element}>", f"memref<{K}x{N}x{element}>", f"memref<{M}x{N}x{total}>"
    operands = f"ins(%A, %B : {a}, {b}) outs(%C : {c})"
    unsigned = kind.extend == "arith.extui"
    product = _unsigned(operands, element, total) if unsigned else f"linalg.matmul {operands}"
    return f"""\
func.func @matmul(%A : {a}, %B : {b}, %C : {c}) {{
  {product}
  func.return
}}
"""


def _unsigned(operands: str, element: str, total: str) -> str:
    """linalg.matmul extends signs; without them its body is written out."""
    maps = ", ".join(f"affine_map<(m, n, k) -> ({dims})>" for dims in ("m, k", "k, n", "m, n"))
    return f"""\
linalg.generic {{indexing_maps = [{maps}],
                  iterator_types = ["parallel", "parallel", "reduction"]}}
      {operands} {{
  ^bb0(%a : {element}, %b : {element}, %c : {total}):
    %wide_a = arith.extui %a : {element} to {total}
    %wide_b = arith.extui %b : {element} to {total}
    %product = arith.muli %wide_a, %wide_b : {total}
    %sum = arith.addi %c, %product : {total}
    linalg.yield %sum : {total}
  }}"""
