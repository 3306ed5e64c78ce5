"""Generated drivers, executed: gcc for this machine, the functional model as the accelerator."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.drivergen import host
from tests.drivergen.programs import Generic, generics
from tests.isa.strategies import specs, tiles
from tests.some import some

from axiloom import isa
from axiloom.drivergen import matmul_mlir
from axiloom.isa import AcceleratorSpec

FLOWS = [(name, flow) for name in isa.builtins() for flow in isa.builtin(name).flows]


NARROW = [
    (name, encoding, ("int8", "int16")[(number + place) % 2])
    for number, name in enumerate(isa.builtins())
    for place, encoding in enumerate(("bitmask", "literals"))
]
"""Each accelerator in both encodings, the types in turn."""


@pytest.mark.parametrize(("name", "encoding", "dtype"), some(NARROW, 7))
def test_narrow_types(name: str, encoding: str, dtype: str) -> None:
    spec = isa.builtin(name, data_type=dtype, encoding=encoding)
    for pipeline in ("published", "coalesced"):
        host.check(matmul_mlir(7, 13, 5, dtype), spec, pipeline=pipeline)


@pytest.mark.every(3)
@pytest.mark.parametrize("flow", ["Ns", "As", "Bs", "Cs"])
def test_every_order(flow: str) -> None:
    spec = isa.builtin("v3_4")
    for order in isa.loop_orders(spec, flow):
        driver, _ = host.check(matmul_mlir(9, 6, 11), spec, flow=flow, order=order)
        assert driver.calls[0].order == order


@pytest.mark.slow
@given(generics)
@settings(max_examples=12)
def test_every_way_to_write_it(problem: Generic) -> None:
    """Order of loops and inputs, transposes, tensors and fills do not matter."""
    host.check(problem.text, isa.builtin("v3_4", data_type=problem.dtype))


@given(st.data(), st.sampled_from(["published", "coalesced"]))
@settings(max_examples=24)
def test_every_specification(data: st.DataObject, pipeline: str) -> None:
    """Any sound specification, flow, order and tile; any sizes."""
    spec: AcceleratorSpec = data.draw(specs())
    flow = data.draw(st.sampled_from(sorted(spec.flows)))
    order = data.draw(st.sampled_from(isa.loop_orders(spec, flow)))
    tile = data.draw(tiles(spec))
    M, N, K = (data.draw(st.integers(1, 2 * size + 1)) for size in tile)
    text = matmul_mlir(M, N, K, spec.data_type.value)
    driver, _ = host.check(text, spec, flow=flow, order=order, tile=tile, pipeline=pipeline)
    assert driver.calls[0].tile == tile


def test_one_transfer_an_opcode() -> None:
    """The published structure: literal and payload in one transfer; the tile of C in one."""
    _, device = host.check(matmul_mlir(8, 8, 8), isa.builtin("v3_4"), flow="Cs")
    one_tile_of_C = [17, 17, 1] * 2 + [1]
    assert device.sent == one_tile_of_C * 4 * 2
    assert device.received == [16] * 4 * 2


def test_v1_is_one_transfer_each_way() -> None:
    _, device = host.check(matmul_mlir(4, 4, 8), isa.builtin("v1_4"))
    assert device.sent == [32] * 2 * 2
    assert device.received == [16] * 2 * 2


def test_init_opcodes_are_sent_once() -> None:
    _, device = host.check(matmul_mlir(8, 8, 8), isa.builtin("v3_4", encoding="literals"), flow="Cs")
    assert device.sent[:3] == [1, 17, 17]
    assert device.sent.count(1) == 2 * (1 + 8 + 4)  # reset, cC, rC; in two runs


def test_flexible_tile_is_clipped_to_the_problem() -> None:
    driver, _ = host.check(matmul_mlir(20, 70, 1), isa.builtin("v4_16"))
    assert driver.calls[0].tile == (32, 64, 16)


CHAIN = """\
!AB = tensor<5x7xi32>
!R = tensor<5x3xi32>
func.func @two(%A : tensor<5x6xi32>, %B : tensor<6x7xi32>, %D : !R) -> (!AB, !R) {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : !AB
  %i = linalg.fill ins(%zero : i32) outs(%e : !AB) -> !AB
  %C = linalg.matmul ins(%A, %B : tensor<5x6xi32>, tensor<6x7xi32>) outs(%i : !AB) -> !AB
  %W = arith.constant dense<[[1, -2, 3], [4, 5, 6], [-7, 8, 9], [1, 2, 3], [4, 5, -6],
                             [7, 8, 9], [0, 1, 2]]> : tensor<7x3xi32>
  %b = arith.constant dense<-2147483648> : !R
  %T = linalg.matmul ins(%C, %W : !AB, tensor<7x3xi32>) outs(%b : !R) -> !R
  %S = arith.constant dense<3> : tensor<3x3xi32>
  %R = linalg.matmul ins(%T, %S : !R, tensor<3x3xi32>) outs(%D : !R) -> !R
  func.return %C, %R : !AB, !R
}
"""


@pytest.mark.parametrize(("encoding", "pipeline"), [("bitmask", "published"), ("literals", "coalesced")])
def test_a_chain_with_constants_and_memory_in_between(encoding: str, pipeline: str) -> None:
    driver, _ = host.check(CHAIN, isa.builtin("v3_4", encoding=encoding), pipeline=pipeline)
    assert [arg.kind for arg in driver.args] == ["in", "in", "inout", "out"]
    assert [(call.M, call.N, call.K) for call in driver.calls] == [(5, 7, 6), (5, 3, 7), (5, 3, 3)]


@pytest.mark.parametrize(("flow", "last"), [("Cs", ", 0));"), ("As", ", 1));")])
def test_zeros_are_overwritten_where_a_tile_comes_back_once(flow: str, last: str) -> None:
    text = Generic(8, 8, 8, zeroed=True).text
    driver, _ = host.check(text, isa.builtin("v3_4"), flow=flow)
    assert [arg.kind for arg in driver.args] == ["in", "in", "out"]
    copies = [line for line in driver.c.splitlines() if "dma_get_tile_i32" in line]
    assert [line.endswith(last) for line in copies] == [True]
    assert ("C[i0 * 8 + i1] = 0;" in driver.c) == (flow == "As")
