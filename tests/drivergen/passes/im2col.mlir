// accel-generalise,accel-im2col
// The windows of the image side by side, and a product of two matrices a batch.
func.func @f(%I : tensor<2x3x6x6xi8>, %F : tensor<4x3x3x3xi8>) -> tensor<2x4x2x2xi32> {
  %zero = arith.constant 0 : i32
  %E = tensor.empty() : tensor<2x4x2x2xi32>
  %Z = linalg.fill ins(%zero : i32) outs(%E : tensor<2x4x2x2xi32>) -> tensor<2x4x2x2xi32>
  %R = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%I, %F : tensor<2x3x6x6xi8>, tensor<4x3x3x3xi8>) outs(%Z : tensor<2x4x2x2xi32>) -> tensor<2x4x2x2xi32>
  func.return %R : tensor<2x4x2x2xi32>
}
