builtin.module {
  func.func @f_init() {
    accel.init_dma <id = 0, address = 0x40400000, input = 0x16000000, input_size = 131072, output = 0x16400000, output_size = 65536, length_width = 26>
    func.return
  }
  func.func @f(%I: memref<2x4x10x10xi32> {accel.kind = "in"}, %F: memref<6x4x3x3xi32> {accel.kind = "in"}, %O: memref<2x6x4x4xi32> {accel.kind = "inout", accel.result = 0 : i64}) {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    %c16 = arith.constant 16 : index
    %0 = accel.send_literal 32 at %c0 {opcode = "sH"}
    %1 = accel.send_dim %c3 shifts [0] at %0
    %2 = accel.start_send %c0 to %1 : !accel.token<"send">
    accel.wait %2 : !accel.token<"send">
    %3 = accel.send_literal 16 at %c0 {opcode = "sC"}
    %4 = accel.send_dim %c4 shifts [0] at %3
    %5 = accel.start_send %c0 to %4 : !accel.token<"send">
    accel.wait %5 : !accel.token<"send">
    scf.for %b = %c0 to %c2 step %c1 {
      scf.for %oc = %c0 to %c6 step %c1 {
        scf.for %ic = %c0 to %c4 step %c4 {
          %6 = accel.send_literal 1 at %c0 {opcode = "sF", loads}
          %F_tile = memref.subview %F[%oc, %ic, %c0, %c0] [1, 4, 3, 3] [1, 1, 1, 1] : memref<6x4x3x3xi32> to memref<1x4x3x3xi32, strided<[36, 9, 3, 1], offset: ?>>
          %7 = accel.send %F_tile as [1, 4, 3, 3] permutation [0, 1, 2, 3] at %6 dense <0 rows, beats of 32> : memref<1x4x3x3xi32, strided<[36, 9, 3, 1], offset: ?>>
          %8 = accel.start_send %c0 to %7 : !accel.token<"send">
          accel.wait %8 : !accel.token<"send">
          scf.for %oh = %c0 to %c4 step %c1 {
            scf.for %ow = %c0 to %c4 step %c1 {
              %9 = accel.send_literal 70 at %c0 {opcode = "sIcO"}
              %10 = arith.muli %oh, %c2 : index
              %11 = arith.muli %ow, %c2 : index
              %I_tile = memref.subview %I[%b, %ic, %10, %11] [1, 4, 3, 3] [1, 1, 1, 1] : memref<2x4x10x10xi32> to memref<4x3x3xi32, strided<[100, 10, 1], offset: ?>>
              %12 = accel.send %I_tile as [4, 3, 3] permutation [0, 1, 2] at %9 dense <0 rows, beats of 32> : memref<4x3x3xi32, strided<[100, 10, 1], offset: ?>>
              %13 = accel.start_send %c0 to %12 : !accel.token<"send">
              accel.wait %13 : !accel.token<"send">
            }
          }
          %14 = accel.start_recv %c0 to %c16 {opcode = "rO"} : !accel.token<"recv">
          %15 = accel.send_literal 8 at %c0
          %16 = accel.start_send %c0 to %15 : !accel.token<"send">
          accel.wait %16 : !accel.token<"send">
          accel.wait %14 : !accel.token<"recv">
          %O_1 = memref.subview %O[%b, %oc, %c0, %c0] [1, 1, 4, 4] [1, 1, 1, 1] : memref<2x6x4x4xi32> to memref<1x4x4xi32, strided<[16, 4, 1], offset: ?>>
          accel.recv %O_1 as [1, 4, 4] permutation [0, 1, 2] at %c0 mode "accumulate" dense <0 rows, beats of 32> : memref<1x4x4xi32, strided<[16, 4, 1], offset: ?>>
        }
      }
    } {comment = "Tiles of 1 x 1 x 4 x 1 x 1 (b, oc, ic, oh, ow), flow (sF ((sIcO)) rO)."}
    func.return
  }
}

