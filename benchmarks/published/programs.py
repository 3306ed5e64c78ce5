"""Programs in MLIR that call the DMA library, in the forms of the tests of the published compiler.

Each has functions that fill arrays, a `main`, or neither; types that are named the old way; a DMA at address
0, as no board stood behind them. Here a device does: a FIFO that gives back what it is sent, or v1 and v2 in
float32 on the functional model. Sizes and names are ours.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from axiloom.isa.files.library import builtin, dumps
from benchmarks.published.lowered import Lowered

FIFO = Path(__file__).parent / "fifo"
HEAD = """func private @print_memref_f32(memref<*xf32>)
func private @dma_init(index, index, index, index, index) -> ()
func private @dma_free() -> ()
func private @mlir_dma_copy_to_inbuffer(memref<*xf32>, i64, i64) -> (i64)
func private @mlir_dma_copy_from_outbuffer(memref<*xf32>, i64, i64) -> (i64)
func private @copy_to_inbuffer_i32(memref<*xi32>, i64) -> i64
func private @copy_to_inbuffer_f32(memref<*xf32>, i64) -> i64
func private @copy_from_outbuffer_f32(memref<*xf32>, i64) -> i64
func private @dma_start_send(i64, i64) -> i64
func private @dma_wait_send() -> ()
func private @dma_start_recv(i64, i64) -> i64
func private @dma_wait_recv() -> ()
"""
FILLED = """func @filled(%rows : index, %cols : index, %value : f32) -> memref<?x?xf32> {
  %made = memref.alloc(%rows, %cols) : memref<?x?xf32>
  linalg.fill(%value, %made) : f32, memref<?x?xf32>
  return %made : memref<?x?xf32>
}
"""
MAPS = """#narrow = affine_map<(d0, d1)[s0] -> (d0 * 8 + s0 + d1)>
#wide = affine_map<(d0, d1)[s0] -> (d0 * 32 + s0 + d1)>
"""
EDGES = """#edge = affine_map<(d0) -> (4, -d0 + 16)>
#inner = affine_map<(d0) -> (4, -d0 + 8)>
#end = affine_map<(d0) -> (4, -d0 + 32)>
"""
PRODUCT = """#same = affine_map<(i, j) -> (i, j)>
#sum = {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
func @counted(%rows: index, %cols: index) -> memref<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ten = arith.constant 1.000000e+01 : f32
  %made = memref.alloc(%rows, %cols) : memref<?x?xf32>
  scf.for %r = %c0 to %rows step %c1 {
    scf.for %c = %c0 to %cols step %c1 {
      %0 = arith.index_cast %r : index to i32
      %1 = arith.index_cast %c : index to i32
      %2 = arith.sitofp %0 : i32 to f32
      %3 = arith.sitofp %1 : i32 to f32
      %4 = arith.mulf %2, %ten : f32
      %5 = arith.addf %3, %4 : f32
      memref.store %5, %made[%r, %c] : memref<?x?xf32>
    }
  }
  return %made : memref<?x?xf32>
}
func @main() {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c1000 = arith.constant 1000 : index
  %w0 = arith.constant 0 : i64
  %w1 = arith.constant 1 : i64
  %w4 = arith.constant 4 : i64
  %one = arith.constant 1.000000e+00 : f32
  %zero = arith.constant 0.000000e+00 : f32
  %A = call @counted(%c16, %c8) : (index, index) -> (memref<?x?xf32>)
  %B = call @filled(%c8, %c32, %one) : (index, index, f32) -> (memref<?x?xf32>)
  %C = call @filled(%c16, %c32, %zero) : (index, index, f32) -> (memref<?x?xf32>)
  %T = call @filled(%c16, %c32, %zero) : (index, index, f32) -> (memref<?x?xf32>)
  %At = memref.cast %A: memref<?x?xf32> to memref<16x8xf32>
  %Bt = memref.cast %B: memref<?x?xf32> to memref<8x32xf32>
  %Ct = memref.cast %C: memref<?x?xf32> to memref<16x32xf32>
  %Tt = memref.cast %T: memref<?x?xf32> to memref<16x32xf32>
  %shown = memref.cast %Ct: memref<16x32xf32> to memref<*xf32>
  %word = memref.alloc() : memref<1xi32>
  call @dma_init(%c0, %c0, %c1000, %c0, %c1000) : (index,index,index,index,index ) -> ()
  scf.for %n = %c0 to %c32 step %c4 {
    scf.for %k = %c0 to %c8 step %c4 {
      %two = arith.constant 2 : i32
      memref.store %two, %word[%c0] : memref<1xi32>
      %code = memref.cast %word: memref<1xi32> to memref<*xi32>
      call @copy_to_inbuffer_i32(%code, %w0) : (memref<*xi32>, i64) -> (i64)
      %b = memref.subview %Bt[%k, %n] [%c4, %c4] [1, 1] : memref<8x32xf32> to memref<?x?xf32, #wide>
      %bu = memref.cast %b: memref<?x?xf32, #wide> to memref<*xf32>
      %size = arith.muli %w4, %w4 : i64
      %all = arith.addi %w1, %size : i64
      call @copy_to_inbuffer_f32(%bu, %w1) : (memref<*xf32>, i64) -> (i64)
      call @dma_start_send (%all, %w0) : (i64, i64) -> (i64)
      call @dma_wait_send () : () -> ()
      scf.for %m = %c0 to %c16 step %c4 {
        %five = arith.constant 5 : i32
        memref.store %five, %word[%c0] : memref<1xi32>
        %again = memref.cast %word: memref<1xi32> to memref<*xi32>
        call @copy_to_inbuffer_i32(%again, %w0) : (memref<*xi32>, i64) -> (i64)
        %a = memref.subview %At[%m, %k] [%c4, %c4] [1, 1] : memref<16x8xf32> to memref<?x?xf32, #narrow>
        %c = memref.subview %Ct[%m, %n] [%c4, %c4] [1, 1] : memref<16x32xf32> to memref<?x?xf32, #wide>
        %t = memref.subview %Tt[%m, %n] [%c4, %c4] [1, 1] : memref<16x32xf32> to memref<?x?xf32, #wide>
        %au = memref.cast %a: memref<?x?xf32, #narrow> to memref<*xf32>
        %tu = memref.cast %t: memref<?x?xf32, #wide> to memref<*xf32>
        call @copy_to_inbuffer_f32(%au, %w1) : (memref<*xf32>, i64) -> i64
        call @dma_start_send (%all, %w0) : (i64, i64) -> (i64)
        call @dma_start_recv (%size, %w0) : (i64, i64) -> (i64)
        call @dma_wait_send () : () -> ()
        call @dma_wait_recv () : () -> ()
        call @copy_from_outbuffer_f32 (%tu, %w0) : (memref<*xf32>, i64) -> (i64)
        linalg.generic #sum ins(%t: memref<?x?xf32, #wide>) outs(%c : memref<?x?xf32, #wide>) {
        ^bb0(%x: f32, %y: f32):
          %s = arith.addf %x, %y : f32
          linalg.yield %s : f32
        }
      }
    }
  }
  call @print_memref_f32(%shown) : (memref<*xf32>) -> ()
  call @dma_free() : () -> ()
  return
}
"""
THERE_AND_BACK = """!bytes = type memref<*xi8>
func private @dma_get_inbuffer() -> (!bytes)
func @in_out(%A: memref<4x4xf32>, %C: memref<4x4xf32>) {
  %zero = constant 0 : index
  %four = constant 4 : i64
  call @dma_init(%zero, %zero, %zero, %zero, %zero) : (index,index,index,index,index ) -> ()
  %words = muli %four, %four : i64
  %at = constant 0 : i64
  %sent = call @dma_start_send (%words, %at) : (i64, i64) -> (i64)
  call @dma_wait_send () : () -> ()
  %got =call @dma_start_recv (%words, %at) : (i64, i64) -> (i64)
  call @dma_wait_recv () : () -> ()
  call @dma_free() : () -> ()
  return
}
"""
WINDOWS = """!pointer = type !llvm.ptr<i8>
func private @dma_get_inbuffer() -> (!pointer)
func private @dma_get_outbuffer() -> (!pointer)
func @main(%A: memref<4x4xf32>, %C: memref<4x4xf32>) {
  %zero = constant 0 : index
  %size = constant 1000 : index
  %four = constant 4 : i64
  call @dma_init(%zero, %zero, %size, %zero, %size) : (index,index,index,index,index ) -> ()
  %words = muli %four, %four : i64
  %at = constant 0 : i64
  %in = call @dma_get_inbuffer() : () -> (!pointer)
  %out = call @dma_get_outbuffer() : () -> (!pointer)
  call @dma_start_send (%words, %at) : (i64, i64) -> (i64)
  call @dma_start_recv (%words, %at) : (i64, i64) -> (i64)
  call @dma_wait_send () : () -> ()
  call @dma_wait_recv () : () -> ()
  call @dma_free() : () -> ()
  return
}
"""
COPIED = """func @main() {
  %zero = constant 0 : index
  %size = constant 1000 : index
  %rows = constant 4 : index
  %four = constant 4 : i64
  %unit = constant 1 : i64
  %one = constant 1.000000e+00 : f32
  %none = constant 0.000000e+00 : f32
  %A = call @filled(%rows, %rows, %one) : (index, index, f32) -> (memref<?x?xf32>)
  %B = call @filled(%rows, %rows, %one) : (index, index, f32) -> (memref<?x?xf32>)
  %C = call @filled(%rows, %rows, %none) : (index, index, f32) -> (memref<?x?xf32>)
  %At = memref.cast %A: memref<?x?xf32> to memref<4x4xf32>
  %Bt = memref.cast %B: memref<?x?xf32> to memref<4x4xf32>
  %Ct = memref.cast %C: memref<?x?xf32> to memref<4x4xf32>
  %a = memref.cast %At: memref<4x4xf32> to memref<*xf32>
  %b = memref.cast %Bt: memref<4x4xf32> to memref<*xf32>
  %c = memref.cast %Ct: memref<4x4xf32> to memref<*xf32>
  call @print_memref_f32(%a) : (memref<*xf32>) -> ()
  call @dma_init(%zero, %zero, %size, %zero, %size) : (index,index,index,index,index ) -> ()
  %words = muli %four, %four : i64
  %both = addi %words, %words : i64
  %first = constant 0 : i64
  %second = muli %unit, %words : i64
  call @mlir_dma_copy_to_inbuffer (%a, %words, %first) : (memref<*xf32>, i64, i64) -> (i64)
  call @mlir_dma_copy_to_inbuffer (%b, %words, %second) : (memref<*xf32>, i64, i64) -> (i64)
  call @dma_start_send (%both, %first) : (i64, i64) -> (i64)
  call @dma_start_recv (%words, %first) : (i64, i64) -> (i64)
  call @dma_wait_send () : () -> ()
  call @dma_wait_recv () : () -> ()
  call @mlir_dma_copy_from_outbuffer (%c, %words, %first) : (memref<*xf32>, i64, i64) -> (i64)
  call @print_memref_f32(%c) : (memref<*xf32>) -> ()
  call @dma_free() : () -> ()
  return
}
"""
UNCOPIED = """func @buffer(%A: memref<16x8xf32>, %B: memref<8x32xf32>, %C: memref<16x32xf32>) {
  %c0 = constant 0 : index
  %c4 = constant 4 : index
  %c8 = constant 8 : index
  %c16 = constant 16 : index
  %c32 = constant 32 : index
  %four = constant 4 : i64
  call @dma_init(%c0, %c0, %c0, %c0, %c0) : (index,index,index,index,index ) -> ()
  scf.for %m = %c0 to %c16 step %c4 {
    scf.for %n = %c0 to %c32 step %c4 {
      scf.for %k = %c0 to %c8 step %c4 {
        %0 = affine.min #edge(%m)
        %1 = affine.min #inner(%k)
        %2 = memref.subview %A[%m, %k] [%0, %1] [1, 1] : memref<16x8xf32> to memref<?x?xf32, #narrow>
        %3 = affine.min #end(%n)
        %4 = memref.subview %B[%k, %n] [%1, %3] [1, 1] : memref<8x32xf32> to memref<?x?xf32, #wide>
        %5 = memref.subview %C[%m, %n] [%0, %3] [1, 1] : memref<16x32xf32> to memref<?x?xf32, #wide>
        %tile = muli %four, %four : i64
        %both = addi %tile, %tile : i64
        %at = constant 0 : i64
        %sent = call @dma_start_send (%both, %at) : (i64, i64) -> (i64)
        call @dma_wait_send () : () -> ()
        %got =call @dma_start_recv (%tile, %at) : (i64, i64) -> (i64)
      }
    }
  }
  call @dma_free() : () -> ()
  return
}
"""
STARTS = """func @starts(%dma : i32, %in : i32, %bytes : i32,
   %out : i32, %more : i32) {
  accel.init_dma  %dma,
                  %in, %bytes,
                  %out, %more
  : (i32, i32, i32, i32, i32)
  return
}
func @sends(%A: memref<6x8xf32>) -> i32 {
  %end = accel.send %A  : ( memref<6x8xf32> ) -> i32
  return %end : i32
}
func @sends_behind(%A: memref<6x8xf32>, %at: i32) -> i32 {
  %end = accel.send %A, %at  : (memref<6x8xf32> , i32) -> i32
  return %end : i32
}
"""
RECEIVES = """func @receives(%A: memref<6x8xf32>, %at: i32) -> i32 {
  %end = accel.recv %A, %at  : (memref<6x8xf32> , i32) -> i32
  return %end : i32
}
"""
PART = """#tile = affine_map<(d0, d1)[s0] -> (d0 * 64 + s0 + d1)>
func @sends_part(%input: memref<4x64xf32>) -> i32 {
  %two = arith.constant 2 : index
  %0 = memref.subview %input[%two, 16] [2, 16] [1, 1] : memref<4x64xf32> to memref<2x16xf32, #tile>
  %end = accel.send %0  : ( memref<2x16xf32, #tile> ) -> i32
  return %end : i32
}
"""


def fifo(words: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The FIFO for packets of so many words, and the options that bring it in."""
    document: dict[str, Any] = json.loads((FIFO / "stream_fifo.json").read_text(encoding="utf-8"))
    document["accelerators"][0]["accel_size"] = [words]
    return document, ("--rtl", str(FIFO / "stream_fifo.v"), "--top", "stream_fifo")


def in_float32(name: str, encoding: str = "bitmask") -> tuple[dict[str, Any], tuple[str, ...]]:
    """A built-in accelerator in float32, which the functional model has."""
    document: dict[str, Any] = json.loads(dumps(builtin(name, encoding=encoding)))
    document["accelerators"][0]["data_type"] = "float32"
    return document, ("--rtl", "model")


def programs() -> dict[str, Lowered]:
    """By form."""
    rows, columns = np.arange(16, dtype=np.float32), np.arange(8, dtype=np.float32)
    counted = rows[:, None] * 10 + columns
    product = np.repeat(counted.sum(1, keepdims=True), 32, 1).astype(np.float32)
    packet = np.random.default_rng(5).random((6, 8), np.float32)
    (v1, plain), (v2, combined) = in_float32("v1_4"), in_float32("v2_4", "combined")
    (tiny, back), (own, whole) = fifo(16), fifo(48)
    four = np.full((4, 4), 4, np.float32)
    return {
        "a packet there and back, windows as memrefs": Lowered(HEAD + THERE_AND_BACK, back, {}, {}, tiny),
        "a packet there and back, windows as pointers": Lowered(HEAD + WINDOWS, back, {}, {}, tiny),
        "arrays filled, copied, sent and printed": Lowered(
            HEAD + FILLED + COPIED, plain, {}, {"C": four}, v1
        ),
        "B stays, opcodes in words, a main that fills and prints": Lowered(
            MAPS + HEAD + FILLED + PRODUCT, combined, {}, {"C": product}, v2
        ),
        "tiles cut at the edge, nothing copied": Lowered(EDGES + MAPS + HEAD + UNCOPIED, plain, {}, {}, v1),
        "ops of the accel dialect, sent and received": Lowered(
            STARTS + RECEIVES, whole, {"sends_A": packet}, {"receives_A": packet}, own
        ),
        "ops of the accel dialect, a view sent": Lowered(STARTS + PART, whole, {}, {}, own),
    }
