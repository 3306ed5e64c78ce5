builtin.module {
  func.func @matmul(%A: memref<4x8xi8>, %B: memref<8x4xi8>, %C: memref<4x4xi32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    scf.for %m = %c0 to %c4 step %c1 {
      scf.for %k = %c0 to %c8 step %c1 {
        scf.for %n = %c0 to %c4 step %c1 {
          %A_value = memref.load %A[%m, %k] : memref<4x8xi8>
          %B_value = memref.load %B[%k, %n] : memref<8x4xi8>
          %C_value = memref.load %C[%m, %n] : memref<4x4xi32>
          %0 = arith.extsi %A_value : i8 to i32
          %1 = arith.extsi %B_value : i8 to i32
          %2 = arith.muli %0, %1 : i32
          %3 = arith.addi %C_value, %2 : i32
          memref.store %3, %C[%m, %n] : memref<4x4xi32>
        }
      }
    }
    func.return
  }
  func.func @transposed(%A: memref<4x8xi32>, %B: memref<4x8xi32>, %C: memref<4x4xi32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    scf.for %m = %c0 to %c4 step %c1 {
      scf.for %n = %c0 to %c4 step %c1 {
        scf.for %k = %c0 to %c8 step %c1 {
          %A_value = memref.load %A[%m, %k] : memref<4x8xi32>
          %B_value = memref.load %B[%n, %k] : memref<4x8xi32>
          %C_value = memref.load %C[%m, %n] : memref<4x4xi32>
          %p = arith.muli %A_value, %B_value : i32
          %s = arith.addi %p, %C_value : i32
          memref.store %s, %C[%m, %n] : memref<4x4xi32>
        }
      }
    }
    func.return
  }
  func.func @fill_and_copy(%C: memref<4x4xi32>, %D: memref<4x4xi32>) {
    %one = arith.constant 1 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %i0 = %c0 to %c4 step %c1 {
      scf.for %i1 = %c0 to %c4 step %c1 {
        memref.store %one, %C[%i0, %i1] : memref<4x4xi32>
      }
    }
    scf.for %i0_1 = %c0 to %c4 step %c1 {
      scf.for %i1_1 = %c0 to %c4 step %c1 {
        %0 = memref.load %C[%i0_1, %i1_1] : memref<4x4xi32>
        memref.store %0, %D[%i0_1, %i1_1] : memref<4x4xi32>
      }
    }
    func.return
  }
}

