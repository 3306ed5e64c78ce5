// accel-generalise,accel-fold-padding,accel-bufferise,accel-annotate{accelerator="conv_v4" tile=3,4,8,2,3,3},accel-split
// Eight rows in tiles of four, a row of padding above and below: two ops with five rows of the image each.
// Three of the four output channels, and the one that is left.
func.func @f(%I : tensor<1x2x8x8xi32>, %F : tensor<4x2x3x3xi32>) -> tensor<1x4x8x8xi32> {
  %zero = arith.constant 0 : i32
  %P = tensor.pad %I low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%b : index, %c : index, %h : index, %w : index):
    tensor.yield %zero : i32
  } : tensor<1x2x8x8xi32> to tensor<1x2x10x10xi32>
  %E = tensor.empty() : tensor<1x4x8x8xi32>
  %Z = linalg.fill ins(%zero : i32) outs(%E : tensor<1x4x8x8xi32>) -> tensor<1x4x8x8xi32>
  %R = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%P, %F : tensor<1x2x10x10xi32>, tensor<4x2x3x3xi32>) outs(%Z : tensor<1x4x8x8xi32>) -> tensor<1x4x8x8xi32>
  func.return %R : tensor<1x4x8x8xi32>
}
