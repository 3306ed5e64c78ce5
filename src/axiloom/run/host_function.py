"""A function by the simulated CPU alone, checked: in a file whose other functions are for an accelerator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from axiloom import drivergen
from axiloom.boards import Board
from axiloom.cosim import cpu_store
from axiloom.cosim.build import toolchain
from axiloom.report.types import OnCpu
from axiloom.run.compare import Arrays, compare, random_inputs
from axiloom.run.problem import Workload


@dataclass(frozen=True)
class HostFunction:
    """A workload for a board's CPU: plain loops at -O3."""

    workload: Workload
    board: Board

    @cached_property
    def driver(self) -> drivergen.Driver:
        return drivergen.compile_cpu(self.workload.mlir, name=self.workload.name)

    @cached_property
    def inputs(self) -> Arrays:
        return random_inputs(self.driver, self.workload.seed)

    def run(self, folder: Path) -> OnCpu:
        """Compile it to `folder`, run it, and compare each output with NumPy's."""
        sources = {
            "cpu.c": self.driver.c,
            self.driver.header_name: self.driver.header,
            "cpu_main.c": self.driver.harness,
        }
        for name, text in sources.items():
            (folder / name).write_text(text, encoding="utf-8")
        files = [folder / "cpu.c", folder / "cpu_main.c"]
        elf = toolchain.compile_bare(files, folder / "cpu.elf", board=self.board, include=[folder])
        outputs = {arg.symbol: (arg.shape, arg.dtype) for arg in self.driver.args if arg.kind != "in"}
        ran = cpu_store.run_cpu(elf, self.inputs, outputs, self.board)
        expected = drivergen.reference(self.workload.mlir, self.inputs, name=self.workload.name)
        result = compare(ran.run, expected)
        return {"kernel": "loops", "counters": ran.run.counters, "result": result, "kept": ran.known}
