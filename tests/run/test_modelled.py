"""What the cost model is asked about: the product, with rows of a weight as it lies once it is packed."""

from __future__ import annotations

import pytest

from axiloom import isa
from axiloom.drivergen import compile_mlir, matmul_mlir
from axiloom.drivergen.nest.results import ACCUMULATED, Results
from axiloom.run.modelled import product

LAYER = """
func.func @layer(%a: tensor<24x48xi8>{a}, %b: tensor<48x30xi8>{b}) -> tensor<24x30xi32> {{
  %0 = arith.constant 0 : i32
  %1 = tensor.empty() : tensor<24x30xi32>
  %2 = linalg.fill ins(%0 : i32) outs(%1 : tensor<24x30xi32>) -> tensor<24x30xi32>
  %3 = linalg.matmul ins(%a, %b : tensor<24x48xi8>, tensor<48x30xi8>) outs(%2 : tensor<24x30xi32>)
       -> tensor<24x30xi32>
  return %3 : tensor<24x30xi32>
}}
"""


@pytest.mark.parametrize(
    ("constant", "sizes"), [("", (24, 30, 48)), ("b", (24, 32, 48)), ("a", (24, 30, 48))]
)
def test_rows_of_weights_are_whole_beats(constant: str, sizes: tuple[int, int, int]) -> None:
    """Rows of 48 bytes are so already, those of 30 become 32; of what is no weight nothing changes."""
    spec = isa.builtin("v4_16", data_type="int8")
    attributes = {name: " {accel.constant}" if name == constant else "" for name in "ab"}
    text = LAYER.format(**attributes)
    (call,) = compile_mlir(text, spec, stop="linalg").calls
    found = product(call, text, spec)
    assert sizes == (found.M, found.N, found.K)
    assert found.dtype == "int8"
    assert found.results == Results(fresh=True)


def test_results_that_are_added() -> None:
    text = matmul_mlir(24, 30, 48, "int8")
    spec = isa.builtin("v4_16", data_type="int8")
    (call,) = compile_mlir(text, spec, stop="linalg").calls
    assert product(call, text, spec).results == ACCUMULATED
