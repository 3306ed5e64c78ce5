builtin.module {
  func.func @f_init() {
    accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 480, output = 0x16400000, output_size = 4096, length_width = 26>
    func.return
  }
  func.func @f(%A: memref<8x16xi32>, %B: memref<16x8xi32>, %C: memref<8x8xi32>) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    accel.expect 4 tiles of 16 {comment = "Tiles of 4 x 4 x 4 (m, n, k), flow ((sA sB cC) rC)."}
    scf.for %m = %c0 to %c8 step %c4 {
      scf.for %n = %c0 to %c8 step %c4 {
        scf.for %k_packet = %c0 to %c16 step %c8 {
          %0 = arith.addi %k_packet, %c8 : index
          %at = scf.for %k = %k_packet to %0 step %c4 iter_args(%at_1 = %c0) -> (index) {
            %1 = accel.send_literal 1 at %at_1 {opcode = "sA", loads}
            %A_tile = memref.subview %A[%m, %k] [4, 4] [1, 1] : memref<8x16xi32> to memref<4x4xi32, strided<[16, 1], offset: ?>>
            %2 = accel.send %A_tile as [4, 4] permutation [0, 1] at %1 : memref<4x4xi32, strided<[16, 1], offset: ?>>
            %3 = accel.send_literal 2 at %2 {opcode = "sB", loads}
            %B_tile = memref.subview %B[%k, %n] [4, 4] [1, 1] : memref<16x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
            %4 = accel.send %B_tile as [4, 4] permutation [0, 1] at %3 : memref<4x4xi32, strided<[8, 1], offset: ?>>
            %5 = accel.send_literal 4 at %4 {opcode = "cC"}
            scf.yield %5 : index
          }
          %6 = arith.cmpi eq, %k_packet, %c8 : index
          scf.if %6 {
            %7 = accel.send_literal 8 at %at
          }
          %8 = arith.addi %at, %c1 : index
          %9 = arith.select %6, %8, %at : index
          %10 = accel.start_send %c0 to %9 : !accel.token<"send">
          %11 = arith.cmpi eq, %k_packet, %c8 : index
          scf.if %11 {
            %from = accel.next
            %C_tile = memref.subview %C[%m, %n] [4, 4] [1, 1] : memref<8x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
            accel.recv %C_tile as [4, 4] permutation [0, 1] at %from mode "accumulate" : memref<4x4xi32, strided<[8, 1], offset: ?>>
          }
          accel.wait %10 : !accel.token<"send">
        }
      }
    }
    func.return
  }
}

