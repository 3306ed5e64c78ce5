builtin.module {
  func.func @f_init() {
    accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 4096, output = 0x16400000, output_size = 4096, length_width = 26, scatter_gather = 1>
    func.return
  }
  func.func @f(%A: memref<10x8xi32>, %B: memref<8x6xi32>, %C: memref<10x6xi32>) {
    %c16 = arith.constant 16 : index
    %c240 = arith.constant 240 : index
    %c0 = arith.constant 0 : index
    %c10 = arith.constant 10 : index
    %c4 = arith.constant 4 : index
    %c6 = arith.constant 6 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c24 = arith.constant 24 : index
    %0 = accel.taker_name ""
    %1 = func.call @dma_queue_open(%c16, %0) : (index, index) -> i32
    accel.check %1
    %2 = "memref.cast"(%C) : (memref<10x6xi32>) -> memref<*xi32>
    %3 = accel.bytes %2 : memref<*xi32> to memref<*xi8>
    %4 = func.call @dma_queue_own(%3, %c240) : (memref<*xi8>, index) -> i32
    accel.check %4
    scf.for %m = %c0 to %c10 step %c4 {
      %m_start = arith.minui %m, %c6 : index
      scf.for %n = %c0 to %c6 step %c4 {
        %n_start = arith.minui %n, %c2 : index
        scf.for %k = %c0 to %c8 step %c4 {
          %5 = arith.constant 1 : i32
          %6 = func.call @dma_queue_word(%5) {opcode = "sA"} : (i32) -> i32
          accel.check %6
          %A_tile = memref.subview %A[%m_start, %k] [4, 4] [1, 1] : memref<10x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
          %7 = "memref.cast"(%A_tile) : (memref<4x4xi32, strided<[8, 1], offset: ?>>) -> memref<*xi32>
          accel.clean_rows %7, %c16, %c4, %c32 first(%n) : memref<*xi32>
          %8 = "memref.cast"(%A_tile) : (memref<4x4xi32, strided<[8, 1], offset: ?>>) -> memref<*xi32>
          %9 = accel.bytes %8 : memref<*xi32> to memref<*xi8>
          %10 = func.call @dma_queue_rows(%9, %c16, %c4, %c32) : (memref<*xi8>, index, index, index) -> i32
          accel.check %10
          %11 = arith.constant 2 : i32
          %12 = func.call @dma_queue_word(%11) {opcode = "sB"} : (i32) -> i32
          accel.check %12
          %B_tile = memref.subview %B[%k, %n_start] [4, 4] [1, 1] : memref<8x6xi32> to memref<4x4xi32, strided<[6, 1], offset: ?>>
          %13 = "memref.cast"(%B_tile) : (memref<4x4xi32, strided<[6, 1], offset: ?>>) -> memref<*xi32>
          accel.clean_rows %13, %c16, %c4, %c24 first(%m) : memref<*xi32>
          %14 = "memref.cast"(%B_tile) : (memref<4x4xi32, strided<[6, 1], offset: ?>>) -> memref<*xi32>
          %15 = accel.bytes %14 : memref<*xi32> to memref<*xi8>
          %16 = func.call @dma_queue_rows(%15, %c16, %c4, %c24) : (memref<*xi8>, index, index, index) -> i32
          accel.check %16
          %17 = arith.constant 4 : i32
          %18 = func.call @dma_queue_word(%17) {opcode = "cC"} : (i32) -> i32
          accel.check %18
        }
        %C_tile = memref.subview %C[%m_start, %n_start] [4, 4] [1, 1] : memref<10x6xi32> to memref<4x4xi32, strided<[6, 1], offset: ?>>
        %19 = "memref.cast"(%C_tile) : (memref<4x4xi32, strided<[6, 1], offset: ?>>) -> memref<*xi32>
        %20 = accel.bytes %19 : memref<*xi32> to memref<*xi8>
        %21 = func.call @dma_queue_receive_rows(%20, %c16, %c4, %c24) {opcode = "rC"} : (memref<*xi8>, index, index, index) -> i32
        accel.check %21
        %22 = arith.constant 8 : i32
        %23 = func.call @dma_queue_word(%22) : (i32) -> i32
        accel.check %23
      }
    } {comment = "Tiles of 4 x 4 x 4 (m, n, k), flow ((sA sB cC) rC). Without copies: A and B and C in place."}
    %24 = func.call @dma_queue_close() : () -> i32
    accel.check %24
    func.return
  }
  func.func private @dma_queue_open(index, index) -> i32
  func.func private @dma_queue_own(memref<*xi8>, index) -> i32
  func.func private @dma_queue_word(i32) -> i32
  func.func private @dma_queue_rows(memref<*xi8>, index, index, index) -> i32
  func.func private @dma_queue_receive_rows(memref<*xi8>, index, index, index) -> i32
  func.func private @dma_queue_close() -> i32
}

