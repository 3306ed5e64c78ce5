builtin.module {
  func.func @f(%H: memref<9xi16>) -> i32 {
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %c32 = arith.constant 32 : index
    %c132 = arith.constant 132 : index
    %c9 = arith.constant 9 : index
    %c16 = arith.constant 16 : index
    %c32800 = arith.constant 32800 : index
    %c100 = arith.constant 100 : index
    %c32784 = arith.constant 32784 : index
    %c32808 = arith.constant 32808 : index
    %c32768 = arith.constant 32768 : index
    %0 = func.call @dma_device_elements(%c32800, %c9, %c16, %c0) : (index, index, index, index) -> i32
    accel.check %0
    %1 = func.call @dma_device_reads(%c32784, %c100, %c32) : (index, index, index) -> i32
    accel.check %1
    %2 = func.call @dma_device_writes(%c32808, %c132, %c0) : (index, index, index) -> i32
    accel.check %2
    %3 = arith.constant 1 : i32
    %4 = func.call @dma_device_write(%c32768, %3) : (index, i32) -> i32
    accel.check %4
    %5 = arith.constant 2 : i32
    %6 = func.call @dma_device_wait(%c32768, %5) : (index, i32) -> i32
    accel.check %6
    %7 = func.call @dma_device_wrote(%c132, %c0) : (index, index) -> i32
    accel.check %7
    %8 = arith.constant 0 : i32
    func.return %8 : i32
  }
  func.func private @dma_device_elements(index, index, index, index) -> i32
  func.func private @dma_device_reads(index, index, index) -> i32
  func.func private @dma_device_writes(index, index, index) -> i32
  func.func private @dma_device_write(index, i32) -> i32
  func.func private @dma_device_wait(index, i32) -> i32
  func.func private @dma_device_wrote(index, index) -> i32
}

