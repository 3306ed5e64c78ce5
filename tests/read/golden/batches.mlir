module @jit_batches attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x5x4xf32>) -> (tensor<2x3x5xf32> {jax.result_info = "result[0]"}, tensor<3x2x5xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
    %1 = stablehlo.transpose %arg1, dims = [2, 1, 0] : (tensor<2x5x4xf32>) -> tensor<4x5x2xf32>
    %2 = stablehlo.dot_general %1, %arg0, batching_dims = [2] x [0], contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x5x2xf32>, tensor<2x3x4xf32>) -> tensor<2x5x3xf32>
    %3 = stablehlo.transpose %2, dims = [2, 0, 1] : (tensor<2x5x3xf32>) -> tensor<3x2x5xf32>
    return %0, %3 : tensor<2x3x5xf32>, tensor<3x2x5xf32>
  }
}
