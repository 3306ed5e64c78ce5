// accel-generalise
func.func @f(%A : memref<4x8xi8>, %B : memref<8x4xi8>, %C : memref<4x4xi32>) {
  linalg.matmul ins(%A, %B : memref<4x8xi8>, memref<8x4xi8>) outs(%C : memref<4x4xi32>)
  func.return
}
