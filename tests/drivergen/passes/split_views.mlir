// accel-generalise,accel-bufferise,accel-as-convolution,accel-annotate{accelerator="conv_v4" tile=8,1,8,4,1,1},accel-split
// The rows of %A are in two parts, 8 and 4: each is zeroed by itself, and no longer %C as a whole.
func.func @f(%A : memref<12x4xi32>, %B : memref<4x8xi32>, %C : memref<12x8xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<12x8xi32>)
  linalg.matmul ins(%A, %B : memref<12x4xi32>, memref<4x8xi32>) outs(%C : memref<12x8xi32>)
  func.return
}
