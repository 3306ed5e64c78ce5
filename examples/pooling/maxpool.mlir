// The largest of each 3 x 3 window, in steps of 2, on 6 channels of 29 x 35 pixels. The device takes tiles of
// 4 x 7 x 8 results at most: 6, 14 and 17 are no multiples of 4, 7 and 8.
// Results begin with the lowest int8, which leaves a maximum as it is.
func.func @maxpool(%I : memref<1x6x29x35xi8>, %W : memref<3x3xi8>, %O : memref<1x6x14x17xi8>) {
  %lowest = arith.constant -128 : i8
  linalg.fill ins(%lowest : i8) outs(%O : memref<1x6x14x17xi8>)
  linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
    ins(%I, %W : memref<1x6x29x35xi8>, memref<3x3xi8>) outs(%O : memref<1x6x14x17xi8>)
  func.return
}
