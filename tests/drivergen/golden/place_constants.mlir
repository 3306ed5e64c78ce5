builtin.module {
  func.func @f_init() {
    accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 4096, output = 0x16400000, output_size = 4096, length_width = 26, scatter_gather = 1>
    func.return
  }
  func.func @f(%A: memref<4x8xi8> {accel.kind = "in"}, %B: memref<1x64xi8> {accel.kind = "in", accel.constant, accel.packed = #accel.packing<[4, 4] strides [6, 1] as [4, 4] permutation [0, 1] rows 0 beats of 32 from [0 step 24 times 2, 2 step 24 times 2]>}, %C: memref<4x6xi32> {accel.kind = "out"}) {
    %c16 = arith.constant 16 : index
    %c96 = arith.constant 96 : index
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c6 = arith.constant 6 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c24 = arith.constant 24 : index
    %0 = accel.taker_name ""
    %1 = func.call @dma_queue_open(%c16, %0) : (index, index) -> i32
    accel.check %1
    %2 = "memref.cast"(%C) : (memref<4x6xi32>) -> memref<*xi32>
    %3 = accel.bytes %2 : memref<*xi32> to memref<*xi8>
    %4 = func.call @dma_queue_own(%3, %c96) : (memref<*xi8>, index) -> i32
    accel.check %4
    scf.for %m = %c0 to %c4 step %c4 {
      scf.for %n = %c0 to %c6 step %c4 {
        %n_start = arith.minui %n, %c2 : index
        scf.for %k = %c0 to %c8 step %c4 {
          %5 = arith.constant 1 : i32
          %6 = func.call @dma_queue_word(%5) {opcode = "sA"} : (i32) -> i32
          accel.check %6
          %A_tile = memref.subview %A[%m, %k] [4, 4] [1, 1] : memref<4x8xi8> to memref<4x4xi8, strided<[8, 1], offset: ?>>
          %7 = "memref.cast"(%A_tile) : (memref<4x4xi8, strided<[8, 1], offset: ?>>) -> memref<*xi8>
          accel.clean_rows %7, %c4, %c4, %c8 first(%n) : memref<*xi8>
          %8 = "memref.cast"(%A_tile) : (memref<4x4xi8, strided<[8, 1], offset: ?>>) -> memref<*xi8>
          %9 = accel.bytes %8 : memref<*xi8> to memref<*xi8>
          %10 = func.call @dma_queue_rows(%9, %c4, %c4, %c8) : (memref<*xi8>, index, index, index) -> i32
          accel.check %10
          %11 = arith.constant 2 : i32
          %12 = func.call @dma_queue_word(%11) {opcode = "sB"} : (i32) -> i32
          accel.check %12
          %13 = arith.muli %n, %c8 : index
          %14 = arith.muli %k, %c4 : index
          %15 = arith.addi %13, %14 : index
          %B_tile = memref.subview %B[%c0, %15] [1, 16] [1, 1] : memref<1x64xi8> to memref<1x16xi8, strided<[64, 1], offset: ?>>
          %16 = "memref.cast"(%B_tile) : (memref<1x16xi8, strided<[64, 1], offset: ?>>) -> memref<*xi8>
          accel.clean_rows %16, %c16, %c1, %c64 first(%m) : memref<*xi8>
          %17 = "memref.cast"(%B_tile) : (memref<1x16xi8, strided<[64, 1], offset: ?>>) -> memref<*xi8>
          %18 = accel.bytes %17 : memref<*xi8> to memref<*xi8>
          %19 = func.call @dma_queue_rows(%18, %c16, %c1, %c64) : (memref<*xi8>, index, index, index) -> i32
          accel.check %19
          %20 = arith.constant 4 : i32
          %21 = func.call @dma_queue_word(%20) {opcode = "cC"} : (i32) -> i32
          accel.check %21
        }
        %C_tile = memref.subview %C[%m, %n_start] [4, 4] [1, 1] : memref<4x6xi32> to memref<4x4xi32, strided<[6, 1], offset: ?>>
        %22 = "memref.cast"(%C_tile) : (memref<4x4xi32, strided<[6, 1], offset: ?>>) -> memref<*xi32>
        %23 = accel.bytes %22 : memref<*xi32> to memref<*xi8>
        %24 = func.call @dma_queue_receive_rows(%23, %c16, %c4, %c24) {opcode = "rC"} : (memref<*xi8>, index, index, index) -> i32
        accel.check %24
        %25 = arith.constant 8 : i32
        %26 = func.call @dma_queue_word(%25) : (i32) -> i32
        accel.check %26
      }
    } {comment = "Tiles of 4 x 4 x 4 (m, n, k), flow ((sA sB cC) rC). Without copies: A and B and C in place."}
    %27 = func.call @dma_queue_close() : () -> i32
    accel.check %27
    func.return
  }
  func.func private @dma_queue_open(index, index) -> i32
  func.func private @dma_queue_own(memref<*xi8>, index) -> i32
  func.func private @dma_queue_word(i32) -> i32
  func.func private @dma_queue_rows(memref<*xi8>, index, index, index) -> i32
  func.func private @dma_queue_receive_rows(memref<*xi8>, index, index, index) -> i32
  func.func private @dma_queue_close() -> i32
}

