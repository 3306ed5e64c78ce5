builtin.module {
  func.func @pointers_init() {
    accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 4096, output = 0x16400000, output_size = 4096, length_width = 26>
    func.return
  }
  func.func @pointers(%A: memref<8xi32>, %B: memref<8xi32>, %C: memref<8xi32>) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    scf.for %n = %c0 to %c8 step %c4 {
      %A_tile = memref.subview %A[%n] [4] [1] : memref<8xi32> to memref<4xi32, strided<[1], offset: ?>>
      %0 = accel.send %A_tile as [4] permutation [0] at %c0 dense <0 rows, beats of 32> {opcode = "all"} : memref<4xi32, strided<[1], offset: ?>>
      accel.point_in 32784, %c0 to %c4
      %B_tile = memref.subview %B[%n] [4] [1] : memref<8xi32> to memref<4xi32, strided<[1], offset: ?>>
      %1 = accel.send %B_tile as [4] permutation [0] at %c32 dense <0 rows, beats of 32> : memref<4xi32, strided<[1], offset: ?>>
      accel.write_elements 32800, 4 of 32 bits %c32 to %1
      accel.point_out 32840, %c0 to %c4
      accel.write_register 32768, 1
      accel.wait_register 32768, 2
      accel.take_out %c0 to %c4
      %C_tile = memref.subview %C[%n] [4] [1] : memref<8xi32> to memref<4xi32, strided<[1], offset: ?>>
      accel.recv %C_tile as [4] permutation [0] at %c0 mode "overwrite" dense <0 rows, beats of 32> : memref<4xi32, strided<[1], offset: ?>>
    } {comment = "Tiles of 4 (n), flow (all)."}
    func.return
  }
}

