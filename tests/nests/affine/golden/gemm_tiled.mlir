// before
builtin.module {
  func.func @gemm(%alpha: memref<f32> {nest.name = "alpha", nest.number = "float32", nest.role = "in"}, %beta: memref<f32> {nest.name = "beta", nest.number = "float32", nest.role = "in"}, %C: memref<4x5xf32> {nest.name = "C", nest.number = "float32", nest.role = "inout"}, %A: memref<4x6xf32> {nest.name = "A", nest.number = "float32", nest.role = "in"}, %B: memref<6x5xf32> {nest.name = "B", nest.number = "float32", nest.role = "in"}) {
    affine.for %i = 0 to 4 {
      affine.for %j = 0 to 5 {
        %0 = affine.load %C[%i, %j] : memref<4x5xf32>
        %1 = affine.load %beta[] : memref<f32>
        %2 = arith.mulf %0, %1 : f32
        affine.store %2, %C[%i, %j] : memref<4x5xf32>
      } {nest.pipeline = 1 : i64}
      affine.for %k = 0 to 6 {
        affine.for %j1 = 0 to 5 {
          %3 = affine.load %C[%i, %j1] : memref<4x5xf32>
          %4 = affine.load %alpha[] : memref<f32>
          %5 = affine.load %A[%i, %k] : memref<4x6xf32>
          %6 = arith.mulf %4, %5 : f32
          %7 = affine.load %B[%k, %j1] : memref<6x5xf32>
          %8 = arith.mulf %6, %7 : f32
          %9 = arith.addf %3, %8 : f32
          affine.store %9, %C[%i, %j1] : memref<4x5xf32>
        } {nest.pipeline = 1 : i64}
      }
    } {nest.nest = 0 : i64}
    func.return
  }
}
// after
builtin.module {
  func.func @gemm(%alpha: memref<f32> {nest.name = "alpha", nest.number = "float32", nest.role = "in"}, %beta: memref<f32> {nest.name = "beta", nest.number = "float32", nest.role = "in"}, %C: memref<4x5xf32> {nest.name = "C", nest.number = "float32", nest.role = "inout", nest.partition = ["cyclic", 1 : i64, 2 : i64]}, %A: memref<4x6xf32> {nest.name = "A", nest.number = "float32", nest.role = "in"}, %B: memref<6x5xf32> {nest.name = "B", nest.number = "float32", nest.role = "in", nest.partition = ["cyclic", 1 : i64, 2 : i64]}) {
    affine.for %i = 0 to 4 {
      affine.for %j = 0 to 5 {
        %0 = affine.load %C[%i, %j] : memref<4x5xf32>
        %1 = affine.load %beta[] : memref<f32>
        %2 = arith.mulf %0, %1 : f32
        affine.store %2, %C[%i, %j] : memref<4x5xf32>
      } {nest.pipeline = 1 : i64}
    } {nest.nest = 0 : i64}
    affine.for %k = 0 to 6 {
      affine.for %i_1 = 0 to 4 {
        affine.for %j1o = 0 to 3 {
          affine.for %j1i = 0 to 2 {
            "affine.if"(%j1o, %j1i) <{condition = affine_set<(d0, d1) : ((((d0 * -2) + (d1 * -1)) + 4) >= 0)>}> ({
              %3 = affine.load %C[%i_1, %j1o * 2 + %j1i] : memref<4x5xf32>
              %4 = affine.load %alpha[] : memref<f32>
              %5 = affine.load %A[%i_1, %k] : memref<4x6xf32>
              %6 = arith.mulf %4, %5 : f32
              %7 = affine.load %B[%k, %j1o * 2 + %j1i] : memref<6x5xf32>
              %8 = arith.mulf %6, %7 : f32
              %9 = arith.addf %3, %8 : f32
              affine.store %9, %C[%i_1, %j1o * 2 + %j1i] : memref<4x5xf32>
              affine.yield
            }, {
            }) : (index, index) -> ()
          } {nest.unroll}
        } {nest.pipeline = 2 : i64}
      }
    } {nest.nest = 1 : i64}
    func.return
  }
}
