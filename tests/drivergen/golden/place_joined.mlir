builtin.module {
  func.func @f_init() {
    accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 480, output = 0x16400000, output_size = 4096, length_width = 26>
    func.return
  }
  func.func @f(%A: memref<8x16xi32>, %B: memref<16x8xi32>, %C: memref<8x8xi32>) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    scf.for %m = %c0 to %c8 step %c4 {
      scf.for %n = %c0 to %c8 step %c4 {
        scf.for %k = %c0 to %c16 step %c4 {
          %0 = accel.send_literal 1 at %c0 {opcode = "sA", loads}
          %A_tile = memref.subview %A[%m, %k] [4, 4] [1, 1] : memref<8x16xi32> to memref<4x4xi32, strided<[16, 1], offset: ?>>
          %1 = accel.send %A_tile as [4, 4] permutation [0, 1] at %0 : memref<4x4xi32, strided<[16, 1], offset: ?>>
          %2 = accel.send_literal 2 at %1 {opcode = "sB", loads}
          %B_tile = memref.subview %B[%k, %n] [4, 4] [1, 1] : memref<16x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
          %3 = accel.send %B_tile as [4, 4] permutation [0, 1] at %2 : memref<4x4xi32, strided<[8, 1], offset: ?>>
          %4 = accel.send_literal 4 at %3 {opcode = "cC"}
          %5 = accel.start_send %c0 to %4 : !accel.token<"send">
          accel.wait %5 : !accel.token<"send">
        }
        %6 = accel.start_recv %c0 to %c16 {opcode = "rC"} : !accel.token<"recv">
        %7 = accel.send_literal 8 at %c0
        %8 = accel.start_send %c0 to %7 : !accel.token<"send">
        accel.wait %8 : !accel.token<"send">
        accel.wait %6 : !accel.token<"recv">
        %C_tile = memref.subview %C[%m, %n] [4, 4] [1, 1] : memref<8x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
        accel.recv %C_tile as [4, 4] permutation [0, 1] at %c0 mode "accumulate" : memref<4x4xi32, strided<[8, 1], offset: ?>>
      }
    } {comment = "Tiles of 4 x 4 x 4 (m, n, k), flow ((sA sB cC) rC)."}
    func.return
  }
}

