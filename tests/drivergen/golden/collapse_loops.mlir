builtin.module {
  func.func @f(%x: memref<64x7x7xi8>, %bias: memref<64xi32>, %y: memref<64x7x7xi32>, %t: memref<7x64x7xi32>) {
    %x_1 = memref.collapse_shape %x [[0 : i64], [1 : i64, 2 : i64]] : memref<64x7x7xi8> into memref<64x49xi8>
    %y_1 = memref.collapse_shape %y [[0 : i64], [1 : i64, 2 : i64]] : memref<64x7x7xi32> into memref<64x49xi32>
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x_1, %bias : memref<64x49xi8>, memref<64xi32>) outs(%y_1 : memref<64x49xi32>) {
    ^bb0(%a: i8, %b: i32, %c: i32):
      %e = arith.extsi %a : i8 to i32
      %s = arith.addi %e, %b : i32
      linalg.yield %s : i32
    }
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d0, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y : memref<64x7x7xi32>) outs(%t : memref<7x64x7xi32>) {
    ^bb0(%a_1: i32, %c_1: i32):
      linalg.yield %a_1 : i32
    }
    func.return
  }
}

