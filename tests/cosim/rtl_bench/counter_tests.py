"""cocotb tests that tests/cosim/test_bench.py runs inside the simulator (and pytest must not collect)."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge, Timer
from cocotb.utils import get_sim_time


async def start(dut):
    Clock(dut.clk, 10, "ns").start()
    dut.enable.value = 0
    dut.rst.value = 1
    for _ in range(3):
        await RisingEdge(dut.clk)
    dut.rst.value = 0


@cocotb.test()
async def counts_enabled_cycles(dut):
    await start(dut)
    expected = 0
    for _ in range(200):
        enable = random.randint(0, 1)
        dut.enable.value = enable  # after an edge: what the next edge sees
        await RisingEdge(dut.clk)
        expected += enable
        await FallingEdge(dut.clk)
        assert int(dut.value.value) == expected


@cocotb.test()
async def time_and_regions_are_right(dut):
    await start(dut)
    before = get_sim_time("step")
    await Timer(25, "ns")
    assert get_sim_time("step") - before == 25_000
    dut.enable.value = 1
    await RisingEdge(dut.clk)
    await ReadOnly()
    first = int(dut.value.value)  # after the edge everything has settled
    await RisingEdge(dut.clk)
    await ReadOnly()
    assert int(dut.value.value) == first + 1


@cocotb.test(skip=True)
async def is_skipped(dut):
    raise AssertionError
