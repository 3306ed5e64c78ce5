// C = A * B on 100 elements: one tile of 64, and one that zeros fill up.
func.func @multiply(%A : memref<100xi32>, %B : memref<100xi32>, %C : memref<100xi32>) {
  linalg.mul ins(%A, %B : memref<100xi32>, memref<100xi32>) outs(%C : memref<100xi32>)
  func.return
}
