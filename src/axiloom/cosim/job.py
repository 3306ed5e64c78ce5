"""One run of one program: what is asked of the simulated SoC, and what it gave.

Both values cross to the simulator's process and back, pickled as they are: :mod:`axiloom.cosim.soc` writes
jobs, :mod:`axiloom.cosim.session` does them and writes results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from axiloom.cosim import linux
from axiloom.cosim.board_program import NOBODY, Terminal
from axiloom.cosim.coverage import Covered
from axiloom.cosim.diagnosis import Stopped
from axiloom.cosim.profile import Profile
from axiloom.cosim.tally import Tally

if TYPE_CHECKING:
    from axiloom.cosim.system import Stall, System

Array = np.ndarray[Any, Any]

TO_SESSION = "work.pickle"
FROM_SESSION = "result{}.pickle"
ERROR_FILE = "error.pickle"
"""Names of the files, in the folder that the simulator runs in."""

TIMEOUT_S = 3600.0
"""Wall time that a run may take by default: a guard against drivers that compute for ever."""


@dataclass(frozen=True)
class Job:
    """One run of one program."""

    elf: Path
    """Relative to the folder in which the `Soc` is asked."""
    inputs: Mapping[str, Array] = field(default_factory=dict)
    """Symbol to the array that is put there before the program starts (row major, as it is)."""
    outputs: Mapping[str, tuple[tuple[int, ...], str]] = field(default_factory=dict)
    """Symbol to shape and type of what is read there after the program has ended."""
    reset: bool = True
    """False: the hardware stays as the job before it left it; only CPU and memory start anew."""
    timeout_s: float = TIMEOUT_S
    layers: Sequence[tuple[str, float]] = ()
    """Of a network: what progress calls each layer, and about how long it takes in relation to the others.
    Which layer runs is at the symbol ``axl_layer``."""
    words: int = 0
    """About how many go over the streams in both directions; 0: nobody knows. Progress is measured by it."""
    section: str = ""
    """A function of the program; how long its calls take is in the result."""
    section_outputs: bool = False
    """And what the `outputs` are when each of them returns."""
    section_clean: bool = False
    """Caches and branch prediction are empty when it begins."""
    strict: bool = False
    """Missing cache maintenance ends the run with a fault, not only with a line in the result."""
    stall: int | None = None
    """Seed of pauses on every channel; None: there are none."""
    invert_reset: bool = False
    """The reset of a user's module has the other polarity."""
    watchdog_cycles: int = 0
    """In place of the system's; 0: those."""
    devices: Sequence[str] = linux.DEVICES
    """Of a Linux process: what it finds beside /dev/mem."""
    arguments: Sequence[str] = ()
    """Of a Linux process: what its main gets behind its name."""
    terminal: Terminal = NOBODY
    """Of a program that other tools built for a board."""
    live: tuple[int, int] | None = None
    """In place of a program: descriptors of the socket and of the memory of :class:`axiloom.cosim.live.Live`.
    """
    coverage: bool = False
    """Which lines of the program, and of a user's RTL, are executed is in the result."""
    gdb: int | None = None
    """A listening socket, at which the program waits for a debugger: see :mod:`axiloom.cosim.debugger`."""


@dataclass(frozen=True)
class Stalled:
    """What the same run gave under pauses."""

    seeds: tuple[int, ...]
    cycles: int = 0
    """Of all these runs, those that were evaluated."""
    fault: str = ""
    """What was different with the last seed, or how it failed; empty: nothing."""
    hangs: bool = False
    stopped: str = ""
    """That the last seed was not run to its end, and why; empty: it was."""

    @property
    def name(self) -> str:
        """Of the last run."""
        return f"under pauses on every channel (--stall {self.seeds[-1]})"

    def __str__(self) -> str:
        if self.fault:
            return f"{self.name}: {self.fault}"
        seeds = f"seed{'s' if len(self.seeds) > 1 else ''} {', '.join(map(str, self.seeds))}"
        return f"{self.stopped or f'the same result with {seeds}'} ({self.cycles:,} evaluated cycles)"


