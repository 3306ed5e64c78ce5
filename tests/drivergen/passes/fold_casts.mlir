// accel-fold-casts
func.func @f(%A: tensor<2x4x8xi8>, %B: tensor<8x4xi8>) -> tensor<2x4x4xi32> {
  %zero = arith.constant 0 : i64
  %none = arith.constant 0 : i32
  %wide = tensor.empty() : tensor<2x4x8xi32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%A : tensor<2x4x8xi8>) outs(%wide : tensor<2x4x8xi32>) {
  ^bb0(%x: i8, %o: i32):
    %e = arith.extsi %x : i8 to i32
    linalg.yield %e : i32
  } -> tensor<2x4x8xi32>
  %rows = tensor.collapse_shape %a [[0, 1], [2]] : tensor<2x4x8xi32> into tensor<8x8xi32>
  %padded = tensor.pad %rows low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %none : i32
  } : tensor<8x8xi32> to tensor<10x8xi32>
  %slice = tensor.extract_slice %padded[1, 0] [8, 8] [1, 1] : tensor<10x8xi32> to tensor<8x8xi32>
  %wide_b = tensor.empty() : tensor<8x4xi32>
  %b = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%B : tensor<8x4xi8>) outs(%wide_b : tensor<8x4xi32>) {
  ^bb0(%x: i8, %o: i32):
    %e = arith.extsi %x : i8 to i32
    linalg.yield %e : i32
  } -> tensor<8x4xi32>
  %empty = tensor.empty() : tensor<8x4xi64>
  %init = linalg.fill ins(%zero : i64) outs(%empty : tensor<8x4xi64>) -> tensor<8x4xi64>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], doc = "linalg.matmul"}
      ins(%slice, %b : tensor<8x8xi32>, tensor<8x4xi32>) outs(%init : tensor<8x4xi64>) {
  ^bb0(%x: i32, %y: i32, %s: i64):
    %u = arith.extsi %x : i32 to i64
    %v = arith.extsi %y : i32 to i64
    %p = arith.muli %u, %v : i64
    %t = arith.addi %p, %s : i64
    linalg.yield %t : i64
  } -> tensor<8x4xi64>
  %back = tensor.expand_shape %c [[0, 1], [2]] output_shape [2, 4, 4] : tensor<8x4xi64> into tensor<2x4x4xi64>
  %narrow = tensor.empty() : tensor<2x4x4xi32>
  %C = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%back : tensor<2x4x4xi64>) outs(%narrow : tensor<2x4x4xi32>) {
  ^bb0(%x: i64, %o: i32):
    %t = arith.trunci %x : i64 to i32
    linalg.yield %t : i32
  } -> tensor<2x4x4xi32>
  func.return %C : tensor<2x4x4xi32>
}
