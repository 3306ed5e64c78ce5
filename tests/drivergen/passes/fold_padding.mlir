// accel-generalise,accel-fold-padding
// Rows and columns of zeros in front of the image are an attribute; those behind go without saying.
func.func @f(%I : tensor<1x2x6x6xi8>, %F : tensor<3x2x3x3xi8>, %O : tensor<1x3x3x3xi32>) -> tensor<1x3x3x3xi32> {
  %zero = arith.constant 0 : i8
  %P = tensor.pad %I low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%b : index, %c : index, %h : index, %w : index):
    tensor.yield %zero : i8
  } : tensor<1x2x6x6xi8> to tensor<1x2x8x8xi8>
  %R = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%P, %F : tensor<1x2x8x8xi8>, tensor<3x2x3x3xi8>) outs(%O : tensor<1x3x3x3xi32>) -> tensor<1x3x3x3xi32>
  func.return %R : tensor<1x3x3x3xi32>
}
