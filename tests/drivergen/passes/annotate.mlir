// accel-annotate{accelerator="v3_4" flow="As"}
func.func @f(%A : memref<6x8xi32>, %B : memref<8x4xi32>, %C : memref<6x4xi32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<6x8xi32>, memref<8x4xi32>) outs(%C : memref<6x4xi32>) {
  ^bb0(%a : i32, %b : i32, %c : i32):
    %p = arith.muli %a, %b : i32
    %s = arith.addi %p, %c : i32
    linalg.yield %s : i32
  }
  func.return
}
