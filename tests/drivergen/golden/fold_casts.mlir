builtin.module {
  func.func @f(%A: tensor<2x4x8xi8>, %B: tensor<8x4xi8>) -> tensor<2x4x4xi32> {
    %rows = tensor.collapse_shape %A [[0 : i64, 1 : i64], [2 : i64]] : tensor<2x4x8xi8> into tensor<8x8xi8>
    %0 = arith.constant 0 : i8
    %1 = tensor.pad %rows low[1, 0] high[1, 0] {
    ^bb0(%2: index, %3: index):
      tensor.yield %0 : i8
    } : tensor<8x8xi8> to tensor<10x8xi8>
    %slice = tensor.extract_slice %1[1, 0] [8, 8] [1, 1] : tensor<10x8xi8> to tensor<8x8xi8>
    %4 = arith.constant 0 : i32
    %5 = tensor.empty() : tensor<8x4xi32>
    %6 = linalg.fill ins(%4 : i32) outs(%5 : tensor<8x4xi32>) -> tensor<8x4xi32>
    %c = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"], doc = "linalg.matmul"} ins(%slice, %B : tensor<8x8xi8>, tensor<8x4xi8>) outs(%6 : tensor<8x4xi32>) {
    ^bb0(%7: i8, %8: i8, %9: i32):
      %10 = arith.extsi %7 : i8 to i32
      %11 = arith.extsi %8 : i8 to i32
      %12 = arith.muli %10, %11 : i32
      %13 = arith.addi %12, %9 : i32
      linalg.yield %13 : i32
    } -> tensor<8x4xi32>
    %back = tensor.expand_shape %c [[0 : i64, 1 : i64], [2 : i64]] output_shape [2, 4, 4] : tensor<8x4xi32> into tensor<2x4x4xi32>
    %narrow = tensor.empty() : tensor<2x4x4xi32>
    %C = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%back : tensor<2x4x4xi32>) outs(%narrow : tensor<2x4x4xi32>) {
    ^bb0(%t: i32, %o: i32):
      linalg.yield %t : i32
    } -> tensor<2x4x4xi32>
    func.return %C : tensor<2x4x4xi32>
  }
}

