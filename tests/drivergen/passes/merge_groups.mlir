// accel-generalise,accel-bufferise,accel-unit-dims,accel-merge-groups{rows=4}
// Two groups of four channels. Two groups that have four output channels each stay.
func.func @f(%I : memref<1x8x6x6xi8>, %F : memref<8x3x3xi8>, %O : memref<1x8x4x4xi32>, %J : memref<1x2x3x6x6xi8>, %G : memref<2x4x3x3x3xi8>, %P : memref<1x2x4x4x4xi32>) {
  linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%I, %F : memref<1x8x6x6xi8>, memref<8x3x3xi8>) outs(%O : memref<1x8x4x4xi32>)
  linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%J, %G : memref<1x2x3x6x6xi8>, memref<2x4x3x3x3xi8>) outs(%P : memref<1x2x4x4x4xi32>)
  func.return
}
