"""What a board folder is made of: the board, accelerators at their final addresses, the DMA, the problems."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from axiloom import drivergen, isa
from axiloom.base.errors import SpecError, UsageError
from axiloom.boards.hardware import Hardware, Memory
from axiloom.drivergen import Driver
from axiloom.drivergen.problems import kinds
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa import AcceleratorSpec
from axiloom.isa.files.together import PAGE_BYTES
from axiloom.plan.caches import Caches

ON_CHIP_WINDOW = 65_536
"""Bytes of a window on a board without a processor, at most."""
MOST_PORTS = 16
"""Slave ports of a SmartConnect (PG247)."""

OWN, XILINX = "axiloom", "xilinx"
"""Whose DMA: ours, in one core with the accelerators, or Xilinx' AXI DMA beside each accelerator's core."""


Loops = Callable[[AcceleratorSpec], tuple[Driver, Driver]]
"""Makes the driver of an accelerator at its final addresses, and the same function for the CPU."""


@dataclass(frozen=True)
class Plan:
    """Everything that the files of a folder follow from. Build one with :func:`make`."""

    hardware: Hardware
    specs: tuple[AcceleratorSpec, ...]
    dma: str
    problems: tuple[str, ...]
    """One for each accelerator: what its driver computes."""
    mlir: tuple[str, ...]
    user_rtl: UserRtl | None = None
    loops: Loops | None = None
    """Of loop nests: their driver, and the same for the CPU."""

    @property
    def name(self) -> str:
        """Of the project, the bitstream and its .hwh."""
        return "_".join(("axiloom", *(identifier(spec.name) for spec in self.specs)))

    @property
    def masters(self) -> tuple[str, ...]:
        """Ports of the SoC to memory, with our DMA."""
        own = self.user_rtl is not None and self.user_rtl.master is not None
        return (
            *("m_axi_mm2s", "m_axi_s2mm"),
            *(("m_axi_sg",) if self.scatter_gather else ()),
            *(("m_axi_user",) if own else ()),
        )

    @property
    def scatter_gather(self) -> bool:
        return self.specs[0].link.dma.scatter_gather

    @property
    def memory(self) -> Memory | None:
        """The processor's port to memory; None without a processor."""
        return self.hardware.coherent if self.coherent else self.hardware.memory

    @property
    def coherent(self) -> bool:
        """Whether that port looks into the caches."""
        return self.specs[0].link.dma.coherent

    @property
    def pipeline(self) -> str:
        """Xilinx' core knows no rows with a stride: nothing is sent in place there."""
        usual = drivergen.default_pipeline(self.specs[0].parts[0])
        return "copying" if self.dma == XILINX and usual == "all" else usual

    @cached_property
    def drivers(self) -> tuple[Driver, ...]:
        """One for each accelerator; their functions have names of their own."""
        if self.loops is not None:
            return (self.loops(self.specs[0])[0],)
        return tuple(
            drivergen.compile_mlir(
                text, spec.parts[0], pipeline=self.pipeline, name=problem, caches=self._caches
            )
            for text, spec, problem in zip(self.mlir, self.specs, self.problems, strict=True)
        )

    @property
    def _caches(self) -> Caches:
        cpu = self.hardware.cpu
        return Caches(line_bytes=cpu.host.line_bytes) if cpu else Caches()

    @cached_property
    def references(self) -> tuple[Driver, ...]:
        """The same functions as plain loops for the CPU."""
        if self.loops is not None:
            return (self.loops(self.specs[0])[1],)
        return tuple(
            drivergen.compile_cpu(_renamed(text, driver.function, f"{driver.function}_on_cpu"), name=problem)
            for text, driver, problem in zip(self.mlir, self.drivers, self.problems, strict=True)
        )


def identifier(name: str) -> str:
    """A name for C, Verilog and Tcl."""
    return re.sub(r"\W", "_", name)


def make(
    hardware: Hardware,
    specs: Sequence[AcceleratorSpec],
    *,
    dma: str = OWN,
    problems: Sequence[tuple[str, str]] = (),
    rebase: bool = False,
    user_rtl: UserRtl | None = None,
    loops: Loops | None = None,
) -> Plan:
    """The plan for `specs` on `hardware`.

    `problems`: (name, MLIR) of each accelerator's driver; by default a small one that fits the accelerator.
    `rebase`: move the registers to where the board has them, and make windows as small as it needs them;
    else they must fit. Raises
    :exc:`SpecError` for addresses that the board does not have, each with what it would accept, and
    :exc:`UsageError` for what no file of such a folder would have.
    """
    placed = tuple(_rebased(hardware, specs) if rebase else specs)
    _refuse(hardware, placed, dma, user_rtl)
    faults = [*isa.check_together(placed), *_faults(hardware, placed, dma)]
    if faults:
        raise SpecError(faults)
    if loops is not None:
        return Plan(hardware, placed, dma, tuple(spec.name for spec in placed), (), user_rtl, loops)
    if not problems:
        problems = [_small(spec) for spec in placed]
    if len(problems) != len(placed):
        raise UsageError(
            f"{len(placed)} accelerators and {len(problems)} problems: give one --problem for each, or none"
        )
    names = [name for name, _ in problems]
    texts = [text for _, text in problems]
    if len(placed) > 1:
        texts = [_own(text, spec) for text, spec in zip(texts, placed, strict=True)]
    return Plan(hardware, placed, dma, tuple(names), tuple(texts), user_rtl)


