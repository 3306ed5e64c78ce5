builtin.module {
  func.func @f(%A: tensor<4x4xi32>, %B: tensor<4x4xi32>, %sum: tensor<4x4xi32>) -> (tensor<4x4xi32>, tensor<4x4xi32>) {
    %zero = arith.constant 0 : i32
    %0 = tensor.empty() : tensor<4x4xi32>
    %1 = linalg.fill ins(%zero : i32) outs(%0 : tensor<4x4xi32>) -> tensor<4x4xi32>
    %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : tensor<4x4xi32>, tensor<4x4xi32>) outs(%1 : tensor<4x4xi32>) {
    ^bb0(%a: i32, %b: i32, %c: i32):
      %p = arith.muli %a, %b : i32
      %s = arith.addi %p, %c : i32
      linalg.yield %s : i32
    } -> tensor<4x4xi32>
    %3 = tensor.empty() : tensor<4x4xi32>
    %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<4x4xi32>) outs(%3 : tensor<4x4xi32>) {
    ^bb0(%x: i32, %old: i32):
      %one = arith.constant 1 : i32
      %zero_1 = arith.constant 0 : i32
      %l = arith.maxsi %x, %zero_1 : i32
      %h = arith.addi %l, %one : i32
      linalg.yield %h : i32
    } -> tensor<4x4xi32>
    %5 = tensor.empty() : tensor<4x4xi32>
    %6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], doc = "linalg.copy"} ins(%sum : tensor<4x4xi32>) outs(%5 : tensor<4x4xi32>) {
    ^bb0(%7: i32, %8: i32):
      linalg.yield %7 : i32
    } -> tensor<4x4xi32>
    %9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<4x4xi32>) outs(%6 : tensor<4x4xi32>) {
    ^bb0(%x_1: i32, %c_1: i32):
      %s_1 = arith.addi %x_1, %c_1 : i32
      linalg.yield %s_1 : i32
    } -> tensor<4x4xi32>
    func.return %4, %9 : tensor<4x4xi32>, tensor<4x4xi32>
  }
}

