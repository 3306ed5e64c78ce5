// accel-lower-to-loops{preload=true}
func.func @f(%x : memref<8192xi8>, %bias : memref<16xi32>, %y : memref<8192xi32>) {
  linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (0)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%x, %bias : memref<8192xi8>, memref<16xi32>) outs(%y : memref<8192xi32>) {
  ^bb0(%a : i8, %b : i32, %c : i32):
    %e = arith.extsi %a : i8 to i32
    %s = arith.addi %e, %b : i32
    linalg.yield %s : i32
  }
  func.return
}
