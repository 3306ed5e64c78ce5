"""What stands in a simulation: the accelerators, the board around them, and what watches over them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from axiloom import boards
from axiloom.base.errors import SpecError, UsageError
from axiloom.cosim import blocks
from axiloom.cosim.blocks import Block, takes_streams
from axiloom.cosim.build import bsp, toolchain
from axiloom.cosim.build.user_code import NOTHING, CompileOptions, compile_user
from axiloom.cosim.model_device import MODEL_RTL
from axiloom.isa import AcceleratorSpec, check_together

if TYPE_CHECKING:
    from axiloom.hw.rtl_files.user_rtl import UserRtl

WATCHDOG_CYCLES = 1_000_000
"""Fabric cycles that make a hang: no word on a stream, no register write, DMA busy (10 ms at 100 MHz)."""

STALLS = "some"
"""Value of `stall` for RTL of the user's, if nobody says anything else."""
Stall = range | str | None

TRACES = {"verilator": (".fst", ".vcd"), "icarus": (".vcd",)}
"""Simulator to the endings of the waveform files that it writes."""
WAITS = ("poll", "irq")
OPERATING_SYSTEMS = ("none", "linux")


def _are_seeds(stall: object) -> bool:
    return isinstance(stall, range) and len(stall) > 0 and min(stall) > 0 and max(stall) < 1 << 32


