builtin.module {
  func.func @f_init() {
    accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 65536, output = 0x16400000, output_size = 65536, length_width = 26, scatter_gather = 1>
    func.return
  }
  func.func @f(%A: memref<128x64xi32>, %B: memref<64x128xi32>, %C: memref<128x128xi32>) {
    %c1024 = arith.constant 1024 : index
    %c65536 = arith.constant 65536 : index
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c8192 = arith.constant 8192 : index
    %c1 = arith.constant 1 : index
    %c512 = arith.constant 512 : index
    %0 = accel.taker_name ""
    %1 = func.call @dma_queue_open(%c1024, %0) : (index, index) -> i32
    accel.check %1
    %2 = "memref.cast"(%C) : (memref<128x128xi32>) -> memref<*xi32>
    %3 = accel.bytes %2 : memref<*xi32> to memref<*xi8>
    %4 = func.call @dma_queue_own(%3, %c65536) : (memref<*xi8>, index) -> i32
    accel.check %4
    %5 = func.call @dma_queue_clean_all(%c65536) : (index) -> i32
    accel.check %5
    scf.for %m = %c0 to %c128 step %c32 {
      scf.for %n = %c0 to %c128 step %c32 {
        scf.for %k = %c0 to %c64 step %c64 {
          %6 = arith.constant 1 : i32
          %7 = func.call @dma_queue_word(%6) {opcode = "sA"} : (i32) -> i32
          accel.check %7
          %A_tile = memref.subview %A[%m, %k] [32, 64] [1, 1] : memref<128x64xi32> to memref<32x64xi32, strided<[64, 1], offset: ?>>
          %8 = "memref.cast"(%A_tile) : (memref<32x64xi32, strided<[64, 1], offset: ?>>) -> memref<*xi32>
          accel.clean_rows %8, %c8192, %c1, %c8192 first(%n) : memref<*xi32>
          %9 = "memref.cast"(%A_tile) : (memref<32x64xi32, strided<[64, 1], offset: ?>>) -> memref<*xi32>
          %10 = accel.bytes %9 : memref<*xi32> to memref<*xi8>
          %11 = func.call @dma_queue_rows(%10, %c8192, %c1, %c8192) : (memref<*xi8>, index, index, index) -> i32
          accel.check %11
          %12 = arith.constant 2 : i32
          %13 = func.call @dma_queue_word(%12) {opcode = "sB"} : (i32) -> i32
          accel.check %13
          %B_tile = memref.subview %B[%k, %n] [64, 32] [1, 1] : memref<64x128xi32> to memref<64x32xi32, strided<[128, 1], offset: ?>>
          %14 = "memref.cast"(%B_tile) : (memref<64x32xi32, strided<[128, 1], offset: ?>>) -> memref<*xi32>
          accel.clean_rows %14, %c128, %c64, %c512 first(%m) : memref<*xi32>
          %15 = "memref.cast"(%B_tile) : (memref<64x32xi32, strided<[128, 1], offset: ?>>) -> memref<*xi32>
          %16 = accel.bytes %15 : memref<*xi32> to memref<*xi8>
          %17 = func.call @dma_queue_rows(%16, %c128, %c64, %c512) : (memref<*xi8>, index, index, index) -> i32
          accel.check %17
          %18 = arith.constant 4 : i32
          %19 = func.call @dma_queue_word(%18) {opcode = "cC"} : (i32) -> i32
          accel.check %19
        }
        %C_tile = memref.subview %C[%m, %n] [32, 32] [1, 1] : memref<128x128xi32> to memref<32x32xi32, strided<[128, 1], offset: ?>>
        %20 = "memref.cast"(%C_tile) : (memref<32x32xi32, strided<[128, 1], offset: ?>>) -> memref<*xi32>
        %21 = accel.bytes %20 : memref<*xi32> to memref<*xi8>
        %22 = func.call @dma_queue_receive_rows(%21, %c128, %c32, %c512) {opcode = "rC"} : (memref<*xi8>, index, index, index) -> i32
        accel.check %22
        %23 = arith.constant 8 : i32
        %24 = func.call @dma_queue_word(%23) : (i32) -> i32
        accel.check %24
      }
    } {comment = "Tiles of 32 x 32 x 64 (m, n, k), flow ((sA sB cC) rC). Without copies: A and B and C in place."}
    %25 = func.call @dma_queue_close() : () -> i32
    accel.check %25
    func.return
  }
  func.func private @dma_queue_open(index, index) -> i32
  func.func private @dma_queue_own(memref<*xi8>, index) -> i32
  func.func private @dma_queue_clean_all(index) -> i32
  func.func private @dma_queue_word(i32) -> i32
  func.func private @dma_queue_rows(memref<*xi8>, index, index, index) -> i32
  func.func private @dma_queue_receive_rows(memref<*xi8>, index, index, index) -> i32
  func.func private @dma_queue_close() -> i32
}

