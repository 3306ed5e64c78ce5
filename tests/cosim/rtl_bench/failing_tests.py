"""A cocotb test that fails, for tests/cosim/test_bench.py."""

import cocotb
from cocotb.triggers import Timer


@cocotb.test()
async def passes(dut):
    await Timer(1, "ns")


@cocotb.test()
async def expects_too_much(dut):
    await Timer(1, "ns")
    assert dut.value.value == 12345
