"""The native core from Python: building its library, and the one `Core` of this process.

The core (``cosim/native``) holds RAM, CPU, caches and monitors. Inside a simulator it is the library that the
simulator's program is linked with; alone it runs programs without an accelerator (:func:`run_cpu`).
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from axiloom.base import processes
from axiloom.base.cache import cached_build, content_hash
from axiloom.base.errors import BuildError, DriverError, HangError
from axiloom.cosim import (
    board_program,
    coverage,
    diagnosis,
    lines,
    linux,
    mistakes,
    native,
    outside,
    prebuilt,
    profile,
    protocol,
    referee,
    stale,
    tally,
)
from axiloom.cosim.blocks import Block, takes_streams
from axiloom.cosim.board_program import NOBODY, Terminal
from axiloom.cosim.elf import EXIT, EXIT_CODE, Program
from axiloom.cosim.elf import load as load_elf
from axiloom.isa.files.together import MOST, PAGE_BYTES

if TYPE_CHECKING:
    from axiloom.boards import Board
    from axiloom.cosim.system import System
    from axiloom.isa import AcceleratorSpec

Array = np.ndarray[Any, Any]
Progress = Callable[[str], None]

LIBRARY = "libaxl_core.so"
NATIVE = Path(__file__).parent / "native"
MMIO_BYTES = PAGE_BYTES
"""Size of the DMA's page."""

CPU_RUN_LIMIT = 20_000_000_000
"""Instructions after which a run without an accelerator is taken for one that never ends."""

FLAGS = (
    *("-std=c++17", "-O3", "-fno-semantic-interposition", "-fPIC", "-Wall", "-Wextra"),
    "-falign-functions=64",  # else the speed of what runs at each access depends on what stands before it
)
_JOBS = 2  # units that are compiled at once; more would only take memory
READ, WRITE = (native.numbers("axl_op", "AXL_OP_")[name] for name in ("READ", "WRITE"))
TLAST, WAITS = (native.numbers("axl_fault", "AXL_FAULT_")[name] for name in ("TLAST", "WAITS"))
_PAINT = 0xA5  # what the stack is filled with before a run: what differs after it was used


# --- building -----------------------------------------------------------------------------------------------


def _unicorn() -> Path:
    """Unicorn's package folder; found without importing it, which would load a second engine's bindings."""
    spec = importlib.util.find_spec("unicorn")
    if spec is None or spec.origin is None:
        raise BuildError("the package unicorn is not installed: run pip install unicorn")
    return Path(spec.origin).parent


def engine() -> Path:
    """Unicorn's shared library."""
    libraries = sorted((_unicorn() / "lib").glob("libunicorn.so*"))
    if not libraries:
        raise BuildError(f"no libunicorn.so in {_unicorn() / 'lib'}: reinstall unicorn from a wheel")
    return libraries[0]


def compiler() -> str:
    """Path of the C++ compiler of this machine: $CXX, g++, c++ or clang++. BuildError if there is none."""
    candidates = (os.environ.get("CXX"), "g++", "c++", "clang++")
    for candidate in candidates:
        if candidate and (path := shutil.which(candidate)):
            return path
    raise BuildError("no C++ compiler: install g++ (Debian: apt install g++), or set CXX")


USED = "_AXL_CORE"
"""Environment variable of a simulator: the library that it is linked with."""
_library: list[Path] = []


def library(progress: Progress | None = None) -> Path:
    """The core's shared library, built on this machine at first use. BuildError without a compiler.

    It is chosen once a process, and a simulator takes that of the process that started it: sources that
    somebody edits meanwhile are for the next run.
    """
    if used := os.environ.get(USED):
        return Path(used)
    if not _library:
        _library.append(_built(progress))
    return _library[0]


def forget_library() -> None:
    """It is looked for again: it was damaged."""
    _library.clear()


def sources() -> list[Path]:
    """What the core is made of."""
    return sorted(path for path in NATIVE.rglob("*") if path.suffix in (".cpp", ".hpp", ".h"))


def include() -> tuple[str, str]:
    return f"-I{NATIVE}", f"-I{_unicorn() / 'include'}"


