// accel-bufferise
func.func @new_result(%A : tensor<4x8xi32>, %B : tensor<8x4xi32>) -> tensor<4x4xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<4x4xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<4x4xi32>) -> tensor<4x4xi32>
  %C = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xi32>, tensor<8x4xi32>) outs(%init : tensor<4x4xi32>) {
  ^bb0(%a : i32, %b : i32, %c : i32):
    %p = arith.muli %a, %b : i32
    %s = arith.addi %p, %c : i32
    linalg.yield %s : i32
  } -> tensor<4x4xi32>
  func.return %C : tensor<4x4xi32>
}

// What starts in an argument that nothing else reads is updated there.
func.func @in_place(%C : tensor<4x4xi32>) -> tensor<4x4xi32> {
  %one = arith.constant 1 : i32
  %D = linalg.fill ins(%one : i32) outs(%C : tensor<4x4xi32>) -> tensor<4x4xi32>
  func.return %D : tensor<4x4xi32>
}

// Somebody reads the argument afterwards: it is copied first.
func.func @copied(%C : tensor<4x4xi32>, %W : tensor<4x4xi32>) -> (tensor<4x4xi32>, tensor<4x4xi32>) {
  %D = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%W : tensor<4x4xi32>) outs(%C : tensor<4x4xi32>) {
  ^bb0(%w : i32, %c : i32):
    %s = arith.addi %w, %c : i32
    linalg.yield %s : i32
  } -> tensor<4x4xi32>
  func.return %C, %D : tensor<4x4xi32>, tensor<4x4xi32>
}

// A constant that is updated becomes a fill, one that is read a global.
func.func @constants() -> tensor<2x2xi32> {
  %W = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %C = arith.constant dense<5> : tensor<2x2xi32>
  %D = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%W : tensor<2x2xi32>) outs(%C : tensor<2x2xi32>) {
  ^bb0(%w : i32, %c : i32):
    %s = arith.addi %w, %c : i32
    linalg.yield %s : i32
  } -> tensor<2x2xi32>
  func.return %D : tensor<2x2xi32>
}
