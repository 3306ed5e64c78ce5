// before
builtin.module {
  func.func @trmm(%alpha: memref<f32> {nest.name = "alpha", nest.number = "float32", nest.role = "in"}, %A: memref<6x6xf32> {nest.name = "A", nest.number = "float32", nest.role = "in"}, %B: memref<6x5xf32> {nest.name = "B", nest.number = "float32", nest.role = "inout"}) {
    affine.for %i = 0 to 6 {
      affine.for %j = 0 to 5 {
        affine.for %k = affine_map<(d0) -> ((d0 + 1))>(%i) to 6 {
          %0 = affine.load %B[%i, %j] : memref<6x5xf32>
          %1 = affine.load %A[%k, %i] : memref<6x6xf32>
          %2 = affine.load %B[%k, %j] : memref<6x5xf32>
          %3 = arith.mulf %1, %2 : f32
          %4 = arith.addf %0, %3 : f32
          affine.store %4, %B[%i, %j] : memref<6x5xf32>
        } {nest.pipeline = 1 : i64}
        %5 = affine.load %alpha[] : memref<f32>
        %6 = affine.load %B[%i, %j] : memref<6x5xf32>
        %7 = arith.mulf %5, %6 : f32
        affine.store %7, %B[%i, %j] : memref<6x5xf32>
      }
    } {nest.nest = 0 : i64}
    func.return
  }
}
// after
builtin.module {
  func.func @trmm(%alpha: memref<f32> {nest.name = "alpha", nest.number = "float32", nest.role = "in"}, %A: memref<6x6xf32> {nest.name = "A", nest.number = "float32", nest.role = "in"}, %B: memref<6x5xf32> {nest.name = "B", nest.number = "float32", nest.role = "inout"}) {
    affine.for %j = 0 to 5 {
      affine.for %i = 0 to 6 {
        affine.for %ko = affine_map<(d0) -> ((d0 floordiv 2))>(%i) to 3 {
          affine.for %ki = 0 to 2 {
            "affine.if"(%i, %ko, %ki) <{condition = affine_set<(d0, d1, d2) : ((((d0 * -1) + (d1 * 2)) + d2) >= 0, (((d1 * -2) + (d2 * -1)) + 4) >= 0)>}> ({
              %0 = affine.load %B[%i, %j] : memref<6x5xf32>
              %1 = affine.load %A[%ko * 2 + %ki + 1, %i] : memref<6x6xf32>
              %2 = affine.load %B[%ko * 2 + %ki + 1, %j] : memref<6x5xf32>
              %3 = arith.mulf %1, %2 : f32
              %4 = arith.addf %0, %3 : f32
              affine.store %4, %B[%i, %j] : memref<6x5xf32>
              affine.yield
            }, {
            }) : (index, index, index) -> ()
          } {nest.unroll}
        } {nest.pipeline = 1 : i64}
        %5 = affine.load %alpha[] : memref<f32>
        %6 = affine.load %B[%i, %j] : memref<6x5xf32>
        %7 = arith.mulf %5, %6 : f32
        affine.store %7, %B[%i, %j] : memref<6x5xf32>
      }
    } {nest.nest = 0 : i64}
    func.return
  }
}
