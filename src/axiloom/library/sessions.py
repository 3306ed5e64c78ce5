"""A simulated SoC on which drivers run."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from axiloom.base import processes
from axiloom.base.errors import UsageError
from axiloom.cosim.build.user_code import CompileOptions
from axiloom.cosim.job import Job, Result
from axiloom.cosim.live import WORDS, Live
from axiloom.cosim.soc import Soc, judge, refuse_run
from axiloom.cosim.system import STALLS, System
from axiloom.drivergen import matmul_mlir
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.isa import AcceleratorSpec, place
from axiloom.isa.contract.dma_registers import Channel
from axiloom.library.accelerators import Device
from axiloom.library.devices import Source, device, of_text
from axiloom.library.live import Memory, Session, Stream, words
from axiloom.report.page import soc as page_of_system
from axiloom.report.page.document import framed
from axiloom.report.types import Report
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import report_of

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Chip:
    """One simulated SoC: built when it is first run, and from the cache ever after.

    :meth:`run` runs a program from its begin to its end. A live session begins at the first call of what is
    below it: registers, memory, transfers and cycles by hand. Each raises what has ended the session.
    """

    system: System
    soc: Soc
    folder: Path
    """Of the programs that are compiled."""

    @property
    def specs(self) -> tuple[AcceleratorSpec, ...]:
        """All of them, by their numbers."""
        return self.system.specs

    @property
    def spec(self) -> AcceleratorSpec:
        """The first accelerator, which most often is the only one. Raises UsageError where none has an opcode
        map."""
        if not self.specs:
            raise UsageError(f"{self.system.device.name}: has no opcode map, so drivers of it are your own")
        return self.specs[0]

    def __enter__(self) -> Chip:
        return self

    def __exit__(self, *_error: object) -> None:
        """The live session ends, where there was one."""
        self.close()

    # -- live: the SoC does what it is told, and stands still in between --

    @cached_property
    def _sessions(self) -> list[Session]:
        """The live session, once somebody has asked for something."""
        return []

    @property
    def _session(self) -> Session:
        if not self._sessions:
            session = Session(Live(Soc(self.system, self.soc.timeline, inspect=True)))
            self._sessions.append(session)
            weakref.finalize(self, session.live.close)
        return self._sessions[0]

    def read(self, address: int) -> int:
        """A register, 32 bits over AXI, of a DMA or of the accelerator behind it; it takes the cycles of the
        interconnect. `DriverError` where there is none."""
        return self._session.live.read(address)

    def write(self, address: int, value: int) -> None:
        """Store 32 bits into a register."""
        self._session.live.write(address, value)

    @property
    def memory(self) -> Memory:
        """RAM: ``memory.allocate(shape, dtype)`` gives arrays of NumPy that lie in it."""
        return self._session.memory

    def step(self, cycles: int = 1) -> None:
        """Let so many cycles of the fabric pass, and two at least."""
        if cycles < 0:
            raise UsageError(f"step({cycles}): time does not go back")
        self._session.live.step(cycles)

    @property
    def cycles(self) -> int:
        """Of the fabric, since the session began."""
        return self._session.live.cycle

    def send(self, array: Any, *, of: str | None = None) -> None:
        """Start a transfer of an array by the DMA, with TLAST at its end, once the one before has ended. An
        array that is not in `memory` is copied into it. `of`: the accelerator's name, of several."""
        self._session.channel(of, Channel.MM2S).start(words(array))

    def receive(self, shape: int | Sequence[int], dtype: Any = np.int32, *, of: str | None = None) -> Array:
        """What comes back: waits for all of it. `HangError` with the diagnosis if it does not come, and the
        session has ended; `DriverError` if the packet is shorter."""
        return self._session.receive(shape, dtype, of)

    def wait(self, *, of: str | None = None) -> None:
        """Until what was sent has left memory."""
        self._session.channel(of, Channel.MM2S).wait()

    @property
    def interrupts(self) -> frozenset[str]:
        """Lines that are high: ``NAME.mm2s``, ``NAME.s2mm``, or a neighbour's name."""
        return self._session.interrupts()

    def pins(self, block: str, port: int = 0) -> int:
        """Levels at a neighbour (``ip=["axi_gpio"]``): of an AXI GPIO port 0 is its first channel and 1 the
        second, of an AXI Timer bit 0 is pwm0."""
        return self._session.pins(block, port)

    def drive(self, block: str, levels: int, port: int = 0) -> None:
        """Put levels on its pins from outside, until the next call: of an AXI Timer bits 0 and 1 are
        capturetrig0 and 1."""
        self._session.pins(block, port, levels)

    def wait_for_interrupt(self, cycles: int | None = None) -> frozenset[str]:
        """Until a line is high, at most so many cycles (default: the watchdog's); the lines that are."""
        session = self._session
        session.live.wait(0xFFFF, self.system.watchdog_cycles if cycles is None else cycles)
        return session.interrupts()

    @property
    def streams(self) -> Mapping[str, Stream]:
        """By accelerator the last 4,096 words that went into it and came out, and where the streams stand."""
        return self._session.streams(WORDS)

    @property
    def memories(self) -> Mapping[str, Array]:
        """Memories of the RTL as they are now, by their names below the SoC (``accelerator.buffer_a.bank_0``)
        or the end of a single one: (words,) uint8 to uint64; of wider words (words, parts) uint32, lowest
        part first. `list` has the names."""
        return self._session.memories

    @property
    def state(self) -> Mapping[str, int]:
        """Registers of the RTL as they are now, by such names."""
        return self._session.state

    def wait_for_state(self, name: str, value: int, cycles: int | None = None) -> bool:
        """Until a register, or the word ``NAME[WORD]`` of a memory, was `value`, at most so many cycles
        (default: the watchdog's); whether it was. A cycle more has passed then."""
        most = self.system.watchdog_cycles if cycles is None else cycles
        return self._session.wait_for(name, value, most)

    def close(self) -> Result | None:
        """End the live session; its counters, None where there was none. The next read begins another.
        Mistakes with registers, and broken rules of buses, become warnings."""
        if not self._sessions:
            return None
        result = self._sessions.pop().live.close()
        for line in (*result.mistakes, *result.breaches) if result and not result.failed else ():
            warnings.warn(line, stacklevel=2)
        return result

    # -- programs --

    def _repr_html_(self) -> str:
        return framed(page_of_system.render(self.system), 32)

    def run(
        self,
        driver: Path | str | Sequence[Path | str],
        inputs: Mapping[str, Array] | None = None,
        outputs: Mapping[str, tuple[tuple[int, ...], str]] | None = None,
        *,
        defines: Sequence[str] = (),
        include: Sequence[Path | str] = (),
        out: Mapping[str, tuple[tuple[int, ...], str]] | None = None,
        **arrays: Array,
    ) -> Result:
        """Run C and C++ sources (compiled with the runtime in ``sw/``) or an ELF to the end of its main.

        `defines`: macros, ``NAME`` or ``NAME=VALUE``; `include`: folders with headers. The compiler's
        warnings become Python's.

        With several accelerators C has AXL_ID_<name> for dma_select and AXL_DMA_<name> for dma_init.
        `inputs`, or `arrays` by keyword, fill arrays by symbol before main; `outputs`, or `out`, (symbol
        to shape and type) are read after it. Raises `CompileError`, `BuildError`, `HangError`,
        `StaleDataError` (old data by the caches), `DriverError` (also for a wrong use of the DMA's
        registers, and an access beside one of these arrays) or `ProtocolError` (a rule of a bus is
        broken), each with one line.
        """
        files = [Path(file) for file in ([driver] if isinstance(driver, (str, Path)) else driver)]
        filled, read = {**(inputs or {}), **arrays}, {**(outputs or {}), **(out or {})}
        elf = files[0]
        if elf.suffix != ".elf":
            elf = self.folder / "driver.elf"
            given = CompileOptions(tuple(defines), tuple(map(Path, include)))
            _, said = self.system.compile_user(files, elf, given, {*filled, *read})
            for warning in said:
                warnings.warn(warning, stacklevel=2)
        self.soc.build()
        result = self.soc.run_many([Job(elf, filled, read)])[0]
        judge(result)
        return result

    def matmul(self, M: int, N: int, K: int, *, seed: int = 0, **options: Any) -> Report:
        """Compile, run and check C (M, N) += A (M, K) . B (K, N); `options`: `flow`, `tile`, `pipeline`.

        Raises `UsageError` with several accelerators: their driver is the test's own.
        """
        dtype = self.spec.data_type.value
        name = f"matmul:{M}x{N}x{K}:{dtype}"
        return self._checked("matmul", name, matmul_mlir(M, N, K, dtype), seed, options)

    def mlir(self, file: Path | str, *, seed: int = 0, **options: Any) -> Report:
        """Compile, run and check a file of MLIR, a function with one op; `options` as for `matmul`.

        Raises `UsageError` with several accelerators, or where the file cannot be read.
        """
        try:
            text = Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{file}: {error}") from None
        return self._checked("mlir", str(file), text, seed, options)

    def _checked(self, what: str, name: str, mlir: str, seed: int, options: Mapping[str, Any]) -> Report:
        if len(self.specs) > 1:
            names = ", ".join(spec.name for spec in self.specs)
            raise UsageError(f"{what} runs on one accelerator, not on {names}: give `soc` a single one")
        report = report_of(ProblemRun(Workload(name, mlir, seed), self.system, Schedule(**options)))
        refuse_run(report["stale"], report.get("mistakes", []), report.get("outside", ()))
        return report


