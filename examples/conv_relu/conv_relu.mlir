// A convolution whose result goes through a ReLU in place. Nobody sees the sums in between, so they stay on the
// device: the flow `Or` applies the ReLU there, and what comes back is done.
func.func @conv_relu(%I : memref<1x8x12x14xi8>, %F : memref<16x8x3x3xi8>, %O : memref<1x16x10x12xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%O : memref<1x16x10x12xi32>)
  linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%I, %F : memref<1x8x12x14xi8>, memref<16x8x3x3xi8>) outs(%O : memref<1x16x10x12xi32>)
  linalg.generic {
    indexing_maps = [affine_map<(b, c, h, w) -> (b, c, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } outs(%O : memref<1x16x10x12xi32>) {
  ^bb0(%o : i32):
    %r = arith.maxsi %o, %zero : i32
    linalg.yield %r : i32
  }
  func.return
}
