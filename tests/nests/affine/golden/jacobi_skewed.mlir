// before
builtin.module {
  func.func @jacobi(%A: memref<9xf32> {nest.name = "A", nest.number = "float32", nest.role = "inout"}, %B: memref<9xf32> {nest.name = "B", nest.number = "float32", nest.role = "inout"}) {
    affine.for %t = 0 to 3 {
      affine.for %i = 1 to 8 {
        %0 = arith.constant {nest.number = "float32"} 3.333300e-01 : f32
        %1 = affine.load %A[%i + -1] : memref<9xf32>
        %2 = affine.load %A[%i] : memref<9xf32>
        %3 = arith.addf %1, %2 : f32
        %4 = affine.load %A[%i + 1] : memref<9xf32>
        %5 = arith.addf %3, %4 : f32
        %6 = arith.mulf %0, %5 : f32
        affine.store %6, %B[%i] : memref<9xf32>
      } {nest.pipeline = 1 : i64}
      affine.for %i1 = 1 to 8 {
        %7 = arith.constant {nest.number = "float32"} 3.333300e-01 : f32
        %8 = affine.load %B[%i1 + -1] : memref<9xf32>
        %9 = affine.load %B[%i1] : memref<9xf32>
        %10 = arith.addf %8, %9 : f32
        %11 = affine.load %B[%i1 + 1] : memref<9xf32>
        %12 = arith.addf %10, %11 : f32
        %13 = arith.mulf %7, %12 : f32
        affine.store %13, %A[%i1] : memref<9xf32>
      } {nest.pipeline = 1 : i64}
    } {nest.nest = 0 : i64}
    func.return
  }
}
// after
builtin.module {
  func.func @jacobi(%A: memref<9xf32> {nest.name = "A", nest.number = "float32", nest.role = "inout"}, %B: memref<9xf32> {nest.name = "B", nest.number = "float32", nest.role = "inout"}) {
    affine.for %t = 0 to 3 {
      affine.for %i = affine_map<(d0) -> (((d0 * 2) + 1))>(%t) to affine_map<(d0) -> (((d0 * 2) + 9))>(%t) {
        "affine.if"(%t, %i) <{condition = affine_set<(d0, d1) : ((((d0 * 2) + (d1 * -1)) + 7) >= 0)>}> ({
          %0 = arith.constant {nest.number = "float32"} 3.333300e-01 : f32
          %1 = affine.load %A[%t * -2 + %i + -1] : memref<9xf32>
          %2 = affine.load %A[%t * -2 + %i] : memref<9xf32>
          %3 = arith.addf %1, %2 : f32
          %4 = affine.load %A[%t * -2 + %i + 1] : memref<9xf32>
          %5 = arith.addf %3, %4 : f32
          %6 = arith.mulf %0, %5 : f32
          affine.store %6, %B[%t * -2 + %i] : memref<9xf32>
          affine.yield
        }, {
        }) : (index, index) -> ()
        "affine.if"(%t, %i) <{condition = affine_set<(d0, d1) : ((((d0 * -2) + d1) + -2) >= 0)>}> ({
          %7 = arith.constant {nest.number = "float32"} 3.333300e-01 : f32
          %8 = affine.load %B[%t * -2 + %i + -2] : memref<9xf32>
          %9 = affine.load %B[%t * -2 + %i + -1] : memref<9xf32>
          %10 = arith.addf %8, %9 : f32
          %11 = affine.load %B[%t * -2 + %i] : memref<9xf32>
          %12 = arith.addf %10, %11 : f32
          %13 = arith.mulf %7, %12 : f32
          affine.store %13, %A[%t * -2 + %i + -1] : memref<9xf32>
          affine.yield
        }, {
        }) : (index, index) -> ()
      } {nest.pipeline = 1 : i64}
    } {nest.nest = 0 : i64}
    func.return
  }
}
