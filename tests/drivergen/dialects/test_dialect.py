"""The dialect: attributes print as they parse, and every operation checks itself."""

from __future__ import annotations

import pytest

from axiloom.base.errors import CompileError
from axiloom.drivergen.dialects.accel import OpcodeFlowAttr, OpcodeMapAttr
from axiloom.drivergen.dialects.mlir import parse
from axiloom.isa.files.grammar import parse_opcode_map

ATTRIBUTES = [
    "#accel.opcode_map<sA = [send_literal(34), send_dim(m | n << 10 | k << 20), send(A)], rC = [recv(2)]>",
    "#accel.opcode_map<x = [send_idx(0), send_idx(m)]>",
    "#accel.opcode_map<>",
    "#accel.opcode_flow<(sA (sB (cC) rC))>",
    "#accel.opcode_flow<()>",
    "#accel.init_opcodes<(reset)>",
    "#accel.dma_init_config<id = 3, address = 0x40400000, input = 0x16000000, input_size = 65536, "
    "output = 0x16400000, output_size = 4096, length_width = 14>",
    "#accel.operand<A(m, k)>",
    '!accel.token<"send">',
]


@pytest.mark.parametrize("text", ATTRIBUTES)
def test_attributes_print_as_they_parse(text: str) -> None:
    module = parse(f"builtin.module attributes {{x = {text}}} {{}}")
    assert str(module.attributes["x"]) == text


def test_attributes_hold_the_values_of_isa() -> None:
    module = parse("builtin.module attributes {x = #accel.opcode_map<a = [send_literal(0x22)]>} {}")
    found = module.attributes["x"]
    assert isinstance(found, OpcodeMapAttr)
    assert found.opcodes == parse_opcode_map("opcode_map<a = [send_literal(34)]>")
    module = parse("builtin.module attributes {x = #accel.opcode_flow<(a (b))>} {}")
    flow = module.attributes["x"]
    assert isinstance(flow, OpcodeFlowAttr)
    assert list(flow.data.opcodes()) == [("a", 1), ("b", 2)]


ACTIONS = "send, send_literal, send_dim, send_idx, recv, write, wait"
FIELDS = "id, address, input, input_size, output, output_size, length_width, scatter_gather, coherent"
SYNTAX = {
    "#accel.opcode_map<a = [sned(A)]>": f"opcode_map: expected one of {ACTIONS}, not `sned`",
    "#accel.opcode_map<a = [send(A)], a = []>": "opcode_map: opcode `a` is defined twice",
    "#accel.opcode_map<a = [send(A)": "expected `>`",
    "#accel.opcode_flow<a b>": "opcode_flow: expected `(`, not `a`",
    "#accel.init_opcodes<(a)) >": "init_opcodes: expected `>`, not `)`",
    "#accel.dma_init_config<base = 3>": f"expected one of {FIELDS}",
}


@pytest.mark.parametrize("text", SYNTAX)
def test_attribute_syntax(text: str) -> None:
    with pytest.raises(CompileError) as caught:
        parse(f"builtin.module attributes {{x = {text}}} {{}}")
    place, message = str(caught.value).split(": ", 1)
    assert place.startswith("input.mlir:1:")
    assert message == SYNTAX[text]


def send(tile: str = "%A", shape: str = "[4, 4]", permutation: str = "[0, 1]", kind: str = "4x4xi32") -> str:
    return f"%x = accel.send {tile} as {shape} permutation {permutation} at %c0 : memref<{kind}>"


def recv(tile: str, mode: str, kind: str) -> str:
    return f'accel.recv {tile} as [4, 8] permutation [0, 1] at %c0 mode "{mode}" : memref<{kind}>'


OPERATIONS = {
    "%x = accel.send_literal 4294967296 at %c0": "literal 4294967296 does not fit a word of 32 bits",
    "%x = accel.send_literal -1 at %c0": "literal -1 does not fit a word of 32 bits",
    "%x = accel.send_dim %c4 shifts [0, 10] at %c0": "1 sizes need as many shifts, not 2",
    "%x = accel.send_dim %c4 shifts [32] at %c0": "shifts must be from 0 to 31, not [32]",
    send(permutation="[0, 0]"): "[0, 0] is no permutation of the 2 dims",
    send(shape="[4]"): "a tile of [4] does not match a memref of rank 2",
    send(shape="[4, 2]"): "dim 1 of size 4 is larger than the tile's 2",
    send("%B", shape="[4, 6]", kind="4x6xi8"): "6 elements of i8 are not a whole number of words",
    send("%F", kind="4x4xf64"): "elements must be i8, u8, i16, i32, f32, not f64",
    recv("%H", "accumulate", "4x6xi16"): "only i32 and f32 are added up",
    recv("%B", "accumulate", "4x6xi8"): "only i32 and f32 are added up",
    recv("%A", "add", "4x4xi32"): "mode must be one of accumulate, overwrite, not add",
    '%t = accel.start_send %c0 to %c4 : !accel.token<"recv">': "the token of accel.start_send must be of "
    "channel send",
    '%t = accel.start_recv %c4 to %c0 : !accel.token<"recv">': "a transfer from 4 to 0 is empty",
}


@pytest.mark.parametrize("line", OPERATIONS)
def test_operations_verify(line: str) -> None:
    text = f"""\
func.func @f(%A : memref<4x4xi32>, %B : memref<4x6xi8>, %H : memref<4x6xi16>, %F : memref<4x4xf64>) {{
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  {line}
  func.return
}}"""
    with pytest.raises(CompileError) as caught:
        parse(text)
    assert str(caught.value).endswith(f"does not verify: {OPERATIONS[line]}")
    assert str(caught.value).startswith("input.mlir:4:3: accel.")


def test_channel_of_a_token() -> None:
    with pytest.raises(CompileError, match='channel must be "send" or "recv", not "both"'):
        parse('func.func private @f(!accel.token<"both">)')
