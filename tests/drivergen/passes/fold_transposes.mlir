// accel-generalise,accel-own-inits,accel-fold-transposes
func.func @f(%A: tensor<4x8xf32>, %B: tensor<4x8xf32>, %bias: tensor<4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %turned = tensor.empty() : tensor<8x4xf32>
  %t = linalg.transpose ins(%B : tensor<4x8xf32>) outs(%turned : tensor<8x4xf32>) permutation = [1, 0]
  %empty = tensor.empty() : tensor<4x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = linalg.matmul ins(%A, %t : tensor<4x8xf32>, tensor<8x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = linalg.broadcast ins(%bias : tensor<4xf32>) outs(%empty : tensor<4x4xf32>) dimensions = [0]
  %C = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n, m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%c, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  func.return %C : tensor<4x4xf32>
}
