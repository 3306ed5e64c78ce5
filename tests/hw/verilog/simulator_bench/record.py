"""What both cocotb benches share: the stimulus from a file, and a line for each cycle in another."""

import json
import os
import random
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

JOB = json.loads(Path(os.environ["AXILOOM_BENCH_JOB"]).read_text())
STALL = 0.3


class Bench:
    """Inputs change after an edge and everything is looked at before the next one: no races, whatever the
    simulator. `cycle` is one clock, and records what `outputs` say: each is a valid (or a signal that always
    means something) with the payload that means something only beside it."""

    def __init__(self, dut, outputs):
        self.dut, self.outputs = dut, outputs
        self.random = random.Random(JOB["seed"])
        self.lines = []

    async def start(self, inputs):
        for name in inputs:
            getattr(self.dut, name).value = 0
        self.dut.aresetn.value = 0
        Clock(self.dut.aclk, 10, "ns").start()
        for _ in range(4):
            await RisingEdge(self.dut.aclk)
        self.dut.aresetn.value = 1

    def stalls(self):
        return self.random.random() < STALL

    def get(self, name):
        return int(getattr(self.dut, name).value)  # refuses X

    def set(self, **values):
        for name, value in values.items():
            getattr(self.dut, name).value = value

    async def settled(self):
        """To the middle of the cycle, with the inputs that were set."""
        await FallingEdge(self.dut.aclk)
        line = []
        for valid, payload in self.outputs:
            line.append(self.get(valid))
            line += [self.get(name) for name in payload] if line[-1] else ["-"]
        self.lines.append(" ".join(map(str, line)))

    async def edge(self):
        await RisingEdge(self.dut.aclk)

    def finish(self, **result):
        assert result
        cocotb.log.info("%d cycles", len(self.lines))
        Path(JOB["result"]).write_text(json.dumps({"cycles": self.lines, **result}))
