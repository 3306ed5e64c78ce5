"""Annotations as the published code writes them do what they say, on real opcodes, or are refused."""

from __future__ import annotations

import re

import pytest

from axiloom import drivergen, isa
from axiloom.base.errors import CompileError

BODY = """
  iterator_types = ["parallel", "parallel", "reduction"],
  indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                   affine_map<(m, n, k) -> (m, n)>]
}
func @f(%A: memref<8x8xi32>, %B: memref<8x8xi32>, %C: memref<8x8xi32>) {
  linalg.generic #trait ins(%A, %B : memref<8x8xi32>, memref<8x8xi32>) outs(%C : memref<8x8xi32>) {
  ^bb0(%a: i32, %b: i32, %c: i32):
    %0 = muli %a, %b : i32
    %1 = addi %c, %0 : i32
    linalg.yield %1 : i32
  }
  return
}
"""
MAPS = {
    ("v1", "Ns"): ("s=[op_send(0), op_send(1)], r=[op_recv(2)]", "(s r)", (0, 1, 2)),
    ("v2", "Ns"): ("s=[op_send_literal(7), op_send(0), op_send(1)], r=[op_recv(2)]", "(s r)", (0, 1, 2)),
    ("v2", "As"): (
        "s0=[op_send_literal(1), op_send(0)], s1c=[op_send_literal(6), op_send(1)], r=[op_recv(2)]",
        "(s0 (s1c r))",
        (0, 2, 1),
    ),
    ("v2", "Bs"): (
        "s1=[op_send_literal(2), op_send(1)], s0c=[op_send_literal(5), op_send(0)], r=[op_recv(2)]",
        "(s1 (s0c r))",
        (1, 2, 0),
    ),
    ("v3", "Ns"): ("s=[op_send_literal(15), op_send(0), op_send(1)], r=[op_recv(2)]", "(s r)", (0, 1, 2)),
    ("v3", "As"): (
        "s0=[op_send_literal(1), op_send(0)], s1c=[op_send_literal(14), op_send(1)], r=[op_recv(2)]",
        "(s0 (s1c r))",
        (0, 2, 1),
    ),
    ("v3", "Bs"): (
        "s1=[op_send_literal(2), op_send(1)], s0c=[op_send_literal(13), op_send(0)], r=[op_recv(2)]",
        "(s1 (s0c r))",
        (1, 2, 0),
    ),
    ("v3", "Cs"): (
        "s=[op_send_literal(7), op_send(0), op_send(1)], r=[op_send_literal(8), op_recv(2)]",
        "((s) r)",
        (0, 1, 2),
    ),
}
"""Opcode map, flow and order of loops for each accelerator and flow, as the published scripts give them."""


def text(opcodes: str, flow: str, order: tuple[int, ...], more: str = "accel_accel_tile_size = 4,") -> str:
    return f"""#trait = {{
  accel_opcode_map_str = "opcode_map<{opcodes}>", accel_opcode_flow_str = "{flow}",
  accel_loop_permutation = {list(order)}, accel_acc_on_cpu = 2, {more}{BODY}"""


def words(driver: drivergen.Driver) -> set[int]:
    """Opcode words that the driver sends."""
    return {int(one) for one in re.findall(r"accel.send_literal (\d+)", driver.stages["accel"])}


@pytest.mark.parametrize(("accel", "flow"), MAPS)
def test_the_published_opcodes_are_sent(accel: str, flow: str) -> None:
    opcodes, scope, order = MAPS[accel, flow]
    spec = isa.builtin(accel, 4, encoding="combined")
    driver = drivergen.compile_mlir(text(opcodes, scope, order), spec, stop="accel")
    assert words(driver) == {int(one) for one in re.findall(r"op_send_literal\((\d+)\)", opcodes)}
    assert driver.calls[0].order == tuple("mnk"[loop] for loop in order)
    assert driver.calls[0].tile == (4, 4, 4)


def refused(mlir: str, **how: str) -> str:
    with pytest.raises(CompileError) as caught:
        drivergen.compile_mlir(mlir, isa.builtin("v2", 4, **how))
    return str(caught.value)


def test_what_is_refused() -> None:
    opcodes, flow, order = MAPS["v2", "As"]
    assert "words of several bits: `bits` in the specification, --encoding combined" in refused(
        text(opcodes, flow, order)
    )
    assert "v2_4 takes only tiles of 4x4x4, not 8x8x8" in refused(
        text(opcodes, flow, order, "accel_accel_tile_size = 8,"), encoding="combined"
    )
    assert "accel_loop_permutation must permute 3 loops, not [0, 2]" in refused(text(opcodes, flow, (0, 2)))
    assert "accel_opcode_flow_str: column 5: expected" in refused(text(opcodes, "(s0 ", order))
    assert "its annotations lack accel_opcode_map_str" in refused(
        re.sub(r"accel_opcode_map_str = \"[^\"]*\",", "", text(opcodes, flow, order))
    )


def test_without_a_flow_and_of_another_board_s_dma_the_specification_s_own_is_taken() -> None:
    opcodes, flow, order = MAPS["v2", "As"]
    spec = isa.builtin("v2", 4)
    plain = drivergen.compile_mlir(f"#trait = {{{BODY}", spec, stop="accel")
    mapped = text(opcodes, flow, order).replace(f', accel_opcode_flow_str = "{flow}"', "")
    elsewhere = mapped.replace("accel_acc_", "accel_dmaAddress = 41, accel_acc_")
    for one in (mapped, elsewhere):
        driver = drivergen.compile_mlir(one, spec, stop="accel")
        assert (words(driver), driver.calls[0].order) == (words(plain), plain.calls[0].order)


def test_a_wait_after_a_scope_stays_alone_and_is_refused() -> None:
    opcodes, _, order = MAPS["v2", "As"]
    assert "v2_4 has no opcode" in refused(text(opcodes, "((s0 s1c) r)", order), encoding="combined")


def test_what_is_sent_first_must_be_in_the_map() -> None:
    opcodes, flow, order = MAPS["v3", "Ns"]
    annotated = text(opcodes, flow, order, 'accel_init_flow_str = "rest",')
    with pytest.raises(
        CompileError, match=r"accel_init_flow_str: unknown opcode `rest`; its map has s, r; with"
    ):
        drivergen.compile_mlir(annotated, isa.builtin("v3", 4, encoding="combined"))


def test_a_flow_that_is_asked_for_goes_before_annotations() -> None:
    opcodes, flow, order = MAPS["v3", "Ns"]
    annotated = text(opcodes, flow, order, 'accel_init_flow_str = "rest",')
    (call,) = drivergen.compile_mlir(annotated, isa.builtin("v3", 4), flow="Cs").calls
    assert call.flow == "Cs"
