// accel-place{join=true}
func.func @f(%A : memref<8x16xi32>, %B : memref<16x8xi32>, %C : memref<8x8xi32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<8x16xi32>, memref<16x8xi32>) outs(%C : memref<8x8xi32>) attrs = {
        opcode_map = #accel.opcode_map<sA = [send_literal(1), send(A)], sB = [send_literal(2), send(B)], cC = [send_literal(4)], rC = [send_literal(8), recv(C)]>,
        opcode_flow = #accel.opcode_flow<((sA sB cC) rC)>,
        dma_init_config = #accel.dma_init_config<address = 0x40400000, input = 0x16000000, input_size = 480, output = 0x16400000, output_size = 4096>,
        accel_dim = affine_map<(m, n, k) -> (4, 4, 4)>,
        permutation_map = affine_map<(m, n, k) -> (m, n, k)>,
        accel_dims = ["m", "n", "k"],
        accel_operands = [#accel.operand<A(m, k)>, #accel.operand<B(k, n)>, #accel.operand<C(m, n)>],
        accel_loads = ["sA", "sB"]
      } {
  ^bb0(%a : i32, %b : i32, %c : i32):
    %p = arith.muli %a, %b : i32
    %s = arith.addi %p, %c : i32
    linalg.yield %s : i32
  }
  func.return
}
