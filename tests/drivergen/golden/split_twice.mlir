builtin.module {
  func.func @f(%I: memref<1x3x230x230xi32> {accel.kind = "in"}, %F: memref<2x3x7x7xi32> {accel.kind = "in"}, %R: memref<1x2x112x112xi32> {accel.kind = "out", accel.result = 0 : i64}) {
    %zero = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %c112 = arith.constant 112 : index
    %c56 = arith.constant 56 : index
    %I_1 = memref.subview %I[%c0, %c0, %c0, %c0] [1, 3, 118, 230] [1, 1, 1, 1] : memref<1x3x230x230xi32> to memref<1x3x118x230xi32, strided<[158700, 52900, 230, 1], offset: ?>>
    %R_1 = memref.subview %R[%c0, %c0, %c0, %c0] [1, 2, 56, 112] [1, 1, 1, 1] : memref<1x2x112x112xi32> to memref<1x2x56x112xi32, strided<[25088, 12544, 112, 1], offset: ?>>
    linalg.fill ins(%zero : i32) outs(%R_1 : memref<1x2x56x112xi32, strided<[25088, 12544, 112, 1], offset: ?>>)
    accel.product {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, ((d2 * 2) + d5), ((d3 * 2) + d6))>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"], doc = "linalg.conv_2d_nchw_fchw"} ins(%I_1, %F : memref<1x3x118x230xi32, strided<[158700, 52900, 230, 1], offset: ?>>, memref<2x3x7x7xi32>) outs(%R_1 : memref<1x2x56x112xi32, strided<[25088, 12544, 112, 1], offset: ?>>) attrs =  {opcode_map = #accel.opcode_map<sH = [send_literal(32), send_dim(fh)], sC = [send_literal(16), send_dim(ic)], sF = [send_literal(1), send(F)], sI = [send_literal(2), send(I)], cO = [send_literal(4)], save = [send_literal(64)], rO = [send_literal(8), recv(O)], sIcO = [send_literal(70), send(I)]>, opcode_flow = #accel.opcode_flow<(sF ((sIcO)) rO)>, dma_init_config = #accel.dma_init_config<id = 0, address = 0x40400000, input = 0x16000000, input_size = 131072, output = 0x16400000, output_size = 65536, length_width = 26>, accel_dim = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (1, 1, 1, 1, 3, 7, 7)>, permutation_map = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d2, d3)>, accel_dims = ["b", "oc", "oh", "ow", "ic", "fh", "fw"], accel_operands = [#accel.operand<I(ic, fh, fw)>, #accel.operand<F(oc, ic, fh, fw)>, #accel.operand<O(oc, oh, ow)>], init_opcodes = #accel.init_opcodes<(sH sC)>, accel_loads = ["sF", "sI"], accel_dense = {I = 0 : i64, F = 0 : i64, O = 0 : i64}, accel_saves = 16384 : i64} {
    ^bb0(%0: i32, %1: i32, %2: i32):
      %3 = arith.muli %0, %1 : i32
      %4 = arith.addi %3, %2 : i32
      linalg.yield %4 : i32
    }
    %I_2 = memref.subview %I[%c0, %c0, %c112, %c0] [1, 3, 118, 230] [1, 1, 1, 1] : memref<1x3x230x230xi32> to memref<1x3x118x230xi32, strided<[158700, 52900, 230, 1], offset: ?>>
    %R_2 = memref.subview %R[%c0, %c0, %c56, %c0] [1, 2, 56, 112] [1, 1, 1, 1] : memref<1x2x112x112xi32> to memref<1x2x56x112xi32, strided<[25088, 12544, 112, 1], offset: ?>>
    linalg.fill ins(%zero : i32) outs(%R_2 : memref<1x2x56x112xi32, strided<[25088, 12544, 112, 1], offset: ?>>)
    accel.product {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, ((d2 * 2) + d5), ((d3 * 2) + d6))>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"], doc = "linalg.conv_2d_nchw_fchw"} ins(%I_2, %F : memref<1x3x118x230xi32, strided<[158700, 52900, 230, 1], offset: ?>>, memref<2x3x7x7xi32>) outs(%R_2 : memref<1x2x56x112xi32, strided<[25088, 12544, 112, 1], offset: ?>>) attrs =  {opcode_map = #accel.opcode_map<sH = [send_literal(32), send_dim(fh)], sC = [send_literal(16), send_dim(ic)], sF = [send_literal(1), send(F)], sI = [send_literal(2), send(I)], cO = [send_literal(4)], save = [send_literal(64)], rO = [send_literal(8), recv(O)], sIcO = [send_literal(70), send(I)]>, opcode_flow = #accel.opcode_flow<(sF ((sIcO)) rO)>, dma_init_config = #accel.dma_init_config<id = 0, address = 0x40400000, input = 0x16000000, input_size = 131072, output = 0x16400000, output_size = 65536, length_width = 26>, accel_dim = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (1, 1, 1, 1, 3, 7, 7)>, permutation_map = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d2, d3)>, accel_dims = ["b", "oc", "oh", "ow", "ic", "fh", "fw"], accel_operands = [#accel.operand<I(ic, fh, fw)>, #accel.operand<F(oc, ic, fh, fw)>, #accel.operand<O(oc, oh, ow)>], init_opcodes = #accel.init_opcodes<(sH sC)>, accel_loads = ["sF", "sI"], accel_dense = {I = 0 : i64, F = 0 : i64, O = 0 : i64}, accel_saves = 16384 : i64} {
    ^bb0(%5: i32, %6: i32, %7: i32):
      %8 = arith.muli %5, %6 : i32
      %9 = arith.addi %8, %7 : i32
      linalg.yield %9 : i32
    }
    func.return
  }
}

