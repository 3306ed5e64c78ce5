// 192 sums of 9 taps each, over 200 samples of 16 bits.
#window = affine_map<(x, f) -> (x + f)>
#tap = affine_map<(x, f) -> (f)>
#sum = affine_map<(x, f) -> (x)>
func.func @fir(%X : memref<200xi16>, %H : memref<9xi16>, %Y : memref<192xi32>) {
  linalg.generic {indexing_maps = [#window, #tap, #sum], iterator_types = ["parallel", "reduction"]}
    ins(%X, %H : memref<200xi16>, memref<9xi16>) outs(%Y : memref<192xi32>) {
  ^bb0(%x : i16, %h : i16, %y : i32):
    %wide = arith.extsi %x : i16 to i32
    %factor = arith.extsi %h : i16 to i32
    %product = arith.muli %wide, %factor : i32
    %sum = arith.addi %y, %product : i32
    linalg.yield %sum : i32
  }
  func.return
}
