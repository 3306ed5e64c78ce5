// accel-collapse-loops
func.func @f(%x : memref<64x7x7xi8>, %bias : memref<64xi32>, %y : memref<64x7x7xi32>, %t : memref<7x64x7xi32>) {
  linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %bias : memref<64x7x7xi8>, memref<64xi32>) outs(%y : memref<64x7x7xi32>) {
  ^bb0(%a : i8, %b : i32, %c : i32):
    %e = arith.extsi %a : i8 to i32
    %s = arith.addi %e, %b : i32
    linalg.yield %s : i32
  }
  linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (b, a, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y : memref<64x7x7xi32>) outs(%t : memref<7x64x7xi32>) {
  ^bb0(%a : i32, %c : i32):
    linalg.yield %a : i32
  }
  func.return
}
