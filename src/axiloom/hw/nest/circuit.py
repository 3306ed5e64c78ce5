"""`Circuit`: scheduled loop nests as data, the border between who compiles nests and who builds RTL of them.

A circuit consists of *pipes* that run at the same time, *memories* in banks, and *FIFOs*. All times are
cycles.

**Pipes.** A pipe counts through its iterations, outermost counter first, and issues one at most every
`interval` cycles. An iteration that was issued is never held up: node v is executed `slot` cycles after the
issue. An iteration is issued in the first cycle in which a multiple of `interval` cycles, not none, has
passed since the one before, each FIFO it pops has an element for it, and each FIFO it pushes has a free place
for it. (Any later cycle would not do: nodes in slots that differ modulo the interval share ports and units.)
`start` is high in cycle 0; the first issue is in cycle 1 or later, whenever the FIFOs let it.

**Memories.** A read that is executed in cycle c sees the writes executed in cycles before c. Its value can be
used `latency` cycles later (1 for block RAM, 0 else). A write of cycle c counts from cycle c + 1.

**FIFOs.** A pop is executed at slot 0. What is pushed in cycle c can be popped in cycle c + 1 or later. A
place is taken when the iteration that will push is *issued*, and given back by a pop, so that it can be taken
again one cycle after. `depth` counts places: elements that wait, and those under way. A FIFO of 0 bits
carries tokens: it orders iterations of two pipes, and nothing else does.

**End.** A circuit has ended when each pipe has executed the last slot of its last iteration. Its cycles are
the cycles from the first possible issue (cycle 1) to that one, both included. A pipe alone with n iterations
takes ``(n - 1) * interval + 1 + last slot``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from axiloom.base.affine import Affine

Condition = tuple[Affine, ...]
"""All forms, over counters of the pipe, are at least 0. Empty: always."""


@dataclass(frozen=True)
class Piece:
    """`value` where `when` holds."""

    when: Condition
    value: Affine


@dataclass(frozen=True)
class Counter:
    """From `lower` to `upper`, both included, in steps of 1; both over counters further out.

    Of several pieces exactly one holds at any point the pipe reaches; `range` holds all values it ever has.
    There is at least one value at each point of the outer counters.
    """

    name: str
    lower: tuple[Piece, ...]
    upper: tuple[Piece, ...]
    range: tuple[int, int]


@dataclass(frozen=True)
class Term:
    """``factor * ((value div divisor) mod modulus)``, rounded down; a modulus of 0 leaves it out. `value` is
    never negative where it counts."""

    value: Affine
    factor: int = 1
    divisor: int = 1
    modulus: int = 0


Place = tuple[Term, ...]
"""A bank or an address: the sum of its terms. Banks whose terms are all constant are wired; others are
selected."""


class Storage(StrEnum):
    BLOCK = "block"  # block RAM
    DISTRIBUTED = "distributed"  # LUT RAM
    REGISTERS = "registers"


@dataclass(frozen=True)
class Memory:
    """`banks` banks of `depth` words of `bits` bits. In each cycle a bank takes one write and `ports` reads.

    An `external` memory is not part of the circuit's RTL: its ports are (an array of the caller that is
    resident).
    """

    name: str
    bits: int
    banks: int
    depth: int
    storage: Storage = Storage.BLOCK
    ports: int = 1
    external: bool = False

    @property
    def latency(self) -> int:
        return 1 if self.storage is Storage.BLOCK else 0


@dataclass(frozen=True)
class Fifo:
    """`initial` is the number of elements (of value 0) at the start: tokens that say that a place is free."""

    name: str
    bits: int
    depth: int
    initial: int = 0


@dataclass(frozen=True)
class Constant:
    """Raw bits."""

    value: int
    bits: int
    slot: int = 0


@dataclass(frozen=True)
class Position:
    """The value of an affine form of the counters, as `bits` bits in two's complement."""

    value: Affine
    bits: int
    slot: int = 0


@dataclass(frozen=True)
class Read:
    """In one slot (modulo the interval) at most `ports` reads go to a bank, or several of the same address,
    or several whose conditions exclude each other.

    `port`: reads of one port never ask a bank for two addresses at once, whatever their pipes. None: the
    hardware finds one by what it sees of conditions and banks, which is less."""

    memory: str
    bank: Place
    address: Place
    when: Condition
    slot: int
    port: int | None = None


@dataclass(frozen=True)
class Write:
    """`value` is a node."""

    memory: str
    bank: Place
    address: Place
    value: int
    when: Condition
    slot: int


@dataclass(frozen=True)
class Operate:
    """`operator` by name, for operands of format `number` and a result of format `result`. Nodes of the same
    `unit` share one piece of hardware: they differ in slot modulo the interval."""

    operator: str
    number: str
    result: str
    operands: tuple[int, ...]
    latency: int
    slot: int
    unit: str = ""


@dataclass(frozen=True)
class Choose:
    """The node of the first condition that holds; the last one if none does. Takes no time."""

    options: tuple[tuple[Condition, int], ...]
    slot: int


@dataclass(frozen=True)
class Pop:
    """Slot 0. Several pops of a FIFO have conditions that exclude each other."""

    fifo: str
    when: Condition
    slot: int = 0


@dataclass(frozen=True)
class Push:
    """`value` is a node, or None for a token."""

    fifo: str
    value: int | None
    when: Condition
    slot: int


Node = Constant | Position | Read | Write | Operate | Choose | Pop | Push


@dataclass(frozen=True)
class Pipe:
    """`nodes` refer to each other by position, backwards only: values, conditions and addresses that are used
    later than they come are delayed by the RTL."""

    name: str
    counters: tuple[Counter, ...]
    interval: int
    iterations: int
    nodes: tuple[Node, ...]

    @property
    def last_slot(self) -> int:
        return max(node.slot for node in self.nodes)


@dataclass(frozen=True)
class Port:
    """One end of `fifo` is an AXI4-Stream port of the circuit. `elements` pass in a run; TLAST is on the
    last."""

    fifo: str
    elements: int


@dataclass(frozen=True)
class Circuit:
    name: str
    pipes: tuple[Pipe, ...]
    memories: tuple[Memory, ...]
    fifos: tuple[Fifo, ...] = ()
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()

    def memory(self, name: str) -> Memory:
        return next(memory for memory in self.memories if memory.name == name)

    def fifo(self, name: str) -> Fifo:
        return next(fifo for fifo in self.fifos if fifo.name == name)
