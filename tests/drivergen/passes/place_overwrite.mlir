// accel-generalise,accel-annotate{accelerator="v3_4" flow="Cs"},accel-place
// Each tile of C comes back once: it is overwritten, and the zeros are not written.
func.func @f(%A : memref<4x8xi32>, %B : memref<8x4xi32>, %C : memref<4x4xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<4x4xi32>)
  linalg.matmul ins(%A, %B : memref<4x8xi32>, memref<8x4xi32>) outs(%C : memref<4x4xi32>)
  func.return
}
