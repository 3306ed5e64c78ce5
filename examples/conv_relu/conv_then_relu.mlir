// A convolution, and a ReLU of its result, both on the accelerator. The caller wants the sums in %O too, so the
// ReLU is a kernel by itself: it reads what the convolution wrote.
func.func @conv_then_relu(%I : memref<1x8x12x14xi8>, %F : memref<16x8x3x3xi8>, %O : memref<1x16x10x12xi32>,
                          %P : memref<1x16x10x12xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%O : memref<1x16x10x12xi32>)
  linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%I, %F : memref<1x8x12x14xi8>, memref<16x8x3x3xi8>) outs(%O : memref<1x16x10x12xi32>)
  linalg.generic {
    indexing_maps = [affine_map<(b, c, h, w) -> (b, c, h, w)>, affine_map<(b, c, h, w) -> (b, c, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } ins(%O : memref<1x16x10x12xi32>) outs(%P : memref<1x16x10x12xi32>) {
  ^bb0(%o : i32, %p : i32):
    %r = arith.maxsi %o, %zero : i32
    linalg.yield %r : i32
  }
  func.return
}
