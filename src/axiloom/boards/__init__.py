"""Boards: clocks, caches, latencies and resources of the SoC that a run simulates.

One folder a board, with `profile.toml`; a user's own board is a path to such a file.
Every figure says in the profile where it comes from or why it was chosen.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, replace
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import Any, Final, TypeVar

from axiloom.base.errors import UsageError
from axiloom.base.files import read_text
from axiloom.base.wording.names import shortened
from axiloom.boards import hosts
from axiloom.boards.checks import check
from axiloom.boards.hosts.host import Host

_HERE = Path(__file__).parent

DEFAULT = "pynq-z2"
CLOCK = "@"
"""Between a board's name and a fabric clock of its own in MHz."""
_MHZ = re.compile(r"\d+(\.\d*)?")


@dataclass(frozen=True)
class Resources:
    """What the programmable logic has."""

    dsp48: int
    lut: int
    ff: int
    bram36: int


@dataclass(frozen=True)
class Caches:
    """Sizes in bytes; lines are the CPU's. `l2_size` and `l2_ways` are 0 where it has no L2. `replacement` is
    ``random`` (deterministic) or ``lru``.

    With `pair_accesses` a load or store of several registers accesses L1D once for each aligned 8
    bytes, as the A9's data path does; without, once for each element.
    """

    l1i_size: int
    l1i_ways: int
    l1d_size: int
    l1d_ways: int
    l2_size: int
    l2_ways: int
    replacement: str
    pair_accesses: bool


@dataclass(frozen=True)
class Cost:
    """CPU cycles an instruction of each class takes before penalties.

    `multiple` is a load or store of several registers, each of its words `word` more; `neon` is for each
    pass of a NEON instruction through the 64-bit data path (a VMLA.I32 of Q registers has four).
    """

    alu: float
    mul: float
    load: float
    store: float
    multiple: float
    word: float
    branch: float
    vfp: float
    neon: float
    system: float


@dataclass(frozen=True)
class Latency:
    """Penalties in CPU cycles (`predictor_bits`: log2 of the branch history table).

    `preloads` is how many lines PLD may have on their way (1 to 16); they come `line_gap` apart from L2
    and on-chip memory, `ddr_gap` from DDR.
    """

    l2_hit: int
    ddr: int
    writeback: int
    branch_miss: int
    uncached_read: int
    uncached_write: int
    private_read: int
    private_write: int
    maintenance: int
    ocm: int
    preloads: int
    line_gap: int
    ddr_gap: int
    predictor_bits: int


@dataclass(frozen=True)
class Fabric:
    """Latencies in fabric cycles.

    `mmio_request` and `mmio_response` (interconnect of the GP port, each way) are charged by the
    native core; `ddr_read` and `ddr_write` (first beat of a read burst, response to a write burst
    on the HP port) are for the RTL wrapper. `port_bits` is the width of the ports to memory: no wider
    stream is chosen unless it is asked for.
    """

    mmio_request: int
    mmio_response: int
    ddr_read: int
    ddr_write: int
    port_bits: int = 64


@dataclass(frozen=True)
class Coherent:
    """A port to memory that looks into the CPU's caches, beside those that do not.

    `port` is its name (``acp``, ``hpc``), `bits` its width, `ddr_read` and `ddr_write` its latencies as
    those of :class:`Fabric`. `allocates`: what the DMA reads and writes through it comes into L2, as
    behind the ACP of a Zynq; else a line that the DMA writes leaves the caches.
    """

    port: str
    bits: int
    ddr_read: int
    ddr_write: int
    allocates: bool


@dataclass(frozen=True)
class Simulation:
    """`quantum`: CPU cycles the CPU may run ahead (0: no cap).

    `dma_buffers` is how the CPU sees the memory that it shares with the DMA: ``uncached``; ``cached``
    (the ports do not look into the caches, the driver maintains them); ``coherent`` (they do, as
    the ACP of a Zynq: no maintenance is needed).
    """

    quantum: int
    dma_buffers: str

    @property
    def dma_cached(self) -> bool:
        """Whether the CPU's caches may hold the buffers."""
        return self.dma_buffers != "uncached"


