builtin.module {
  func.func @f_init() {
    accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 65536, output = 0x16400000, output_size = 65536, length_width = 26>
    func.return
  }
  func.func @f(%A: memref<4x8xi32>, %B: memref<8x4xi32>, %C: memref<16xi32>, %D: memref<16xi32>, %E: memref<16xi32>) {
    %zero = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %C_1 = memref.expand_shape %C [[0 : i64, 1 : i64]] output_shape [4, 4] : memref<16xi32> into memref<4x4xi32>
    scf.for %m = %c0 to %c4 step %c4 {
      scf.for %n = %c0 to %c4 step %c4 {
        scf.for %k = %c0 to %c8 step %c4 {
          %0 = accel.send_literal 1 at %c0 {opcode = "sA", loads}
          %A_tile = memref.subview %A[%m, %k] [4, 4] [1, 1] : memref<4x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
          %1 = accel.send %A_tile as [4, 4] permutation [0, 1] at %0 : memref<4x4xi32, strided<[8, 1], offset: ?>>
          %2 = accel.start_send %c0 to %1 : !accel.token<"send">
          accel.wait %2 : !accel.token<"send">
          %3 = accel.send_literal 2 at %c0 {opcode = "sB", loads}
          %B_tile = memref.subview %B[%k, %n] [4, 4] [1, 1] : memref<8x4xi32> to memref<4x4xi32, strided<[4, 1], offset: ?>>
          %4 = accel.send %B_tile as [4, 4] permutation [0, 1] at %3 : memref<4x4xi32, strided<[4, 1], offset: ?>>
          %5 = accel.start_send %c0 to %4 : !accel.token<"send">
          accel.wait %5 : !accel.token<"send">
          %6 = accel.send_literal 4 at %c0 {opcode = "cC"}
          %7 = accel.start_send %c0 to %6 : !accel.token<"send">
          accel.wait %7 : !accel.token<"send">
        }
        %8 = accel.start_recv %c0 to %c16 {opcode = "rC"} : !accel.token<"recv">
        %9 = accel.send_literal 8 at %c0
        %10 = accel.start_send %c0 to %9 : !accel.token<"send">
        accel.wait %10 : !accel.token<"send">
        accel.wait %8 : !accel.token<"recv">
        %C_tile = memref.subview %C_1[%m, %n] [4, 4] [1, 1] : memref<4x4xi32> to memref<4x4xi32, strided<[4, 1], offset: ?>>
        accel.recv %C_tile as [4, 4] permutation [0, 1] at %c0 mode "overwrite" : memref<4x4xi32, strided<[4, 1], offset: ?>>
      }
    } {comment = "Tiles of 4 x 4 x 4 (m, n, k), flow ((sA sB cC) rC)."}
    %D_1 = memref.expand_shape %D [[0 : i64, 1 : i64]] output_shape [4, 4] : memref<16xi32> into memref<4x4xi32>
    linalg.fill ins(%zero : i32) outs(%D_1 : memref<4x4xi32>)
    "memref.copy"(%E, %D) : (memref<16xi32>, memref<16xi32>) -> ()
    scf.for %m_1 = %c0 to %c4 step %c4 {
      scf.for %n_1 = %c0 to %c4 step %c4 {
        scf.for %k_1 = %c0 to %c8 step %c4 {
          %11 = accel.send_literal 1 at %c0 {opcode = "sA", loads}
          %A_tile_1 = memref.subview %A[%m_1, %k_1] [4, 4] [1, 1] : memref<4x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
          %12 = accel.send %A_tile_1 as [4, 4] permutation [0, 1] at %11 : memref<4x4xi32, strided<[8, 1], offset: ?>>
          %13 = accel.start_send %c0 to %12 : !accel.token<"send">
          accel.wait %13 : !accel.token<"send">
          %14 = accel.send_literal 2 at %c0 {opcode = "sB", loads}
          %B_tile_1 = memref.subview %B[%k_1, %n_1] [4, 4] [1, 1] : memref<8x4xi32> to memref<4x4xi32, strided<[4, 1], offset: ?>>
          %15 = accel.send %B_tile_1 as [4, 4] permutation [0, 1] at %14 : memref<4x4xi32, strided<[4, 1], offset: ?>>
          %16 = accel.start_send %c0 to %15 : !accel.token<"send">
          accel.wait %16 : !accel.token<"send">
          %17 = accel.send_literal 4 at %c0 {opcode = "cC"}
          %18 = accel.start_send %c0 to %17 : !accel.token<"send">
          accel.wait %18 : !accel.token<"send">
        }
        %19 = accel.start_recv %c0 to %c16 {opcode = "rC"} : !accel.token<"recv">
        %20 = accel.send_literal 8 at %c0
        %21 = accel.start_send %c0 to %20 : !accel.token<"send">
        accel.wait %21 : !accel.token<"send">
        accel.wait %19 : !accel.token<"recv">
        %D_tile = memref.subview %D_1[%m_1, %n_1] [4, 4] [1, 1] : memref<4x4xi32> to memref<4x4xi32, strided<[4, 1], offset: ?>>
        accel.recv %D_tile as [4, 4] permutation [0, 1] at %c0 mode "accumulate" : memref<4x4xi32, strided<[4, 1], offset: ?>>
      }
    } {comment = "Tiles of 4 x 4 x 4 (m, n, k), flow ((sA sB cC) rC)."}
    func.return
  }
}

