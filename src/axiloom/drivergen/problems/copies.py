"""Copies, for accelerators that give back what they get (``linalg.copy``): loop-back and identity."""

from __future__ import annotations

import re
from dataclasses import dataclass

from axiloom.base.errors import UsageError
from axiloom.base.wording.names import number, shortened

COPY_FORM = "copy:N"
_LIMIT = 1 << 24


@dataclass(frozen=True)
class CopyProblem:
    """C[n] = A[n], int32."""

    N: int
    dtype: str = "int32"

    @property
    def mlir(self) -> str:
        kind = f"memref<{self.N}xi32>"
        return f"""\
func.func @copy(%A : {kind}, %C : {kind}) {{
  linalg.generic {{indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>],
                  iterator_types = ["parallel"]}}
      ins(%A : {kind}) outs(%C : {kind}) {{
  ^bb0(%a : i32, %c : i32):
    linalg.yield %a : i32
  }}
  func.return
}}
"""


def parse_copy(text: str) -> CopyProblem:
    """The problem that ``copy:N`` names; UsageError says what is accepted."""
    match = re.fullmatch(r"copy:(\d+)(?::int32)?", text, re.ASCII)
    if match is None or not 0 < number(match[1]) <= _LIMIT:
        raise UsageError(
            f"problem `{shortened(text)}` is not understood; "
            f"a copy is {COPY_FORM}, N from 1 to {_LIMIT} words"
        )
    return CopyProblem(int(match[1]))
