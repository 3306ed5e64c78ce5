"""What torch-mlir writes and xDSL alone does not read: resources, and generics with several results."""

from __future__ import annotations

import numpy as np
import pytest

from axiloom.base.errors import CompileError
from axiloom.drivergen.dialects.mlir import only_function, parse
from axiloom.drivergen.evaluate.reference import evaluate

TEXT = """\
func.func @f(%x: tensor<2xi32>) -> tensor<2xi32> {
  %w = arith.constant dense_resource<weight> : tensor<2xi32>
  %e = tensor.empty() : tensor<2xi32>
  %y = linalg.add ins(%x, %w : tensor<2xi32>, tensor<2xi32>) outs(%e : tensor<2xi32>) -> tensor<2xi32>
  func.return %y : tensor<2xi32>
}

{-#
  dialect_resources: {
    builtin: {
      weight: "0x04000000DATA"
    }
  }
#-}
"""


def values(data: str) -> list[int]:
    function = only_function(parse(TEXT.replace("DATA", data)), "f")
    return list(map(int, evaluate(function, [np.array([1, 2], np.int32)])[0]))


def test_data_at_the_end_of_the_text() -> None:
    """Each text has its own, under whatever name an earlier one had."""
    assert values("0500000007000000") == [6, 9]
    assert values("FFFFFFFF00000000") == [0, 2]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("05000000", "the resource weight has 4 bytes, tensor<2xi32> has 8"),
        (None, "there are no data for the resource weight"),
    ],
)
def test_data_that_do_not_fit(data: str | None, why: str) -> None:
    text = TEXT.replace("DATA", data) if data else TEXT.partition("{-#")[0]
    with pytest.raises(CompileError) as caught:
        parse(text, "net.mlir")
    assert str(caught.value) == f"net.mlir:2:3: arith.constant: {why}"


def test_results_in_parentheses() -> None:
    """The largest element and where it is."""
    text = """\
func.func @f(%x: tensor<4xi32>) -> (tensor<i32>, tensor<i64>) {
  %least = arith.constant dense<-2147483648> : tensor<i32>
  %none = arith.constant dense<0> : tensor<i64>
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>,
                         affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<4xi32>) outs(%least, %none : tensor<i32>, tensor<i64>) {
  ^bb0(%a: i32, %m: i32, %at: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %more = arith.cmpi sgt, %a, %m : i32
    %n = arith.select %more, %a, %m : i32
    %k = arith.select %more, %j, %at : i64
    linalg.yield %n, %k : i32, i64
  } -> (tensor<i32>, tensor<i64>)
  func.return %0#0, %0#1 : tensor<i32>, tensor<i64>
}
"""
    largest, place = evaluate(only_function(parse(text), "f"), [np.array([3, 9, 9, 1], np.int32)])
    assert (int(largest), int(place)) == (9, 1)
