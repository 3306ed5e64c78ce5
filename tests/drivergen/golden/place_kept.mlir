builtin.module {
  func.func @f_init() {
    accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 512, output = 0x16400000, output_size = 4096, length_width = 26>
    func.return
  }
  func.func @f(%A: memref<8x8xi32>, %B: memref<8x8xi32>, %C: memref<8x8xi32>) {
    %c0 = arith.constant 0 : index
    %c17 = arith.constant 17 : index
    %c18 = arith.constant 18 : index
    %c8 = arith.constant 8 : index
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    accel.expect 4 tiles of 16 {comment = "Tiles of 4 x 4 x 4 (m, n, k), flow ((sA sB cC) rC)."}
    scf.for %m = %c0 to %c8 step %c4 {
      scf.for %n = %c0 to %c8 step %c4 {
        %at = scf.for %k = %c0 to %c8 step %c4 iter_args(%at_1 = %c0) -> (index) {
          %A_tile = memref.subview %A[%m, %k] [4, 4] [1, 1] : memref<8x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
          %0 = arith.cmpi eq, %n, %c0 : index
          %1 = arith.addi %at_1, %c17 : index
          scf.if %0 {
            %2 = accel.send_literal 1 at %at_1 {opcode = "sA", loads}
            %3 = accel.send %A_tile as [4, 4] permutation [0, 1] at %2 : memref<4x4xi32, strided<[8, 1], offset: ?>>
            accel.clean %at_1 to %1
          }{comment = "Stays where it is for the iterations that follow."}
          %4 = accel.send_literal 2 at %1 {opcode = "sB", loads}
          %B_tile = memref.subview %B[%k, %n] [4, 4] [1, 1] : memref<8x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
          %5 = accel.send %B_tile as [4, 4] permutation [0, 1] at %4 : memref<4x4xi32, strided<[8, 1], offset: ?>>
          %6 = accel.send_literal 4 at %5 {opcode = "cC"}
          %7 = arith.addi %1, %c18 : index
          accel.clean %1 to %7
          scf.yield %6 : index
        }
        %8 = accel.send_literal 8 at %at
        %9 = arith.addi %at, %c1 : index
        accel.clean %at to %9
        accel.queue_send %c0 to %8
        %from = accel.next
        %C_tile = memref.subview %C[%m, %n] [4, 4] [1, 1] : memref<8x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
        accel.recv %C_tile as [4, 4] permutation [0, 1] at %from mode "accumulate" : memref<4x4xi32, strided<[8, 1], offset: ?>>
        accel.wait_sent
      }
    }
    func.return
  }
}

