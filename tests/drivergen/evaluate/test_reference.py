"""The reference against plain NumPy, and plain C against the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.drivergen import host
from tests.drivergen.programs import Generic, generics
from tests.drivergen.test_drivers import CHAIN

from axiloom.base.errors import CompileError
from axiloom.drivergen import compile_cpu, matmul_mlir, reference


@pytest.mark.slow
@given(generics)
def test_reference_is_the_wrapped_product(problem: Generic) -> None:
    inputs = host.random_inputs(compile_cpu(problem.text))
    arrays = [
        inputs[f"axl_arg{1 if problem.swapped else 0}"],
        inputs[f"axl_arg{0 if problem.swapped else 1}"],
    ]
    A, B = (array.astype(object) for array in arrays)  # Python's integers: exact
    A = A if problem.A == ("m", "k") else A.T
    B = B if problem.B == ("k", "n") else B.T
    exact = A @ B + (0 if problem.zeroed else inputs["axl_arg2"].astype(object))
    wrapped = (exact % (1 << 32)).astype(np.uint32).astype(np.int32)
    found = reference(problem.text, inputs)
    assert found.keys() == {"axl_arg2"}
    np.testing.assert_array_equal(found["axl_arg2"], wrapped)


def test_inputs_are_not_changed() -> None:
    text = matmul_mlir(3, 4, 5)
    inputs = host.random_inputs(compile_cpu(text))
    before = {symbol: array.copy() for symbol, array in inputs.items()}
    reference(text, inputs)
    for symbol, array in before.items():
        np.testing.assert_array_equal(inputs[symbol], array)


OTHERS = """\
#same = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#column = affine_map<(i, j) -> (i)>
#turned = affine_map<(i, j) -> (j, i)>
!C = tensor<3x5xi32>
!T = tensor<5x3xi32>
!S = tensor<3xi32>
func.func @f(%A : tensor<3x5xi16>, %b : tensor<5xi32>, %C : !C) -> (!S, !T, !C) {
  %zero = arith.constant 0 : i32
  %e0 = tensor.empty() : !S
  %i0 = linalg.fill ins(%zero : i32) outs(%e0 : !S) -> !S
  %sums = linalg.generic {indexing_maps = [#same, #column], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<3x5xi16>) outs(%i0 : !S) {
  ^bb0(%a : i16, %s : i32):
    %w = arith.extsi %a : i16 to i32
    %q = arith.muli %w, %w : i32
    %t = arith.addi %s, %q : i32
    linalg.yield %t : i32
  } -> !S
  %e1 = tensor.empty() : !T
  %turned = linalg.generic {indexing_maps = [#same, #turned], iterator_types = ["parallel", "parallel"]}
      ins(%C : !C) outs(%e1 : !T) {
  ^bb0(%c : i32, %o : i32):
    linalg.yield %c : i32
  } -> !T
  %biased = linalg.generic {indexing_maps = [#row, #same], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<5xi32>) outs(%C : !C) {
  ^bb0(%x : i32, %c : i32):
    %low = arith.constant -7 : i32
    %y = arith.subi %c, %x : i32
    %z = arith.maxsi %y, %low : i32
    linalg.yield %z : i32
  } -> !C
  func.return %sums, %turned, %biased : !S, !T, !C
}
"""


def test_other_ops() -> None:
    driver = compile_cpu(OTHERS)
    assert [arg.kind for arg in driver.args] == ["in", "in", "in", "out", "out", "out"]
    inputs = host.random_inputs(driver)
    A, b, C = (inputs[f"axl_arg{i}"] for i in range(3))
    found = reference(OTHERS, inputs)
    wide = A.astype(np.int32)
    np.testing.assert_array_equal(found["axl_arg3"], (wide * wide).sum(1, dtype=np.int32))
    np.testing.assert_array_equal(found["axl_arg4"], C.T)
    np.testing.assert_array_equal(found["axl_arg5"], np.maximum(C - b, -7))


@pytest.mark.parametrize("text", [OTHERS, CHAIN, matmul_mlir(7, 13, 5, "int8")])
def test_plain_c_computes_the_same(text: str) -> None:
    driver = compile_cpu(text)
    inputs = host.random_inputs(driver)
    found, _ = host.run(driver, None, inputs)
    for symbol, array in reference(text, inputs).items():
        np.testing.assert_array_equal(found[symbol], array)


@given(generics)
@settings(max_examples=15)
def test_plain_c_of_any_matmul(problem: Generic) -> None:
    driver = compile_cpu(problem.text)
    inputs = host.random_inputs(driver)
    found, _ = host.run(driver, None, inputs)
    np.testing.assert_array_equal(found["axl_arg2"], reference(problem.text, inputs)["axl_arg2"])


def test_what_it_cannot_execute() -> None:
    text = "func.func @f(%A : memref<2xi32>) {\n  %i = arith.constant 0 : index\n"
    text += "  %x = memref.load %A[%i] : memref<2xi32>\n  func.return\n}"
    with pytest.raises(
        CompileError, match=r"^input\.mlir:3:3: memref\.load: the reference cannot execute it$"
    ):
        reference(text, {"axl_arg0": np.zeros(2, np.int32)})
