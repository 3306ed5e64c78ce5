builtin.module {
  func.func @f(%S: memref<16x7x7xi8>, %I: memref<4x16x8xi8>, %F: memref<6x4x2x2xi8>, %G: memref<6x3x3x3xi8>, %O: memref<6x15x7xi32>) {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %I_tile = memref.subview %I[%c0, %c3, %c0] [4, 5, 8] [1, 1, 1] : memref<4x16x8xi8> to memref<4x5x8xi8, strided<[128, 8, 1], offset: ?>>
    %I_tile_1 = memref.collapse_shape %I_tile [[0 : i64], [1 : i64, 2 : i64]] : memref<4x5x8xi8, strided<[128, 8, 1], offset: ?>> into memref<4x40xi8, strided<[128, 1], offset: ?>>
    %0 = accel.send %I_tile_1 as [4, 40] permutation [0, 1] at %c0 {opcode = "sI"} : memref<4x40xi8, strided<[128, 1], offset: ?>>
    %I_window = memref.subview %I[%c0, %c3, %c0] [4, 2, 4] [1, 1, 1] : memref<4x16x8xi8> to memref<4x2x4xi8, strided<[128, 8, 1], offset: ?>>
    %1 = accel.send %I_window as [4, 2, 4] permutation [0, 1, 2] at %0 dense <0 rows, beats of 32> : memref<4x2x4xi8, strided<[128, 8, 1], offset: ?>>
    %F_1 = memref.collapse_shape %F [[0 : i64], [1 : i64, 2 : i64, 3 : i64]] : memref<6x4x2x2xi8> into memref<6x16xi8, strided<[16, 1], offset: ?>>
    %2 = accel.send %F_1 as [6, 16] permutation [0, 1] at %1 : memref<6x16xi8, strided<[16, 1], offset: ?>>
    %3 = accel.send %G as [6, 3, 3, 3] permutation [0, 1, 2, 3] at %2 dense <1 rows, beats of 32> : memref<6x3x3x3xi8>
    %S_tile = memref.subview %S[%c0, %c0, %c0] [8, 7, 7] [1, 1, 1] : memref<16x7x7xi8> to memref<8x7x7xi8, strided<[49, 7, 1], offset: ?>>
    %S_tile_1 = memref.collapse_shape %S_tile [[0 : i64, 1 : i64, 2 : i64]] : memref<8x7x7xi8, strided<[49, 7, 1], offset: ?>> into memref<392xi8, strided<[1], offset: ?>>
    %S_tile_2 = memref.expand_shape %S_tile_1 [[0 : i64, 1 : i64]] output_shape [1, 392] : memref<392xi8, strided<[1], offset: ?>> into memref<1x392xi8, strided<[392, 1], offset: ?>>
    %4 = accel.send %S_tile_2 as [1, 392] permutation [0, 1] at %3 : memref<1x392xi8, strided<[392, 1], offset: ?>>
    %O_1 = memref.collapse_shape %O [[0 : i64], [1 : i64, 2 : i64]] : memref<6x15x7xi32> into memref<6x105xi32, strided<[105, 1], offset: ?>>
    accel.recv %O_1 as [6, 105] permutation [0, 1] at %c0 mode "overwrite" : memref<6x105xi32, strided<[105, 1], offset: ?>>
    func.return
  }
}

