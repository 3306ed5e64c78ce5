// C = A + B on 5 rows of 300 elements: the device takes 256 of a row, then 44.
func.func @add(%A : memref<5x300xi32>, %B : memref<5x300xi32>, %C : memref<5x300xi32>) {
  linalg.add ins(%A, %B : memref<5x300xi32>, memref<5x300xi32>) outs(%C : memref<5x300xi32>)
  func.return
}
