// C = A + B on 128 elements: two tiles of 64.
func.func @sum(%A : memref<128xi32>, %B : memref<128xi32>, %C : memref<128xi32>) {
  linalg.add ins(%A, %B : memref<128xi32>, memref<128xi32>) outs(%C : memref<128xi32>)
  func.return
}
