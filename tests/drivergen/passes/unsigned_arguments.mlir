// accel-generalise,accel-unsigned-arguments
func.func @f(%A : memref<4x8xi8>, %B : memref<8x4xi8>, %C : memref<4x4xi32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<4x8xi8>, memref<8x4xi8>) outs(%C : memref<4x4xi32>)
      attrs = {accel_loads = []} {
  ^bb0(%a : i8, %b : i8, %c : i32):
    %wide_a = arith.extui %a : i8 to i32
    %wide_b = arith.extui %b : i8 to i32
    %product = arith.muli %wide_a, %wide_b : i32
    %sum = arith.addi %product, %c : i32
    linalg.yield %sum : i32
  }
  func.return
}
