// accel-generalise,accel-bufferise,accel-as-convolution
// 512 columns are two rows of 256 pixels. Dims of a transposed B stay where they are; so do batches.
func.func @f(%A : memref<6x4xi8>, %B : memref<4x512xi8>, %C : memref<6x512xi32>, %T : memref<16x4xi8>, %D : memref<6x16xi32>, %X : memref<3x6x4xi8>, %Y : memref<3x4x16xi8>, %Z : memref<3x6x16xi32>) {
  linalg.matmul ins(%A, %B : memref<6x4xi8>, memref<4x512xi8>) outs(%C : memref<6x512xi32>)
  linalg.matmul_transpose_b ins(%A, %T : memref<6x4xi8>, memref<16x4xi8>) outs(%D : memref<6x16xi32>)
  linalg.batch_matmul ins(%X, %Y : memref<3x6x4xi8>, memref<3x4x16xi8>) outs(%Z : memref<3x6x16xi32>)
  func.return
}
