builtin.module {
  func.func @f_init() {
    accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 640, output = 0x16400000, output_size = 4096, length_width = 26>
    func.return
  }
  func.func @f(%A: memref<16x4xi32>, %B: memref<4x8xi32>, %C: memref<16x8xi32>) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c72 = arith.constant 72 : index
    %c16 = arith.constant 16 : index
    accel.expect 8 tiles of 16 {comment = "Tiles of 4 x 4 x 4 (m, n, k), flow ((sA sB cC) rC)."}
    %m_sent, %place = scf.for %m = %c0 to %c16 step %c4 iter_args(%m_sent_1 = %c0, %place_1 = %c0) -> (index, index) {
      accel.wait_queued {comment = "Packed while the packet before this one is sent."}
      %at = scf.for %n = %c0 to %c8 step %c4 iter_args(%at_1 = %place_1) -> (index) {
        %at_2 = scf.for %k = %c0 to %c4 step %c4 iter_args(%at_3 = %at_1) -> (index) {
          %0 = accel.send_literal 1 at %at_3 {opcode = "sA", loads}
          %A_tile = memref.subview %A[%m, %k] [4, 4] [1, 1] : memref<16x4xi32> to memref<4x4xi32, strided<[4, 1], offset: ?>>
          %1 = accel.send %A_tile as [4, 4] permutation [0, 1] at %0 : memref<4x4xi32, strided<[4, 1], offset: ?>>
          %2 = accel.send_literal 2 at %1 {opcode = "sB", loads}
          %B_tile = memref.subview %B[%k, %n] [4, 4] [1, 1] : memref<4x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
          %3 = accel.send %B_tile as [4, 4] permutation [0, 1] at %2 : memref<4x4xi32, strided<[8, 1], offset: ?>>
          %4 = accel.send_literal 4 at %3 {opcode = "cC"}
          scf.yield %4 : index
        }
        %5 = accel.send_literal 8 at %at_2
        scf.yield %5 : index
      }
      accel.clean %place_1 to %at
      accel.queue_send %place_1 to %at
      %6 = arith.cmpi ne, %m, %c0 : index
      scf.if %6 {
        scf.for %n_1 = %c0 to %c8 step %c4 {
          %from = accel.next
          %C_tile = memref.subview %C[%m_sent_1, %n_1] [4, 4] [1, 1] : memref<16x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
          accel.recv %C_tile as [4, 4] permutation [0, 1] at %from mode "accumulate" : memref<4x4xi32, strided<[8, 1], offset: ?>>
        }
      }{comment = "What the packet before this one brings back."}
      %7 = arith.subi %c72, %place_1 : index
      scf.yield %m, %7 : index, index
    }
    scf.for %n_2 = %c0 to %c8 step %c4 {
      %from_1 = accel.next
      %C_tile_1 = memref.subview %C[%m_sent, %n_2] [4, 4] [1, 1] : memref<16x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
      accel.recv %C_tile_1 as [4, 4] permutation [0, 1] at %from_1 mode "accumulate" : memref<4x4xi32, strided<[8, 1], offset: ?>>
    }
    accel.wait_sent
    func.return
  }
}

