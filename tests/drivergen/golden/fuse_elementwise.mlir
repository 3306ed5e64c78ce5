builtin.module {
  func.func @f(%x: tensor<4x8xf32>, %bias: tensor<8xf32>) -> (tensor<8x4xf32>, tensor<4xf32>) {
    %zero = arith.constant 0.000000e+00 : f32
    %e1 = tensor.empty() : tensor<8x4xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%bias, %x : tensor<8xf32>, tensor<4x8xf32>) outs(%e1 : tensor<8x4xf32>) {
    ^bb0(%1: f32, %2: f32, %3: f32):
      %s = arith.addf %2, %1 : f32
      %s_1 = arith.mulf %s, %1 : f32
      linalg.yield %s_1 : f32
    } -> tensor<8x4xf32>
    %e3 = tensor.empty() : tensor<4xf32>
    %init = linalg.fill ins(%zero : f32) outs(%e3 : tensor<4xf32>) -> tensor<4xf32>
    %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%init : tensor<4xf32>) {
    ^bb0(%5: f32, %6: f32):
      %s_2 = arith.mulf %5, %5 : f32
      %s_3 = arith.addf %s_2, %6 : f32
      linalg.yield %s_3 : f32
    } -> tensor<4xf32>
    func.return %0, %4 : tensor<8x4xf32>, tensor<4xf32>
  }
}

