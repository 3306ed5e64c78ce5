// accel-coalesce-transfers
func.func @f_init() {
  accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 4096, output = 0x16400000, output_size = 4096>
  func.return
}
func.func @f(%A : memref<8x4xi32>, %C : memref<8x4xi32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %0 = accel.send_literal 255 at %c0 {opcode = "reset"}
  %1 = accel.start_send %c0 to %0 : !accel.token<"send">
  accel.wait %1 : !accel.token<"send">
  scf.for %m = %c0 to %c8 step %c4 {
    %2 = accel.send_literal 1 at %c0 {opcode = "sA"}
    %A_tile = memref.subview %A[%m, 0] [4, 4] [1, 1] : memref<8x4xi32> to memref<4x4xi32, strided<[4, 1], offset: ?>>
    %3 = accel.send %A_tile as [4, 4] permutation [0, 1] at %2 : memref<4x4xi32, strided<[4, 1], offset: ?>>
    %4 = accel.start_send %c0 to %3 : !accel.token<"send">
    accel.wait %4 : !accel.token<"send">
    %5 = accel.send_idx %m at %c0 {opcode = "at"}
    %6 = accel.start_send %c0 to %5 : !accel.token<"send">
    accel.wait %6 : !accel.token<"send">
    %7 = accel.start_recv %c0 to %c16 {opcode = "rC"} : !accel.token<"recv">
    %8 = accel.send_literal 8 at %c0
    %9 = accel.start_send %c0 to %8 : !accel.token<"send">
    accel.wait %9 : !accel.token<"send">
    accel.wait %7 : !accel.token<"recv">
    %C_tile = memref.subview %C[%m, 0] [4, 4] [1, 1] : memref<8x4xi32> to memref<4x4xi32, strided<[4, 1], offset: ?>>
    accel.recv %C_tile as [4, 4] permutation [0, 1] at %c0 mode "accumulate" : memref<4x4xi32, strided<[4, 1], offset: ?>>
    %10 = accel.send_literal 16 at %c0 {opcode = "done"}
    %11 = accel.start_send %c0 to %10 : !accel.token<"send">
    accel.wait %11 : !accel.token<"send">
  }
  func.return
}
