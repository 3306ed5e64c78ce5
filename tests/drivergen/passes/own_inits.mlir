// accel-own-inits
func.func @f(%A: tensor<4x4xi32>, %B: tensor<4x4xi32>, %sum: tensor<4x4xi32>) -> (tensor<4x4xi32>, tensor<4x4xi32>) {
  %zero = arith.constant 0 : i32
  %ones = arith.constant dense<1> : tensor<4x4xi32>
  %empty = tensor.empty() : tensor<4x4xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<4x4xi32>) -> tensor<4x4xi32>
  // Starts from zeros that another op sees too: a fill of its own.
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x4xi32>, tensor<4x4xi32>) outs(%init : tensor<4x4xi32>) {
  ^bb0(%a: i32, %b: i32, %c: i32):
    %p = arith.muli %a, %b : i32
    %s = arith.addi %p, %c : i32
    linalg.yield %s : i32
  } -> tensor<4x4xi32>
  // Does not read what it starts from; a scalar and a tensor of one value become constants of the body.
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%0, %ones : tensor<4x4xi32>, tensor<4x4xi32>) outs(%init : tensor<4x4xi32>) {
  ^bb0(%x: i32, %one: i32, %old: i32):
    %l = arith.maxsi %x, %zero : i32
    %h = arith.addi %l, %one : i32
    linalg.yield %h : i32
  } -> tensor<4x4xi32>
  // Starts from an argument, which must stay as it is: from a copy of it.
  %2 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<4x4xi32>) outs(%sum : tensor<4x4xi32>) {
  ^bb0(%x: i32, %c: i32):
    %s = arith.addi %x, %c : i32
    linalg.yield %s : i32
  } -> tensor<4x4xi32>
  func.return %1, %2 : tensor<4x4xi32>, tensor<4x4xi32>
}
