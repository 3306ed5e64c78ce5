builtin.module {
  func.func @f(%A: memref<6x4xi8> {accel.kind = "in"}, %B: memref<4x512xi8> {accel.kind = "in"}, %C: memref<6x512xi32> {accel.kind = "inout"}, %T: memref<16x4xi8> {accel.kind = "in"}, %D: memref<6x16xi32> {accel.kind = "inout"}, %X: memref<3x6x4xi8> {accel.kind = "in"}, %Y: memref<3x4x16xi8> {accel.kind = "in"}, %Z: memref<3x6x16xi32> {accel.kind = "inout"}) {
    %A_1 = memref.expand_shape %A [[0 : i64], [1 : i64, 2 : i64, 3 : i64]] output_shape [6, 4, 1, 1] : memref<6x4xi8> into memref<6x4x1x1xi8, strided<[4, 1, 1, 1], offset: ?>>
    %B_1 = memref.expand_shape %B [[0 : i64], [1 : i64, 2 : i64]] output_shape [4, 2, 256] : memref<4x512xi8> into memref<4x2x256xi8, strided<[512, 256, 1], offset: ?>>
    %C_1 = memref.expand_shape %C [[0 : i64], [1 : i64, 2 : i64]] output_shape [6, 2, 256] : memref<6x512xi32> into memref<6x2x256xi32, strided<[512, 256, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, (d1 + d4), (d2 + d5))>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"], doc = "linalg.matmul"} ins(%A_1, %B_1 : memref<6x4x1x1xi8, strided<[4, 1, 1, 1], offset: ?>>, memref<4x2x256xi8, strided<[512, 256, 1], offset: ?>>) outs(%C_1 : memref<6x2x256xi32, strided<[512, 256, 1], offset: ?>>) {
    ^bb0(%0: i8, %1: i8, %2: i32):
      %3 = arith.extsi %0 : i8 to i32
      %4 = arith.extsi %1 : i8 to i32
      %5 = arith.muli %3, %4 : i32
      %6 = arith.addi %2, %5 : i32
      linalg.yield %6 : i32
    }
    %A_2 = memref.expand_shape %A [[0 : i64], [1 : i64, 2 : i64, 3 : i64]] output_shape [6, 4, 1, 1] : memref<6x4xi8> into memref<6x4x1x1xi8, strided<[4, 1, 1, 1], offset: ?>>
    %T_1 = memref.expand_shape %T [[0 : i64, 1 : i64], [2 : i64]] output_shape [1, 16, 4] : memref<16x4xi8> into memref<1x16x4xi8, strided<[64, 4, 1], offset: ?>>
    %D_1 = memref.expand_shape %D [[0 : i64], [1 : i64, 2 : i64]] output_shape [6, 1, 16] : memref<6x16xi32> into memref<6x1x16xi32, strided<[16, 16, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> ((d1 + d4), (d2 + d5), d3)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"], doc = "linalg.matmul_transpose_b"} ins(%A_2, %T_1 : memref<6x4x1x1xi8, strided<[4, 1, 1, 1], offset: ?>>, memref<1x16x4xi8, strided<[64, 4, 1], offset: ?>>) outs(%D_1 : memref<6x1x16xi32, strided<[16, 16, 1], offset: ?>>) {
    ^bb0(%7: i8, %8: i8, %9: i32):
      %10 = arith.extsi %7 : i8 to i32
      %11 = arith.extsi %8 : i8 to i32
      %12 = arith.muli %10, %11 : i32
      %13 = arith.addi %9, %12 : i32
      linalg.yield %13 : i32
    }
    %X_1 = memref.expand_shape %X [[0 : i64], [1 : i64], [2 : i64, 3 : i64, 4 : i64]] output_shape [3, 6, 4, 1, 1] : memref<3x6x4xi8> into memref<3x6x4x1x1xi8, strided<[24, 4, 1, 1, 1], offset: ?>>
    %Y_1 = memref.expand_shape %Y [[0 : i64], [1 : i64], [2 : i64, 3 : i64]] output_shape [3, 4, 1, 16] : memref<3x4x16xi8> into memref<3x4x1x16xi8, strided<[64, 16, 16, 1], offset: ?>>
    %Z_1 = memref.expand_shape %Z [[0 : i64], [1 : i64], [2 : i64, 3 : i64]] output_shape [3, 6, 1, 16] : memref<3x6x16xi32> into memref<3x6x1x16xi32, strided<[96, 16, 16, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d4, d5, d6)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, (d2 + d5), (d3 + d6))>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"], doc = "linalg.batch_matmul"} ins(%X_1, %Y_1 : memref<3x6x4x1x1xi8, strided<[24, 4, 1, 1, 1], offset: ?>>, memref<3x4x1x16xi8, strided<[64, 16, 16, 1], offset: ?>>) outs(%Z_1 : memref<3x6x1x16xi32, strided<[96, 16, 16, 1], offset: ?>>) {
    ^bb0(%14: i8, %15: i8, %16: i32):
      %17 = arith.extsi %14 : i8 to i32
      %18 = arith.extsi %15 : i8 to i32
      %19 = arith.muli %17, %18 : i32
      %20 = arith.addi %16, %19 : i32
      linalg.yield %20 : i32
    }
    func.return
  }
}