def soc(
    on: Device | Source | Sequence[Device | Source], *, folder: Path | None = None, **options: Any
) -> Chip:
    """The simulated SoC of a device, or of several, each with its DMA; built when it is first run.

    `on`: what :func:`device` gives or takes. `options`: those of :func:`device` for a name or a file, and
    ``board``, ``sim``, ``wait``, ``os``, ``trace``, ``trace_window``, ``watchdog_cycles``, ``stall``,
    ``seed``, ``ip``, ``timeline`` of the system. Programs are compiled in `folder`, by default a temporary
    one.
    ::

        with ax.soc("v3_16", board="pynq-z2") as chip:
            result = chip.run("driver.c", A=a, B=b, out={"C": ((64, 64), "int32")})
    """
    timeline = options.pop("timeline", False)
    around = {name: value for name, value in options.items() if name in _AROUND}
    hardware = {name: value for name, value in options.items() if name not in _AROUND}
    several = not isinstance(on, (Device, str, Path, AcceleratorSpec))
    items: Sequence[Device | Source] = on if several else [on]  # type: ignore[assignment, list-item]
    if hardware and any(isinstance(item, Device) for item in items):
        raise UsageError(f"ax.soc: {', '.join(hardware)}: a device has its options already")
    devices = [item if isinstance(item, Device) else device(item, **hardware) for item in items]
    stack = ExitStack()
    scratch = folder or stack.enter_context(processes.scratch())
    specs: tuple[AcceleratorSpec, ...]
    stands: dict[str, Any] = {}
    if (instructions := of_text(devices)) is not None:
        rtl = instructions.rtl()
        specs, stands["user_rtl"] = (rtl.spec,), rtl.rtl(scratch)
    else:
        asked = [item.spec for item in devices]
        specs = tuple(place(asked) if several else asked)
        for item in devices:
            stands |= item.asked.stands_in(*specs)
            if item.asked.is_verilog:
                around.setdefault("stall", STALLS)
    system = System(specs, **stands, **around)
    chip = Chip(system, Soc(system, timeline=timeline), scratch)
    weakref.finalize(chip, stack.close)
    return chip


_AROUND = ("board", "sim", "wait", "os", "trace", "trace_window", "watchdog_cycles", "stall", "seed", "ip")
