builtin.module {
  func.func @f(%B: tensor<6xi32>, %M: tensor<6xi32>, %S: tensor<6xi32>, %A: tensor<4x8xi8>, %W: tensor<8x6xi8>) -> tensor<4x6xi8> {
    %zero = arith.constant 0 : i32
    %E = tensor.empty() : tensor<4x6xi32>
    %lo = arith.constant -128 : i64
    %hi = arith.constant 127 : i64
    %E8 = tensor.empty() : tensor<4x6xi8>
    %0 = tensor.empty() : tensor<6x2xi32>
    %P = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], doc = "accel.channels"} ins(%B, %M, %S : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>) outs(%0 : tensor<6x2xi32>) {
    ^bb0(%1: i32, %2: i32, %3: i32, %4: i32):
      %5 = linalg.index 1 : index
      %6 = arith.constant 0 : index
      %7 = arith.constant 16 : i32
      %8 = arith.cmpi eq, %5, %6 : index
      %9 = arith.shli %3, %7 : i32
      %10 = arith.ori %2, %9 : i32
      %11 = arith.select %8, %1, %10 : i32
      linalg.yield %11 : i32
    } -> tensor<6x2xi32>
    %Y = accel.product {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"], doc = "linalg.matmul"} ins(%A, %W, %P : tensor<4x8xi8>, tensor<8x6xi8>, tensor<6x2xi32>) outs(%E8 : tensor<4x6xi8>) attrs =  {requantise = {zp = 0 : i64, lo = -128 : i64, hi = 127 : i64}} {
    ^bb0(%12: i8, %13: i8, %14: i32, %15: i8):
      %16 = arith.extsi %12 : i8 to i32
      %17 = arith.extsi %13 : i8 to i32
      %18 = arith.muli %16, %17 : i32
      %19 = arith.addi %14, %18 : i32
      %20 = arith.trunci %19 : i32 to i8
      linalg.yield %20 : i8
    } -> tensor<4x6xi8>
    func.return %Y : tensor<4x6xi8>
  }
}

