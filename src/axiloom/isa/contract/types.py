"""The vocabulary of a specification: host actions, device actions, opcodes, flows, tiles.

Everything here is an immutable value that prints as it is written in a specification file.
Parsing lives in :mod:`axiloom.isa.files.grammar`, checking in :mod:`axiloom.isa.check.check`.

Narrow elements travel packed. int8 and int16 elements of A and B travel four and two to a word, lowest
element in the lowest bits; C is int32, one element a word. One element a word would waste the stream, and
the stream limits a MatMul tile. Rows must be whole words; the specification check says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

WORD_BITS = 32
"""Width of a stream word. Opcodes and dims are one word each."""

BARE_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")
"""A name that a grammar text holds without quotes (MLIR's bare-id)."""


def quoted(name: str) -> str:
    """The name as a grammar text holds it: in quotes unless it is a bare id."""
    return name if BARE_ID.fullmatch(name) else f'"{name}"'


# --- what the host does, in the order of its words (the published opcode_map) ---------------------


@dataclass(frozen=True)
class Send:
    """One tile of an operand, row major in the operand's own dims, packed into words."""

    operand: str

    def __str__(self) -> str:
        return f"send({self.operand})"


@dataclass(frozen=True)
class SendLiteral:
    """One constant word; the first one of an opcode is the opcode word itself."""

    value: int

    def __str__(self) -> str:
        return f"send_literal({self.value})"


@dataclass(frozen=True)
class DimField:
    """The tile's size in `dim`, or the value of the setting of this name, shifted left by `shift` bits."""

    dim: str
    shift: int = 0

    def __str__(self) -> str:
        return f"{self.dim} << {self.shift}" if self.shift else self.dim


@dataclass(frozen=True)
class SendDim:
    """One word made of the current tile's sizes and of settings: ``send_dim(m | n << 10 | k << 20)``."""

    fields: tuple[DimField, ...]

    def field_bits(self, field: DimField) -> int:
        """Bits this field may occupy: up to the next field's shift, or to the end of the word."""
        above = [other.shift for other in self.fields if other.shift > field.shift]
        return (min(above) if above else WORD_BITS) - field.shift

    def __str__(self) -> str:
        return f"send_dim({' | '.join(map(str, self.fields))})"


@dataclass(frozen=True)
class SendIdx:
    """One word with the element index at which the current tile starts in `dim`."""

    dim: str

    def __str__(self) -> str:
        return f"send_idx({self.dim})"


@dataclass(frozen=True)
class Recv:
    """One tile of an operand comes back, TLAST on the last beat: sums, or int8 where they are requantised."""

    operand: str

    def __str__(self) -> str:
        return f"recv({self.operand})"


HostAction: TypeAlias = Send | SendLiteral | SendDim | SendIdx | Recv


# --- what the host does beside the streams: the device's own registers ----------------------------


@dataclass(frozen=True)
class WriteRegister:
    """Write a register of the device: a number, or the tile's size in a dim."""

    register: str
    value: int | str

    def __str__(self) -> str:
        return f"write({self.register}, {self.value})"


@dataclass(frozen=True)
class WaitRegister:
    """Read a register of the device until a bit of `mask` is set."""

    register: str
    mask: int

    def __str__(self) -> str:
        return f"wait({self.register}, {self.mask})"


Access: TypeAlias = WriteRegister | WaitRegister


@dataclass(frozen=True)
class Carried:
    """How an operand comes to the device, or from it, without a stream.

    By elements: the host writes them to registers, the first to `register`: ``write(taps, H)``. By a pointer:
    the host writes the address of the operand to `register` (lower half; the upper half behind it), and the
    device reads or writes memory itself: ``send(A, a)``, ``recv(C, c)``.
    """

    operand: str
    register: str
    pointer: bool


# --- what the device does, in order -----------------------------------------------------------------


@dataclass(frozen=True)
class Load:
    """Read the words of one tile of `operand` (an input, or P of post-processing) into its buffer."""

    operand: str

    def __str__(self) -> str:
        return f"load {self.operand}"


@dataclass(frozen=True)
class Compute:
    """Do what the kernel says over the current tile: C += A . B. Or send the result that is there through a
    kernel in place, element by element: ``compute relu``."""

    in_place: str = ""
    """Name of the kernel in place (:attr:`axiloom.isa.contract.spec.AcceleratorSpec.in_place`)."""

    def __str__(self) -> str:
        return f"compute {self.in_place}" if self.in_place else "compute"


@dataclass(frozen=True)
class Store:
    """Send the tile of `operand` (the result), TLAST on its last word. It keeps its value."""

    operand: str

    def __str__(self) -> str:
        return f"store {self.operand}"


@dataclass(frozen=True)
class Requantise:
    """As `Store`, but biased, scaled and clamped to int8 (:mod:`axiloom.isa.kernels.requantise`)."""

    operand: str

    def __str__(self) -> str:
        return f"requantise {self.operand}"


@dataclass(frozen=True)
class Save:
    """Keep the result in its place, and begin the next result behind it."""

    def __str__(self) -> str:
        return "save"


@dataclass(frozen=True)
class Clear:
    """Set the buffer of `operand` (the result) to zero, with all that was saved. So does reset."""

    operand: str

    def __str__(self) -> str:
        return f"clear {self.operand}"


@dataclass(frozen=True)
class SetDims:
    """Read one word and take the sizes and settings that the fields of the host's send_dim name."""

    def __str__(self) -> str:
        return "set dims"


@dataclass(frozen=True)
class Skip:
    """Read one word (an index, a further literal) and ignore it."""

    def __str__(self) -> str:
        return "skip"


DeviceAction: TypeAlias = Load | Compute | Save | Store | Requantise | Clear | SetDims | Skip
SILENT = (Compute, Save, Clear)
"""Device actions without a counterpart on the host: they take no words and send none."""


@dataclass(frozen=True)
class Opcode:
    """One instruction: what the host sends and receives, and what the device does.

    An accelerator without opcode words has exactly one opcode, and that has no literal.
    """

    name: str
    host: tuple[HostAction, ...]
    device: tuple[DeviceAction, ...]
    before: tuple[Access, ...] = ()
    """Registers that the host writes or waits for before it sends."""
    after: tuple[Access, ...] = ()
    """And when it has sent and received everything."""
    carried: tuple[Carried, ...] = ()
    """Operands among those that are sent and received that come by registers or pointers, not on a stream."""

    @property
    def streamed(self) -> tuple[HostAction, ...]:
        """What of :attr:`host` travels on the streams."""
        other = {carrier.operand for carrier in self.carried}
        return tuple(a for a in self.host if not (isinstance(a, Send | Recv) and a.operand in other))

    @property
    def literal(self) -> int | None:
        """The opcode word, or None where the device executes this opcode for ever without one."""
        first = self.host[0] if self.host else None
        return first.value if isinstance(first, SendLiteral) else None

    @property
    def sends(self) -> tuple[str, ...]:
        return tuple(a.operand for a in self.host if isinstance(a, Send))

    @property
    def receives(self) -> tuple[str, ...]:
        return tuple(a.operand for a in self.host if isinstance(a, Recv))

    @property
    def requantises(self) -> bool:
        """Whether what it receives is int8, made by post-processing."""
        return any(isinstance(a, Requantise) for a in self.device)

    @property
    def payload(self) -> tuple[HostAction, ...]:
        """What the host does after the opcode word."""
        return self.host if self.literal is None else self.host[1:]

    def steps(self) -> Iterator[tuple[DeviceAction, HostAction | None]]:
        """Device actions in order, each with the host action whose words it takes or sends, if any.

        Host and device must agree (:func:`axiloom.isa.check.check.check`).
        """
        payload = iter(self.payload)
        for action in self.device:
            yield action, None if isinstance(action, SILENT) else next(payload)

    def __str__(self) -> str:
        by = {carrier.operand: carrier for carrier in self.carried}

        def text(action: HostAction) -> str:
            carrier = by.get(action.operand) if isinstance(action, Send | Recv) else None
            if carrier is None:
                return str(action)
            if not carrier.pointer:
                return f"write({carrier.register}, {carrier.operand})"
            return f"{'send' if isinstance(action, Send) else 'recv'}({carrier.operand}, {carrier.register})"

        actions = (*map(str, self.before), *map(text, self.host), *map(str, self.after))
        return f"{quoted(self.name)} = [{', '.join(actions)}]"


@dataclass(frozen=True)
class Scope:
    """A pair of parentheses of a flow: opcodes and inner scopes, in order."""

    items: tuple[str | Scope, ...]

    def opcodes(self) -> Iterator[tuple[str, int]]:
        """Every opcode with the depth of its scope (the outermost is 1), in order."""
        for item in self.items:
            if isinstance(item, str):
                yield item, 1
            else:
                yield from ((name, depth + 1) for name, depth in item.opcodes())

    @property
    def depth(self) -> int:
        return 1 + max((item.depth for item in self.items if isinstance(item, Scope)), default=0)

    def __str__(self) -> str:
        return f"({' '.join(quoted(i) if isinstance(i, str) else str(i) for i in self.items)})"


@dataclass(frozen=True)
class TileRule:
    """Which tiles (in elements, in the order of the specification's dims) the device takes.

    `size` is the default tile. Where `granule` is None the tile is fixed to `size`; else every
    size is a multiple of its granule, and each operand's tile must fit its buffer.
    """

    size: tuple[int, ...]
    granule: tuple[int, ...] | None = None

    @property
    def flexible(self) -> bool:
        return self.granule is not None


@dataclass(frozen=True)
class DmaConfig:
    """Where the DMA and its two windows are (byte addresses and sizes in bytes)."""

    id: int = 0
    address: int = 0x40400000
    input_address: int = 0x16000000
    input_buffer_size: int = 65536
    output_address: int = 0x16400000
    output_buffer_size: int = 65536
    length_width: int = 26
    """Bits of the LENGTH register (PG021: 8 to 26); one transfer has less than 2^this bytes."""
    scatter_gather: bool = False
    """The DMA takes descriptors from memory (PG021, scatter-gather mode) and nothing else."""
    coherent: bool = False
    """Its ports look into the CPU's caches (an ACP or HPC port of the board): no driver maintains them."""
