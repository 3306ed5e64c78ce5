module @jit_lstm attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x2x4xf32>, %arg1: tensor<2x8xf32>, %arg2: tensor<2x8xf32>, %arg3: tensor<32x4xf32>, %arg4: tensor<32x8xf32>, %arg5: tensor<32xf32>) -> (tensor<3x2x8xf32> {jax.result_info = "result[0]"}, tensor<2x8xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:2, 0:4] : (tensor<3x2x4xf32>) -> tensor<1x2x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %2 = stablehlo.transpose %arg3, dims = [1, 0] : (tensor<32x4xf32>) -> tensor<4x32xf32>
    %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x32xf32>) -> tensor<2x32xf32>
    %4 = stablehlo.transpose %arg4, dims = [1, 0] : (tensor<32x8xf32>) -> tensor<8x32xf32>
    %5 = stablehlo.dot_general %arg1, %4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x32xf32>) -> tensor<2x32xf32>
    %6 = stablehlo.add %3, %5 : tensor<2x32xf32>
    %7 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<32xf32>) -> tensor<1x32xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x32xf32>) -> tensor<2x32xf32>
    %9 = stablehlo.add %6, %8 : tensor<2x32xf32>
    %10 = stablehlo.slice %9 [0:2, 0:8] : (tensor<2x32xf32>) -> tensor<2x8xf32>
    %11 = stablehlo.slice %9 [0:2, 8:16] : (tensor<2x32xf32>) -> tensor<2x8xf32>
    %12 = stablehlo.slice %9 [0:2, 16:24] : (tensor<2x32xf32>) -> tensor<2x8xf32>
    %13 = stablehlo.slice %9 [0:2, 24:32] : (tensor<2x32xf32>) -> tensor<2x8xf32>
    %14 = stablehlo.negate %11 : tensor<2x8xf32>
    %15 = stablehlo.exponential %14 : tensor<2x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %17 = stablehlo.add %16, %15 : tensor<2x8xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %19 = stablehlo.divide %18, %17 : tensor<2x8xf32>
    %20 = stablehlo.multiply %19, %arg2 : tensor<2x8xf32>
    %21 = stablehlo.negate %10 : tensor<2x8xf32>
    %22 = stablehlo.exponential %21 : tensor<2x8xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %24 = stablehlo.add %23, %22 : tensor<2x8xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %26 = stablehlo.divide %25, %24 : tensor<2x8xf32>
    %27 = stablehlo.tanh %12 : tensor<2x8xf32>
    %28 = stablehlo.multiply %26, %27 : tensor<2x8xf32>
    %29 = stablehlo.add %20, %28 : tensor<2x8xf32>
    %30 = stablehlo.negate %13 : tensor<2x8xf32>
    %31 = stablehlo.exponential %30 : tensor<2x8xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %33 = stablehlo.add %32, %31 : tensor<2x8xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %35 = stablehlo.divide %34, %33 : tensor<2x8xf32>
    %36 = stablehlo.tanh %29 : tensor<2x8xf32>
    %37 = stablehlo.multiply %35, %36 : tensor<2x8xf32>
    %38 = stablehlo.slice %arg0 [1:2, 0:2, 0:4] : (tensor<3x2x4xf32>) -> tensor<1x2x4xf32>
    %39 = stablehlo.reshape %38 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %40 = stablehlo.transpose %arg3, dims = [1, 0] : (tensor<32x4xf32>) -> tensor<4x32xf32>
    %41 = stablehlo.dot_general %39, %40, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x32xf32>) -> tensor<2x32xf32>
    %42 = stablehlo.transpose %arg4, dims = [1, 0] : (tensor<32x8xf32>) -> tensor<8x32xf32>
    %43 = stablehlo.dot_general %37, %42, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x32xf32>) -> tensor<2x32xf32>
    %44 = stablehlo.add %41, %43 : tensor<2x32xf32>
    %45 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<32xf32>) -> tensor<1x32xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1] : (tensor<1x32xf32>) -> tensor<2x32xf32>
    %47 = stablehlo.add %44, %46 : tensor<2x32xf32>
    %48 = stablehlo.slice %47 [0:2, 0:8] : (tensor<2x32xf32>) -> tensor<2x8xf32>
    %49 = stablehlo.slice %47 [0:2, 8:16] : (tensor<2x32xf32>) -> tensor<2x8xf32>
    %50 = stablehlo.slice %47 [0:2, 16:24] : (tensor<2x32xf32>) -> tensor<2x8xf32>
    %51 = stablehlo.slice %47 [0:2, 24:32] : (tensor<2x32xf32>) -> tensor<2x8xf32>
    %52 = stablehlo.negate %49 : tensor<2x8xf32>
    %53 = stablehlo.exponential %52 : tensor<2x8xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %55 = stablehlo.add %54, %53 : tensor<2x8xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %57 = stablehlo.divide %56, %55 : tensor<2x8xf32>
    %58 = stablehlo.multiply %57, %29 : tensor<2x8xf32>
    %59 = stablehlo.negate %48 : tensor<2x8xf32>
    %60 = stablehlo.exponential %59 : tensor<2x8xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %62 = stablehlo.add %61, %60 : tensor<2x8xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %64 = stablehlo.divide %63, %62 : tensor<2x8xf32>
    %65 = stablehlo.tanh %50 : tensor<2x8xf32>
    %66 = stablehlo.multiply %64, %65 : tensor<2x8xf32>
    %67 = stablehlo.add %58, %66 : tensor<2x8xf32>
    %68 = stablehlo.negate %51 : tensor<2x8xf32>
    %69 = stablehlo.exponential %68 : tensor<2x8xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %71 = stablehlo.add %70, %69 : tensor<2x8xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %73 = stablehlo.divide %72, %71 : tensor<2x8xf32>
    %74 = stablehlo.tanh %67 : tensor<2x8xf32>
    %75 = stablehlo.multiply %73, %74 : tensor<2x8xf32>
    %76 = stablehlo.slice %arg0 [2:3, 0:2, 0:4] : (tensor<3x2x4xf32>) -> tensor<1x2x4xf32>
    %77 = stablehlo.reshape %76 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %78 = stablehlo.transpose %arg3, dims = [1, 0] : (tensor<32x4xf32>) -> tensor<4x32xf32>
    %79 = stablehlo.dot_general %77, %78, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x32xf32>) -> tensor<2x32xf32>
    %80 = stablehlo.transpose %arg4, dims = [1, 0] : (tensor<32x8xf32>) -> tensor<8x32xf32>
    %81 = stablehlo.dot_general %75, %80, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x32xf32>) -> tensor<2x32xf32>
    %82 = stablehlo.add %79, %81 : tensor<2x32xf32>
    %83 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<32xf32>) -> tensor<1x32xf32>
    %84 = stablehlo.broadcast_in_dim %83, dims = [0, 1] : (tensor<1x32xf32>) -> tensor<2x32xf32>
    %85 = stablehlo.add %82, %84 : tensor<2x32xf32>
    %86 = stablehlo.slice %85 [0:2, 0:8] : (tensor<2x32xf32>) -> tensor<2x8xf32>
    %87 = stablehlo.slice %85 [0:2, 8:16] : (tensor<2x32xf32>) -> tensor<2x8xf32>
    %88 = stablehlo.slice %85 [0:2, 16:24] : (tensor<2x32xf32>) -> tensor<2x8xf32>
    %89 = stablehlo.slice %85 [0:2, 24:32] : (tensor<2x32xf32>) -> tensor<2x8xf32>
    %90 = stablehlo.negate %87 : tensor<2x8xf32>
    %91 = stablehlo.exponential %90 : tensor<2x8xf32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %93 = stablehlo.add %92, %91 : tensor<2x8xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %95 = stablehlo.divide %94, %93 : tensor<2x8xf32>
    %96 = stablehlo.multiply %95, %67 : tensor<2x8xf32>
    %97 = stablehlo.negate %86 : tensor<2x8xf32>
    %98 = stablehlo.exponential %97 : tensor<2x8xf32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %99 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %100 = stablehlo.add %99, %98 : tensor<2x8xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %102 = stablehlo.divide %101, %100 : tensor<2x8xf32>
    %103 = stablehlo.tanh %88 : tensor<2x8xf32>
    %104 = stablehlo.multiply %102, %103 : tensor<2x8xf32>
    %105 = stablehlo.add %96, %104 : tensor<2x8xf32>
    %106 = stablehlo.negate %89 : tensor<2x8xf32>
    %107 = stablehlo.exponential %106 : tensor<2x8xf32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %108 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %109 = stablehlo.add %108, %107 : tensor<2x8xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %110 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %111 = stablehlo.divide %110, %109 : tensor<2x8xf32>
    %112 = stablehlo.tanh %105 : tensor<2x8xf32>
    %113 = stablehlo.multiply %111, %112 : tensor<2x8xf32>
    %114 = stablehlo.broadcast_in_dim %37, dims = [1, 2] : (tensor<2x8xf32>) -> tensor<1x2x8xf32>
    %115 = stablehlo.broadcast_in_dim %75, dims = [1, 2] : (tensor<2x8xf32>) -> tensor<1x2x8xf32>
    %116 = stablehlo.broadcast_in_dim %113, dims = [1, 2] : (tensor<2x8xf32>) -> tensor<1x2x8xf32>
    %117 = stablehlo.concatenate %114, %115, %116, dim = 0 : (tensor<1x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>) -> tensor<3x2x8xf32>
    return %117, %105 : tensor<3x2x8xf32>, tensor<2x8xf32>
  }
}