def portable_key() -> str:
    """Hash of what a built core is of, wherever it was built."""
    return content_hash(list(FLAGS), importlib.metadata.version("unicorn"), *sources())


def _built(progress: Progress | None) -> Path:
    unicorn = engine()
    beside = unicorn.parent == (prebuilt.FOLDER.parents[2] / "unicorn" / "lib")
    if beside and (path := prebuilt.find(LIBRARY, portable_key())):
        return path
    cxx = compiler()
    key = content_hash(cxx, str(unicorn), portable_key())

    def tool(*words: str) -> None:
        done = processes.run([cxx, *words])
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error" in line]
            why = errors[0] if errors else done.stderr.strip()[:200]
            raise BuildError(f"the native core does not compile with {cxx}: {why}")

    def build(folder: Path) -> None:
        if progress:
            progress("building the native core")
        units = [path for path in sources() if path.suffix == ".cpp"]
        with processes.scratch() as name:
            objects = [f"{name}/{number}.o" for number, _ in enumerate(units)]  # names may be equal
            # Read once, what most units begin with: that is half of their time.
            common, line = Path(name) / "common.hpp", '#include "cpu/cpu.hpp"\n'
            common.write_text(line, encoding="utf-8")
            tool(*FLAGS, *include(), "-x", "c++-header", str(common), "-o", f"{common}.gch")
            jobs = [
                partial(tool, *FLAGS, *include(), *begins, "-c", str(unit), "-o", target)
                for unit, target in zip(units, objects, strict=True)
                for begins in [("-include", str(common)) if line in unit.read_text(encoding="utf-8") else ()]
            ]
            processes.all_of(jobs, _JOBS)
            place = (f"-L{unicorn.parent}", f"-l:{unicorn.name}", f"-Wl,-rpath,{unicorn.parent}")
            tool("-shared", *objects, "-o", str(folder / LIBRARY), *place)

    return cached_build("core", key, build) / LIBRARY


def library_folders() -> list[Path]:
    """What a program linked with the core needs in its library path: the core, and the engine under it."""
    return [library().parent, engine().parent]


# --- the core -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class State:
    """Where the CPU is. `run` is reset, running, exited or fault; addresses come with their symbols."""

    run: str
    pc: str
    waiting: str
    """What it waits for: "", "a read of 0x...", "a write of 0x...", "an interrupt", "the fabric's clock"."""
    exit_code: int
    fault: str | None
    reads: int = 0
    """The address of a read that it waits for; 0: none."""
    breach: bool = False
    """The fault is one of the RTL: TLAST is at a wrong place."""
    line: str = ""
    """The line of the user's source that it is at, or has called the runtime from; empty: not known."""
    hangs: bool = False
    """The fault is that a Linux process waits for what cannot happen."""


