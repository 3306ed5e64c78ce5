// accel-generalise,accel-lower-to-loops
func.func @matmul(%A : memref<4x8xi8>, %B : memref<8x4xi8>, %C : memref<4x4xi32>) {
  linalg.matmul ins(%A, %B : memref<4x8xi8>, memref<8x4xi8>) outs(%C : memref<4x4xi32>)
  func.return
}

// B is transposed: k, along which A and B are contiguous, comes innermost.
func.func @transposed(%A : memref<4x8xi32>, %B : memref<4x8xi32>, %C : memref<4x4xi32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<4x8xi32>, memref<4x8xi32>) outs(%C : memref<4x4xi32>) {
  ^bb0(%a : i32, %b : i32, %c : i32):
    %p = arith.muli %a, %b : i32
    %s = arith.addi %p, %c : i32
    linalg.yield %s : i32
  }
  func.return
}

func.func @fill_and_copy(%C : memref<4x4xi32>, %D : memref<4x4xi32>) {
  %one = arith.constant 1 : i32
  linalg.fill ins(%one : i32) outs(%C : memref<4x4xi32>)
  "memref.copy"(%C, %D) : (memref<4x4xi32>, memref<4x4xi32>) -> ()
  func.return
}
