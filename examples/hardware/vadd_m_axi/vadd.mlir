// C = A + B on 2560 elements: five tiles of 512.
func.func @sum(%A : memref<2560xi32>, %B : memref<2560xi32>, %C : memref<2560xi32>) {
  linalg.add ins(%A, %B : memref<2560xi32>, memref<2560xi32>) outs(%C : memref<2560xi32>)
  func.return
}
