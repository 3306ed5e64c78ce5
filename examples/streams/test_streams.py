"""Drive an accelerator's two streams from an ordinary cocotb test, word by word.

`pytest examples/streams` builds v3_4 (the RTL alone, no DMA and no CPU) and runs the coroutine below in it.
The same way tests Verilog of your own: ``run_cocotb(spec, ..., user_rtl=UserRtl([...], "top"))``.
"""

from pathlib import Path

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

from axiloom import isa
from axiloom.cosim.bench import run_cocotb


def test_streams() -> None:
    """What pytest runs: build the accelerator and run this file's cocotb tests in it."""
    run_cocotb(isa.builtin("v3", 4), Path(__file__), sim="verilator")


async def send(dut, words) -> None:
    for word in words:
        dut.s_axis_tdata.value = int(word)
        dut.s_axis_tvalid.value = 1
        await RisingEdge(dut.aclk)
        while not dut.s_axis_tready.value:
            await RisingEdge(dut.aclk)
    dut.s_axis_tvalid.value = 0


async def receive(dut, count: int) -> list[int]:
    words: list[int] = []
    dut.m_axis_tready.value = 1
    while len(words) < count:
        await FallingEdge(dut.aclk)
        if dut.m_axis_tvalid.value:
            words.append(int(dut.m_axis_tdata.value))
            assert bool(dut.m_axis_tlast.value) == (len(words) == count), (
                "TLAST belongs on the last word only"
            )
    return words


@cocotb.test()
async def one_tile(dut) -> None:
    """Load A and B, compute, and read C back."""
    Clock(dut.aclk, 10, "ns").start()
    dut.aresetn.value = 0
    dut.s_axis_tvalid.value = 0
    dut.s_axis_tlast.value = 0
    for _ in range(4):
        await RisingEdge(dut.aclk)
    dut.aresetn.value = 1

    rng = np.random.default_rng(1)
    a, b = rng.integers(-100, 100, (2, 4, 4), np.int32)
    op = isa.builtin("v3", 4).opcodes
    program = [op["sA"].literal, *a.flat, op["sB"].literal, *b.flat, op["cC"].literal, op["rC"].literal]
    cocotb.start_soon(send(dut, np.array(program, np.int64) & 0xFFFFFFFF))
    found = np.array(await receive(dut, 16), np.uint32).view(np.int32).reshape(4, 4)
    assert (found == a @ b).all()
