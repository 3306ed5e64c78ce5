builtin.module {
  func.func @f_init() {
    accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 512, output = 0x16400000, output_size = 4096, length_width = 26>
    func.return
  }
  func.func @f(%A: memref<8x8xi32>, %B: memref<8x8xi32>, %C: memref<8x8xi32>) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c17 = arith.constant 17 : index
    %c18 = arith.constant 18 : index
    %c1 = arith.constant 1 : index
    accel.expect 4 tiles of 16 {comment = "Tiles of 4 x 4 x 4 (m, n, k), flow ((sA sB cC) rC)."}
    scf.for %m = %c0 to %c8 step %c4 {
      scf.for %n_packet = %c0 to %c8 step %c4 {
        %place = accel.place 72 copies 1
        %0 = arith.addi %n_packet, %c4 : index
        %at = scf.for %n = %n_packet to %0 step %c4 iter_args(%at_1 = %place) -> (index) {
          %at_2 = scf.for %k = %c0 to %c8 step %c4 iter_args(%at_3 = %at_1) -> (index) {
            %A_tile = memref.subview %A[%m, %k] [4, 4] [1, 1] : memref<8x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
            %1 = arith.cmpi eq, %n_packet, %c0 : index
            %2 = arith.addi %at_3, %c17 : index
            scf.if %1 {
              %3 = accel.send_literal 1 at %at_3 {opcode = "sA", loads}
              %4 = accel.send %A_tile as [4, 4] permutation [0, 1] at %3 : memref<4x4xi32, strided<[8, 1], offset: ?>>
              accel.clean %at_3 to %2
            }
            %5 = accel.send_literal 2 at %2 {opcode = "sB", loads}
            %B_tile = memref.subview %B[%k, %n] [4, 4] [1, 1] : memref<8x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
            %6 = accel.send %B_tile as [4, 4] permutation [0, 1] at %5 : memref<4x4xi32, strided<[8, 1], offset: ?>>
            %7 = accel.send_literal 4 at %6 {opcode = "cC"}
            %8 = arith.addi %2, %c18 : index
            accel.clean %2 to %8
            scf.yield %7 : index
          }
          %9 = accel.send_literal 8 at %at_2
          %10 = arith.addi %at_2, %c1 : index
          accel.clean %at_2 to %10
          scf.yield %9 : index
        }
        %11 = accel.start_send %place to %at {cleaned} : !accel.token<"send">
        %12 = arith.addi %n_packet, %c4 : index
        scf.for %n_1 = %n_packet to %12 step %c4 {
          %from = accel.next
          %C_tile = memref.subview %C[%m, %n_1] [4, 4] [1, 1] : memref<8x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
          accel.recv %C_tile as [4, 4] permutation [0, 1] at %from mode "accumulate" : memref<4x4xi32, strided<[8, 1], offset: ?>>
        }
        accel.wait %11 : !accel.token<"send">
      }
    }
    func.return
  }
}

