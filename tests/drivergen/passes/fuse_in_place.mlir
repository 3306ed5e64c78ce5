// accel-generalise,accel-fuse-in-place{accelerator="examples/conv_relu/conv_relu.json"}
// The first ReLU goes with its convolution. The second one reads an array that the caller sees too: it stays.
func.func @f(%I : memref<1x8x6x7xi8>, %F : memref<4x8x3x3xi8>, %O : memref<1x4x4x5xi32>, %P : memref<1x4x4x5xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%O : memref<1x4x4x5xi32>)
  linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%I, %F : memref<1x8x6x7xi8>, memref<4x8x3x3xi8>) outs(%O : memref<1x4x4x5xi32>)
  linalg.generic {
    indexing_maps = [affine_map<(b, c, h, w) -> (b, c, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } outs(%O : memref<1x4x4x5xi32>) {
  ^bb0(%o : i32):
    %r = arith.maxsi %o, %zero : i32
    linalg.yield %r : i32
  }
  linalg.generic {
    indexing_maps = [affine_map<(b, c, h, w) -> (b, c, h, w)>, affine_map<(b, c, h, w) -> (b, c, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } ins(%O : memref<1x4x4x5xi32>) outs(%P : memref<1x4x4x5xi32>) {
  ^bb0(%o : i32, %p : i32):
    %r = arith.maxsi %o, %zero : i32
    linalg.yield %r : i32
  }
  func.return
}
