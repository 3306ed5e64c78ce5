builtin.module {
  func.func @f(%A: memref<6x4xi8> {accel.kind = "in"}, %x: memref<4xi8> {accel.kind = "in"}, %y: memref<6xi32> {accel.kind = "inout"}, %z: memref<6xi8> {accel.kind = "in"}, %v: memref<4xi32> {accel.kind = "inout"}, %s: memref<i32> {accel.kind = "inout"}, %I: memref<1x8x5x5xi8> {accel.kind = "in"}, %F: memref<8x3x3xi8> {accel.kind = "in"}, %O: memref<1x8x3x3xi32> {accel.kind = "inout"}) {
    %x_1 = memref.expand_shape %x [[0 : i64, 1 : i64]] output_shape [4, 1] : memref<4xi8> into memref<4x1xi8, strided<[1, 1], offset: ?>>
    %y_1 = memref.expand_shape %y [[0 : i64, 1 : i64]] output_shape [6, 1] : memref<6xi32> into memref<6x1xi32, strided<[1, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>], iterator_types = ["parallel", "reduction", "parallel"], doc = "linalg.matvec"} ins(%A, %x_1 : memref<6x4xi8>, memref<4x1xi8, strided<[1, 1], offset: ?>>) outs(%y_1 : memref<6x1xi32, strided<[1, 1], offset: ?>>) attrs =  {accel.lean} {
    ^bb0(%0: i8, %1: i8, %2: i32):
      %3 = arith.extsi %0 : i8 to i32
      %4 = arith.extsi %1 : i8 to i32
      %5 = arith.muli %3, %4 : i32
      %6 = arith.addi %2, %5 : i32
      linalg.yield %6 : i32
    }
    %z_1 = memref.expand_shape %z [[0 : i64, 1 : i64]] output_shape [1, 6] : memref<6xi8> into memref<1x6xi8, strided<[6, 1], offset: ?>>
    %v_1 = memref.expand_shape %v [[0 : i64, 1 : i64]] output_shape [1, 4] : memref<4xi32> into memref<1x4xi32, strided<[4, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d1, d0)>, affine_map<(d0, d1, d2) -> (d2, d0)>], iterator_types = ["parallel", "reduction", "parallel"], doc = "linalg.vecmat"} ins(%z_1, %A : memref<1x6xi8, strided<[6, 1], offset: ?>>, memref<6x4xi8>) outs(%v_1 : memref<1x4xi32, strided<[4, 1], offset: ?>>) attrs =  {accel.lean} {
    ^bb0(%7: i8, %8: i8, %9: i32):
      %10 = arith.extsi %7 : i8 to i32
      %11 = arith.extsi %8 : i8 to i32
      %12 = arith.muli %10, %11 : i32
      %13 = arith.addi %9, %12 : i32
      linalg.yield %13 : i32
    }
    %x_2 = memref.expand_shape %x [[0 : i64, 1 : i64]] output_shape [1, 4] : memref<4xi8> into memref<1x4xi8, strided<[4, 1], offset: ?>>
    %x_3 = memref.expand_shape %x [[0 : i64, 1 : i64]] output_shape [4, 1] : memref<4xi8> into memref<4x1xi8, strided<[1, 1], offset: ?>>
    %s_1 = memref.expand_shape %s [] output_shape [1, 1] : memref<i32> into memref<1x1xi32, strided<[1, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>], iterator_types = ["reduction", "parallel", "parallel"], doc = "linalg.dot"} ins(%x_2, %x_3 : memref<1x4xi8, strided<[4, 1], offset: ?>>, memref<4x1xi8, strided<[1, 1], offset: ?>>) outs(%s_1 : memref<1x1xi32, strided<[1, 1], offset: ?>>) attrs =  {accel.lean} {
    ^bb0(%14: i8, %15: i8, %16: i32):
      %17 = arith.extsi %14 : i8 to i32
      %18 = arith.extsi %15 : i8 to i32
      %19 = arith.muli %17, %18 : i32
      %20 = arith.addi %16, %19 : i32
      linalg.yield %20 : i32
    }
    %I_1 = memref.expand_shape %I [[0 : i64], [1 : i64, 2 : i64], [3 : i64], [4 : i64]] output_shape [1, 8, 1, 5, 5] : memref<1x8x5x5xi8> into memref<1x8x1x5x5xi8, strided<[200, 25, 25, 5, 1], offset: ?>>
    %F_1 = memref.expand_shape %F [[0 : i64, 1 : i64, 2 : i64], [3 : i64], [4 : i64]] output_shape [8, 1, 1, 3, 3] : memref<8x3x3xi8> into memref<8x1x1x3x3xi8, strided<[9, 9, 9, 3, 1], offset: ?>>
    %O_1 = memref.expand_shape %O [[0 : i64], [1 : i64, 2 : i64], [3 : i64], [4 : i64]] output_shape [1, 8, 1, 3, 3] : memref<1x8x3x3xi32> into memref<1x8x1x3x3xi32, strided<[72, 9, 9, 3, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d6, (d2 + d4), (d3 + d5))>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d6, d7, d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d7, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"], doc = "linalg.depthwise_conv_2d_nchw_chw"} ins(%I_1, %F_1 : memref<1x8x1x5x5xi8, strided<[200, 25, 25, 5, 1], offset: ?>>, memref<8x1x1x3x3xi8, strided<[9, 9, 9, 3, 1], offset: ?>>) outs(%O_1 : memref<1x8x1x3x3xi32, strided<[72, 9, 9, 3, 1], offset: ?>>) attrs =  {accel.lean} {
    ^bb0(%21: i8, %22: i8, %23: i32):
      %24 = arith.extsi %21 : i8 to i32
      %25 = arith.extsi %22 : i8 to i32
      %26 = arith.muli %24, %25 : i32
      %27 = arith.addi %26, %23 : i32
      linalg.yield %27 : i32
    }
    func.return
  }
}

