// accel-generalise,accel-bufferise,accel-annotate{accelerator="conv_v3"},accel-split{twice=true}
// 112 x 112 results would fill more than half of the output window: rows in two equal parts, so that the results
// of one come back while the CPU takes those of the other.
func.func @f(%I : tensor<1x3x230x230xi32>, %F : tensor<2x3x7x7xi32>) -> tensor<1x2x112x112xi32> {
  %zero = arith.constant 0 : i32
  %E = tensor.empty() : tensor<1x2x112x112xi32>
  %Z = linalg.fill ins(%zero : i32) outs(%E : tensor<1x2x112x112xi32>) -> tensor<1x2x112x112xi32>
  %R = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%I, %F : tensor<1x3x230x230xi32>, tensor<2x3x7x7xi32>) outs(%Z : tensor<1x2x112x112xi32>) -> tensor<1x2x112x112xi32>
  func.return %R : tensor<1x2x112x112xi32>
}
