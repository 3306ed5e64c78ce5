module {
  func.func @outside_faults(%x: tensor<8x8xi32>, %w: tensor<8x8xi32> {axiloom.weight = "w"}) -> tensor<8x8xi32> {
    %zero = arith.constant 0 : i32
    %e0 = tensor.empty() : tensor<8x8xi32>
    %i0 = linalg.fill ins(%zero : i32) outs(%e0 : tensor<8x8xi32>) -> tensor<8x8xi32>
    %p = linalg.matmul ins(%x, %w : tensor<8x8xi32>, tensor<8x8xi32>) outs(%i0 : tensor<8x8xi32>) -> tensor<8x8xi32>
    return %p : tensor<8x8xi32>
  }
}
