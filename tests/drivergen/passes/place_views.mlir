// accel-generalise,accel-annotate{accelerator="v3_4" flow="Cs"},accel-place
// %C is zeroed under another shape: it is overwritten all the same. %D is zeroed and written behind its view: products are added.
func.func @f(%A : memref<4x8xi32>, %B : memref<8x4xi32>, %C : memref<16xi32>, %D : memref<16xi32>, %E : memref<16xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<16xi32>)
  %C_1 = memref.expand_shape %C [[0, 1]] output_shape [4, 4] : memref<16xi32> into memref<4x4xi32>
  linalg.matmul ins(%A, %B : memref<4x8xi32>, memref<8x4xi32>) outs(%C_1 : memref<4x4xi32>)
  %D_1 = memref.expand_shape %D [[0, 1]] output_shape [4, 4] : memref<16xi32> into memref<4x4xi32>
  linalg.fill ins(%zero : i32) outs(%D_1 : memref<4x4xi32>)
  "memref.copy"(%E, %D) : (memref<16xi32>, memref<16xi32>) -> ()
  linalg.matmul ins(%A, %B : memref<4x8xi32>, memref<8x4xi32>) outs(%D_1 : memref<4x4xi32>)
  func.return
}
