builtin.module {
  func.func @f_init() {
    accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 4096, output = 0x16400000, output_size = 4096, length_width = 26>
    func.return
  }
  func.func @f(%A: memref<4x8xi32>, %B: memref<8x4xi32>, %C: memref<4x4xi32>) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c1 = arith.constant 1 : index
    %c17 = arith.constant 17 : index
    %out = func.call @axl_out_window() : () -> memref<1024xi32>
    %in = func.call @axl_in_window() : () -> memref<1024xi32>
    scf.for %m = %c0 to %c4 step %c4 {
      scf.for %n = %c0 to %c4 step %c4 {
        scf.for %k = %c0 to %c8 step %c4 {
          %0 = arith.constant 1 : i32
          memref.store %0, %in[%c0] {opcode = "sA"} : memref<1024xi32>
          %A_tile = memref.subview %A[%m, %k] [4, 4] [1, 1] : memref<4x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
          %1 = memref.subview %in[%c1] [16] [1] : memref<1024xi32> to memref<16xi32, strided<[1], offset: ?>>
          %2 = "memref.cast"(%1) : (memref<16xi32, strided<[1], offset: ?>>) -> memref<*xi32>
          %3 = "memref.cast"(%A_tile) : (memref<4x4xi32, strided<[8, 1], offset: ?>>) -> memref<*xi32>
          func.call @axl_put_tile_i32(%2, %3, %c4, %c4, %c8, %c1, %c4, %c4) : (memref<*xi32>, memref<*xi32>, index, index, index, index, index, index) -> ()
          %4 = accel.start_send %c0 to %c17 : !accel.token<"send">
          accel.wait %4 : !accel.token<"send">
          %5 = arith.constant 2 : i32
          memref.store %5, %in[%c0] {opcode = "sB"} : memref<1024xi32>
          %B_tile = memref.subview %B[%k, %n] [4, 4] [1, 1] : memref<8x4xi32> to memref<4x4xi32, strided<[4, 1], offset: ?>>
          %6 = memref.subview %in[%c1] [16] [1] : memref<1024xi32> to memref<16xi32, strided<[1], offset: ?>>
          %7 = "memref.cast"(%6) : (memref<16xi32, strided<[1], offset: ?>>) -> memref<*xi32>
          %8 = "memref.cast"(%B_tile) : (memref<4x4xi32, strided<[4, 1], offset: ?>>) -> memref<*xi32>
          func.call @axl_put_tile_i32(%7, %8, %c4, %c4, %c4, %c1, %c4, %c4) : (memref<*xi32>, memref<*xi32>, index, index, index, index, index, index) -> ()
          %9 = accel.start_send %c0 to %c17 : !accel.token<"send">
          accel.wait %9 : !accel.token<"send">
          %10 = arith.constant 4 : i32
          memref.store %10, %in[%c0] {opcode = "cC"} : memref<1024xi32>
          %11 = accel.start_send %c0 to %c1 : !accel.token<"send">
          accel.wait %11 : !accel.token<"send">
        }
        %12 = accel.start_recv %c0 to %c16 {opcode = "rC"} : !accel.token<"recv">
        %13 = arith.constant 8 : i32
        memref.store %13, %in[%c0] : memref<1024xi32>
        %14 = accel.start_send %c0 to %c1 : !accel.token<"send">
        accel.wait %14 : !accel.token<"send">
        accel.wait %12 : !accel.token<"recv">
        %C_tile = memref.subview %C[%m, %n] [4, 4] [1, 1] : memref<4x4xi32> to memref<4x4xi32, strided<[4, 1], offset: ?>>
        %15 = "memref.cast"(%C_tile) : (memref<4x4xi32, strided<[4, 1], offset: ?>>) -> memref<*xi32>
        %16 = memref.subview %out[%c0] [16] [1] : memref<1024xi32> to memref<16xi32, strided<[1], offset: ?>>
        %17 = "memref.cast"(%16) : (memref<16xi32, strided<[1], offset: ?>>) -> memref<*xi32>
        func.call @axl_add_tile_i32(%15, %17, %c4, %c4, %c4, %c1, %c4, %c4) : (memref<*xi32>, memref<*xi32>, index, index, index, index, index, index) -> ()
      }
    } {comment = "Tiles of 4 x 4 x 4 (m, n, k), flow ((sA sB cC) rC)."}
    func.return
  }
  func.func private @axl_in_window() -> memref<1024xi32>
  func.func private @axl_put_tile_i32(memref<*xi32>, memref<*xi32>, index, index, index, index, index, index) -> ()
  func.func private @axl_out_window() -> memref<1024xi32>
  func.func private @axl_add_tile_i32(memref<*xi32>, memref<*xi32>, index, index, index, index, index, index) -> ()
}