def _refuse(hardware: Hardware, specs: Sequence[AcceleratorSpec], dma: str, user_rtl: UserRtl | None) -> None:
    names = ", ".join(spec.name for spec in specs)
    if user_rtl is not None and len(specs) > 1:
        raise UsageError(f"RTL {user_rtl.top} takes the place of one accelerator, and here are {names}")
    if any(spec.link.rtl.registers for spec in specs) and (dma == XILINX or hardware.memory is None):
        what = "Xilinx' DMA" if dma == XILINX else "its open flow"
        raise UsageError(
            f"{names}: {what} has no room for the accelerator's own registers (`rtl.registers`): take "
            "a board that Vivado builds, with our DMA (leave --dma out)"
        )
    if any(spec.link.dma.coherent for spec in specs):
        _refuse_coherent(hardware, names, dma)
    if hardware.memory is not None:
        return
    if len(specs) > 1:
        raise UsageError(f"{hardware.name}: its open flow builds one accelerator, not {names}: name one")
    if dma == XILINX:
        raise UsageError(
            f"{hardware.name}: no Vivado builds it, so Xilinx' DMA is not there: leave --dma out"
        )


def _refuse_coherent(hardware: Hardware, names: str, dma: str) -> None:
    if hardware.coherent is None:
        raise UsageError(
            f"{names}: dma_config.coherent: {hardware.name} has no port to memory that looks into the CPU's "
            "caches, or Axiloom writes none for it: take a plain one (--memory-port plain)"
        )
    if dma == XILINX:
        raise UsageError(
            f"{names}: dma_config.coherent: Xilinx' DMA says that what it reads and writes is not in caches: "
            "take our DMA (leave --dma out) or a plain port (--memory-port plain)"
        )


def _rebased(hardware: Hardware, specs: Sequence[AcceleratorSpec]) -> list[AcceleratorSpec]:
    """The first accelerator's registers at the board's own base, the others as far behind it as they were."""
    if hardware.registers is None:
        return [_with_small_windows(spec) for spec in specs]
    shift = hardware.registers.base - min(spec.link.dma.address for spec in specs)
    return [spec.replace(dma=replace(spec.link.dma, address=spec.link.dma.address + shift)) for spec in specs]


def _with_small_windows(spec: AcceleratorSpec) -> AcceleratorSpec:
    """Windows that are memory on the chip. Raises :exc:`SpecError` if the accelerator needs larger ones."""
    sizes = {
        name: min(getattr(spec.link.dma, name), ON_CHIP_WINDOW)
        for name in ("input_buffer_size", "output_buffer_size")
    }
    return isa.revise(spec, dma=replace(spec.link.dma, **sizes))


def _faults(hardware: Hardware, specs: Sequence[AcceleratorSpec], dma: str) -> list[str]:
    registers = hardware.registers
    faults = []
    for spec in specs:
        config = spec.link.dma
        if registers and not (
            registers.first <= config.address and config.address + PAGE_BYTES - 1 <= registers.last
        ):
            faults.append(
                f"{spec.name}: dma_config.address: {config.address:#x} is not behind {registers.port} of the "
                f"{hardware.name}, which has {registers.first:#x} to {registers.last:#x}; change it, or let "
                "--rebase do so"
            )
        if config.address % PAGE_BYTES:
            faults.append(
                f"{spec.name}: dma_config.address: {config.address:#x} is not a multiple of {PAGE_BYTES:#x}, "
                "the range that a block design gives a DMA"
            )
        for key, start, size in (
            ("inputAddress", config.input_address, config.input_buffer_size),
            ("outputAddress", config.output_address, config.output_buffer_size),
        ):
            if start + size > hardware.ram_bytes:
                faults.append(
                    f"{spec.name}: dma_config.{key}: {size} bytes from {start:#x} are not in the memory of "
                    f"the {hardware.name}, which ends at {hardware.ram_bytes:#x}"
                )
    ports = len(specs) * (3 if specs[0].link.dma.scatter_gather else 2)
    if dma == XILINX and ports > MOST_PORTS:
        faults.append(
            f"{len(specs)} accelerators: their DMAs have {ports} ports to memory, and a SmartConnect takes "
            f"{MOST_PORTS}; leave some out, or let our own DMA share its ports (--dma simple or sg)"
        )
    return faults


def _small(spec: AcceleratorSpec) -> tuple[str, str]:
    """A problem of a few tiles."""
    text = kinds.small(spec.parts[0])
    return text, drivergen.parse_workload(text).mlir


def _own(text: str, spec: AcceleratorSpec) -> str:
    """The function of `text` under a name that no other accelerator's has."""
    match = re.search(r"func\.func (?:public |private )?@(\w+)", text)
    if match is None:
        raise UsageError("a problem for one of several accelerators is a module with one function, @name")
    return _renamed(text, match[1], f"{match[1]}_{identifier(spec.name)}")


def _renamed(text: str, old: str, new: str) -> str:
    return re.sub(rf"@{re.escape(old)}\b", f"@{new}", text)
