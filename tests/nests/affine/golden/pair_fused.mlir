// before
builtin.module {
  func.func @pair(%X: memref<10xi16> {nest.name = "X", nest.number = "int16", nest.role = "in"}, %Y: memref<10xi16> {nest.name = "Y", nest.number = "int16", nest.role = "out"}) {
    %T = memref.alloc() {nest.name = "T", nest.number = "int16", nest.role = "local"} : memref<10xi16>
    affine.for %i = 0 to 10 {
      %0 = affine.load %X[%i] : memref<10xi16>
      %1 = affine.load %X[%i] : memref<10xi16>
      %2 = arith.addi %0, %1 : i16
      affine.store %2, %T[%i] : memref<10xi16>
    } {nest.nest = 0 : i64, nest.pipeline = 1 : i64}
    affine.for %i_1 = 1 to 10 {
      %3 = affine.load %T[%i_1 + -1] : memref<10xi16>
      %4 = affine.load %T[%i_1] : memref<10xi16>
      %5 = arith.muli %3, %4 : i16
      affine.store %5, %Y[%i_1] : memref<10xi16>
    } {nest.nest = 1 : i64, nest.pipeline = 1 : i64}
    func.return
  }
}
// after
builtin.module {
  func.func @pair(%X: memref<10xi16> {nest.name = "X", nest.number = "int16", nest.role = "in"}, %Y: memref<10xi16> {nest.name = "Y", nest.number = "int16", nest.role = "out"}) {
    %T = memref.alloc() {nest.name = "T", nest.number = "int16", nest.role = "local"} : memref<10xi16>
    affine.for %i = 0 to 10 {
      %0 = affine.load %X[%i] : memref<10xi16>
      %1 = affine.load %X[%i] : memref<10xi16>
      %2 = arith.addi %0, %1 : i16
      affine.store %2, %T[%i] : memref<10xi16>
      "affine.if"(%i) <{condition = affine_set<(d0) : ((d0 + -1) >= 0)>}> ({
        %3 = affine.load %T[%i + -1] : memref<10xi16>
        %4 = affine.load %T[%i] : memref<10xi16>
        %5 = arith.muli %3, %4 : i16
        affine.store %5, %Y[%i] : memref<10xi16>
        affine.yield
      }, {
      }) : (index) -> ()
    } {nest.nest = 0 : i64, nest.pipeline = 1 : i64}
    func.return
  }
}