@dataclass(frozen=True)
class Result:
    """What one run gave. Counters are deterministic; `simulation` is not."""

    outputs: dict[str, Array]
    exit_code: int
    counters: dict[str, int]
    """By the names of perf: ``cache-misses``, ``cpu-cycles``, ..."""
    events: dict[str, int]
    """What the cost model is made of: see :meth:`axiloom.cosim.core.Core.events`."""
    fabric: dict[str, int]
    """``cycles`` = sum of ``compute``, ``load``, ``store``, ``dma_wait``, ``idle``; words, accesses."""
    simulation: dict[str, float]
    """``wall_s`` and ``process_s`` (CPU time) of the run, ``rtl_cycles`` evaluated, ``rtl_cycles_per_s`` and
    ``cpu_mips``; ``rtl_share``, ``cpu_share``, ``python_share`` of the wall time."""
    profile: Profile
    """Where the time went; with the timeline, if the `Soc` was made with one."""
    accelerators: dict[str, dict[str, int]] = field(default_factory=dict)
    """By name, what is of each alone: ``words_in``, ``words_out``, ``transfers_in``, ``transfers_out``,
    ``compute``."""
    stale: list[str] = field(default_factory=list)
    """Bytes that were old or lost, because a cache was not maintained, one line for each place."""
    mistakes: list[str] = field(default_factory=list)
    """What the driver did wrong with the DMA's registers, one line for each place."""
    outside: list[str] = field(default_factory=list)
    """Accesses beside the arrays that the program was given, one line for each place."""
    breaches: list[str] = field(default_factory=list)
    """Rules of the buses that were broken, one line for each interface, channel and rule."""
    broken: bool = False
    """The `fault` is the last of these breaches."""
    stalled: Stalled | None = None
    """The run under pauses, if there was one."""
    laps: list[list[tuple[int, int]]] = field(default_factory=list)
    """Of a network, when each layer begins and at the end: words in and out so far of each accelerator."""
    until: list[Tally] = field(default_factory=list)
    """Of a network: what was counted until each of these laps, and last until the end of the run."""
    section_cycles: int = 0
    """Fabric cycles of the first call of the job's section, if it had one."""
    calls: list[int] = field(default_factory=list)
    """... of all its calls."""
    call_outputs: list[dict[str, Array]] = field(default_factory=list)
    """What the outputs were when each call returned, if the job asked for that."""
    section_stack: int = 0
    """The stack pointer when that call began."""
    console: str = ""
    """What a Linux process wrote to standard output and error, or a board's program to the UARTs."""
    taken: bytes = b""
    """By a board's program, of what was typed."""
    is_board: bool = False
    """The program is one that other tools built for a board."""
    notes: list[str] = field(default_factory=list)
    """Of a board's program: registers that nobody models, and how it ended."""
    covered: Covered | None = None
    """If the job asked for it, what was executed."""
    hang: str | None = None
    """Why the watchdog ended the run, if `check` was False; else a HangError was raised."""
    stopped: Stopped | None = None
    """Of a hang, what it was made of."""
    fault: str | None = None
    """Why the program failed, if `check` was False; else a DriverError was raised."""

    @property
    def failed(self) -> bool:
        return bool(self.hang or self.fault)


@dataclass(frozen=True)
class Work:
    """All that a simulator process is to do."""

    system: System
    jobs: Sequence[Job]
    folder: Path
    """What relative paths of programs start from."""
    glue: Path | None
    """Library with the glue's clock; None: the program itself."""
    progress: bool
    stop_at_failure: bool
    timeline: bool
    stall: Stall
    """As of the system."""


FABRIC = (
    *("compute", "load", "store", "dma_wait", "idle"),
    *("words_in", "words_out", "transfers_in", "transfers_out"),
    *("mmio_reads", "mmio_writes", "polls"),
)
"""What is counted of the hardware beside its cycles."""
