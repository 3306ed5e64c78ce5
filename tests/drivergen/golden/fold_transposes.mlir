builtin.module {
  func.func @f(%A: tensor<4x8xf32>, %B: tensor<4x8xf32>, %bias: tensor<4xf32>) -> tensor<4x4xf32> {
    %zero = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<4x4xf32>
    %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"], doc = "linalg.matmul"} ins(%A, %B : tensor<4x8xf32>, tensor<4x8xf32>) outs(%1 : tensor<4x4xf32>) {
    ^bb0(%2: f32, %3: f32, %4: f32):
      %5 = arith.mulf %2, %3 : f32
      %6 = arith.addf %4, %5 : f32
      linalg.yield %6 : f32
    } -> tensor<4x4xf32>
    %7 = tensor.empty() : tensor<4x4xf32>
    %C = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%c, %bias : tensor<4x4xf32>, tensor<4xf32>) outs(%7 : tensor<4x4xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    func.return %C : tensor<4x4xf32>
  }
}

