// accel-generalise,accel-bufferise,accel-annotate{accelerator="conv_v3"},accel-split,accel-place
// The results of all windows of a channel are received at once, behind the loops over pixels.
func.func @f(%I : tensor<2x4x10x10xi32>, %F : tensor<6x4x3x3xi32>, %O : tensor<2x6x4x4xi32>) -> tensor<2x6x4x4xi32> {
  %R = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%I, %F : tensor<2x4x10x10xi32>, tensor<6x4x3x3xi32>) outs(%O : tensor<2x6x4x4xi32>) -> tensor<2x6x4x4xi32>
  func.return %R : tensor<2x6x4x4xi32>
}
