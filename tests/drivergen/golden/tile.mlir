builtin.module {
  func.func @f(%A: memref<6x8xi32>, %B: memref<8x4xi32>, %C: memref<6x4xi32>) {
    %c0 = arith.constant 0 : index
    %c6 = arith.constant 6 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    scf.for %m = %c0 to %c6 step %c4 {
      %0 = arith.subi %c6, %m : index
      %m_len = arith.minui %c4, %0 : index
      scf.for %k = %c0 to %c8 step %c4 {
        scf.for %n = %c0 to %c4 step %c4 {
          %A_tile = memref.subview %A[%m, %k] [%m_len, 4] [1, 1] : memref<6x8xi32> to memref<?x4xi32, strided<[8, 1], offset: ?>>
          %B_tile = memref.subview %B[%k, %n] [4, 4] [1, 1] : memref<8x4xi32> to memref<4x4xi32, strided<[4, 1], offset: ?>>
          %C_tile = memref.subview %C[%m, %n] [%m_len, 4] [1, 1] : memref<6x4xi32> to memref<?x4xi32, strided<[4, 1], offset: ?>>
          linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A_tile, %B_tile : memref<?x4xi32, strided<[8, 1], offset: ?>>, memref<4x4xi32, strided<[4, 1], offset: ?>>) outs(%C_tile : memref<?x4xi32, strided<[4, 1], offset: ?>>) attrs =  {opcode_map = #accel.opcode_map<sA = [send_literal(34), send(0)], sBcCrC = [send_literal(37), send(1), recv(2)], reset = [send_literal(255)]>, opcode_flow = #accel.opcode_flow<(sA (sBcCrC))>, dma_init_config = #accel.dma_init_config<id = 0, address = 0x40400000, input = 0x16000000, input_size = 4096, output = 0x16400000, output_size = 4096, length_width = 26>, accel_dim = affine_map<(d0, d1, d2) -> (4, 4, 4)>, permutation_map = affine_map<(d0, d1, d2) -> (d0, d2, d1)>, init_opcodes = #accel.init_opcodes<(reset)>, accel_dims = ["m", "n", "k"], accel_operands = [#accel.operand<A(m, k)>, #accel.operand<B(k, n)>, #accel.operand<C(m, n)>]} {
          ^bb0(%a: i32, %b: i32, %c: i32):
            %p = arith.muli %a, %b : i32
            %s = arith.addi %p, %c : i32
            linalg.yield %s : i32
          }
        }
      }
    }
    func.return
  }
}

