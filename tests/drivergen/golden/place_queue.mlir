builtin.module {
  accel.taker "add_to_C" "accumulate" [4, 4] strides [6, 1] of i32
  func.func @f_init() {
    accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 4096, output = 0x16400000, output_size = 4096, length_width = 26, scatter_gather = 1>
    func.return
  }
  func.func @f(%A: memref<8x8xi32>, %B: memref<8x6xi32>, %C: memref<8x6xi32>) {
    %c16 = arith.constant 16 : index
    %c4 = arith.constant 4 : index
    %c24 = arith.constant 24 : index
    %c2 = arith.constant 2 : index
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c6 = arith.constant 6 : index
    %c32 = arith.constant 32 : index
    %0 = accel.taker_name "add_to_C"
    %1 = func.call @dma_queue_open_ahead(%0, %c16, %c4, %c24, %c2) : (index, index, index, index, index) -> i32
    accel.check %1
    scf.for %m = %c0 to %c8 step %c4 {
      scf.for %n = %c0 to %c6 step %c4 {
        %2 = arith.subi %c6, %n : index
        %n_len = arith.minui %c4, %2 : index
        scf.for %k = %c0 to %c8 step %c4 {
          %3 = arith.constant 1 : i32
          %4 = func.call @dma_queue_word(%3) {opcode = "sA"} : (i32) -> i32
          accel.check %4
          %A_tile = memref.subview %A[%m, %k] [4, 4] [1, 1] : memref<8x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
          %5 = "memref.cast"(%A_tile) : (memref<4x4xi32, strided<[8, 1], offset: ?>>) -> memref<*xi32>
          accel.clean_rows %5, %c16, %c4, %c32 first(%n) : memref<*xi32>
          %6 = "memref.cast"(%A_tile) : (memref<4x4xi32, strided<[8, 1], offset: ?>>) -> memref<*xi32>
          %7 = accel.bytes %6 : memref<*xi32> to memref<*xi8>
          %8 = func.call @dma_queue_rows(%7, %c16, %c4, %c32) : (memref<*xi8>, index, index, index) -> i32
          accel.check %8
          %9 = arith.constant 2 : i32
          %10 = func.call @dma_queue_word(%9) {opcode = "sB"} : (i32) -> i32
          accel.check %10
          %B_tile = memref.subview %B[%k, %n] [4, %n_len] [1, 1] : memref<8x6xi32> to memref<4x?xi32, strided<[6, 1], offset: ?>>
          %11 = "memref.cast"(%B_tile) : (memref<4x?xi32, strided<[6, 1], offset: ?>>) -> memref<*xi32>
          %12 = arith.muli %n_len, %c4 : index
          accel.clean_rows %11, %12, %c4, %c24 first(%m) : memref<*xi32>
          %13 = "memref.cast"(%B_tile) : (memref<4x?xi32, strided<[6, 1], offset: ?>>) -> memref<*xi32>
          %14 = func.call @dma_queue_matrix_i32(%13, %c4, %n_len, %c6, %c4, %c4) : (memref<*xi32>, index, index, index, index, index) -> i32
          accel.check %14
          %15 = arith.constant 4 : i32
          %16 = func.call @dma_queue_word(%15) {opcode = "cC"} : (i32) -> i32
          accel.check %16
        }
        %C_tile = memref.subview %C[%m, %n] [4, %n_len] [1, 1] : memref<8x6xi32> to memref<4x?xi32, strided<[6, 1], offset: ?>>
        %17 = "memref.cast"(%C_tile) : (memref<4x?xi32, strided<[6, 1], offset: ?>>) -> memref<*xi32>
        %18 = accel.bytes %17 : memref<*xi32> to memref<*xi8>
        %19 = func.call @dma_queue_receive(%18, %c4, %n_len) {opcode = "rC"} : (memref<*xi8>, index, index) -> i32
        accel.check %19
        %20 = arith.constant 8 : i32
        %21 = func.call @dma_queue_word(%20) : (i32) -> i32
        accel.check %21
      }
    } {comment = "Tiles of 4 x 4 x 4 (m, n, k), flow ((sA sB cC) rC). Without copies: A in place, B whole in place, C through the window."}
    %22 = func.call @dma_queue_close() : () -> i32
    accel.check %22
    func.return
  }
  func.func private @dma_queue_open_ahead(index, index, index, index, index) -> i32
  func.func private @dma_queue_word(i32) -> i32
  func.func private @dma_queue_rows(memref<*xi8>, index, index, index) -> i32
  func.func private @dma_queue_matrix_i32(memref<*xi32>, index, index, index, index, index) -> i32
  func.func private @dma_queue_receive(memref<*xi8>, index, index) -> i32
  func.func private @dma_queue_close() -> i32
}

