// accel-lower-to-calls
func.func @f(%H : memref<9xi16>) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c32 = arith.constant 32 : index
  %c132 = arith.constant 132 : index
  accel.write_elements 32800, 9 of 16 bits %c0 to %c5
  accel.point_in 32784, %c32 to %c132
  accel.point_out 32808, %c0 to %c132
  accel.write_register 32768, 1
  accel.wait_register 32768, 2
  accel.take_out %c0 to %c132
  func.return
}
