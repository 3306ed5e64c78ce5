module @jit_integers attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xi32>, %arg1: tensor<3x4xi32>) -> (tensor<3x4xi32> {jax.result_info = "result[0]"}, tensor<3x4xi32> {jax.result_info = "result[1]"}, tensor<3x4xi32> {jax.result_info = "result[2]"}, tensor<4xi32> {jax.result_info = "result[3]"}, tensor<i32> {jax.result_info = "result[4]"}, tensor<i32> {jax.result_info = "result[5]"}, tensor<3x4xi32> {jax.result_info = "result[6]"}, tensor<3x4xi32> {jax.result_info = "result[7]"}, tensor<3x3xi32> {jax.result_info = "result[8]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<3x4xi32>) -> tensor<3x4xi8>
    %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x4xi8>, tensor<3x4xi8>) -> tensor<3x3xi32>
    %c = stablehlo.constant dense<2> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x4xi32>
    %3 = stablehlo.shift_left %arg0, %2 : tensor<3x4xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x4xi32>
    %5 = stablehlo.shift_right_arithmetic %arg0, %4 : tensor<3x4xi32>
    %6 = stablehlo.and %arg0, %arg1 : tensor<3x4xi32>
    %c_1 = stablehlo.constant dense<-2147483648> : tensor<i32>
    %7 = stablehlo.reduce(%arg0 init: %c_1) applies stablehlo.maximum across dimensions = [0] : (tensor<3x4xi32>, tensor<i32>) -> tensor<4xi32>
    %c_2 = stablehlo.constant dense<2147483647> : tensor<i32>
    %8 = stablehlo.reduce(%arg0 init: %c_2) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<3x4xi32>, tensor<i32>) -> tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.reduce(%arg0 init: %c_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x4xi32>, tensor<i32>) -> tensor<i32>
    %10 = stablehlo.divide %arg0, %arg1 : tensor<3x4xi32>
    %11 = stablehlo.remainder %arg0, %arg1 : tensor<3x4xi32>
    return %3, %5, %6, %7, %8, %9, %10, %11, %1 : tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<4xi32>, tensor<i32>, tensor<i32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x3xi32>
  }
}