@dataclass(frozen=True)
class Events:
    """What the CPU's counters count.

    `l1d_events`: ``separate`` for loads and stores of their own; ``accesses`` where both names mean all
    accesses (and misses), as perf's do on a Cortex-A9, which has no more than that. `uncached`: whether
    accesses to uncached memory are among them.
    """

    l1d_events: str
    uncached: bool


@dataclass(frozen=True)
class OsCost:
    """What the operating system adds to the program's counters, once an event."""

    cycles: int
    instructions: int
    loads: int
    stores: int
    branches: int


@dataclass(frozen=True)
class Os:
    """An operating system as a program's counters see it.

    `start`: from exec to main and from its end to exit, once a run. `syscall`: each system call (the program
    executes SVC). `page_fault`: the first access to a page of 4 KiB.
    """

    start: OsCost
    syscall: OsCost
    page_fault: OsCost


@dataclass(frozen=True)
class Region:
    """A part of RAM, in whole MiB."""

    address: int
    bytes: int


@dataclass(frozen=True)
class Fidelity:
    """How far runs with the profile are from the measurements in `source`; the rest are fractions."""

    source: str
    task_clock_mean: float
    task_clock_worst: float
    l1d_mean: float

    def __str__(self) -> str:
        return (
            f"task-clock within {self.task_clock_mean:.1%} on average, {self.task_clock_worst:.1%} at worst; "
            f"L1D accesses within {self.l1d_mean:.1%} on average ({self.source})"
        )


@dataclass(frozen=True)
class Board:
    """A board's profile. Build one with :func:`load`."""

    name: str
    description: str
    part: str
    cpu_hz: int
    fabric_hz: int
    ram_bytes: int
    """From physical address 0."""
    resources: Resources
    caches: Caches
    cost: Cost
    latency: Latency
    fabric: Fabric
    simulation: Simulation
    events: Events
    cpu: str = hosts.DEFAULT
    """The name of its host: see :mod:`axiloom.boards.hosts`."""
    os: Os | None = None
    """None: bare metal."""
    fidelity: Fidelity | None = None
    """None: not calibrated."""
    uncached_memory: tuple[Region, ...] = ()
    """RAM that a host with fixed attributes does not cache."""
    coherent: Coherent | None = None
    """None: no port to memory looks into the caches."""

    @property
    def host(self) -> Host:
        """What its CPU is."""
        return hosts.get(self.cpu)

    @property
    def architecture(self) -> str:
        """Of its programs: ``armv7``, ``aarch64``, ..."""
        return self.host.architecture

    @property
    def line_bytes(self) -> int:
        """Of a line of any of its caches."""
        return self.host.line_bytes

    @property
    def last_cache(self) -> tuple[int, int]:
        """Bytes and ways of the cache in front of memory."""
        caches = self.caches
        if self.host.cache_levels == 1:
            return caches.l1d_size, caches.l1d_ways
        return caches.l2_size, caches.l2_ways

    @property
    def ddr_read_cycles(self) -> int:
        """Fabric cycles from the address of a read burst to its first word."""
        return self.fabric.ddr_read

    @property
    def ddr_write_cycles(self) -> int:
        """Fabric cycles from the last word of a write burst to its response."""
        return self.fabric.ddr_write


PLAIN: Final = "plain"
"""A port that does not look into the caches, by whichever name a board has it."""
COHERENT: Final = "coherent"
"""One that does, on any board that has one."""


def is_coherent(board: Board, port: str) -> bool:
    """Whether the `port` that a user names looks into the caches. UsageError where the board has no such."""
    if port == PLAIN:
        return False
    own = board.coherent
    if own is not None and port in (own.port, COHERENT):
        return True
    accepted = f"{PLAIN} or {own.port} ({COHERENT})" if own else f"{PLAIN} alone, none looks into the caches"
    raise UsageError(f"--memory-port {shortened(port)!r}: {board.name} has {accepted}")


def through(board: Board, coherent: bool) -> Board:
    """The board as it is for a DMA behind its coherent port, or as it is. UsageError where it has none."""
    if not coherent or board.simulation.dma_buffers == COHERENT:
        return board
    is_coherent(board, COHERENT)
    assert board.coherent is not None
    return replace(
        board,
        fabric=replace(
            board.fabric,
            ddr_read=board.coherent.ddr_read,
            ddr_write=board.coherent.ddr_write,
            port_bits=board.coherent.bits,
        ),
        simulation=replace(board.simulation, dma_buffers=COHERENT),
    )


