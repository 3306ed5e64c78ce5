builtin.module {
  func.func @in_place_init() -> i32 {
    %c1077936128 = arith.constant 1077936128 : index
    %c369098752 = arith.constant 369098752 : index
    %c4096 = arith.constant 4096 : index
    %c373293056 = arith.constant 373293056 : index
    %0 = func.call @dma_init(%c1077936128, %c369098752, %c4096, %c373293056, %c4096) : (index, index, index, index, index) -> i32
    accel.check %0
    %1 = arith.constant 0 : i32
    func.return %1 : i32
  }
  func.func @in_place(%A: memref<64xi32>, %B: memref<64xi32>, %C: memref<64xi32>) -> i32 {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c32 = arith.constant 32 : index
    %c32784 = arith.constant 32784 : index
    %c32796 = arith.constant 32796 : index
    %c32808 = arith.constant 32808 : index
    %c32768 = arith.constant 32768 : index
    scf.for %n = %c0 to %c64 step %c32 {
      %A_tile = memref.subview %A[%n] [32] [1] : memref<64xi32> to memref<32xi32, strided<[1], offset: ?>>
      %0 = "memref.cast"(%A_tile) : (memref<32xi32, strided<[1], offset: ?>>) -> memref<*xi32>
      %1 = func.call @dma_device_reads_at(%c32784, %0, %c32) : (index, memref<*xi32>, index) -> i32
      accel.check %1
      %B_tile = memref.subview %B[%n] [32] [1] : memref<64xi32> to memref<32xi32, strided<[1], offset: ?>>
      %2 = "memref.cast"(%B_tile) : (memref<32xi32, strided<[1], offset: ?>>) -> memref<*xi32>
      %3 = func.call @dma_device_reads_at(%c32796, %2, %c32) : (index, memref<*xi32>, index) -> i32
      accel.check %3
      %C_tile = memref.subview %C[%n] [32] [1] : memref<64xi32> to memref<32xi32, strided<[1], offset: ?>>
      %4 = "memref.cast"(%C_tile) : (memref<32xi32, strided<[1], offset: ?>>) -> memref<*xi32>
      %5 = func.call @dma_device_writes_at(%c32808, %4, %c32) : (index, memref<*xi32>, index) -> i32
      accel.check %5
      %6 = arith.constant 1 : i32
      %7 = func.call @dma_device_write(%c32768, %6) : (index, i32) -> i32
      accel.check %7
      %8 = arith.constant 2 : i32
      %9 = func.call @dma_device_wait(%c32768, %8) : (index, i32) -> i32
      accel.check %9
      %10 = "memref.cast"(%C_tile) : (memref<32xi32, strided<[1], offset: ?>>) -> memref<*xi32>
      %11 = func.call @dma_device_wrote_at(%10, %c32) : (memref<*xi32>, index) -> i32
      accel.check %11
    } {comment = "Tiles of 32 (n), flow (all)."}
    %12 = arith.constant 0 : i32
    func.return %12 : i32
  }
  func.func private @dma_init(index, index, index, index, index) -> i32
  func.func private @dma_device_reads_at(index, memref<*xi32>, index) -> i32
  func.func private @dma_device_writes_at(index, memref<*xi32>, index) -> i32
  func.func private @dma_device_write(index, i32) -> i32
  func.func private @dma_device_wait(index, i32) -> i32
  func.func private @dma_device_wrote_at(memref<*xi32>, index) -> i32
}

