// accel-lower-to-calls
func.func @f(%A : memref<6x8xi8>, %C : memref<6x4xi32>, %rows : index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  accel.init_dma <address = 0x40400000, input = 0x16000000, input_size = 4096, output = 0x16400000, output_size = 4096>
  %recv = accel.start_recv %c0 to %c16 : !accel.token<"recv">
  %0 = accel.send_literal 34 at %c0 {opcode = "sA"}
  %1 = accel.send_dim %c4, %c16 shifts [0, 10] at %0
  %2 = accel.send_dim %rows, %c16 shifts [0, 10] at %1
  %3 = accel.send_idx %rows at %2
  %A_tile = memref.subview %A[%c0, %c4] [%rows, 4] [1, 1] : memref<6x8xi8> to memref<?x4xi8, strided<[8, 1], offset: ?>>
  %4 = accel.send %A_tile as [4, 4] permutation [1, 0] at %3 : memref<?x4xi8, strided<[8, 1], offset: ?>>
  %send = accel.start_send %c0 to %4 : !accel.token<"send">
  accel.wait %send : !accel.token<"send">
  accel.wait %recv : !accel.token<"recv">
  %C_tile = memref.subview %C[%c0, %c0] [%rows, 4] [1, 1] : memref<6x4xi32> to memref<?x4xi32, strided<[4, 1], offset: ?>>
  accel.recv %C_tile as [4, 4] permutation [0, 1] at %c0 mode "overwrite" : memref<?x4xi32, strided<[4, 1], offset: ?>>
  func.return
}