class Core:
    """The SoC of this process: memory, CPU and monitors (there is one; a second object shares it).

    ::

        core = Core(board, spec)
        core.begin(elf, {"a": array})          # the RTL, reset, now calls axl_cpu_step
        core.state, core.counters(), core.read("c", (16, 16), "int32")
    """

    def __init__(self, board: Board, *specs: AcceleratorSpec, beside: Sequence[Block] = ()) -> None:
        """For each of `specs`: its DMA's page at its address, and a protocol monitor for its opcodes.

        `beside`: neighbours of the accelerators, with their lines (:func:`axiloom.cosim.blocks.design`).
        """
        self.board = board
        self.program: Program | None = None
        self._kept: dict[str, tuple[tuple[int, ...], str]] = {}
        self._specs = specs
        self._lib = native.bind(library(), profile.FUNCTIONS | tally.FUNCTIONS | coverage.FUNCTIONS)
        size = self._lib.axl_ram_size()
        if board.ram_bytes != size:
            raise BuildError(
                f"board {board.name}: ram_bytes must be {size} (the core's RAM), not {board.ram_bytes}"
            )
        config = native.config(board, [spec.link.dma.address for spec in specs], MMIO_BYTES)
        self._check(self._lib.axl_configure(ctypes.byref(config)))
        self._ram: Array = np.ctypeslib.as_array(self._lib.axl_ram(), shape=(size,))
        names = [spec.name.encode() for spec in specs] or [b""]
        self._check(self._lib.axl_accelerators((ctypes.c_char_p * len(names))(*names), len(names)))
        for number, spec in enumerate(specs or [None]):
            self._lib.axl_accelerator(number)
            self._teach(spec)
            profile.teach_windows(self._lib, spec)
            if spec is not None:
                mistakes.teach(self._lib, spec.link, has_dma=not any(map(takes_streams, beside)))
        self._lib.axl_accelerator(0)
        self._check(native.teach_neighbours(self._lib, board, beside))
        self._functions: tuple[str, ...] = ()
        self._arrays = outside.NONE
        self._source = lines.NOWHERE
        self._pointers = outside.point(self._lib, specs)
        self._stack_range: tuple[int, int] | None = None
        self.set_devices()

    @property
    def ram(self) -> Array:
        """All of RAM, bytes, a view: address is index. Shared with CPU and DMA."""
        return self._ram

    # -- a job --

    def begin(
        self,
        elf: Path | Program,
        inputs: Mapping[str, Array] | None = None,
        terminal: Terminal = NOBODY,
        gdb: int | None = None,
        *,
        reversible: bool = False,
        arguments: Sequence[str] = (),
    ) -> None:
        """Zero memory and counters, load the program, put `inputs` at their symbols, start the CPU.

        `arguments`: of a Linux program, what its main gets behind its name.
        `gdb`: a listening socket, at which this waits for a debugger (:mod:`axiloom.cosim.debugger`), which
        can go back if this process is one that may be copied (`reversible`).
        Nothing runs before the RTL (or :meth:`run`) asks for the first step. The protocol monitor keeps
        its place: see :meth:`reset_protocol`. DriverError if the program does not fit the SoC.
        """
        program = elf if isinstance(elf, Program) else load_elf(elf)
        self._check_place(program)
        self._check(self._lib.axl_job_begin())
        self.program = program
        self._kept = {}
        for segment in program.segments:
            end = segment.address + len(segment.data)
            self._ram[segment.address : end] = np.frombuffer(segment.data, np.uint8)
        for name, values in (inputs or {}).items():
            self.write(name, values)
        low, top, map_low = linux.stack_of(program) if program.is_linux else (0, 0, 0)
        self._stack_range = (low, top) if program.is_linux else self._stack()
        if self._stack_range:
            self._ram[slice(*self._stack_range)] = _PAINT
        self._functions = profile.teach_program(self._lib, program)
        self._source = lines.of(program)
        own = [self._source.lines.at(function.address) is not None for function in program.functions]
        self._lib.axl_own_functions((ctypes.c_uint8 * len(own))(*own))
        self._arrays = outside.watch(self._lib, program, self._source)
        if gdb is not None:
            self._check(self._lib.axl_debug(gdb, reversible))
        if program.is_board:
            self._check(board_program.start(self._lib, program, terminal))
            return
        if not program.is_linux:
            exit_pc, exit_code = program.symbol(EXIT), program.symbol(EXIT_CODE)
            self._check(
                self._lib.axl_cpu_start(program.entry, exit_pc.address, exit_code.address, *program.text)
            )
            return
        texts = linux.texts(arguments)
        stack = (top, linux.STACK_BYTES, map_low)
        process = native.Process(
            program.entry, program.end, *program.text, *program.headers, *stack, len(texts), texts
        )
        self._check(self._lib.axl_process_start(ctypes.byref(process)))

    def begin_live(self, socket: int, memory: int) -> None:
        """As :meth:`begin`, without a program: what :mod:`axiloom.cosim.live` asks for over `socket`, with
        RAM in the file `memory`. Both are descriptors."""
        self._check(self._lib.axl_job_begin())
        self.program, self._kept, self._functions = None, {}, (profile.NO_FUNCTION,)
        self._source, self._arrays, self._stack_range = lines.NOWHERE, outside.NONE, None
        self._check(self._lib.axl_live_start(socket, memory))

    def set_devices(self, devices: Sequence[str] = linux.DEVICES) -> None:
        """From the next :meth:`begin` on: which devices beside /dev/mem a Linux process finds."""
        self._lib.axl_file(None, 0, None, 0, 0, 0)
        for file in linux.files(self._specs, self._ram.size, devices):
            self._lib.axl_file(
                file.path.encode(), file.kind, file.text.encode(), file.address, file.size, file.irq
            )

    def stop_at_stale(self) -> None:
        """From here until the next :meth:`begin`: missing cache maintenance is a fault."""
        self._lib.axl_stop_at_stale()

    def keep_blocks(self) -> None:
        """From here until the next :meth:`begin`: :meth:`executed` knows each block of the program."""
        self._lib.axl_keep_blocks()

    def executed(self) -> Array:
        """After :meth:`keep_blocks`, what was executed: fields of :data:`axiloom.cosim.coverage.BLOCK`."""
        return coverage.blocks(self._lib)

    def section_at(self, function: str, *, clean: bool = False) -> None:
        """From here until the next :meth:`begin`: the calls of `function` are measured.

        With `clean` nothing of what ran before shows: caches and branch prediction are empty when the first
        begins.
        """
        self._lib.axl_section_at(self.program.symbol(function).address if self.program else 0, clean)

    def section_cycles(self) -> list[int]:
        """Fabric cycles of those calls that returned, in their order."""
        cycles: list[int] = self._lib.axl_section_cycles()[: self._lib.axl_section_calls()]
        return cycles

    def section_keep(self, outputs: Mapping[str, tuple[tuple[int, ...], str]]) -> None:
        """Keep the arrays at these symbols (shape and type) as they are when each of the calls returns."""
        self._kept = dict(outputs)
        for symbol, (shape, dtype) in outputs.items():
            size = prod(shape) * np.dtype(dtype).itemsize
            self._lib.axl_section_keep(self.program.symbol(symbol).address if self.program else 0, size)

    def section_outputs(self) -> list[dict[str, Array]]:
        """What was kept, call by call."""
        if not self._kept or not (calls := self.section_cycles()):
            return []
        at = ctypes.addressof(self._lib.axl_section_kept().contents)
        sections = []
        for _ in calls:
            arrays = {}
            for symbol, (shape, dtype) in self._kept.items():
                size = prod(shape) * np.dtype(dtype).itemsize
                raw = ctypes.string_at(at, size)
                arrays[symbol] = np.frombuffer(raw, np.dtype(dtype).newbyteorder("<")).reshape(shape)
                at += size
            sections.append(arrays)
        return sections

    def section_stack(self) -> int:
        """The stack pointer when it began."""
        return int(self._lib.axl_section_stack())

    @property
    def console(self) -> str:
        """What a Linux process has written to standard output and error, a board's program to its UARTs."""
        return str(self._lib.axl_console().decode(errors="replace"))

    @property
    def taken(self) -> bytes:
        """What a board's program has taken of what was typed."""
        return board_program.taken(self._lib)

    def notes(self) -> list[str]:
        """What a person should know of the run of a board's program, one line a place, oldest first."""
        return board_program.notes(self._lib, self._source)

    @property
    def is_orphan(self) -> bool:
        """Who started this simulator has ended."""
        return bool(self._lib.axl_is_orphan())

    def tell_debugger(self, hang: str) -> None:
        """The run was ended, because of this; a debugger may look at it."""
        self._lib.axl_debug_hang(hang.encode())

    def run(self, max_instructions: int = CPU_RUN_LIMIT) -> None:
        """Without RTL: run the program to its end. DriverError if it faults or does not end."""
        self._check(min(self._lib.axl_cpu_run(max_instructions), 0))
        state = self.state
        if state.fault:
            raise (HangError if state.hangs else DriverError)(state.fault)

    def reset_protocol(self) -> None:
        """Call when the accelerators are reset: the next word in is an opcode."""
        for number in range(max(len(self._specs), 1)):
            self._lib.axl_accelerator(number)
            self._lib.axl_protocol_reset()
        self._lib.axl_accelerator(0)

    # -- memory by symbol --

    def write(self, symbol: str, values: Array) -> None:
        """Put an array (row major, little endian, as it is) at a symbol; it must not be larger."""
        data = np.frombuffer(np.ascontiguousarray(values).tobytes(), np.uint8)
        address = self._place(symbol, data.size)
        self._ram[address : address + data.size] = data

    def read_result(self, symbol: str, shape: tuple[int, ...], dtype: str) -> Array:
        """As :meth:`read`, as one who takes a result: what the caches hold, and stale data are reported."""
        array = self.read(symbol, shape, dtype)
        self._lib.axl_stale_left(self._place(symbol, array.nbytes), array.nbytes)
        return array

    def read(self, symbol: str, shape: tuple[int, ...], dtype: str) -> Array:
        """A copy of the array at a symbol."""
        kind = np.dtype(dtype)
        size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
        address = self._place(symbol, size)
        return self._ram[address : address + size].copy().view(kind).reshape(shape)

    # -- what happened --

    @property
    def state(self) -> State:
        raw = self._lib.axl_state().contents
        waits = {0: "", 1: f"a read of 0x{raw.wait_addr:08X}", 2: f"a write of 0x{raw.wait_addr:08X}"}
        waits |= {3: "an interrupt", 4: "the fabric's clock", 5: self._waits() or "an interrupt or its time"}
        run = ("reset", "running", "exited", "fault")[raw.run]
        fault = None
        if run == "fault":
            fault = raw.text.decode()
            if self.program and self.program.is_linux:
                fault = linux.with_names(fault, self.board.host)
            for address in {raw.pc, raw.address}:
                fault = fault.replace(f"0x{address:08X}", self.describe(address))
            if own := self._source.lines.at(raw.pc) or self._source.lines.at(self._lib.axl_called_from()):
                fault = f"{own}: {fault}"
        reads = raw.wait_addr if raw.waiting == READ else 0
        # At a device it is the instruction itself that counts, not its block.
        at = raw.mmio_pc if raw.waiting in (READ, WRITE) else raw.pc
        own = self._source.lines.at(at) or self._source.lines.at(self._lib.axl_called_from()) or ""
        if hangs := raw.fault == WAITS:
            fault = f"{raw.text.decode()}: {self._waits()}"
        breach = raw.fault == TLAST
        return State(
            run, self.describe(raw.pc), waits[raw.waiting], raw.exit_code, fault, reads, breach, own, hangs
        )

    def _waits(self) -> str:
        """What the threads of a Linux process wait for."""
        return linux.with_places(self._lib.axl_waits().decode(), self._source)

    @property
    def uses_runtime(self) -> bool:
        """Whether the program has functions that give a dma_status; the linker drops what nobody calls."""
        program = self._source.program
        return program is not None and not diagnosis.runtime_functions().isdisjoint(program.symbols)

    def describe(self, address: int) -> str:
        """An address with the symbol of the running program that it belongs to."""
        return self.program.describe(address) if self.program else f"0x{address:08X}"

    def counters(self) -> dict[str, int]:
        """The CPU's counters since :meth:`begin`, by the names that perf gives them.

        ``cache-references`` and ``cache-misses`` are what Linux counts under these names on a
        Cortex-A9: accesses and refills of L1D, loads and stores alike. ``task-clock`` is in ns.
        """
        raw = self._lib.axl_counters().contents
        return {name: getattr(raw, field) for name, field in native.PERF_NAMES.items()}

    def activity(self) -> dict[str, int]:
        """Counts beside perf's since :meth:`begin`, by the names of :data:`axiloom.cosim.native.ACTIVITY`."""
        raw = self._lib.axl_counters().contents
        return {name: getattr(raw, name) for name in native.ACTIVITY}

    def events(self) -> dict[str, int]:
        """:meth:`activity`, and ``executed_<class>``: how often each class of the cost model was executed."""
        counts = (ctypes.c_uint64 * len(native.COST_CLASSES))()
        self._lib.axl_class_counts(counts)
        executed = {f"executed_{name}": counts[i] for i, name in enumerate(native.COST_CLASSES)}
        return self.activity() | executed

    def record_timeline(self, on: bool) -> None:
        """From the next :meth:`begin` on. Counters and :meth:`profile` do not depend on it.

        The variable AXILOOM_INTERVALS takes the place of :data:`axiloom.cosim.profile.INTERVALS`.
        """
        limit = int(os.environ.get("AXILOOM_INTERVALS", profile.INTERVALS))
        self._lib.axl_timeline(limit if on else 0)

    def profile(self, cycles: int, timeline: bool = False) -> profile.Profile:
        """Where the time went, after a run of so many fabric cycles."""
        sections = self.program.sections if self.program else {}
        return profile.read(
            self._lib,
            self.board,
            self._specs[0] if self._specs else None,
            cycles,
            self._functions,
            self._stack_bytes(),
            sections,
            timeline,
        )

    def stale(self) -> list[str]:
        """Bytes that were old or lost, one line for each place in the program, oldest first."""
        return stale.lines(self._lib, self._source, self._specs)

    def mistakes(self) -> list[str]:
        """What the driver did wrong with the DMA's registers, one line for each place, oldest first."""
        return mistakes.Report(self._lib, self._specs, self._source).lines()

    def hints(self, accelerator: int) -> list[str]:
        """What the driver has not done yet with an accelerator: for a run that hangs."""
        return mistakes.Report(self._lib, self._specs, self._source).hints(accelerator)

    def outside(self) -> list[str]:
        """Accesses beside the program's arrays, one line for each place in the program, oldest first.

        Then those of an accelerator beside what it was pointed to.
        """
        return self._arrays.lines(self._lib) + self._pointers.lines(self._lib)

    def watch_rules(self) -> None:
        """From here on; what was seen before is forgotten."""
        referee.begin(self._lib, self._specs)

    def breaches(self, system: System, *, ended: bool) -> list[str]:
        """Rules of the buses that were broken since :meth:`watch_rules`."""
        return referee.breaches(self._lib, system, ended=ended)

    def accesses(self) -> list[referee.Access]:
        """What the registers of a user's module have seen since then."""
        return referee.accesses(self._lib)

    def lap_at(self, symbol: str) -> None:
        """From here until the next :meth:`begin`: each store to the word at `symbol` is a lap."""
        self._lib.axl_lap_at(self._place(symbol, 4))

    def laps(self) -> list[list[tuple[int, int]]]:
        """What each lap found: for each accelerator the words in and out since :meth:`begin`."""
        count = self._lib.axl_lap_count()
        if not count:
            return []
        raw = np.ctypeslib.as_array(self._lib.axl_laps(), shape=(count, 2, MOST)).tolist()
        return [list(zip(*lap, strict=True))[: max(len(self._specs), 1)] for lap in raw]

    def until_laps(self) -> list[tally.Tally]:
        """What was counted until each lap; after :meth:`profile` was asked for."""
        names = [spec.name for spec in self._specs]
        return [
            tally.at_lap(self._lib, number, self._functions, words, names)
            for number, words in enumerate(self.laps())
        ]

    def protocol_text(self, accelerator: int = 0) -> str:
        """Where both streams stand: the last opcode, words of its payload and of stores still missing."""
        self._lib.axl_accelerator(accelerator)
        text = str(self._lib.axl_protocol_text().decode())
        self._lib.axl_accelerator(0)
        return text

    def instructions(self, accelerator: int = 0) -> dict[str, int]:
        """Opcode to how often it has begun since :meth:`begin`, of an accelerator's streams."""
        if accelerator >= len(self._specs):
            return {}
        self._lib.axl_accelerator(accelerator)
        names = [row.name for row in protocol.instructions(self._specs[accelerator])]
        counts = {name: int(self._lib.axl_protocol_begun(number)) for number, name in enumerate(names)}
        self._lib.axl_accelerator(0)
        return counts

    # -- inside --

    def _check(self, result: int) -> None:
        if result < 0:
            raise DriverError(self._lib.axl_error().decode())

    def _place(self, symbol: str, size: int) -> int:
        if self.program is None:
            raise DriverError(f"no program is loaded: {symbol!r} has no address")
        variable = self.program.symbol(symbol)
        if variable.size and size > variable.size:
            name = self.program.path.name
            raise DriverError(f"{symbol} has {variable.size} bytes in {name}; {size} were given or asked for")
        if variable.address + size > self._ram.size:
            raise DriverError(f"{symbol} leaves RAM: {size} bytes at 0x{variable.address:08X}")
        return variable.address

    def _check_place(self, program: Program) -> None:
        if program.architecture != self.board.architecture:
            raise DriverError(
                f"{program.path.name} is for {program.architecture}; the CPU of {self.board.name} is "
                f"{self.board.architecture}"
            )
        if program.is_linux and self.board.host.linux is None:
            raise DriverError(
                f"{program.path.name} is a Linux program; {self.board.host} runs bare metal only"
            )
        for segment in program.segments:
            if segment.address + segment.size > self._ram.size:
                raise DriverError(
                    f"{program.path.name}: a segment of {segment.size} bytes at 0x{segment.address:08X} "
                    f"leaves RAM (0x0 to 0x{self._ram.size:08X})"
                )
        if program.is_board:
            board_program.check(program, self.board)
        for spec in () if program.is_linux or program.is_board else self._specs:
            dma = spec.link.dma
            for what, address, size in (
                ("input", dma.input_address, dma.input_buffer_size),
                ("output", dma.output_address, dma.output_buffer_size),
            ):
                if program.overlaps(address, size):
                    raise DriverError(
                        f"{program.path.name}: the program overlaps the DMA's {what} window "
                        f"(0x{address:08X}, {size} bytes); make its arrays smaller, or move the window in "
                        "the specification"
                    )

    def _stack(self) -> tuple[int, int] | None:
        """Of a program on bare metal, from its lowest address to its top: symbols of the linker script."""
        names = ("axl_stack_bottom", "axl_stack_top")
        if self.program is None or not all(name in self.program.symbols for name in names):
            return None
        bottom, top = (self.program.symbols[name].address for name in names)
        return (bottom, top) if bottom < top <= self._ram.size else None

    def _stack_bytes(self) -> int | None:
        stack = self._stack_range
        if stack is None:
            return None
        written = np.flatnonzero(self._ram[slice(*stack)] != _PAINT)
        return stack[1] - stack[0] - int(written[0]) if len(written) else 0

    def _teach(self, spec: AcceleratorSpec | None) -> None:
        """The protocol monitor's table, from the specification."""
        sizes = protocol.sizes(spec) if spec else ()
        values = (ctypes.c_uint32 * len(sizes))(*(size & 0xFFFF_FFFF for size in sizes))
        self._lib.axl_protocol_clear(values, len(sizes), spec.link.beat_words if spec else 1)
        if spec is None or spec.has_pointers or spec.passes_packets:
            return
        for row in protocol.instructions(spec):
            array = (native.Action * len(row.actions))(*row.actions)
            name, has_word = row.name.encode(), row.literal is not None
            self._check(
                self._lib.axl_protocol_op(name, has_word, row.literal or 0, row.bit, array, len(row.actions))
            )


@dataclass(frozen=True)
class CpuRun:
    """What a program gave that ran on the CPU alone."""

    outputs: dict[str, Array]
    exit_code: int
    counters: dict[str, int]
    events: dict[str, int]
    calls: list[int] = field(default_factory=list)
    """Fabric cycles of each call of the function that was to be measured."""


def run_cpu(
    elf: Path,
    inputs: Mapping[str, Array],
    outputs: Mapping[str, tuple[tuple[int, ...], str]],
    board: Board,
    *,
    section: str | None = None,
    max_instructions: int = CPU_RUN_LIMIT,
) -> CpuRun:
    """Run a program that uses no accelerator, with all caches and counters. DriverError if it fails.

    `section`: the function whose calls are measured.
    """
    core = Core(board)
    core.begin(elf, inputs)
    if section is not None:
        core.section_at(section)
    core.run(max_instructions)
    code = core.state.exit_code
    if code:
        raise DriverError(f"{elf.name}: main returned {code}")
    read = {name: core.read(name, *form) for name, form in outputs.items()}
    calls = core.section_cycles() if section is not None else []
    return CpuRun(read, code, core.counters(), core.events(), calls)
