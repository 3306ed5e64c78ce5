"""Bodies that compute in fewer bits than the device: equal where wrapping early is the same, else refused."""

from __future__ import annotations

import pytest
from tests.drivergen.host import check

from axiloom.base.errors import CompileError
from axiloom.drivergen import compile_mlir
from axiloom.isa.files.device import device_of
from axiloom.isa.kernels.language.kernel import PARALLEL, Kernel


def _kernel(body: str) -> Kernel:
    return Kernel("own", {"n": PARALLEL}, {operand: {"n": "n"} for operand in "ABC"}, body)


def _mlir(result: str, *body: str) -> str:
    return f"""
#m = affine_map<(n) -> (n)>
func.func @f(%A : memref<301xi8>, %B : memref<301xi8>, %C : memref<301x{result}>) {{
  linalg.generic {{indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]}}
    ins(%A, %B : memref<301xi8>, memref<301xi8>) outs(%C : memref<301x{result}>) {{
  ^bb0(%a : i8, %b : i8, %c : {result}):
    {" ".join(f"{line} " for line in body)}
    linalg.yield %r : {result}
  }}
  func.return
}}
"""


def test_sums_may_wrap_early() -> None:
    check(_mlir("i8", "%r = arith.subi %a, %b : i8"), device_of(_kernel("A - B"), data_type="int8"))


def test_what_is_compared_may_not() -> None:
    text = _mlir(
        "i8",
        "%z = arith.constant 0 : i8",
        "%d = arith.subi %a, %b : i8",
        "%r = arith.maxsi %d, %z : i8",
    )
    why = "arith.maxsi takes what was computed in i8, and the device computes in int32"
    with pytest.raises(CompileError, match=why):
        compile_mlir(text, device_of(_kernel("max(A - B, 0)"), data_type="int8"))


def test_what_is_extended_may_not() -> None:
    text = _mlir(
        "i32",
        "%d = arith.subi %a, %b : i8",
        "%e = arith.extsi %d : i8 to i32",
        "%r = arith.addi %c, %e : i32",
    )
    why = "arith.extsi takes what was computed in i8, and the device computes in int32"
    with pytest.raises(CompileError, match=why):
        compile_mlir(text, device_of(_kernel("C + (A - B)"), data_type="int8"))


def test_extremes_of_elements_never_wrap() -> None:
    text = _mlir("i8", "%d = arith.minsi %a, %b : i8", "%r = math.absi %d : i8")
    check(text, device_of(_kernel("abs(min(A, B))"), data_type="int8"))
