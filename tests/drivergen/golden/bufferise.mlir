builtin.module {
  func.func @new_result(%A: memref<4x8xi32> {accel.kind = "in"}, %B: memref<8x4xi32> {accel.kind = "in"}, %C: memref<4x4xi32> {accel.kind = "out", accel.result = 0 : i64}) {
    %zero = arith.constant 0 : i32
    linalg.fill ins(%zero : i32) outs(%C : memref<4x4xi32>)
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<4x8xi32>, memref<8x4xi32>) outs(%C : memref<4x4xi32>) {
    ^bb0(%a: i32, %b: i32, %c: i32):
      %p = arith.muli %a, %b : i32
      %s = arith.addi %p, %c : i32
      linalg.yield %s : i32
    }
    func.return
  }
  func.func @in_place(%C: memref<4x4xi32> {accel.kind = "out", accel.result = 0 : i64}) {
    %one = arith.constant 1 : i32
    linalg.fill ins(%one : i32) outs(%C : memref<4x4xi32>)
    func.return
  }
  func.func @copied(%C: memref<4x4xi32> {accel.kind = "in"}, %W: memref<4x4xi32> {accel.kind = "in"}, %C_1: memref<4x4xi32> {accel.kind = "out", accel.result = 0 : i64}, %D: memref<4x4xi32> {accel.kind = "out", accel.result = 1 : i64}) {
    "memref.copy"(%C, %D) : (memref<4x4xi32>, memref<4x4xi32>) -> ()
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%W : memref<4x4xi32>) outs(%D : memref<4x4xi32>) {
    ^bb0(%w: i32, %c: i32):
      %s = arith.addi %w, %c : i32
      linalg.yield %s : i32
    }
    "memref.copy"(%C, %C_1) : (memref<4x4xi32>, memref<4x4xi32>) -> ()
    func.return
  }
  "memref.global"() <{sym_name = "constant_0", type = memref<2x2xi32>, initial_value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>, sym_visibility = "private", constant}> : () -> ()
  func.func @constants(%D: memref<2x2xi32> {accel.kind = "out", accel.result = 0 : i64}) {
    %0 = memref.get_global @constant_0 : memref<2x2xi32>
    %1 = arith.constant 5 : i32
    linalg.fill ins(%1 : i32) outs(%D : memref<2x2xi32>)
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%0 : memref<2x2xi32>) outs(%D : memref<2x2xi32>) {
    ^bb0(%w: i32, %c: i32):
      %s = arith.addi %w, %c : i32
      linalg.yield %s : i32
    }
    func.return
  }
}

