// accel-unsigned-arguments
// Only what an accelerator alone reads: the CPU copies %B.
func.func @f(%A : memref<8x8xi8>, %B : memref<8x4xi8>, %D : memref<8x4xi8>, %C : memref<8x4xi32>) {
  "memref.copy"(%B, %D) : (memref<8x4xi8>, memref<8x4xi8>) -> ()
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<8x8xi8>, memref<8x4xi8>) outs(%C : memref<8x4xi32>) attrs = {
        opcode_map = #accel.opcode_map<sA = [send_literal(0x22), send(0)], sBcCrC = [send_literal(0x25), send(1), recv(2)]>,
        opcode_flow = #accel.opcode_flow<(sA (sBcCrC))>,
        dma_init_config = #accel.dma_init_config<address = 0x40400000, input = 0x16000000, input_size = 4096, output = 0x16400000, output_size = 4096>,
        accel_dim = affine_map<(m, n, k) -> (4, 4, 4)>,
        permutation_map = affine_map<(m, n, k) -> (m, k, n)>,
        accel_dims = ["m", "n", "k"],
        accel_operands = [#accel.operand<A(m, k)>, #accel.operand<B(k, n)>, #accel.operand<C(m, n)>]
      } {
  ^bb0(%a : i8, %b : i8, %c : i32):
    %x = arith.extui %a : i8 to i32
    %y = arith.extui %b : i8 to i32
    %p = arith.muli %x, %y : i32
    %s = arith.addi %p, %c : i32
    linalg.yield %s : i32
  }
  func.return
}
