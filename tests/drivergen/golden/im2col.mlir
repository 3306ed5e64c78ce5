builtin.module {
  func.func @f(%I: tensor<2x3x6x6xi8>, %F: tensor<4x3x3x3xi8>) -> tensor<2x4x2x2xi32> {
    %zero = arith.constant 0 : i32
    %E = tensor.empty() : tensor<2x4x2x2xi32>
    %Z = linalg.fill ins(%zero : i32) outs(%E : tensor<2x4x2x2xi32>) -> tensor<2x4x2x2xi32>
    %0 = tensor.empty() : tensor<2x3x3x3x2x2xi8>
    %windows = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, ((d4 * 2) + d2), ((d5 * 2) + d3))>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4, d5)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"], doc = "accel.windows"} ins(%I : tensor<2x3x6x6xi8>) outs(%0 : tensor<2x3x3x3x2x2xi8>) {
    ^bb0(%1: i8, %2: i8):
      linalg.yield %1 : i8
    } -> tensor<2x3x3x3x2x2xi8>
    %windows_1 = tensor.collapse_shape %windows [[0 : i64], [1 : i64, 2 : i64, 3 : i64], [4 : i64, 5 : i64]] : tensor<2x3x3x3x2x2xi8> into tensor<2x27x4xi8>
    %F_1 = tensor.collapse_shape %F [[0 : i64], [1 : i64, 2 : i64, 3 : i64]] : tensor<4x3x3x3xi8> into tensor<4x27xi8>
    %Z_1 = tensor.collapse_shape %Z [[0 : i64], [1 : i64], [2 : i64, 3 : i64]] : tensor<2x4x2x2xi32> into tensor<2x4x4xi32>
    %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"], doc = "linalg.conv_2d_nchw_fchw"} ins(%F_1, %windows_1 : tensor<4x27xi8>, tensor<2x27x4xi8>) outs(%Z_1 : tensor<2x4x4xi32>) {
    ^bb0(%4: i8, %5: i8, %6: i32):
      %7 = arith.extsi %4 : i8 to i32
      %8 = arith.extsi %5 : i8 to i32
      %9 = arith.muli %7, %8 : i32
      %10 = arith.addi %9, %6 : i32
      linalg.yield %10 : i32
    } -> tensor<2x4x4xi32>
    %R = tensor.expand_shape %3 [[0 : i64], [1 : i64], [2 : i64, 3 : i64]] output_shape [2, 4, 2, 2] : tensor<2x4x4xi32> into tensor<2x4x2x2xi32>
    func.return %R : tensor<2x4x2x2xi32>
  }
}

