"""Problems that the command line names in short: ``matmul:128x128x128:int8``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from axiloom.errors import UsageError
from axiloom.isa.contract.names import hint, number, shortened
from axiloom.isa.contract.types import DataType

MATMUL_FORM = "matmul:MxNxK or matmul:MxNxK:TYPE, with TYPE int8, int16 or int32"
_LIMIT = 1 << 16
"""Largest size of a dim: more does not fit the memory of any board here."""


@dataclass(frozen=True)
class Problem:
    """C[m, n] += A[m, k] B[k, n] with A and B of `dtype`, C int32."""

    M: int
    N: int
    K: int
    dtype: str = "int32"

    @property
    def mlir(self) -> str:
        return matmul_mlir(self.M, self.N, self.K, self.dtype)


def parse_problem(text: str) -> Problem:
    """The problem that `text` names; UsageError says what is accepted."""
    found = re.fullmatch(r"matmul:(\d+)x(\d+)x(\d+)(?::(\w+))?", text, re.ASCII)
    named = shortened(text)
    if found is None:
        raise UsageError(f"problem `{named}` is not understood; accepted are {MATMUL_FORM}, or a file *.mlir")
    M, N, K = (number(found[i]) for i in (1, 2, 3))
    if not all(0 < size <= _LIMIT for size in (M, N, K)):
        raise UsageError(f"problem `{named}`: sizes must be from 1 to {_LIMIT}")
    dtype = found[4] or DataType.INT32.value
    known = [kind.value for kind in DataType]
    if dtype not in known:
        unknown = f"unknown type `{shortened(dtype)}`{hint(dtype, known)}"
        raise UsageError(f"problem `{named}`: {unknown}; it may be {MATMUL_FORM}")
    return Problem(M, N, K, dtype)


def matmul_mlir(M: int, N: int, K: int, dtype: str = "int32") -> str:
    """A function with one linalg.matmul: A (M, K), B (K, N) of `dtype`; C (M, N) int32 is updated."""
    bits = DataType(dtype).bits
    a, b, c = f"memref<{M}x{K}xi{bits}>", f"memref<{K}x{N}xi{bits}>", f"memref<{M}x{N}xi32>"
    return f"""\
func.func @matmul(%A : {a}, %B : {b}, %C : {c}) {{
  linalg.matmul ins(%A, %B : {a}, {b}) outs(%C : {c})
  func.return
}}
"""
