builtin.module {
  func.func @f_init() {
    accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 4096, output = 0x16400000, output_size = 4096, length_width = 26, scatter_gather = 1>
    func.return
  }
  func.func @f(%A: memref<4x8xi8> {accel.kind = "in"}, %B: memref<1x64xi8> {accel.kind = "in", accel.constant, accel.packed = #accel.packing<[4, 4] strides [6, 1] as [4, 4] permutation [0, 1] rows 0 beats of 32 from [0 step 24 times 2, 2 step 24 times 2]>}, %C: memref<4x6xi32> {accel.kind = "out"}) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c6 = arith.constant 6 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    scf.for %m = %c0 to %c4 step %c4 {
      scf.for %n = %c0 to %c6 step %c4 {
        %n_start = arith.minui %n, %c2 : index
        scf.for %k = %c0 to %c8 step %c4 {
          %0 = accel.send_literal 1 at %c0 {opcode = "sA", loads}
          %A_tile = memref.subview %A[%m, %k] [4, 4] [1, 1] : memref<4x8xi8> to memref<4x4xi8, strided<[8, 1], offset: ?>>
          %1 = accel.send %A_tile as [4, 4] permutation [0, 1] at %0 : memref<4x4xi8, strided<[8, 1], offset: ?>>
          %2 = accel.start_send %c0 to %1 : !accel.token<"send">
          accel.wait %2 : !accel.token<"send">
          %3 = accel.send_literal 2 at %c0 {opcode = "sB", loads}
          %4 = arith.muli %n, %c8 : index
          %5 = arith.muli %k, %c4 : index
          %6 = arith.addi %4, %5 : index
          %B_tile = memref.subview %B[%c0, %6] [1, 16] [1, 1] : memref<1x64xi8> to memref<1x16xi8, strided<[64, 1], offset: ?>>
          %7 = accel.send %B_tile as [1, 16] permutation [0, 1] at %3 : memref<1x16xi8, strided<[64, 1], offset: ?>>
          %8 = accel.start_send %c0 to %7 : !accel.token<"send">
          accel.wait %8 : !accel.token<"send">
          %9 = accel.send_literal 4 at %c0 {opcode = "cC"}
          %10 = accel.start_send %c0 to %9 : !accel.token<"send">
          accel.wait %10 : !accel.token<"send">
        }
        %11 = accel.start_recv %c0 to %c16 {opcode = "rC"} : !accel.token<"recv">
        %12 = accel.send_literal 8 at %c0
        %13 = accel.start_send %c0 to %12 : !accel.token<"send">
        accel.wait %13 : !accel.token<"send">
        accel.wait %11 : !accel.token<"recv">
        %C_tile = memref.subview %C[%m, %n_start] [4, 4] [1, 1] : memref<4x6xi32> to memref<4x4xi32, strided<[6, 1], offset: ?>>
        accel.recv %C_tile as [4, 4] permutation [0, 1] at %c0 mode "overwrite" : memref<4x4xi32, strided<[6, 1], offset: ?>>
      }
    } {comment = "Tiles of 4 x 4 x 4 (m, n, k), flow ((sA sB cC) rC)."}
    func.return
  }
}

