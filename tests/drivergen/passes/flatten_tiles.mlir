// accel-flatten-tiles
// Whole rows of an image and filters with all their taps are matrices; windows and filters of odd bytes stay.
// Eight planes of 7 x 7 bytes that follow each other are a matrix of one row.
func.func @f(%S : memref<16x7x7xi8>, %I : memref<4x16x8xi8>, %F : memref<6x4x2x2xi8>, %G : memref<6x3x3x3xi8>, %O : memref<6x15x7xi32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %I_tile = memref.subview %I[%c0, %c3, %c0] [4, 5, 8] [1, 1, 1] : memref<4x16x8xi8> to memref<4x5x8xi8, strided<[128, 8, 1], offset: ?>>
  %0 = accel.send %I_tile as [4, 5, 8] permutation [0, 1, 2] at %c0 dense <0 rows, beats of 32> {opcode = "sI"} : memref<4x5x8xi8, strided<[128, 8, 1], offset: ?>>
  %I_window = memref.subview %I[%c0, %c3, %c0] [4, 2, 4] [1, 1, 1] : memref<4x16x8xi8> to memref<4x2x4xi8, strided<[128, 8, 1], offset: ?>>
  %1 = accel.send %I_window as [4, 2, 4] permutation [0, 1, 2] at %0 dense <0 rows, beats of 32> : memref<4x2x4xi8, strided<[128, 8, 1], offset: ?>>
  %2 = accel.send %F as [6, 4, 2, 2] permutation [0, 1, 2, 3] at %1 dense <1 rows, beats of 32> : memref<6x4x2x2xi8>
  %3 = accel.send %G as [6, 3, 3, 3] permutation [0, 1, 2, 3] at %2 dense <1 rows, beats of 32> : memref<6x3x3x3xi8>
  %S_tile = memref.subview %S[%c0, %c0, %c0] [8, 7, 7] [1, 1, 1] : memref<16x7x7xi8> to memref<8x7x7xi8, strided<[49, 7, 1], offset: ?>>
  %4 = accel.send %S_tile as [8, 7, 7] permutation [0, 1, 2] at %3 dense <0 rows, beats of 32> : memref<8x7x7xi8, strided<[49, 7, 1], offset: ?>>
  accel.recv %O as [6, 15, 7] permutation [0, 1, 2] at %c0 mode "overwrite" dense <0 rows, beats of 32> : memref<6x15x7xi32>
  func.return
}
