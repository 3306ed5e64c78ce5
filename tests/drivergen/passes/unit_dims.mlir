// accel-generalise,accel-bufferise,accel-unit-dims
// A column for the matrix by rows, a row for the one by columns, both for two vectors; and depthwise channels.
func.func @f(%A : memref<6x4xi8>, %x : memref<4xi8>, %y : memref<6xi32>, %z : memref<6xi8>, %v : memref<4xi32>, %s : memref<i32>, %I : memref<1x8x5x5xi8>, %F : memref<8x3x3xi8>, %O : memref<1x8x3x3xi32>) {
  linalg.matvec ins(%A, %x : memref<6x4xi8>, memref<4xi8>) outs(%y : memref<6xi32>)
  linalg.vecmat ins(%z, %A : memref<6xi8>, memref<6x4xi8>) outs(%v : memref<4xi32>)
  linalg.dot ins(%x, %x : memref<4xi8>, memref<4xi8>) outs(%s : memref<i32>)
  linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%I, %F : memref<1x8x5x5xi8>, memref<8x3x3xi8>) outs(%O : memref<1x8x3x3xi32>)
  func.return
}
