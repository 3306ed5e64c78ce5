// accel-generalise,accel-fuse-epilogue,accel-prepare-channels
// What constant bias, multiplier and shift make together is an argument.
func.func @f(%B : tensor<6xi32> {accel.constant}, %M : tensor<6xi32> {accel.constant}, %S : tensor<6xi32> {accel.constant}, %A : tensor<4x8xi8>, %W : tensor<8x6xi8>) -> tensor<4x6xi8> {
  %zero = arith.constant 0 : i32
  %E = tensor.empty() : tensor<4x6xi32>
  %Z = linalg.fill ins(%zero : i32) outs(%E : tensor<4x6xi32>) -> tensor<4x6xi32>
  %R = linalg.matmul ins(%A, %W : tensor<4x8xi8>, tensor<8x6xi8>) outs(%Z : tensor<4x6xi32>) -> tensor<4x6xi32>
  %lo = arith.constant -128 : i64
  %hi = arith.constant 127 : i64
  %E8 = tensor.empty() : tensor<4x6xi8>
  %Y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%R, %B, %M, %S : tensor<4x6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>) outs(%E8 : tensor<4x6xi8>) {
  ^bb0(%sum : i32, %bias : i32, %mult : i32, %shift : i32, %old : i8):
    %b = arith.addi %sum, %bias : i32
    %w = arith.extsi %b : i32 to i64
    %m = arith.extui %mult : i32 to i64
    %p = arith.muli %w, %m : i64
    %sh = arith.extui %shift : i32 to i64
    %one = arith.constant 1 : i64
    %power = arith.shli %one, %sh : i64
    %half = arith.shrui %power, %one : i64
    %r = arith.addi %p, %half : i64
    %q = arith.shrsi %r, %sh : i64
    %l = arith.maxsi %q, %lo : i64
    %h = arith.minsi %l, %hi : i64
    %o = arith.trunci %h : i64 to i8
    linalg.yield %o : i8
  } -> tensor<4x6xi8>
  func.return %Y : tensor<4x6xi8>
}
