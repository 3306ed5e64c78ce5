builtin.module {
  func.func @f(%A: memref<4x8xui8>, %B: memref<8x4xui8>, %C: memref<4x4xi32>) {
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<4x8xui8>, memref<8x4xui8>) outs(%C : memref<4x4xi32>) attrs =  {accel_loads = []} {
    ^bb0(%a: ui8, %b: ui8, %c: i32):
      %wide_a = arith.extui %a : ui8 to i32
      %wide_b = arith.extui %b : ui8 to i32
      %product = arith.muli %wide_a, %wide_b : i32
      %sum = arith.addi %product, %c : i32
      linalg.yield %sum : i32
    }
    func.return
  }
}

