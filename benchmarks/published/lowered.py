"""MLIR with transfers in it already, as AXI4MLIR prints it: drivers that `axiloom simulate` runs as they are.

Products on v3 in its `accel` dialect and as calls of its DMA library, and a convolution on conv_v3 in the
dialect, by hand; that one also as a template. ``programs.py`` has the texts whose devices are others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

A, B, C = "memref<16x32xi32>", "memref<32x8xi32>", "memref<16x8xi32>"
TILES = {"A": ("#wide", A, "%m, %k"), "B": ("#narrow", B, "%k, %n"), "C": ("#narrow", C, "%m, %n")}
MAPS = """#wide = affine_map<(d0, d1)[s0] -> (d0 * 32 + s0 + d1)>
#narrow = affine_map<(d0, d1)[s0] -> (d0 * 8 + s0 + d1)>
#same = affine_map<(d0, d1) -> (d0, d1)>
"""
ADDRESSES = (0x4040_0000, 0x1600_0000, 65536, 0x1640_0000, 65536)
LIBRARY = (
    "func private @dma_init(i32, i32, i32, i32, i32)\nfunc private @dma_free()\n"
    "func private @copy_to_inbuffer_i32(memref<*xi32>, i32) -> i32\n"
    "func private @copy_from_outbuffer_i32(memref<*xi32>, i32) -> i32\n"
    "func private @dma_start_send(i32, i32) -> i32\nfunc private @dma_wait_send()\n"
    "func private @dma_start_recv(i32, i32) -> i32\nfunc private @dma_wait_recv()\n"
)


@dataclass(frozen=True)
class Lowered:
    """A driver, its accelerator (`spec`: one of its own), what its arrays hold before, and the result."""

    text: str
    accelerator: tuple[str, ...]
    given: dict[str, np.ndarray]
    wanted: dict[str, np.ndarray]
    spec: dict[str, Any] | None = None


class Accel:
    """Transfers in the dialect."""

    head, library = "accel.init_dma ", ""
    tail = ""

    def __init__(self) -> None:
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def literal(self, word: int) -> list[str]:
        self.sent = self.fresh()
        return [f"{self.sent} = accel.sendLiteral %w{word}, %w0 : (i32, i32) -> i32"]

    def send(self, tile: str, kind: str) -> list[str]:
        return [f"{self.fresh()} = accel.send {tile}, {self.sent} : ({kind}, i32) -> i32"]

    def recv(self, tile: str, kind: str) -> list[str]:
        return [f"{self.fresh()} = accel.recv {tile}, {self.sent} : ({kind}, i32) -> i32"]


class Calls(Accel):
    """The same transfers as calls; a literal goes through an array of its own."""

    head, library = "call @dma_init(", LIBRARY
    tail = "    call @dma_free() : () -> ()\n"

    def moved(self, way: str, words: str, offset: str) -> list[str]:
        return [
            f"{self.fresh()} = call @dma_start_{way}({words}, {offset}) : (i32, i32) -> i32",
            f"call @dma_wait_{way}() : () -> ()",
        ]

    def literal(self, word: int) -> list[str]:
        array, cast = self.fresh(), self.fresh()
        return [
            f"{array} = memref.alloc() : memref<i32>",
            f"memref.store %w{word}, {array}[] : memref<i32>",
            f"{cast} = memref.cast {array} : memref<i32> to memref<*xi32>",
            f"{self.fresh()} = call @copy_to_inbuffer_i32({cast}, %w0) : (memref<*xi32>, i32) -> i32",
            *self.moved("send", "%w1", "%w0"),
            f"memref.dealloc {array} : memref<i32>",
        ]

    def send(self, tile: str, kind: str) -> list[str]:
        cast = self.fresh()
        return [
            f"{cast} = memref.cast {tile} : {kind} to memref<*xi32>",
            f"{self.fresh()} = call @copy_to_inbuffer_i32({cast}, %w1) : (memref<*xi32>, i32) -> i32",
            *self.moved("send", "%w16", "%w1"),
        ]

    def recv(self, tile: str, kind: str) -> list[str]:
        cast = self.fresh()
        return [
            f"{cast} = memref.cast {tile} : {kind} to memref<*xi32>",
            *self.moved("recv", "%w16", "%w1"),
            f"{self.fresh()} = call @copy_from_outbuffer_i32({cast}, %w1) : (memref<*xi32>, i32) -> i32",
        ]


def constants(words: tuple[int, ...], numbers: tuple[int, ...]) -> str:
    lines = [f"    %w{word} = arith.constant {word} : i32\n" for word in dict.fromkeys((*words, *ADDRESSES))]
    return "".join(lines) + "".join(
        f"    %c{number} = arith.constant {number} : index\n" for number in numbers
    )


def begins(style: Accel) -> str:
    values, types = ", ".join(f"%w{word}" for word in ADDRESSES), ", ".join(["i32"] * 5)
    closes = f") : ({types}) -> ()" if style.library else f" : ({types})"
    return f"    {style.head}{values}{closes}\n"


def product(style: Accel, stays: bool) -> str:
    """All in the innermost loop, what comes back added to C; or C stays, and comes back in its place."""

    def view(name: str) -> list[str]:
        layout, kind, at = TILES[name]
        tile = f"memref<?x?xi32, {layout}>"
        return [f"%{name}t = memref.subview %{name}[{at}] [%c4, %c4] [1, 1] : {kind} to {tile}"]

    def typed(name: str) -> tuple[str, str]:
        return f"%{name}t", f"memref<?x?xi32, {TILES[name][0]}>"

    inner = [*style.literal(1), *view("A"), *style.send(*typed("A"))]
    inner += [*style.literal(2), *view("B"), *style.send(*typed("B")), *style.literal(4)]
    back = [*style.literal(8), *view("C")]
    if stays:
        back += style.recv(*typed("C"))
    else:
        own = "memref<4x4xi32>"
        back += [f"%own = memref.alloca() : {own}", *style.recv("%own", own)]
        back += [
            'linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} '
            f"ins(%own : {own}) outs(%Ct : {typed('C')[1]}) {{",
            "^bb0(%a: i32, %b: i32):",
            "  %sum = arith.addi %a, %b : i32",
            "  linalg.yield %sum : i32",
            "}",
        ]
    loops = ["scf.for %m = %c0 to %c16 step %c4 {", "scf.for %n = %c0 to %c8 step %c4 {"]
    loops += ["scf.for %k = %c0 to %c32 step %c4 {", *inner]
    loops += ["}", *back, "}", "}"] if stays else [*back, "}", "}", "}"]
    arguments = f"%A: {A}, %B: {B}, %C: {C}"
    return (
        f"{MAPS}{style.library}func @product({arguments}) attributes {{llvm.emit_c_interface}} {{\n"
        + constants((0, 1, 2, 4, 8, 16), (0, 4, 8, 16, 32))
        + begins(style)
        + "".join(f"    {line}\n" for line in loops)
        + style.tail
        + "  return\n}\n"
    )


IMAGE, FILTERS, RESULT = "memref<1x4x9x9xi32>", "memref<4x4x3x3xi32>", "memref<1x4x4x4xi32>"
CONV = (
    "#filter = affine_map<(d0, d1, d2, d3)[s0] -> (d0 * 36 + s0 + d1 * 9 + d2 * 3 + d3)>\n"
    "#window = affine_map<(d0, d1, d2, d3)[s0] -> (d0 * 324 + s0 + d1 * 81 + d2 * 9 + d3)>\n"
    "#channel = affine_map<(d0, d1, d2, d3)[s0] -> (d0 * 64 + s0 + d1 * 16 + d2 * 4 + d3)>\n"
    f"func @conv(%I: {IMAGE}, %F: {FILTERS}, %O: {RESULT}) {{\n"
    + constants((0, 1, 3, 4, 8, 16, 32, 70), (0, 1, 2, 4))
    + begins(Accel())
    + """    %0 = accel.sendLiteral %w32 : (i32) -> i32
    %1 = accel.sendLiteral %w3 : (i32) -> i32
    %2 = accel.sendLiteral %w16 : (i32) -> i32
    %3 = accel.sendLiteral %w4 : (i32) -> i32
    scf.for %oc = %c0 to %c4 step %c1 {
      %4 = accel.sendLiteral %w1 : (i32) -> i32
      %5 = memref.subview %F[%oc, 0, 0, 0] [1, 4, 3, 3] [1, 1, 1, 1]
        : memref<4x4x3x3xi32> to memref<1x4x3x3xi32, #filter>
      %6 = accel.send %5, %w0 : (memref<1x4x3x3xi32, #filter>, i32) -> i32
      scf.for %oh = %c0 to %c4 step %c1 {
        scf.for %ow = %c0 to %c4 step %c1 {
          %7 = accel.sendLiteral %w70 : (i32) -> i32
          %h = arith.muli %oh, %c2 : index
          %w = arith.muli %ow, %c2 : index
          %8 = memref.subview %I[0, 0, %h, %w] [1, 4, 3, 3] [1, 1, 1, 1]
            : memref<1x4x9x9xi32> to memref<1x4x3x3xi32, #window>
          %9 = accel.send %8, %w0 : (memref<1x4x3x3xi32, #window>, i32) -> i32
        }
      }
      %10 = accel.sendLiteral %w8 : (i32) -> i32
      %11 = memref.subview %O[0, %oc, 0, 0] [1, 1, 4, 4] [1, 1, 1, 1]
        : memref<1x4x4x4xi32> to memref<1x1x4x4xi32, #channel>
      %12 = accel.recv %11, %w0 : (memref<1x1x4x4xi32, #channel>, i32) -> i32
    }
    return
}
"""
)
PLACES = {"NAME": "conv", "OC": "4", "FHW": "3", "STEP": "2"}
"""Values of the template's places."""


def template() -> str:
    """The convolution as a script fills it in that writes a file for each layer."""
    text = CONV.replace("@conv(", "@${NAME}(").replace("#filter", "#${NAME}_filter")
    text = text.replace("4x4x3x3x", "${OC}x4x${FHW}x${FHW}x").replace("1x4x3x3x", "1x4x${FHW}x${FHW}x")
    text = text.replace("[1, 4, 3, 3]", "[1, 4, ${FHW}, ${FHW}]")
    return text.replace("arith.constant 2 : index", "arith.constant ${STEP} : index") + "// ${IHWxIHW}\n"


def drivers() -> dict[str, Lowered]:
    """By form."""
    random = np.random.default_rng(5)
    a, b, c = (random.integers(-99, 100, size, np.int32) for size in ((16, 32), (32, 8), (16, 8)))
    image, filters = (random.integers(-99, 100, size, np.int32) for size in ((1, 4, 9, 9), (4, 4, 3, 3)))
    windows = np.lib.stride_tricks.sliding_window_view(image[0], (3, 3), (1, 2))[:, ::2, ::2]
    result = np.einsum("ihwrs,oirs->ohw", windows, filters).astype(np.int32)[None]
    v3, conv = ("--accel", "v3", "--size", "4"), ("--accel", "conv_v3")
    operands, images = {"A": a, "B": b, "C": c}, {"I": image, "F": filters}
    added, stayed = {"C": c + a @ b}, {"C": a @ b}
    return {
        "transfers in the accel dialect, C added": Lowered(product(Accel(), False), v3, operands, added),
        "transfers in the accel dialect, C stays": Lowered(product(Accel(), True), v3, operands, stayed),
        "transfers in the accel dialect, convolution": Lowered(CONV, conv, images, {"O": result}),
        "calls of the DMA library, C added": Lowered(product(Calls(), False), v3, operands, added),
        "calls of the DMA library, C stays": Lowered(product(Calls(), True), v3, operands, stayed),
        "template with ${...} in it, accel dialect": Lowered(
            template(),
            (*conv, *(word for name, value in PLACES.items() for word in ("-D", f"{name}={value}"))),
            images,
            {"O": result},
        ),
    }
