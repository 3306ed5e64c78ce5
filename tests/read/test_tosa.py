"""TOSA becomes linalg by MLIR's own passes, in its form of today and in the one before."""

from __future__ import annotations

import importlib.util

import pytest
from benchmarks.published.inputs import TOSA

from axiloom.base.errors import CompileError
from axiloom.read.mlir.tosa import lowered

needs_torch_mlir = pytest.mark.skipif(
    importlib.util.find_spec("torch_mlir") is None, reason="needs torch-mlir"
)
PRODUCT = """func.func @f(%A: tensor<1x8x16xi8>, %B: tensor<1x16x8xi8>) -> tensor<1x8x8xi32> {
  %C = "tosa.matmul"(%A, %B) : (tensor<1x8x16xi8>, tensor<1x16x8xi8>) -> tensor<1x8x8xi32>
  return %C : tensor<1x8x8xi32>
}
"""


def test_other_texts_stay_as_they_are() -> None:
    text = "func.func @f() {\n  return // tosa.add\n}\n"
    assert lowered(text, "a.mlir") is text


@needs_torch_mlir
def test_old_forms_have_zero_points_of_0() -> None:
    made = lowered(TOSA, "a.mlir")
    assert "linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1>" in made
    assert "tosa" not in made
    assert "linalg.batch_matmul ins(%arg0, %arg1" in lowered(PRODUCT, "a.mlir")


@needs_torch_mlir
def test_what_mlir_refuses_has_its_place() -> None:
    wrong = PRODUCT.replace("return %C", "return %D")
    with pytest.raises(CompileError, match=r"^a.mlir:5:10: tosa: use of undeclared SSA value name$"):
        lowered(wrong, "a.mlir")


@needs_torch_mlir
def test_what_has_no_lowering_is_named() -> None:
    text = (
        "func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {\n"
        '  %0 = tosa.custom %A {operator_name = "x", domain_name = "y", implementation_attrs = ""}'
        " : (tensor<4xf32>) -> (tensor<4xf32>)\n  return %0 : tensor<4xf32>\n}\n"
    )
    with pytest.raises(CompileError, match=r"^a.mlir:2:8: tosa: failed to legalize operation 'tosa.custom'$"):
        lowered(text, "a.mlir")
