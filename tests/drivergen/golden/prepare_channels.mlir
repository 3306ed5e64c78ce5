builtin.module {
  func.func @f(%P: tensor<6x2xi32> {accel.constant, accel.sources = array<i64: 0, 1, 2>}, %A: tensor<4x8xi8> {accel.sources = array<i64: 3>}, %W: tensor<8x6xi8> {accel.sources = array<i64: 4>}) -> tensor<4x6xi8> {
    %zero = arith.constant 0 : i32
    %E = tensor.empty() : tensor<4x6xi32>
    %lo = arith.constant -128 : i64
    %hi = arith.constant 127 : i64
    %E8 = tensor.empty() : tensor<4x6xi8>
    %Y = accel.product {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"], doc = "linalg.matmul"} ins(%A, %W, %P : tensor<4x8xi8>, tensor<8x6xi8>, tensor<6x2xi32>) outs(%E8 : tensor<4x6xi8>) attrs =  {requantise = {zp = 0 : i64, lo = -128 : i64, hi = 127 : i64}} {
    ^bb0(%0: i8, %1: i8, %2: i32, %3: i8):
      %4 = arith.extsi %0 : i8 to i32
      %5 = arith.extsi %1 : i8 to i32
      %6 = arith.muli %4, %5 : i32
      %7 = arith.addi %2, %6 : i32
      %8 = arith.trunci %7 : i32 to i8
      linalg.yield %8 : i8
    } -> tensor<4x6xi8>
    func.return %Y : tensor<4x6xi8>
  }
}

