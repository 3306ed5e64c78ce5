builtin.module {
  func.func @f(%I: memref<1x8x6x7xi8>, %F: memref<4x8x3x3xi8>, %O: memref<1x4x4x5xi32>, %P: memref<1x4x4x5xi32>) {
    %zero = arith.constant 0 : i32
    linalg.fill ins(%zero : i32) outs(%O : memref<1x4x4x5xi32>)
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, (d2 + d5), (d3 + d6))>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"], doc = "linalg.conv_2d_nchw_fchw"} ins(%I, %F : memref<1x8x6x7xi8>, memref<4x8x3x3xi8>) outs(%O : memref<1x4x4x5xi32>) attrs =  {accel.in_place = ["relu"]} {
    ^bb0(%0: i8, %1: i8, %2: i32):
      %3 = arith.extsi %0 : i8 to i32
      %4 = arith.extsi %1 : i8 to i32
      %5 = arith.muli %3, %4 : i32
      %6 = arith.addi %5, %2 : i32
      linalg.yield %6 : i32
    }
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%O : memref<1x4x4x5xi32>) outs(%P : memref<1x4x4x5xi32>) {
    ^bb0(%o: i32, %p: i32):
      %r = arith.maxsi %o, %zero : i32
      linalg.yield %r : i32
    }
    func.return
  }
}

