"""A program of commands on the simulated SoC: the RTL of its text behind the DMA, its driver on the CPU.

The reference are results that the caller has: of the graph that the program was made from, or of the text's
simulator (:mod:`axiloom.selection.drive.execute`), which knows nothing of RTL, of drivers and of their plans.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from axiloom.base.cache import content_hash
from axiloom.base.errors import UsageError
from axiloom.cosim.job import Job, Result
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.device.rtl import DeviceRtl
from axiloom.drivergen import Driver
from axiloom.graph.numbers import number
from axiloom.isa import dumps
from axiloom.plan import Plan
from axiloom.report.build import build
from axiloom.report.types import Kernel, OnCpu, Report, Setup
from axiloom.run.compare import Arrays, compare
from axiloom.run.run import build_driver
from axiloom.selection.drive.driver import driver
from axiloom.selection.program.program import Program
from axiloom.selection.validate.transfers import plan

BY_TEXT = "the text of the instruction set, executed"


@dataclass(frozen=True)
class ProgramRun:
    """`program_of` on `system`, whose RTL is `device`'s: a :class:`axiloom.run.run.Run`."""

    program_of: Program
    device: DeviceRtl
    system: System
    values: Arrays
    """By array: what is given."""
    results: Arrays
    """By array: the results of an independent reference."""
    reference: str = BY_TEXT
    multiply_adds: int = 0
    seed: int = 0

    @property
    def program(self) -> str:
        return "driver"

    @cached_property
    def plan(self) -> Plan:
        return plan(self.program_of, self.device.isa, self.device.stream_width)

    @cached_property
    def driver(self) -> Driver:
        return driver(self.program_of, self.plan, self.system.device.link)

    def _by_symbol(self, arrays: Arrays, kinds: tuple[str, ...]) -> dict[str, np.ndarray]:
        args = {arg.name: arg for arg in self.driver.args if arg.kind in kinds}
        return {arg.symbol: np.asarray(arrays[name]).reshape(arg.shape) for name, arg in args.items()}

    @cached_property
    def inputs(self) -> Arrays:
        return self._by_symbol(self.values, ("in",))

    @cached_property
    def expected(self) -> Arrays:
        return self._by_symbol(self.results, ("out",))

    def by_name(self, result: Result) -> Arrays:
        """Results as NumPy computes with them: bfloat16 as float32."""
        numbers = {array.name: number(array.number) for array in self.program_of.arrays}
        names = {arg.symbol: arg.name for arg in self.driver.args}
        return {names[symbol]: numbers[names[symbol]].decode(raw) for symbol, raw in result.outputs.items()}

    def build(self, folder: Path) -> Path:
        return build_driver(self.driver, self.system, folder)

    def explain(self, folder: Path) -> None:
        (folder / "accelerator.json").write_text(dumps(self.system.device), encoding="utf-8")

    def run_on(self, soc: Soc, elf: Path, *, live: bool) -> Result:
        """:meth:`job`, simulated."""
        return soc.run_many([self.job(elf)], progress=live)[0]

    def job(self, elf: Path) -> Job:
        outputs = {arg.symbol: (arg.shape, arg.dtype) for arg in self.driver.args if arg.kind != "in"}
        return Job(elf, self.inputs, outputs, section=self.driver.function)

    def on_cpu(self, kernel: Kernel, keep: Path | None) -> OnCpu:
        raise UsageError(f"{self.program_of.name}: there is no run of a program on the CPU alone")

    def config(self) -> Setup:
        spec = self.system.device
        return {
            "problem": self.program_of.name,
            "accelerator": spec.name,
            "spec_hash": content_hash(dumps(spec), self.device.verilog),
            "data_type": self.driver.args[-1].dtype,
            "driver_hash": content_hash(self.driver.c),
            "wait": self.system.wait,
        }

    def checked(self, result: Result, cpu: OnCpu | None = None) -> Report:
        adds = self.multiply_adds
        return build(
            self.system,
            result,
            config=self.config(),
            seed=self.seed,
            result={**compare(result, self.expected), "reference": self.reference},
            multiply_adds=adds or None,
            array_cycles=-(-adds // self.system.device.macs) or None,
            cpu=cpu,
        )
