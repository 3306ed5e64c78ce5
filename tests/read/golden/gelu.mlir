module @jit_gelu attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x5xf32>) -> (tensor<3x5xf32> {jax.result_info = "result[0]"}, tensor<3x5xf32> {jax.result_info = "result[1]"}, tensor<3x5xf32> {jax.result_info = "result[2]"}, tensor<3x5xf32> {jax.result_info = "result[3]"}) {
    %0 = chlo.erf %arg0 : tensor<3x5xf32> -> tensor<3x5xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %2 = stablehlo.multiply %1, %arg0 : tensor<3x5xf32>
    %3 = stablehlo.negate %arg0 : tensor<3x5xf32>
    %cst_0 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<3x5xf32>
    %6 = chlo.erfc %5 : tensor<3x5xf32> -> tensor<3x5xf32>
    %7 = stablehlo.multiply %2, %6 : tensor<3x5xf32>
    %8 = stablehlo.multiply %arg0, %arg0 : tensor<3x5xf32>
    %9 = stablehlo.multiply %8, %arg0 : tensor<3x5xf32>
    %cst_1 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %11 = stablehlo.multiply %10, %9 : tensor<3x5xf32>
    %12 = stablehlo.add %arg0, %11 : tensor<3x5xf32>
    %cst_2 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %14 = stablehlo.multiply %13, %12 : tensor<3x5xf32>
    %15 = stablehlo.tanh %14 : tensor<3x5xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %17 = stablehlo.add %16, %15 : tensor<3x5xf32>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %19 = stablehlo.multiply %18, %17 : tensor<3x5xf32>
    %20 = stablehlo.multiply %arg0, %19 : tensor<3x5xf32>
    %21 = call @silu(%arg0) : (tensor<3x5xf32>) -> tensor<3x5xf32>
    return %0, %7, %20, %21 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>
  }
  func.func private @silu(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
    %0 = stablehlo.negate %arg0 : tensor<3x5xf32>
    %1 = stablehlo.exponential %0 : tensor<3x5xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %3 = stablehlo.add %2, %1 : tensor<3x5xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %5 = stablehlo.divide %4, %3 : tensor<3x5xf32>
    %6 = stablehlo.multiply %arg0, %5 : tensor<3x5xf32>
    return %6 : tensor<3x5xf32>
  }
}
