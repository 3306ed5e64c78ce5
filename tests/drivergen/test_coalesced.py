"""Coalesced transfers: which are joined, which must not be, and that the drivers still work."""

from __future__ import annotations

import pytest
from tests.drivergen import host
from tests.drivergen.pipeline.test_pipeline import HAND
from tests.drivergen.test_drivers import FLOWS
from tests.some import some

from axiloom import isa
from axiloom.base.errors import UsageError
from axiloom.drivergen import compile_mlir, matmul_mlir


@pytest.mark.every(2)
@pytest.mark.parametrize(("name", "flow"), some(FLOWS, 5))
@pytest.mark.parametrize("shape", [(7, 13, 5), (1, 1, 1)], ids=str)
def test_every_flow(name: str, flow: str, shape: tuple[int, int, int]) -> None:
    _, device = host.check(matmul_mlir(*shape), isa.builtin(name), flow=flow, pipeline="coalesced")
    _, published = host.check(matmul_mlir(*shape), isa.builtin(name), flow=flow)
    assert sum(device.sent) == sum(published.sent)
    assert len(device.sent) <= len(published.sent)
    assert device.received == published.received


def test_one_transfer_an_iteration() -> None:
    _, device = host.check(matmul_mlir(8, 8, 8), isa.builtin("v3_4"), flow="Cs", pipeline="coalesced")
    one_tile_of_C = [17 + 17 + 1] * 2 + [1]
    assert device.sent == one_tile_of_C * 4 * 2
    assert device.received == [16] * 4 * 2


def test_a_receive_is_armed_before_the_joined_send() -> None:
    _, device = host.check(matmul_mlir(8, 8, 8), isa.builtin("v3_4"), flow="Ns", pipeline="coalesced")
    assert device.sent == [17 + 17 + 1 + 1] * 8 * 2


@pytest.mark.parametrize(
    ("limits", "sent"),
    [
        ("input_size = 140", [17 + 17 + 1]),
        ("input_size = 139", [17 + 17, 1]),
        ("input_size = 136", [17 + 17, 1]),
        ("input_size = 135", [17, 17 + 1]),
        ("input_size = 68", [17, 17, 1]),
        ("input_size = 4096, length_width = 8", [17 + 17 + 1]),
        ("input_size = 4096, length_width = 7", [17, 17 + 1]),
    ],
)
def test_window_and_length_register_are_kept(limits: str, sent: list[int]) -> None:
    """Sends of 68, 68 and 4 bytes, joined as far as the DMA of the op goes."""
    text = HAND.replace("FLOW", "(sA (sB cC rC))").replace("(sA (sB", "((sA sB").replace("cC rC))", "cC) rC)")
    text = text.replace("-> (m, k, n)>", "-> (m, n, k)>").replace("input_size = 4096", limits)
    driver = compile_mlir(text, None, pipeline="coalesced")
    inputs = host.random_inputs(driver)
    _, device = host.run(driver, isa.builtin("v3_4"), inputs)
    assert device is not None
    assert device.sent[: len(sent) * 2 + 1] == [*sent * 2, 1]


def test_unknown_pipeline() -> None:
    with pytest.raises(UsageError) as caught:
        compile_mlir(matmul_mlir(4, 4, 4), isa.builtin("v3_4"), pipeline="fast")
    assert str(caught.value) == (
        "unknown pipeline `fast`; there are published, coalesced, copying, all, or passes with commas between"
        " them: cache-tiling, residency, coalesce, keep-packed, double-buffer, specialise-copies, zero-copy,"
        " tables"
    )
