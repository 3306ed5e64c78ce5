"""Average pooling: one file in `isa/kernels/named`, and a driver and a device are there."""

from tests.drivergen.host import check

from axiloom.isa.files.device import device_of

SUMS = """
func.func @f(%i: memref<2x5x9x11xi32>, %w: memref<3x2xi32>, %o: memref<2x5x4x10xi32>) {
  %z = arith.constant 0 : i32
  linalg.fill ins(%z : i32) outs(%o : memref<2x5x4x10xi32>)
  linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<[2, 1]> : vector<2xi64>}
    ins(%i, %w : memref<2x5x9x11xi32>, memref<3x2xi32>) outs(%o : memref<2x5x4x10xi32>)
  return
}
"""


def test_sums_over_a_window() -> None:
    driver, _ = check(SUMS, device_of("linalg.pooling_nchw_sum"), pipeline="copying")
    assert driver.calls[0].sizes == {"b": 2, "c": 5, "oh": 4, "ow": 10, "fh": 3, "fw": 2}
