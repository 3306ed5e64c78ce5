// accel-lower-to-calls
// Tiles without gaps: three channels of windows, rows that begin on beats of 64 bits, a result with nothing between.
func.func @f(%I : memref<3x8x8xi8>, %F : memref<2x27xi8>, %O : memref<2x6x6xi32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %I_tile = memref.subview %I[%c0, %c0, %c0] [3, 3, 3] [1, 1, 1] : memref<3x8x8xi8> to memref<3x3x3xi8, strided<[64, 8, 1], offset: ?>>
  %0 = accel.send %I_tile as [3, 3, 3] permutation [0, 1, 2] at %c0 dense <0 rows, beats of 64> : memref<3x3x3xi8, strided<[64, 8, 1], offset: ?>>
  %1 = accel.send %F as [2, 27] permutation [0, 1] at %0 dense <1 rows, beats of 64> : memref<2x27xi8>
  %2 = accel.start_send %c0 to %1 : !accel.token<"send">
  accel.wait %2 : !accel.token<"send">
  accel.recv %O as [2, 6, 6] permutation [0, 1, 2] at %c64 mode "accumulate" dense <0 rows, beats of 64> : memref<2x6x6xi32>
  func.return
}