@dataclass(frozen=True)
class System:
    """An accelerator, its DMA, a memory and the CPU of a board; :class:`axiloom.cosim.soc.Soc` simulates it.

    Several accelerators each have a DMA and windows of their own (:func:`axiloom.isa.place`): `fabric` of a
    result is then of all together, and a hang says which of them it was.

    Raises UsageError and SpecError for what does not go together.
    """

    accelerators: AcceleratorSpec | Sequence[AcceleratorSpec]
    board: str | boards.Board = boards.DEFAULT
    """A name, the file of a profile, or a profile."""
    sim: str = "verilator"
    """Or ``icarus``."""
    user_rtl: UserRtl | None = None
    """In place of the generated accelerator."""
    model: bool = False
    """The functional model in each accelerator's place, in the cycles of
    :class:`axiloom.cosim.model_device.Timing`."""
    wait: str = "poll"
    """How programs wait for the DMA: ``poll`` its registers, or asleep until its ``irq``."""
    os: str = "none"
    """``linux``: programs are static Linux programs, their system calls answered by the simulator."""
    trace: Path | str | None = None
    """A waveform file: .fst or .vcd on Verilator, .vcd on Icarus."""
    trace_window: tuple[int, int] | None = None
    """The fabric cycles [begin, end) of each job that are in it."""
    watchdog_cycles: int = WATCHDOG_CYCLES
    """So many fabric cycles without progress are a hang."""
    stall: Stall = None
    """Each run is repeated under pseudo-random pauses on every channel: of these seeds, from 1 on, or of
    1, 2, ... for as long as it took (:data:`STALLS`). Another text: why it is not, for the report."""
    ip: Sequence[str | Block] = ()
    """Neighbours of the accelerators: see :func:`axiloom.cosim.blocks.neighbours`."""
    seed: int = 0
    """Of cocotb's random numbers."""

    def __post_init__(self) -> None:
        if self.sim not in TRACES:
            raise UsageError(f"simulator must be 'verilator' or 'icarus', not {self.sim!r}")
        if self.wait not in WAITS:
            raise UsageError(f"wait must be 'poll' or 'irq', not {self.wait!r}")
        if self.os not in OPERATING_SYSTEMS:
            raise UsageError(f"os must be 'none' or 'linux', not {self.os!r}")
        if self.os == "linux" and self.wait == "irq":
            raise UsageError("Linux programs poll the DMA: leave wait='irq' out")
        if self.watchdog_cycles <= 0:
            raise UsageError(f"watchdog_cycles must be positive, not {self.watchdog_cycles}")
        if self.stall is not None and not isinstance(self.stall, str) and not _are_seeds(self.stall):
            raise UsageError(f"stall must be a range of seeds from 1 to 2^32 - 1, not {self.stall!r}")
        if isinstance(self.stall, range) and self.model:
            raise UsageError("the functional model is no RTL, and is not held up: leave stall out")
        if self.trace_window and not 0 <= self.trace_window[0] < self.trace_window[1]:
            window = ":".join(map(str, self.trace_window))
            raise UsageError(f"trace window must be START:END with 0 <= START < END, not {window}")
        if self.model and self.user_rtl is not None:
            raise UsageError(
                f"{self.user_rtl.top} or the functional model takes the accelerator's place, not both"
            )
        if self.model and (without := [device.name for device in self.devices if not device.parts]):
            raise SpecError(
                [f"{name}: has no opcode map, so no functional model. Give its RTL" for name in without]
            )
        if faults := check_together(self.devices):
            raise SpecError(faults)
        if self.user_rtl is not None:
            self.user_rtl.check(self.device)
        if any(device.link.rtl.registers for device in self.devices):
            self._check_registers()
        self._check_trace()
        if self.ip and self.os == "linux":
            raise UsageError(
                "--ip: Linux programs do not reach such blocks yet: leave it, or --os linux, out"
            )
        _ = self.blocks
        _ = self.profile  # of a name that does not exist it is said here

    def _check_registers(self) -> None:
        name = next(device.name for device in self.devices if device.link.rtl.registers)
        if self.user_rtl is None:
            raise UsageError(f"{name} has registers (`rtl.registers`), which only RTL of yours has: give it")
        if self.os == "linux":
            raise UsageError(f"{name} has registers (`rtl.registers`): Linux programs do not reach them yet")

    def _check_trace(self) -> None:
        accepted = TRACES[self.sim]
        if self.trace is not None and Path(self.trace).suffix not in accepted:
            name = Path(self.trace).name
            raise UsageError(f"a trace on {self.sim} must end in {' or '.join(accepted)}, not {name!r}")

    @cached_property
    def devices(self) -> tuple[AcceleratorSpec, ...]:
        """All accelerators, by their numbers."""
        accelerators = self.accelerators
        devices = (accelerators,) if isinstance(accelerators, AcceleratorSpec) else tuple(accelerators)
        devices = devices if self.user_rtl is None else tuple(map(self.user_rtl.completed, devices))
        if self.fifo is None:
            return devices
        # Its registers are where the DMA's would be.
        return tuple(
            device.replace(dma=replace(device.link.dma, address=self.fifo.base, scatter_gather=False))
            for device in devices
        )

    @cached_property
    def neighbours(self) -> tuple[Block, ...]:
        """What stands beside the accelerators."""
        return blocks.neighbours(self.ip)

    @cached_property
    def fifo(self) -> Block | None:
        """The AXI4-Stream FIFO in the place of the DMA."""
        return next((block for block in self.neighbours if takes_streams(block)), None)

    @cached_property
    def blocks(self) -> list[Block]:
        """All that stands in the fabric: see :func:`axiloom.cosim.blocks.design`."""
        return blocks.design([device.link for device in self.devices], self.neighbours)

    def at(self, name: str) -> Block:
        """The block of this name."""
        return next(block for block in self.blocks if block.name == name)

    @property
    def placed(self) -> list[Block]:
        """The neighbours, with their interrupts."""
        names = {block.name for block in self.neighbours}
        return [block for block in self.blocks if block.name in names]

    @property
    def device(self) -> AcceleratorSpec:
        """The first one, which most often is the only one."""
        return self.devices[0]

    @property
    def specs(self) -> tuple[AcceleratorSpec, ...]:
        """The opcode maps, of those that have one."""
        return tuple(part for device in self.devices for part in device.parts[:1])

    @property
    def spec(self) -> AcceleratorSpec:
        """The first one's opcode map, which it must have."""
        return self.specs[0]

    @property
    def macs(self) -> int:
        """Parallel multiply-adds of all."""
        return sum(device.macs for device in self.devices)

    @cached_property
    def profile(self) -> boards.Board:
        """The board's, as it is behind the port to memory that the accelerators' DMA has."""
        return boards.through(boards.load(self.board), self.device.link.dma.coherent)

    @property
    def board_name(self) -> str:
        """As the user named it, where they did."""
        return self.board if isinstance(self.board, str) else self.board.name

    @property
    def rtl(self) -> str:
        """What stands in the accelerator's place, in a word."""
        if self.model:
            return MODEL_RTL
        return self.user_rtl.top if self.user_rtl else "generated"

    def compile_user(
        self,
        sources: Sequence[Path],
        out: Path,
        options: CompileOptions = NOTHING,
        arrays: Collection[str] = (),
    ) -> tuple[Path, list[str]]:
        """The program `out` from a user's C and C++, and the compiler's warnings about it.

        There are guards around `arrays`, those that the caller fills or reads. UsageError where there is no
        system that a program on the vendor's API is for.
        """
        if self.fifo is not None and not options.bsp:
            raise UsageError(
                f"--ip {self.fifo.ip}: the runtime of axiloom.h moves words by a DMA, whose place it takes: "
                "write against xllfifo.h, --bsp"
            )
        if options.bsp and self.profile.cpu != bsp.HOST:
            raise UsageError(
                f"--bsp: is the API of a Zynq-7000, and {self.board_name} has a {self.profile.host.title}: "
                "take --board pynq-z2"
            )
        return compile_user(
            sources,
            out,
            board=self.profile,
            spec=self.devices,
            linux=self.os == "linux",
            irq=self.wait == "irq",
            options=options,
            arrays=arrays,
            beside=self.neighbours,
        )

    def compile(self, sources: Sequence[Path], out: Path, include: Sequence[Path] = ()) -> Path:
        """The program `out` from C `sources` and the runtime, for this CPU, DMA and operating system."""
        if self.os == "linux":
            return toolchain.compile_linux(
                sources, out, board=self.profile, spec=self.devices, include=include
            )
        irq = self.wait == "irq"
        return toolchain.compile_bare(
            sources, out, board=self.profile, spec=self.devices, irq=irq, include=include
        )
