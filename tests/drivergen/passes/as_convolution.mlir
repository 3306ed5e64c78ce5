// accel-generalise,accel-bufferise,accel-as-convolution
// 512 columns are two rows of 256 pixels. B transposed stays a matrix product.
func.func @f(%A : memref<6x4xi8>, %B : memref<4x512xi8>, %C : memref<6x512xi32>, %T : memref<16x4xi8>, %D : memref<6x16xi32>) {
  linalg.matmul ins(%A, %B : memref<6x4xi8>, memref<4x512xi8>) outs(%C : memref<6x512xi32>)
  linalg.matmul_transpose_b ins(%A, %T : memref<6x4xi8>, memref<16x4xi8>) outs(%D : memref<6x16xi32>)
  func.return
}
