"""What layers on the CPU are predicted to take, by the layers of a compiled network."""

from __future__ import annotations

import pytest

from axiloom import boards, isa
from axiloom.drivergen.network import compile_network
from axiloom.drivergen.network.offers import Step
from axiloom.run import cpu_layers

BOARD = boards.load(boards.DEFAULT)
LAYERS = """
func.func @net(%a: tensor<64x64xi8>, %b: tensor<64x64xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> {
  %0 = arith.constant 0 : i32
  %1 = tensor.empty() : tensor<64x64xi32>
  %2 = linalg.fill ins(%0 : i32) outs(%1 : tensor<64x64xi32>) -> tensor<64x64xi32>
  %3 = linalg.matmul ins(%a, %b : tensor<64x64xi8>, tensor<64x64xi8>) outs(%2 : tensor<64x64xi32>)
       -> tensor<64x64xi32>
  %4 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                     affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%3, %c : tensor<64x64xi32>, tensor<64x64xi32>) outs(%1 : tensor<64x64xi32>) {
  ^bb0(%x: i32, %y: i32, %z: i32):
    %s = arith.addi %x, %y : i32
    linalg.yield %s : i32
  } -> tensor<64x64xi32>
  return %4 : tensor<64x64xi32>
}
"""


def cycles(step: Step) -> float:
    """Beside what every layer takes."""
    return cpu_layers.seconds([step], BOARD) * BOARD.cpu_hz - cpu_layers.LAYER


def step(title: str, operations: int, *, wide: bool = False, product: bool = False, rows: int = 1) -> Step:
    return Step(0, title, (), operations, wide, 1000, rows, product)


def test_a_network_says_what_its_cpu_does() -> None:
    driver = compile_network(LAYERS, isa.builtin("v4_16", data_type="int8"))
    (layer,) = [one for one in driver.layers if one.device is None]
    (own,) = driver.on_cpu[layer.function]
    assert (own.title, own.operations, own.iterations, own.product) == ("add_64x64", 1, 64 * 64, False)
    assert driver.on_cpu.keys() == {layer.function}


def test_elements_cost_by_what_is_done_to_them() -> None:
    moved, rounded = cycles(step("transpose_2x3", 0)), cycles(step("requantise_8", 10))
    wide = cycles(step("requantise_8", 10, wide=True))
    assert moved == pytest.approx(cpu_layers.LEAST * 1000)
    assert moved < rounded < wide
    looked_up = cycles(step("lookup_8", 3)) - cycles(step("map_8", 3))
    assert looked_up == pytest.approx(cpu_layers.LOOKUP * 1000)


def test_a_vector_is_dearer_than_a_matrix() -> None:
    vector, matrix = (cycles(step("matmul_1", 2, product=True, rows=rows)) for rows in (1, 8))
    assert vector > matrix
