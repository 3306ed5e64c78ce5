builtin.module {
  func.func @f(%I: memref<3x8x8xi8>, %F: memref<2x27xi8>, %O: memref<2x6x6xi32>) -> i32 {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c2 = arith.constant 2 : index
    %c27 = arith.constant 27 : index
    %c24 = arith.constant 24 : index
    %c72 = arith.constant 72 : index
    %I_tile = memref.subview %I[%c0, %c0, %c0] [3, 3, 3] [1, 1, 1] : memref<3x8x8xi8> to memref<3x3x3xi8, strided<[64, 8, 1], offset: ?>>
    %0 = "memref.cast"(%I_tile) : (memref<3x3x3xi8, strided<[64, 8, 1], offset: ?>>) -> memref<*xi8>
    %1 = func.call @dma_put_block_i8(%0, %c1, %c3, %c3, %c3, %c0, %c64, %c8, %c1, %c8, %c0) : (memref<*xi8>, index, index, index, index, index, index, index, index, index, index) -> i32
    accel.check %1
    %2 = "memref.cast"(%F) : (memref<2x27xi8>) -> memref<*xi8>
    %3 = func.call @dma_put_block_i8(%2, %c2, %c1, %c1, %c27, %c27, %c0, %c0, %c1, %c8, %c8) : (memref<*xi8>, index, index, index, index, index, index, index, index, index, index) -> i32
    accel.check %3
    %4 = func.call @dma_start_send(%c24, %c0) : (index, index) -> i32
    accel.check %4
    %5 = func.call @dma_wait_send() : () -> i32
    accel.check %5
    %6 = "memref.cast"(%O) : (memref<2x6x6xi32>) -> memref<*xi32>
    %7 = arith.constant 1 : i32
    %8 = func.call @dma_get_block_i32(%6, %c1, %c1, %c72, %c0, %c0, %c1, %c72, %c64, %7) : (memref<*xi32>, index, index, index, index, index, index, index, index, i32) -> i32
    accel.check %8
    %9 = arith.constant 0 : i32
    func.return %9 : i32
  }
  func.func private @dma_put_block_i8(memref<*xi8>, index, index, index, index, index, index, index, index, index, index) -> i32
  func.func private @dma_start_send(index, index) -> i32
  func.func private @dma_wait_send() -> i32
  func.func private @dma_get_block_i32(memref<*xi32>, index, index, index, index, index, index, index, index, i32) -> i32
}

