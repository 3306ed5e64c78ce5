builtin.module {
  func.func @f_init() {
    accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 4096, output = 0x16400000, output_size = 4096, length_width = 26>
    func.return
  }
  func.func @f(%A: memref<6x8xi32>, %B: memref<8x4xi32>, %C: memref<6x4xi32>) {
    %c0 = arith.constant 0 : index
    %c6 = arith.constant 6 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %0 = accel.send_literal 255 at %c0 {opcode = "reset"}
    %1 = accel.start_send %c0 to %0 : !accel.token<"send">
    accel.wait %1 : !accel.token<"send">
    scf.for %m = %c0 to %c6 step %c4 {
      %2 = arith.subi %c6, %m : index
      %m_len = arith.minui %c4, %2 : index
      scf.for %k = %c0 to %c8 step %c4 {
        %3 = accel.send_literal 34 at %c0 {opcode = "sA"}
        %A_tile = memref.subview %A[%m, %k] [%m_len, 4] [1, 1] : memref<6x8xi32> to memref<?x4xi32, strided<[8, 1], offset: ?>>
        %4 = accel.send %A_tile as [4, 4] permutation [0, 1] at %3 : memref<?x4xi32, strided<[8, 1], offset: ?>>
        %5 = accel.start_send %c0 to %4 : !accel.token<"send">
        accel.wait %5 : !accel.token<"send">
        scf.for %n = %c0 to %c4 step %c4 {
          %6 = accel.start_recv %c0 to %c16 {opcode = "sBcCrC"} : !accel.token<"recv">
          %7 = accel.send_literal 37 at %c0
          %B_tile = memref.subview %B[%k, %n] [4, 4] [1, 1] : memref<8x4xi32> to memref<4x4xi32, strided<[4, 1], offset: ?>>
          %8 = accel.send %B_tile as [4, 4] permutation [0, 1] at %7 : memref<4x4xi32, strided<[4, 1], offset: ?>>
          %9 = accel.start_send %c0 to %8 : !accel.token<"send">
          accel.wait %9 : !accel.token<"send">
          accel.wait %6 : !accel.token<"recv">
          %C_tile = memref.subview %C[%m, %n] [%m_len, 4] [1, 1] : memref<6x4xi32> to memref<?x4xi32, strided<[4, 1], offset: ?>>
          accel.recv %C_tile as [4, 4] permutation [0, 1] at %c0 mode "accumulate" : memref<?x4xi32, strided<[4, 1], offset: ?>>
        }
      }
    } {comment = "Tiles of 4 x 4 x 4 (m, k, n), flow (sA (sBcCrC))."}
    func.return
  }
}

