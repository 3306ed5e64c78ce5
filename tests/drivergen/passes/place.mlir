// accel-place
func.func @f(%A : memref<6x8xi32>, %B : memref<8x4xi32>, %C : memref<6x4xi32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<6x8xi32>, memref<8x4xi32>) outs(%C : memref<6x4xi32>) attrs = {
        opcode_map = #accel.opcode_map<sA = [send_literal(0x22), send(0)], sBcCrC = [send_literal(0x25), send(1), recv(2)], reset = [send_literal(0xFF)]>,
        opcode_flow = #accel.opcode_flow<(sA (sBcCrC))>,
        dma_init_config = #accel.dma_init_config<address = 0x40400000, input = 0x16000000, input_size = 4096, output = 0x16400000, output_size = 4096>,
        accel_dim = affine_map<(m, n, k) -> (4, 4, 4)>,
        permutation_map = affine_map<(m, n, k) -> (m, k, n)>,
        init_opcodes = #accel.init_opcodes<(reset)>,
        accel_dims = ["m", "n", "k"],
        accel_operands = [#accel.operand<A(m, k)>, #accel.operand<B(k, n)>, #accel.operand<C(m, n)>]
      } {
  ^bb0(%a : i32, %b : i32, %c : i32):
    %p = arith.muli %a, %b : i32
    %s = arith.addi %p, %c : i32
    linalg.yield %s : i32
  }
  func.return
}
