builtin.module {
  accel.taker "add_to_C" "accumulate" [4, 4] strides [8, 1] of i32
  accel.table "f_table" of 3 taker "add_to_C" place [16, 4, 32, 2] beats 0 {
    accel.table_words [1] {opcode = "sA"}
    accel.table_send 0, 0, 16, 4, 32
    accel.table_words [2] {opcode = "sB"}
    accel.table_send 1, 0, 16, 4, 32
    accel.table_words [4, 1] {opcode = "cC sA"}
    accel.table_send 0, 16, 16, 4, 32
    accel.table_words [2] {opcode = "sB"}
    accel.table_send 1, 128, 16, 4, 32
    accel.table_tile 2, 0, 4, 4
    accel.table_words [4, 8, 1] {opcode = "cC rC sA"}
    accel.table_send 0, 0, 16, 4, 32
    accel.table_words [2] {opcode = "sB"}
    accel.table_send 1, 16, 16, 4, 32
    accel.table_words [4, 1] {opcode = "cC sA"}
    accel.table_send 0, 16, 16, 4, 32
    accel.table_words [2] {opcode = "sB"}
    accel.table_send 1, 144, 16, 4, 32
    accel.table_tile 2, 16, 4, 4
    accel.table_words [4, 8, 1] {opcode = "cC rC sA"}
    accel.table_send 0, 128, 16, 4, 32
    accel.table_words [2] {opcode = "sB"}
    accel.table_send 1, 0, 16, 4, 32
    accel.table_words [4, 1] {opcode = "cC sA"}
    accel.table_send 0, 144, 16, 4, 32
    accel.table_words [2] {opcode = "sB"}
    accel.table_send 1, 128, 16, 4, 32
    accel.table_tile 2, 128, 4, 4
    accel.table_words [4, 8, 1] {opcode = "cC rC sA"}
    accel.table_send 0, 128, 16, 4, 32
    accel.table_words [2] {opcode = "sB"}
    accel.table_send 1, 16, 16, 4, 32
    accel.table_words [4, 1] {opcode = "cC sA"}
    accel.table_send 0, 144, 16, 4, 32
    accel.table_words [2] {opcode = "sB"}
    accel.table_send 1, 144, 16, 4, 32
    accel.table_tile 2, 144, 4, 4
    accel.table_words [4, 8] {opcode = "cC rC"}
  }
  func.func @f_init() -> i32 {
    %c1077936128 = arith.constant 1077936128 : index
    %c369098752 = arith.constant 369098752 : index
    %c4096 = arith.constant 4096 : index
    %c373293056 = arith.constant 373293056 : index
    %0 = accel.table_name "f_table"
    %1 = func.call @dma_table_init(%0, %c1077936128, %c369098752, %c4096, %c373293056, %c4096) : (index, index, index, index, index, index) -> i32
    accel.check %1
    %2 = arith.constant 0 : i32
    func.return %2 : i32
  }
  func.func @f(%A: memref<8x8xi32>, %B: memref<8x8xi32>, %C: memref<8x8xi32>) -> i32 {
    accel.table_run "f_table"(%A, %B, %C) {comment = "Tiles of 4 x 4 x 4 (m, n, k), flow ((sA sB cC) rC). Without copies: A and B in place, C through the window."} : memref<8x8xi32>, memref<8x8xi32>, memref<8x8xi32>
    %0 = arith.constant 0 : i32
    func.return %0 : i32
  }
  func.func private @dma_table_init(index, index, index, index, index, index) -> i32
}

