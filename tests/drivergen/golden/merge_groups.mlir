builtin.module {
  func.func @f(%I: memref<1x8x6x6xi8> {accel.kind = "in"}, %F: memref<8x3x3xi8> {accel.kind = "in"}, %O: memref<1x8x4x4xi32> {accel.kind = "inout"}, %J: memref<1x2x3x6x6xi8> {accel.kind = "in"}, %G: memref<2x4x3x3x3xi8> {accel.kind = "in"}, %P: memref<1x2x4x4x4xi32> {accel.kind = "inout"}) {
    %I_1 = memref.expand_shape %I [[0 : i64], [1 : i64, 2 : i64], [3 : i64], [4 : i64]] output_shape [1, 8, 1, 6, 6] : memref<1x8x6x6xi8> into memref<1x8x1x6x6xi8, strided<[288, 36, 36, 6, 1], offset: ?>>
    %F_1 = memref.expand_shape %F [[0 : i64, 1 : i64, 2 : i64], [3 : i64], [4 : i64]] output_shape [8, 1, 1, 3, 3] : memref<8x3x3xi8> into memref<8x1x1x3x3xi8, strided<[9, 9, 9, 3, 1], offset: ?>>
    %O_1 = memref.expand_shape %O [[0 : i64], [1 : i64, 2 : i64], [3 : i64], [4 : i64]] output_shape [1, 8, 1, 4, 4] : memref<1x8x4x4xi32> into memref<1x8x1x4x4xi32, strided<[128, 16, 16, 4, 1], offset: ?>>
    %I_2 = memref.expand_shape %I_1 [[0 : i64], [1 : i64, 2 : i64], [3 : i64], [4 : i64], [5 : i64]] output_shape [1, 2, 4, 1, 6, 6] : memref<1x8x1x6x6xi8, strided<[288, 36, 36, 6, 1], offset: ?>> into memref<1x2x4x1x6x6xi8, strided<[288, 144, 36, 36, 6, 1], offset: ?>>
    %I_3 = memref.collapse_shape %I_2 [[0 : i64], [1 : i64], [2 : i64, 3 : i64], [4 : i64], [5 : i64]] : memref<1x2x4x1x6x6xi8, strided<[288, 144, 36, 36, 6, 1], offset: ?>> into memref<1x2x4x6x6xi8, strided<[288, 144, 36, 6, 1], offset: ?>>
    %F_2 = memref.expand_shape %F_1 [[0 : i64, 1 : i64], [2 : i64], [3 : i64], [4 : i64], [5 : i64]] output_shape [2, 4, 1, 1, 3, 3] : memref<8x1x1x3x3xi8, strided<[9, 9, 9, 3, 1], offset: ?>> into memref<2x4x1x1x3x3xi8, strided<[36, 9, 9, 9, 3, 1], offset: ?>>
    %F_diagonal = memref.alloc() : memref<2x4x1x4x1x3x3xi8>
    %0 = arith.constant 0 : i8
    linalg.fill ins(%0 : i8) outs(%F_diagonal : memref<2x4x1x4x1x3x3xi8>)
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d2, d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d1, d3, d4, d5)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"], doc = "accel.diagonal"} ins(%F_2 : memref<2x4x1x1x3x3xi8, strided<[36, 9, 9, 9, 3, 1], offset: ?>>) outs(%F_diagonal : memref<2x4x1x4x1x3x3xi8>) {
    ^bb0(%1: i8, %2: i8):
      linalg.yield %1 : i8
    }
    %F_diagonal_1 = memref.collapse_shape %F_diagonal [[0 : i64], [1 : i64, 2 : i64], [3 : i64, 4 : i64], [5 : i64], [6 : i64]] : memref<2x4x1x4x1x3x3xi8> into memref<2x4x4x3x3xi8, strided<[144, 36, 9, 3, 1], offset: ?>>
    %O_2 = memref.expand_shape %O_1 [[0 : i64], [1 : i64, 2 : i64], [3 : i64], [4 : i64], [5 : i64]] output_shape [1, 2, 4, 1, 4, 4] : memref<1x8x1x4x4xi32, strided<[128, 16, 16, 4, 1], offset: ?>> into memref<1x2x4x1x4x4xi32, strided<[128, 64, 16, 16, 4, 1], offset: ?>>
    %O_3 = memref.collapse_shape %O_2 [[0 : i64], [1 : i64], [2 : i64, 3 : i64], [4 : i64], [5 : i64]] : memref<1x2x4x1x4x4xi32, strided<[128, 64, 16, 16, 4, 1], offset: ?>> into memref<1x2x4x4x4xi32, strided<[128, 64, 16, 4, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d6, (d2 + d4), (d3 + d5))>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d7, d6, d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d7, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"], doc = "linalg.depthwise_conv_2d_nchw_chw"} ins(%I_3, %F_diagonal_1 : memref<1x2x4x6x6xi8, strided<[288, 144, 36, 6, 1], offset: ?>>, memref<2x4x4x3x3xi8, strided<[144, 36, 9, 3, 1], offset: ?>>) outs(%O_3 : memref<1x2x4x4x4xi32, strided<[128, 64, 16, 4, 1], offset: ?>>) attrs =  {accel.lean, accel.merged = 4 : i64} {
    ^bb0(%3: i8, %4: i8, %5: i32):
      %6 = arith.extsi %3 : i8 to i32
      %7 = arith.extsi %4 : i8 to i32
      %8 = arith.muli %6, %7 : i32
      %9 = arith.addi %8, %5 : i32
      linalg.yield %9 : i32
    }
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d5, (d3 + d6), (d4 + d7))>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d2, d5, d6, d7)>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"], doc = "linalg.conv_2d_ngchw_gfchw"} ins(%J, %G : memref<1x2x3x6x6xi8>, memref<2x4x3x3x3xi8>) outs(%P : memref<1x2x4x4x4xi32>) {
    ^bb0(%10: i8, %11: i8, %12: i32):
      %13 = arith.extsi %10 : i8 to i32
      %14 = arith.extsi %11 : i8 to i32
      %15 = arith.muli %13, %14 : i32
      %16 = arith.addi %15, %12 : i32
      linalg.yield %16 : i32
    }
    func.return
  }
}

