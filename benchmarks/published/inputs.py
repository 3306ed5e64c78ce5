"""MLIR in the forms of the published inputs, with the command's options, and a change that helps if any."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Input:
    """A text, what `axiloom run` is told beside it, and a replacement after which it is read."""

    text: str
    options: tuple[str, ...]
    change: tuple[str, str] | None = None


V1, V2, V3 = (("--accel", name) for name in ("v1_4", "v2_4", "v3_4"))
COMBINED = ("--encoding", "combined")
A, B, C = "memref<16x8xi32>", "memref<8x32xi32>", "memref<16x32xi32>"

GENERIC = f"""
  iterator_types = ["parallel", "parallel", "reduction"],
  indexing_maps = [
    affine_map<(m, n, k) -> (m, k)>, // A
    affine_map<(m, n, k) -> (k, n)>, // B
    affine_map<(m, n, k) -> (m, n)>  // C
  ]
}}
func @product(%A: {A}, %B: {B}, %C: {C}) {{
  linalg.generic #product_trait
    ins (%A, %B : {A}, {B})
    outs(%C : {C}) {{
    ^bb0(%a: i32, %b: i32, %c: i32):
      %0 = arith.muli %a, %b : i32
      %1 = arith.addi %c, %0 : i32
      linalg.yield %1 : i32
  }}
  return
}}
"""


def product(attributes: str, ops: str = "arith.") -> str:
    """A product as a generic op whose trait, above the function, has these annotations."""
    return f"#product_trait = {{\n{attributes}{GENERIC}".replace("arith.", ops)


def named(types: str, more: str = "", body: str = "") -> str:
    """A named product in an old `func`, and `body` above it."""
    a, b, c = (f"memref<{size}x{types}>" for size in ("16x8", "8x32", "16x32"))
    return (
        f"func @product(%A: {a}, %B: {b}, %C: {c}) {more}{{\n{body}"
        f'  linalg.matmul {{__accel_transform__="ACC"}}\n   ins(%A, %B: {a}, {b})\n   outs(%C: {c})\n'
        "  return\n}\n"
    )


PLAIN = (
    '  __internal_linalg_transform__="ACCELERATE",\n'
    '  accel_opcode_map_str = "opcode_map<s0=[op_send(0)], s1=[op_send(1)], r2=[op_recv(2)]>",\n'
    '  accel_opcode_flow_str = "(s0 s1 r2)",'
)
LITERALS = (
    '  accel_opcode_map_str = "opcode_map<s0=[op_send_literal(1), op_send(0)], '
    's1c=[op_send_literal(6), op_send(1)], r2=[op_recv(2)], reset=[op_send_literal(32)],>",\n'
    '  accel_opcode_flow_str = "(s0 (s1c r2))", accel_loop_permutation = [0,2,1],'
)
STAYS = (
    "  accel_dmaAddress = 41, accel_dmaInputBufferSize = 42,\n  accel_loop_permutation = [0,2,1],\n"
    "  accel_accel_tile_size = 4, // and on the command line\n"
    '  accel_opcode_map_str = "opcode_map<s0=[op_send(0)], s1=[op_send(1)], s2=[op_send(2)], '
    'r2=[op_recv(2)]>",\n'
    '  accel_init_flow_str = "reset",\n  accel_opcode_flow_str = "(s0 (s1 r2))",'
)
MAP = (
    "opcode_map<\n  s0 = [op_send(0)],\n  s1 = [op_send(1)],\n  r2 = [op_recv(2)],\n"
    "  s0s1r2 = [op_send(0), op_send(1), op_send(2), op_recv(2)],\n"
    "  dim = [op_send_literal(30), op_send_dim(2)],\n  index = [op_send_literal(30), op_send_idx(2)]\n>"
)
TRANSPOSES = """
#transposes = {
  __internal_linalg_transform__="ACCELERATE",
  accel_opcode_map_str = "opcode_map<s0=[op_send(0)], s1=[op_send(1)], r2=[op_recv(2)], r3=[op_recv(3)]>",
  accel_opcode_flow_str = "(s0 s1 r2 r3)",
  iterator_types = ["parallel", "parallel"],
  indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>,
                   affine_map<(m, n) -> (n, m)>, affine_map<(m, n) -> (n, m)>]
}
func @transposes(%A: memref<16x8xi32>, %B: memref<16x8xi32>, %C: memref<8x16xi32>, %D: memref<8x16xi32>) {
  linalg.generic #transposes
    ins (%A, %B : memref<16x8xi32>, memref<16x8xi32>)
    outs(%C, %D : memref<8x16xi32>, memref<8x16xi32>) {
    ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
      linalg.yield %a, %b : i32, i32
  }
  return
}
"""
FILLED = named(
    "i32", body="  %z = arith.constant 0 : i32\n  linalg.fill(%z, %C) : i32, memref<16x32xi32>\n"
).replace("@product", "@filled")
CONV = (
    "func @conv(%I: memref<1x4x7x7xi32>, %W: memref<8x4x3x3xi32>, %O: memref<1x8x5x5xi32>) {\n"
    "  linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}\n"
    "    ins(%I, %W : memref<1x4x7x7xi32>, memref<8x4x3x3xi32>) outs(%O : memref<1x8x5x5xi32>)\n  return\n}\n"
)
MAIN = (
    "func @main() {\n  %c0 = constant 0 : i32\n  %A = memref.alloc() : memref<4x4xi32>\n"
    "  linalg.fill(%c0, %A) : i32, memref<4x4xi32>\n"
    "  %u = memref.cast %A : memref<4x4xi32> to memref<*xi32>\n"
    "  call @print_memref_i32(%u) : (memref<*xi32>) -> ()\n  return\n}\n"
    "func private @print_memref_i32(memref<*xi32>)\n"
)
TOSA = (
    "func @conv(%I: tensor<1x8x8x4xi8>, %W: tensor<8x3x3x4xi8>, %b: tensor<8xi32>) -> tensor<1x6x6x8xi32> {\n"
    '  %0 = "tosa.conv2d"(%I, %W, %b) {dilation = [1, 1], pad = [0, 0, 0, 0], stride = [1, 1]} : '
    "(tensor<1x8x8x4xi8>, tensor<8x3x3x4xi8>, tensor<8xi32>) -> tensor<1x6x6x8xi32>\n"
    "  return %0 : tensor<1x6x6x8xi32>\n}\n"
)
RESHAPED = (
    "func @product(%A: tensor<8x8xi32>, %B: tensor<16x8xi32>, %C: tensor<4x8xi32>) -> tensor<4x8xi32> {\n"
    "  %0 = tensor.collapse_shape %A [[0, 1]] : tensor<8x8xi32> into tensor<64xi32>\n"
    "  %1 = tensor.expand_shape %0 [[0, 1]] : tensor<64xi32> into tensor<4x16xi32>\n"
    "  %2 = linalg.matmul ins(%1, %B : tensor<4x16xi32>, tensor<16x8xi32>) outs(%C : tensor<4x8xi32>) "
    "-> tensor<4x8xi32>\n  return %2 : tensor<4x8xi32>\n}\n"
)

INPUTS: dict[str, Input] = {
    "named product, func": Input(named("i32", "attributes {llvm.emit_c_interface} "), V3),
    "named product, func.func": Input(
        named("i32").replace("func @", "func.func @").replace("  return", "  func.return"), V3
    ),
    "named product, filled before": Input(
        named("i32", body="  %z = constant 0 : i32\n  linalg.fill(%z, %C) : i32, memref<16x32xi32>\n"), V3
    ),
    "named product, float32": Input(named("f32"), V3),
    "named product behind old reshapes": Input(RESHAPED, V3),
    "trait above, no annotations": Input(product(""), V3),
    "trait above, std ops": Input(product("", ops=""), V3),
    "map without literals, flow (s0 s1 r2)": Input(product(PLAIN), V1),
    "map of bits, stationary A, unused opcode": Input(product(LITERALS), V2 + COMBINED),
    "annotations that the command line replaces": Input(
        product(STAYS) + named("i32").replace("@product", "@second"), (*V3, "--flow", "Cs")
    ),
    "tiles for caches, sum on the CPU": Input(
        product(
            PLAIN + "\n  accel_number_of_caches=2, accel_tile_sizes = [16,32,8,4,4,4], accel_acc_on_cpu = 2,"
        ),
        V1,
    ),
    "addresses of another DMA": Input(product(PLAIN + "\n  accel_dmaAddress = 41,"), V1),
    "map as an attribute, no flow": Input(
        f"#my_map = {MAP}\n" + product(f"  accel_opcode_map = {MAP},"),
        V1,
    ),
    "product, transposes with two results, product after a fill": Input(
        product(PLAIN) + TRANSPOSES + FILLED, V1
    ),
    "map<s0 -> ...>, no valid MLIR": Input(
        product("  accel_opcode_map = {\n    map<s0 -> [send(0)]>,\n    map<r2 -> [recv(2)]>,\n  },"), V1
    ),
    "two functions with products": Input(product(PLAIN) + named("i32").replace("@product", "@second"), V1),
    "convolution, and a main that prints": Input(CONV + MAIN, ("--accel", "conv_v3")),
    "product, and a main that prints": Input(named("i32") + MAIN, V3),
    "template with ${...} in it": Input(
        CONV.replace("@conv", "@${NAME}").replace("8x4x3x3x", "${OC}x4x3x3x"),
        ("--accel", "conv_v3", "-D", "NAME=conv", "-D", "OC=8"),
    ),
    "tosa.conv2d": Input(TOSA, ("--accel", "conv_v4")),
}
