builtin.module {
  func.func @f_init() {
    accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 208, output = 0x16400000, output_size = 4096, length_width = 26>
    func.return
  }
  func.func @f(%A: memref<8x8xi32>, %B: memref<8x8xi32>, %C: memref<8x8xi32>) {
    %c0 = arith.constant 0 : index
    %c24 = arith.constant 24 : index
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    accel.expect 4 tiles of 16 {comment = "Tiles of 4 x 4 x 4 (m, n, k), flow ((sA sB cC) rC)."}
    %m_sent, %n_sent, %k_sent = scf.for %m = %c0 to %c8 step %c4 iter_args(%m_sent_1 = %c0, %n_sent_1 = %c0, %k_sent_1 = %c0) -> (index, index, index) {
      %m_sent_2, %n_sent_2, %k_sent_2 = scf.for %n = %c0 to %c8 step %c4 iter_args(%m_sent_3 = %m_sent_1, %n_sent_3 = %n_sent_1, %k_sent_3 = %k_sent_1) -> (index, index, index) {
        %m_sent_4, %n_sent_4, %k_sent_4 = scf.for %k = %c0 to %c8 step %c4 iter_args(%m_sent_5 = %m_sent_3, %n_sent_5 = %n_sent_3, %k_sent_5 = %k_sent_3) -> (index, index, index) {
          accel.wait_queued {comment = "Packed while the packet before this one is sent."}
          %0 = accel.send_literal 1 at %c0 {opcode = "sA", loads}
          %A_tile = memref.subview %A[%m, %k] [4, 4] [1, 1] : memref<8x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
          %1 = accel.send %A_tile as [4, 4] permutation [0, 1] at %0 : memref<4x4xi32, strided<[8, 1], offset: ?>>
          accel.clean %c0 to %1
          accel.queue_send %c0 to %1
          accel.wait_queued
          %2 = arith.addi %c0, %c24 : index
          %3 = accel.send_literal 2 at %2 {opcode = "sB", loads}
          %B_tile = memref.subview %B[%k, %n] [4, 4] [1, 1] : memref<8x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
          %4 = accel.send %B_tile as [4, 4] permutation [0, 1] at %3 : memref<4x4xi32, strided<[8, 1], offset: ?>>
          %5 = accel.send_literal 4 at %4 {opcode = "cC"}
          %6 = arith.cmpi eq, %k, %c4 : index
          scf.if %6 {
            %7 = accel.send_literal 8 at %5
          }
          %8 = arith.addi %5, %c1 : index
          %9 = arith.select %6, %8, %5 : index
          accel.clean %2 to %9
          accel.queue_send %2 to %9
          %10 = arith.cmpi ne, %m, %c0 : index
          %11 = arith.cmpi ne, %n, %c0 : index
          %12 = arith.ori %10, %11 : i1
          %13 = arith.cmpi ne, %k, %c0 : index
          %14 = arith.ori %12, %13 : i1
          scf.if %14 {
            %15 = arith.cmpi eq, %k_sent_5, %c4 : index
            scf.if %15 {
              %from = accel.next
              %C_tile = memref.subview %C[%m_sent_5, %n_sent_5] [4, 4] [1, 1] : memref<8x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
              accel.recv %C_tile as [4, 4] permutation [0, 1] at %from mode "accumulate" : memref<4x4xi32, strided<[8, 1], offset: ?>>
            }
          }{comment = "What the packet before this one brings back."}
          scf.yield %m, %n, %k : index, index, index
        }
        scf.yield %m_sent_4, %n_sent_4, %k_sent_4 : index, index, index
      }
      scf.yield %m_sent_2, %n_sent_2, %k_sent_2 : index, index, index
    }
    %16 = arith.cmpi eq, %k_sent, %c4 : index
    scf.if %16 {
      %from_1 = accel.next
      %C_tile_1 = memref.subview %C[%m_sent, %n_sent] [4, 4] [1, 1] : memref<8x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
      accel.recv %C_tile_1 as [4, 4] permutation [0, 1] at %from_1 mode "accumulate" : memref<4x4xi32, strided<[8, 1], offset: ?>>
    }
    accel.wait_sent
    func.return
  }
}

