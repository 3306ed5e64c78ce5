builtin.module {
  func.func @f(%x: memref<8192xi8>, %bias: memref<16xi32>, %y: memref<8192xi32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8192 = arith.constant 8192 : index
    %c32 = arith.constant 32 : index
    scf.for %i0_block = %c0 to %c8192 step %c32 {
      %0 = arith.addi %i0_block, %c32 : index
      %1 = arith.constant 256 : index
      %2 = arith.addi %i0_block, %1 : index
      accel.preload 1 from %x[%2] : memref<8192xi8>
      %3 = arith.constant 64 : index
      %4 = arith.addi %i0_block, %3 : index
      accel.preload 4 from %y[%4] : memref<8192xi32>
      scf.for %i0 = %i0_block to %0 step %c1 {
        %x_value = memref.load %x[%i0] : memref<8192xi8>
        %bias_value = memref.load %bias[%c0] : memref<16xi32>
        %e = arith.extsi %x_value : i8 to i32
        %s = arith.addi %e, %bias_value : i32
        memref.store %s, %y[%i0] : memref<8192xi32>
      }
    }
    func.return
  }
}

