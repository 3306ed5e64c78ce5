// The same as a function on tensors, which is a network: the ReLU goes with the convolution, as one layer.
func.func @net(%I : tensor<1x8x12x14xi8>, %F : tensor<16x8x3x3xi8>) -> tensor<1x16x10x12xi32> {
  %zero = arith.constant 0 : i32
  %E = tensor.empty() : tensor<1x16x10x12xi32>
  %Z = linalg.fill ins(%zero : i32) outs(%E : tensor<1x16x10x12xi32>) -> tensor<1x16x10x12xi32>
  %S = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%I, %F : tensor<1x8x12x14xi8>, tensor<16x8x3x3xi8>) outs(%Z : tensor<1x16x10x12xi32>) -> tensor<1x16x10x12xi32>
  %R = linalg.generic {
    indexing_maps = [affine_map<(b, c, h, w) -> (b, c, h, w)>,affine_map<(b, c, h, w) -> (b, c, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } ins(%S : tensor<1x16x10x12xi32>) outs(%E : tensor<1x16x10x12xi32>) {
  ^bb0(%o : i32, %p : i32):
    %r = arith.maxsi %o, %zero : i32
    linalg.yield %r : i32
  } -> tensor<1x16x10x12xi32>
  func.return %R : tensor<1x16x10x12xi32>
}