def names() -> list[str]:
    """Boards that come with the package."""
    return sorted(path.parent.name for path in _HERE.glob("*/profile.toml"))


def at_clock(name: str | Path, hz: float) -> str:
    """What :func:`load` takes for the board `name` with a fabric clock of `hz`."""
    text, _, clock = str(name).rpartition(CLOCK)
    return f"{text if _MHZ.fullmatch(clock) and text else name}{CLOCK}{hz / 1e6:g}"


def load(name: str | Path | Board) -> Board:
    """The board `name`, or the one in the TOML file at that path. UsageError names what is wrong.

    With ``@62.5`` behind it, the same with a fabric clock of 62.5 MHz. A board is returned as it is.
    """
    if isinstance(name, Board):
        return name
    text, at, clock = str(name).rpartition(CLOCK)
    if at and _MHZ.fullmatch(clock):
        hertz = min(float(clock) * 1e6, 1e15)  # beyond every clock: `check` says what is accepted
        board = replace(load(text), fabric_hz=round(hertz))
        _check(board, shortened(str(name)))
        return board
    own = str(name).endswith(".toml")
    path = Path(name) if own else _HERE / str(name) / "profile.toml"
    if not own and str(name) not in names():
        known = ", ".join(names())
        raise UsageError(
            f"board {shortened(str(name))!r} is unknown: use one of {known}, or a path to a profile.toml"
        )
    try:
        data = tomllib.loads(read_text(path))
    except RecursionError:
        raise UsageError(f"{path}: not a board profile: too many things inside each other") from None
    except ValueError as error:  # tomllib's own errors, and Python's about numbers of thousands of digits
        why = "a number of thousands of digits" if "set_int_max_str" in str(error) else error
        raise UsageError(f"{path}: not a board profile: {why}") from None
    board = _build(Board, data, str(path))
    _check(board, str(path))
    return board


def _check(board: Board, where: str) -> None:
    check(asdict(board), where)


_SECTIONS: dict[str, type[Any]] = {
    "resources": Resources,
    "caches": Caches,
    "cost": Cost,
    "latency": Latency,
    "fabric": Fabric,
    "simulation": Simulation,
    "events": Events,
    "os": Os,
    "start": OsCost,
    "syscall": OsCost,
    "page_fault": OsCost,
    "fidelity": Fidelity,
    "coherent": Coherent,
}
_LISTS: dict[str, type[Any]] = {"uncached_memory": Region}
"""Tables that a profile may have several of."""
_ACCEPTED: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "bool": (bool,),
}

_MEANING = {
    "int": "a whole number, not negative",
    "float": "a number, not negative",
    "str": "a text",
    "bool": "true or false",
}

T = TypeVar("T")


def _build(cls: type[T], data: Mapping[str, Any], where: str) -> T:
    fields = dataclass_fields(cls)  # type: ignore[arg-type]
    known = {field.name: str(field.type) for field in fields}
    missing = [field.name for field in fields if field.default is MISSING and field.name not in data]
    unknown = [name for name in data if name not in known]
    if missing or unknown:
        faults = [f"{name} is missing" for name in missing] + [f"{name} is unknown" for name in unknown]
        raise UsageError(f"{where}: {', '.join(faults)}")
    values = {}
    for name, kind in known.items():
        if name not in data:
            continue
        value = data[name]
        if name in _SECTIONS:
            if not isinstance(value, Mapping):
                raise UsageError(f"{where}: {name} must be a table, not {value!r}")
            values[name] = _build(_SECTIONS[name], value, f"{where}: {name}")
            continue
        if name in _LISTS:
            if not isinstance(value, list) or not all(isinstance(table, Mapping) for table in value):
                raise UsageError(f"{where}: {name} must be tables ([[{name}]]), not {value!r}")
            values[name] = tuple(_build(_LISTS[name], table, f"{where}: {name}") for table in value)
            continue
        accepted = _ACCEPTED.get(kind, ())
        wrong = not isinstance(value, accepted) or (isinstance(value, bool) and bool not in accepted)
        if wrong or (not isinstance(value, str) and value < 0):
            raise UsageError(f"{where}: {name} must be {_MEANING[kind]}, not {value!r}")
        values[name] = value
    return cls(**values)
