builtin.module {
  func.func @f_init() {
    accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 4096, output = 0x16400000, output_size = 4096, length_width = 26, scatter_gather = 1>
    func.return
  }
  func.func @f(%A: memref<8x8xi32>, %B: memref<8x6xi32>, %C: memref<8x6xi32>) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c4 = arith.constant 4 : index
    %c6 = arith.constant 6 : index
    accel.queue_open 16
    scf.for %m = %c0 to %c8 step %c4 {
      scf.for %n = %c0 to %c6 step %c4 {
        %0 = arith.subi %c6, %n : index
        %n_len = arith.minui %c4, %0 : index
        scf.for %k = %c0 to %c8 step %c4 {
          %1 = arith.constant 1 : i32
          accel.queue_word %1 {opcode = "sA"}
          %A_tile = memref.subview %A[%m, %k] [4, 4] [1, 1] : memref<8x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
          accel.queue_clean %A_tile first(%n) : memref<4x4xi32, strided<[8, 1], offset: ?>>
          accel.queue_tile %A_tile as [4, 4] permutation [0, 1] "in place" : memref<4x4xi32, strided<[8, 1], offset: ?>>
          %2 = arith.constant 2 : i32
          accel.queue_word %2 {opcode = "sB"}
          %B_tile = memref.subview %B[%k, %n] [4, %n_len] [1, 1] : memref<8x6xi32> to memref<4x?xi32, strided<[6, 1], offset: ?>>
          accel.queue_clean %B_tile first(%m) : memref<4x?xi32, strided<[6, 1], offset: ?>>
          accel.queue_tile %B_tile as [4, 4] permutation [0, 1] "whole in place" : memref<4x?xi32, strided<[6, 1], offset: ?>>
          %3 = arith.constant 4 : i32
          accel.queue_word %3 {opcode = "cC"}
        }
        %C_tile = memref.subview %C[%m, %n] [4, %n_len] [1, 1] : memref<8x6xi32> to memref<4x?xi32, strided<[6, 1], offset: ?>>
        accel.queue_receive %C_tile as [4, 4] permutation [0, 1] "through the window" mode "accumulate" {opcode = "rC"} : memref<4x?xi32, strided<[6, 1], offset: ?>>
        %4 = arith.constant 8 : i32
        accel.queue_word %4
      }
    } {comment = "Tiles of 4 x 4 x 4 (m, n, k), flow ((sA sB cC) rC). Without copies: A in place, B whole in place, C through the window."}
    accel.queue_close
    func.return
  }
}

