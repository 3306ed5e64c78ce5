builtin.module {
  func.func @f(%A: memref<12x4xi32> {accel.kind = "in"}, %B: memref<4x8xi32> {accel.kind = "in"}, %C: memref<12x8xi32> {accel.kind = "out"}) {
    %zero = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %A_1 = memref.expand_shape %A [[0 : i64], [1 : i64, 2 : i64, 3 : i64]] output_shape [12, 4, 1, 1] : memref<12x4xi32> into memref<12x4x1x1xi32, strided<[4, 1, 1, 1], offset: ?>>
    %B_1 = memref.expand_shape %B [[0 : i64], [1 : i64, 2 : i64]] output_shape [4, 1, 8] : memref<4x8xi32> into memref<4x1x8xi32, strided<[8, 8, 1], offset: ?>>
    %C_1 = memref.expand_shape %C [[0 : i64], [1 : i64, 2 : i64]] output_shape [12, 1, 8] : memref<12x8xi32> into memref<12x1x8xi32, strided<[8, 8, 1], offset: ?>>
    %A_2 = memref.subview %A_1[%c0, %c0, %c0, %c0] [8, 4, 1, 1] [1, 1, 1, 1] : memref<12x4x1x1xi32, strided<[4, 1, 1, 1], offset: ?>> to memref<8x4x1x1xi32, strided<[4, 1, 1, 1], offset: ?>>
    %C_2 = memref.subview %C_1[%c0, %c0, %c0] [8, 1, 8] [1, 1, 1] : memref<12x1x8xi32, strided<[8, 8, 1], offset: ?>> to memref<8x1x8xi32, strided<[8, 8, 1], offset: ?>>
    linalg.fill ins(%zero : i32) outs(%C_2 : memref<8x1x8xi32, strided<[8, 8, 1], offset: ?>>)
    accel.product {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, (d1 + d4), (d2 + d5))>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"], doc = "linalg.matmul"} ins(%A_2, %B_1 : memref<8x4x1x1xi32, strided<[4, 1, 1, 1], offset: ?>>, memref<4x1x8xi32, strided<[8, 8, 1], offset: ?>>) outs(%C_2 : memref<8x1x8xi32, strided<[8, 8, 1], offset: ?>>) attrs =  {opcode_map = #accel.opcode_map<cfg = [send_literal(16), send_dim(fh | fw << 5 | sh << 10 | sw << 14 | dh << 18 | dw << 22)], sI = [send_literal(1), send_dim(ic | ih << 11 | iw << 21), send_dim(pt | pl << 8), send(I)], sF = [send_literal(2), send_dim(oc | ic << 11), send(F)], cO = [send_literal(4), send_dim(oh | ow << 11)], rO = [send_literal(8), recv(O)]>, opcode_flow = #accel.opcode_flow<((sI sF cO) rO)>, dma_init_config = #accel.dma_init_config<id = 0, address = 0x40400000, input = 0x16000000, input_size = 262144, output = 0x16400000, output_size = 262144, length_width = 26>, accel_dim = affine_map<(d0, d1, d2, d3, d4, d5) -> (8, 1, 8, 4, 1, 1)>, permutation_map = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>, accel_dims = ["oc", "oh", "ow", "ic", "fh", "fw"], accel_operands = [#accel.operand<F(oc, ic, fh, fw)>, #accel.operand<I(ic, ih, iw)>, #accel.operand<O(oc, oh, ow)>], init_opcodes = #accel.init_opcodes<(cfg)>, accel_loads = ["sI", "sF"], accel_settings = {ih = 1 : i64, iw = 8 : i64, sh = 1 : i64, sw = 1 : i64, dh = 1 : i64, dw = 1 : i64, pt = 0 : i64, pl = 0 : i64}, accel_dense = {I = 0 : i64, F = 1 : i64, O = 0 : i64}} {
    ^bb0(%0: i32, %1: i32, %2: i32):
      %3 = arith.muli %0, %1 : i32
      %4 = arith.addi %3, %2 : i32
      linalg.yield %4 : i32
    }
    %A_3 = memref.subview %A_1[%c8, %c0, %c0, %c0] [4, 4, 1, 1] [1, 1, 1, 1] : memref<12x4x1x1xi32, strided<[4, 1, 1, 1], offset: ?>> to memref<4x4x1x1xi32, strided<[4, 1, 1, 1], offset: ?>>
    %C_3 = memref.subview %C_1[%c8, %c0, %c0] [4, 1, 8] [1, 1, 1] : memref<12x1x8xi32, strided<[8, 8, 1], offset: ?>> to memref<4x1x8xi32, strided<[8, 8, 1], offset: ?>>
    linalg.fill ins(%zero : i32) outs(%C_3 : memref<4x1x8xi32, strided<[8, 8, 1], offset: ?>>)
    accel.product {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, (d1 + d4), (d2 + d5))>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"], doc = "linalg.matmul"} ins(%A_3, %B_1 : memref<4x4x1x1xi32, strided<[4, 1, 1, 1], offset: ?>>, memref<4x1x8xi32, strided<[8, 8, 1], offset: ?>>) outs(%C_3 : memref<4x1x8xi32, strided<[8, 8, 1], offset: ?>>) attrs =  {opcode_map = #accel.opcode_map<cfg = [send_literal(16), send_dim(fh | fw << 5 | sh << 10 | sw << 14 | dh << 18 | dw << 22)], sI = [send_literal(1), send_dim(ic | ih << 11 | iw << 21), send_dim(pt | pl << 8), send(I)], sF = [send_literal(2), send_dim(oc | ic << 11), send(F)], cO = [send_literal(4), send_dim(oh | ow << 11)], rO = [send_literal(8), recv(O)]>, opcode_flow = #accel.opcode_flow<((sI sF cO) rO)>, dma_init_config = #accel.dma_init_config<id = 0, address = 0x40400000, input = 0x16000000, input_size = 262144, output = 0x16400000, output_size = 262144, length_width = 26>, accel_dim = affine_map<(d0, d1, d2, d3, d4, d5) -> (4, 1, 8, 4, 1, 1)>, permutation_map = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>, accel_dims = ["oc", "oh", "ow", "ic", "fh", "fw"], accel_operands = [#accel.operand<F(oc, ic, fh, fw)>, #accel.operand<I(ic, ih, iw)>, #accel.operand<O(oc, oh, ow)>], init_opcodes = #accel.init_opcodes<(cfg)>, accel_loads = ["sI", "sF"], accel_settings = {ih = 1 : i64, iw = 8 : i64, sh = 1 : i64, sw = 1 : i64, dh = 1 : i64, dw = 1 : i64, pt = 0 : i64, pl = 0 : i64}, accel_dense = {I = 0 : i64, F = 1 : i64, O = 0 : i64}} {
    ^bb0(%5: i32, %6: i32, %7: i32):
      %8 = arith.muli %5, %6 : i32
      %9 = arith.addi %8, %7 : i32
      linalg.yield %9 : i32
    }
    func.return
  }
}

