// C = A + B on 2500 elements: five tiles of 500.
func.func @sum(%A : memref<2500xi32>, %B : memref<2500xi32>, %C : memref<2500xi32>) {
  linalg.add ins(%A, %B : memref<2500xi32>, memref<2500xi32>) outs(%C : memref<2500xi32>)
  func.return
}
