builtin.module {
  func.func @f(%A: memref<6x8xi8>, %C: memref<6x4xi32>, %rows: index) -> i32 {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c1077936128 = arith.constant 1077936128 : index
    %c369098752 = arith.constant 369098752 : index
    %c4096 = arith.constant 4096 : index
    %c373293056 = arith.constant 373293056 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %0 = func.call @dma_init(%c1077936128, %c369098752, %c4096, %c373293056, %c4096) : (index, index, index, index, index) -> i32
    accel.check %0
    %1 = func.call @dma_start_recv(%c16, %c0) : (index, index) -> i32
    accel.check %1
    %2 = arith.constant 34 : i32
    %3 = func.call @dma_put_word(%2, %c0) {opcode = "sA"} : (i32, index) -> i32
    accel.check %3
    %4 = arith.constant 16388 : i32
    %5 = func.call @dma_put_word(%4, %c1) : (i32, index) -> i32
    accel.check %5
    %6 = arith.index_cast %rows : index to i32
    %7 = arith.constant 0 : i32
    %8 = arith.shli %6, %7 : i32
    %9 = arith.constant 16384 : i32
    %10 = arith.ori %9, %8 : i32
    %11 = func.call @dma_put_word(%10, %c2) : (i32, index) -> i32
    accel.check %11
    %12 = arith.index_cast %rows : index to i32
    %13 = func.call @dma_put_word(%12, %c3) : (i32, index) -> i32
    accel.check %13
    %A_tile = memref.subview %A[%c0, %c4] [%rows, 4] [1, 1] : memref<6x8xi8> to memref<?x4xi8, strided<[8, 1], offset: ?>>
    %14 = "memref.cast"(%A_tile) : (memref<?x4xi8, strided<[8, 1], offset: ?>>) -> memref<*xi8>
    %15 = func.call @dma_put_tile_i8(%14, %c4, %rows, %c1, %c8, %c4, %c4, %c4) : (memref<*xi8>, index, index, index, index, index, index, index) -> i32
    accel.check %15
    %16 = func.call @dma_start_send(%c8, %c0) : (index, index) -> i32
    accel.check %16
    %17 = func.call @dma_wait_send() : () -> i32
    accel.check %17
    %18 = func.call @dma_wait_recv() : () -> i32
    accel.check %18
    %C_tile = memref.subview %C[%c0, %c0] [%rows, 4] [1, 1] : memref<6x4xi32> to memref<?x4xi32, strided<[4, 1], offset: ?>>
    %19 = "memref.cast"(%C_tile) : (memref<?x4xi32, strided<[4, 1], offset: ?>>) -> memref<*xi32>
    %20 = arith.constant 0 : i32
    %21 = func.call @dma_get_tile_i32(%19, %rows, %c4, %c4, %c1, %c4, %c4, %c0, %20) : (memref<*xi32>, index, index, index, index, index, index, index, i32) -> i32
    accel.check %21
    %22 = arith.constant 0 : i32
    func.return %22 : i32
  }
  func.func private @dma_init(index, index, index, index, index) -> i32
  func.func private @dma_start_recv(index, index) -> i32
  func.func private @dma_put_word(i32, index) -> i32
  func.func private @dma_put_tile_i8(memref<*xi8>, index, index, index, index, index, index, index) -> i32
  func.func private @dma_start_send(index, index) -> i32
  func.func private @dma_wait_send() -> i32
  func.func private @dma_wait_recv() -> i32
  func.func private @dma_get_tile_i32(memref<*xi32>, index, index, index, index, index, index, index, i32) -> i32
}

