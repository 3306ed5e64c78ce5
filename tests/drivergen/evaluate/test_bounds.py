"""Bounds of float32 sums: they hold for a driver, and they find a wrong product."""

from __future__ import annotations

import numpy as np
import pytest
from tests.drivergen import host

from axiloom import isa
from axiloom.base.errors import CompileError
from axiloom.drivergen import bounds, compile_mlir, parse_workload, reference
from axiloom.isa.numerics import FLOAT32

TWICE = """\
func.func @f(%A : memref<4x8xf32>, %B : memref<8x4xf32>, %C : memref<4x4xf32>, %D : memref<4x4xf32>) {
  linalg.matmul ins(%A, %B : memref<4x8xf32>, memref<8x4xf32>) outs(%C : memref<4x4xf32>)
  linalg.matmul ins(%C, %C : memref<4x4xf32>, memref<4x4xf32>) outs(%D : memref<4x4xf32>)
  func.return
}
"""


@pytest.mark.parametrize("text", [parse_workload("matmul:12x8x40:float32").mlir, TWICE])
def test_a_driver_keeps_them_and_a_wrong_product_does_not(text: str) -> None:
    spec = isa.builtin("v3_4", data_type="float32")
    driver = compile_mlir(text, spec)
    inputs = host.random_inputs(driver)
    found, _ = host.run(driver, spec, inputs)
    limit = bounds(text, inputs)
    assert limit is not None
    assert limit.exact.keys() == found.keys()
    assert limit.roundings == (41 if "12x" in text else 9 + 5)
    for symbol, array in found.items():
        assert limit.exact[symbol].dtype == np.float64
        margin = FLOAT32.margin(limit.roundings, limit.magnitude[symbol])
        assert np.all(np.abs(array - limit.exact[symbol]) <= margin)
        assert np.all(np.abs(limit.exact[symbol]) <= limit.magnitude[symbol])
        assert np.all(margin < 1e-3)
    one = dict(inputs)
    one["axl_arg0"] = inputs["axl_arg0"].copy()
    one["axl_arg0"][0, 0] = 0  # one product of each sum in a row is left out
    other, symbol = reference(text, one), list(found)[-1]
    margin = FLOAT32.margin(limit.roundings, limit.magnitude[symbol])
    assert np.any(np.abs(other[symbol] - limit.exact[symbol]) > margin)


def test_none_where_nothing_is_added_up() -> None:
    text = """\
func.func @f(%A : memref<4xf32>, %B : memref<4xf32>, %C : memref<4xf32>) {
  linalg.add ins(%A, %B : memref<4xf32>, memref<4xf32>) outs(%C : memref<4xf32>)
  func.return
}
"""
    assert bounds(text, {"axl_arg0": np.ones(4, np.float32), "axl_arg1": np.ones(4, np.float32)}) is None
    integers = parse_workload("matmul:4x4x4:int8").mlir
    assert bounds(integers, {}) is None


def test_other_operations_have_none() -> None:
    text = """\
func.func @f(%A : memref<4x8xf32>, %B : memref<8x4xf32>, %C : memref<4x4xf32>, %D : memref<4x4xf32>) {
  linalg.matmul ins(%A, %B : memref<4x8xf32>, memref<8x4xf32>) outs(%C : memref<4x4xf32>)
  linalg.sub ins(%C, %C : memref<4x4xf32>, memref<4x4xf32>) outs(%D : memref<4x4xf32>)
  func.return
}
"""
    with pytest.raises(CompileError) as caught:
        bounds(text, {})
    why = "float32 sums are compared by a bound that holds for products and sums only"
    assert str(caught.value).endswith(f"arith.subf: {why}")
