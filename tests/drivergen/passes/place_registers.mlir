// accel-place
func.func @pointers(%A : memref<8xi32>, %B : memref<8xi32>, %C : memref<8xi32>) {
  linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]}
      ins(%A, %B : memref<8xi32>, memref<8xi32>) outs(%C : memref<8xi32>) attrs = {
        opcode_map = #accel.opcode_map<all = [send(0), send(1), recv(2)]>,
        opcode_flow = #accel.opcode_flow<(all)>,
        dma_init_config = #accel.dma_init_config<address = 0x40400000, input = 0x16000000, input_size = 4096, output = 0x16400000, output_size = 4096>,
        accel_dim = affine_map<(n) -> (4)>,
        permutation_map = affine_map<(n) -> (n)>,
        accel_dense = {A = 0 : i64, B = 0 : i64, C = 0 : i64},
        accel_overwrites,
        accel_dims = ["n"],
        accel_operands = [#accel.operand<A(n)>, #accel.operand<B(n)>, #accel.operand<C(n)>],
        accel_registers = {"all of A" = "pointer 0x8010 0", "all of B" = "elements 0x8020 0", "all of C" = "pointer 0x8048 0", "all after" = "write 0x8000 1; wait 0x8000 2"}
      } {
  ^bb0(%a : i32, %b : i32, %c : i32):
    %s = arith.addi %a, %b : i32
    linalg.yield %s : i32
  }
  func.return
}
