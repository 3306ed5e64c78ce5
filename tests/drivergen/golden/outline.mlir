builtin.module {
  func.func @matmul_4x8x8(%x: tensor<4x8xf32>, %y: tensor<8x8xf32>) -> tensor<4x8xf32> attributes {axiloom.place = "cpu"} {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<4x8xf32>
    %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    %out = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"], doc = "linalg.matmul"} ins(%x, %y : tensor<4x8xf32>, tensor<8x8xf32>) outs(%2 : tensor<4x8xf32>) {
    ^bb0(%3: f32, %4: f32, %5: f32):
      %6 = arith.mulf %3, %4 : f32
      %7 = arith.addf %6, %5 : f32
      linalg.yield %7 : f32
    } -> tensor<4x8xf32>
    func.return %out : tensor<4x8xf32>
  }
  func.func @relu_4x8(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {axiloom.place = "cpu"} {
    %0 = tensor.empty() : tensor<4x8xf32>
    %out = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%0 : tensor<4x8xf32>) {
    ^bb0(%1: f32, %2: f32):
      %3 = arith.constant 0.000000e+00 : f32
      %4 = arith.maximumf %1, %3 : f32
      linalg.yield %4 : f32
    } -> tensor<4x8xf32>
    func.return %out : tensor<4x8xf32>
  }
  func.func @net(%x: tensor<4x8xf32>, %v: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<2x2x8xf32> {
    %0 = func.call @matmul_4x8x8(%x, %v) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %1 = func.call @relu_4x8(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = func.call @matmul_4x8x8(%1, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %3 = tensor.expand_shape %2 [[0 : i64, 1 : i64], [2 : i64]] output_shape [2, 2, 8] : tensor<4x8xf32> into tensor<2x2x8xf32>
    func.return %3 : tensor<2x2x8xf32>
  }
}

