"""MLIR of older versions means the same as the form of today."""

from __future__ import annotations

import pytest

from axiloom.drivergen.dialects.mlir import parse

TODAY = """
func.func private @print(memref<*xi32>)
func.func @f(%A: memref<4x4xi32>, %B: memref<4x4xi32>) {
  %z = arith.constant 0 : i32
  linalg.fill ins(%z : i32) outs(%B : memref<4x4xi32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%A : memref<4x4xi32>) outs(%B : memref<4x4xi32>) {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    %p = arith.muli %s, %s : i32
    linalg.yield %p : i32
  }
  return
}
"""
OLD = """
#both = affine_map<(i, j) -> (i, j)>
#trait = {
  indexing_maps = [#both, #both],
  iterator_types = ["parallel", "parallel"]
}
func private @print(memref<*xi32>)
func @f(%A: memref<4x4xi32>, %B: memref<4x4xi32>) {
  %z = constant 0 : i32
  linalg.fill(%z, %B) : i32, memref<4x4xi32>
  linalg.generic #trait ins(%A : memref<4x4xi32>) outs(%B : memref<4x4xi32>) {
  ^bb0(%a: i32, %b: i32):
    %s = addi %a, %b : i32
    %p = muli %s, %s : i32
    linalg.yield %p : i32
  }
  return
}
"""


def test_the_old_forms_mean_the_same() -> None:
    assert str(parse(OLD)) == str(parse(TODAY))


def test_fill_and_expand_on_tensors() -> None:
    old = """
func @f(%x: tensor<6xi32>) -> tensor<2x3xi32> {
  %z = constant 0 : i32
  %y = linalg.fill(%z, %x) : i32, tensor<6xi32> -> tensor<6xi32>
  %w = tensor.expand_shape %y [[0, 1]] : tensor<6xi32> into tensor<2x3xi32>
  return %w : tensor<2x3xi32>
}
"""
    text = str(parse(old))
    assert "linalg.fill ins(%z : i32) outs(%x : tensor<6xi32>) -> tensor<6xi32>" in text
    assert "[[0 : i64, 1 : i64]] output_shape [2, 3] : tensor<6xi32> into tensor<2x3xi32>" in text
    assert str(parse(text)) == text


def test_what_stands_before_ins_stays_on_the_op() -> None:
    """A trait in the first dictionary was lost without a word."""
    text = TODAY.replace('"parallel"]}', '"parallel"], mine = 3 : i32}')
    assert "mine = 3 : i32" in str(parse(text))


@pytest.mark.parametrize("form", ["today", "generic"])
def test_generic_form(form: str) -> None:
    text = {"today": TODAY, "generic": parse(TODAY).__str__()}[form]
    assert str(parse(text)) == str(parse(TODAY))
