builtin.module {
  func.func @f(%I: tensor<1x2x6x6xi8>, %F: tensor<3x2x3x3xi8>, %O: tensor<1x3x3x3xi32>) -> tensor<1x3x3x3xi32> {
    %zero = arith.constant 0 : i8
    %R = accel.product {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, ((d2 * 2) + d5), ((d3 * 2) + d6))>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"], doc = "linalg.conv_2d_nchw_fchw"} ins(%I, %F : tensor<1x2x6x6xi8>, tensor<3x2x3x3xi8>) outs(%O : tensor<1x3x3x3xi32>) attrs =  {padding = array<i64: 1, 1>} {
    ^bb0(%0: i8, %1: i8, %2: i32):
      %3 = arith.extsi %0 : i8 to i32
      %4 = arith.extsi %1 : i8 to i32
      %5 = arith.muli %3, %4 : i32
      %6 = arith.addi %5, %2 : i32
      linalg.yield %6 : i32
    } -> tensor<1x3x3x3xi32>
    func.return %R : tensor<1x3x3x3xi32>
  }
}

