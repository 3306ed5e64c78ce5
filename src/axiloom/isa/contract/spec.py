"""`Link`: how a host reaches a device. `Use`: what one kernel has of it. `AcceleratorSpec`: the one
description, made of both, from which RTL, driver, model and checks come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import prod
from typing import Any, Self, TypeVar

from axiloom.isa.contract.rtl import RtlPorts
from axiloom.isa.contract.types import (
    WORD_BITS,
    Access,
    Compute,
    DmaConfig,
    Opcode,
    Recv,
    Scope,
    Send,
    SendDim,
    SendLiteral,
    SetDims,
    TileRule,
)
from axiloom.isa.kernels.forms import (
    CHANNEL_WORDS,
    CHANNELS,
    COPY,
    POST_SETTINGS,
    Form,
    Setting,
    extent,
    form_of,
)
from axiloom.isa.kernels.language.kernel import Kernel
from axiloom.isa.numerics import INT8, INT32, Numerics

PIXELS = 8
"""Columns at most of an array that goes over the pixels of a row: rows of outputs are often a multiple of 7
or 8 long (224, 112, 56, 28, 14, 7), and 16 columns would leave more of their last block idle."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """How a host reaches a device: streams of `stream_width` bits, the DMA behind them, ports of its RTL."""

    name: str
    version: str = "1.0"
    description: str = ""
    dma: DmaConfig = field(default_factory=DmaConfig)
    macs: int = 1
    """Parallel multiply-adds, where the device has no `Use` that says so."""
    stream_width: int = WORD_BITS
    cpu: Mapping[str, Any] = field(default_factory=dict)
    """The ``cpu`` part of the file (cache levels and types), kept as it was."""
    rtl: RtlPorts = field(default_factory=RtlPorts)
    """What is to be known of Verilog of the user's own."""
    guessed: tuple[str, ...] = ()
    """Keys of its file that ``axiloom spec from-rtl`` guessed, and that nobody has made sure of since."""
    packets: tuple[int, int] | None = None
    """32-bit words of each packet in and of each packet back, where that never changes."""

    @property
    def beat_words(self) -> int:
        """32-bit words that the stream takes at once, the lowest in the lowest bits."""
        return self.stream_width // WORD_BITS


@dataclass(frozen=True, kw_only=True)
class Use:
    """What one kernel has of a device: operands, opcodes, flows, tiles and buffers of its own."""

    name: str = ""
    """In ``kernels`` of the file; the first use has none."""
    kernel: str
    """The MLIR operation it executes, ``linalg.matmul``."""
    data_type: Numerics
    """Elements of the inputs; the result travels in its accumulator."""
    dims: tuple[str, ...]
    """Sizes of a tile, in the kernel's own order (``m, n, k``)."""
    data: Mapping[str, tuple[str, ...]]
    """Operand to its shape, row major: ``{"A": ("m", "k"), "B": ("k", "n"), "C": ("m", "n")}``."""
    opcodes: Mapping[str, Opcode]
    flows: Mapping[str, Scope]
    selected_flow: str
    init_opcodes: tuple[str, ...]
    """Opcodes the host sends once, before the loops."""
    buffers: Mapping[str, int]
    """Operand to the capacity of its buffer on the device, in 32-bit words (one ping-pong half)."""
    tile: TileRule
    macs: int = 1
    """Parallel multiply-adds."""
    post: bool = False
    """Has post-processing: operand P and ``requantise``."""
    own_kernel: Kernel | None = None
    """The kernel, where the file writes it out instead of naming one; :attr:`kernel` is its name."""
    bits: tuple[str, ...] = ()
    """Opcodes of one bit each that a word may combine, in the order in which the device executes them."""
    in_place: Mapping[str, Kernel] = field(default_factory=dict)
    """Kernels that the device applies to its result where it lies, by the name in ``compute NAME``: each has
    one input, and works element by element."""


T = TypeVar("T")


class _Read(cached_property[T]):
    """An attribute that a device has from the use at which it is looked at."""

    def __init__(self, read: Callable[[AcceleratorSpec], T]) -> None:
        super().__init__(read)


@dataclass(frozen=True)
class AcceleratorSpec:
    """A device: the link to it, and its uses, looked at in one of them.

    Where loops or a text of instructions made the device, other compilers use it, and `uses` is empty. Read
    one with :func:`axiloom.isa.load` or :func:`axiloom.isa.builtin`; both check it whole
    (:func:`axiloom.isa.check.check.check`). The class itself holds values and derives sizes.
    """

    link: Link
    uses: tuple[Use, ...] = ()
    at: int = 0
    """Of `uses`, the one that is meant."""

    macs = _Read(lambda spec: spec.use.macs if spec.uses else spec.link.macs)
    kernel = _Read(lambda spec: spec.use.kernel)
    data_type = _Read(lambda spec: spec.use.data_type)
    dims = _Read(lambda spec: spec.use.dims)
    data = _Read(lambda spec: spec.use.data)
    opcodes = _Read(lambda spec: spec.use.opcodes)
    flows = _Read(lambda spec: spec.use.flows)
    selected_flow = _Read(lambda spec: spec.use.selected_flow)
    init_opcodes = _Read(lambda spec: spec.use.init_opcodes)
    buffers = _Read(lambda spec: spec.use.buffers)
    tile = _Read(lambda spec: spec.use.tile)
    post = _Read(lambda spec: spec.use.post)
    own_kernel = _Read(lambda spec: spec.use.own_kernel)
    bits = _Read(lambda spec: spec.use.bits)
    in_place = _Read(lambda spec: spec.use.in_place)

    @classmethod
    def of(cls, **values: Any) -> Self:
        """The device with one use that has these fields of `Link` and of `Use`."""
        own = {name: values.pop(name) for name in _USE_FIELDS & values.keys()}
        return cls(Link(**values), (Use(**own),))

    def replace(self, **changes: Any) -> Self:
        """Some fields of the link, or of the use that is meant, replaced; or `uses` as a whole."""
        uses = list(changes.pop("uses", self.uses))
        own = {name: changes.pop(name) for name in (_USE_FIELDS if uses else set()) & changes.keys()}
        if own:
            uses[self.at] = replace(uses[self.at], **own)
        return replace(self, link=replace(self.link, **changes) if changes else self.link, uses=tuple(uses))

    @property
    def use(self) -> Use:
        return self.uses[self.at]

    @property
    def name(self) -> str:
        own = self.use.name if self.uses else ""
        return f"{self.link.name}.{own}" if own else self.link.name

    @cached_property
    def parts(self) -> tuple[Self, ...]:
        """The device at each of its uses, this one first. An op of the host is for one of them."""
        return (self,)[: len(self.uses)] + tuple(
            replace(self, at=at) for at in range(1, len(self.uses)) if not self.at
        )

    @property
    def accesses(self) -> Mapping[str, tuple[tuple[Access, ...], tuple[Access, ...]]]:
        """Opcode to the registers that the host accesses before and after it, where there are such."""
        opcodes = self.opcodes if self.uses else {}
        return {name: (op.before, op.after) for name, op in opcodes.items() if op.before or op.after}

    @property
    def has_registers(self) -> bool:
        """Whether the host accesses registers of the device between transfers, which then cannot be moved."""
        return bool(self.uses) and any(op.before or op.after or op.carried for op in self.opcodes.values())

    @property
    def keeps_packets(self) -> bool:
        """Whether each instruction is a packet of its own, which no pass may join with another."""
        return not self.uses or self.has_registers or bool(self.link.rtl.starts_on_tlast)

    @property
    def has_pointers(self) -> bool:
        """Whether the device reads and writes memory itself: no operand travels on a stream."""
        opcodes = self.opcodes.values() if self.uses else ()
        return any(carrier.pointer for opcode in opcodes for carrier in opcode.carried)

    @property
    def passes_packets(self) -> bool:
        """Whether it is a FIFO: words and TLAST go through it, and packets are as the host sends them. It
        copies by tiles of one word and has no opcodes: there is nothing to count packets by."""
        if not self.uses or self.form.kernel != COPY.kernel:  # not `is`: it may come from another process
            return False
        host = [action for opcode in self.opcodes.values() for action in opcode.host]
        return self.tile.size == (1,) and all(isinstance(action, Send | Recv) for action in host)

    @property
    def result_words(self) -> int | None:
        """Words of each result that comes back, where that never changes: there TLAST can be counted."""
        if not self.uses:
            return None if self.link.packets is None else self.link.packets[1]
        if self.passes_packets or self.tile.flexible or len(self.uses) > 1:
            return None
        counts = {self.received_words(opcode) for opcode in self.opcodes.values() if opcode.receives}
        return counts.pop() if len(counts) == 1 else None

    def has_whole_beats(self, bits: int, *, into: bool) -> bool:
        """Whether all that travels one way (`into` the device, or back) fills beats of `bits`."""
        if not self.uses:
            return self.link.packets is not None and self.link.packets[not into] * WORD_BITS % bits == 0
        if self.tile.flexible or len(self.uses) > 1:
            return False
        for opcode in self.opcodes.values():
            tiles = opcode.sends if into else opcode.receives
            others = len(opcode.host) - len(opcode.sends) - len(opcode.receives)
            if (into and others) or any(self.operand_words(tile) * WORD_BITS % bits for tile in tiles):
                return False
        return True

    def applied(self, flow: Scope) -> tuple[str, ...]:
        """The kernels in place that the opcodes of a flow apply, in their order."""
        return tuple(
            action.in_place
            for name, _ in flow.opcodes()
            for action in (self.opcodes[name].device if name in self.opcodes else ())
            if isinstance(action, Compute) and action.in_place
        )

    @cached_property
    def form(self) -> Form:
        """How it executes its kernel: what its dims, operands and settings mean."""
        return form_of(self.kernel, self.data, self.own_kernel)

    @property
    def operands(self) -> tuple[str, ...]:
        """Everything that travels: the kernel's operands, and P where there is post-processing."""
        return (*self.data, *((CHANNELS,) if self.post else ()))

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """Operands that some opcode receives."""
        return tuple(o for o in self.data if any(o in op.receives for op in self.opcodes.values()))

    @property
    def settings(self) -> tuple[Setting, ...]:
        """What a word of send_dim can name besides the dims."""
        return self.form.settings + (POST_SETTINGS if self.post else ())

    @cached_property
    def tied(self) -> Mapping[str, str]:
        """Dims that no word sets, to the dim whose size they have: filters are square if only fh is set."""
        named = {
            f.dim for op in self.opcodes.values() for a in op.host if isinstance(a, SendDim) for f in a.fields
        }
        return {"fw": "fh"} if "fh" in named and "fw" not in named else {}

    def operand_type(self, operand: str) -> Numerics:
        """Of an operand's elements on the stream: sums for what comes back, int32 for the words of P.

        What is no sum (an element-wise result, a maximum) has the type of what goes in.
        """
        if operand == CHANNELS:
            return INT32
        return self.result_type if operand in self.outputs else self.data_type

    @property
    def result_type(self) -> Numerics:
        """Of results: sums are wider than what goes in, if they are sums."""
        sums = self.form.computes is None or self.form.computes.combine in ("add", "mul")
        return self.data_type.accumulator if sums else self.data_type

    def received_type(self, opcode: Opcode) -> Numerics:
        """Of the elements that an opcode receives: int8 where the device requantises them."""
        return INT8 if opcode.requantises else self.result_type

    def sizes(
        self, tile: tuple[int, ...] | None = None, settings: Mapping[str, int] | None = None
    ) -> dict[str, int]:
        """Dim or setting to its value in `tile` under `settings`.

        Settings that are not given have their value after reset; but an image is as large as the tile needs.
        """
        sizes = dict(zip(self.dims, tile or self.tile.size, strict=True))
        values = {setting.name: setting.reset for setting in self.settings}
        chosen = settings or {}
        values.update(chosen)
        if self.form.computes is not None:
            extents = self.form.computes.extents({**sizes, **values})
            return {**sizes, **values, **{dim: n for dim, n in extents.items() if dim not in chosen}}
        for image, out, taps, stride, dilation, padding in (
            ("ih", "oh", "fh", "sh", "dh", "pt"),
            ("iw", "ow", "fw", "sw", "dw", "pl"),
        ):
            if image in values and image not in chosen:
                whole = extent(sizes[out], sizes[taps], values[stride], values[dilation])
                values[image] = max(1, whole - values[padding])
        return {**sizes, **values}

    def operand_shape(
        self, operand: str, tile: tuple[int, ...] | None = None, settings: Mapping[str, int] | None = None
    ) -> tuple[int, ...]:
        """Shape of an operand's tile, in elements, in the operand's own dims; P: (channels, 2)."""
        sizes = self.sizes(tile, settings)
        if operand == CHANNELS:
            return sizes[self.form.channel], CHANNEL_WORDS
        return tuple(sizes[d] for d in self.data[operand])

    def operand_words(
        self,
        operand: str,
        tile: tuple[int, ...] | None = None,
        settings: Mapping[str, int] | None = None,
        kind: Numerics | None = None,
    ) -> int:
        """Stream words of an operand's tile, with the zeros that fill it up (`Form`).

        `kind`: the type of its elements where it is not :meth:`operand_type`.
        """
        return self.words_of(operand, self.operand_shape(operand, tile, settings), kind)

    def words_of(self, operand: str, shape: tuple[int, ...], kind: Numerics | None = None) -> int:
        """Stream words of an operand's tile of `shape`."""
        bits = (kind or self.operand_type(operand)).bits
        if not self.form.dense and operand != CHANNELS:
            return prod(shape) * bits // WORD_BITS
        rows = self.form.rows.get(operand, 0)
        beats = -(-prod(shape[rows:]) * bits // self.link.stream_width)
        return prod(shape[:rows]) * beats * self.link.beat_words

    @property
    def array(self) -> tuple[int, int]:
        """Rows and columns of the array that goes over ``form.array``: as square as powers of two can be, but
        where the columns are pixels of an image's row, at most `PIXELS` of them. A MatMul's array is its
        :attr:`block`."""
        rows = 1 << (self.macs.bit_length() - 1) // 2
        rows = max(rows, self.macs // PIXELS) if self.form.walks else rows
        return rows, self.macs // rows

    @property
    def block(self) -> tuple[int, int]:
        """Rows and columns of C that a MatMul's array computes at a time: as square as blocks that fill every
        tile without a rest can be."""
        m, n, *_ = self.tile.granule or self.tile.size
        fitting = [
            (rows, self.macs // rows)
            for rows in (1 << i for i in range(self.macs.bit_length()))
            if m % rows == 0 and n % (self.macs // rows) == 0
        ]
        return min(fitting, key=lambda block: (abs(block[0] - block[1]), block), default=(m, n))

    def held_words(self, operand: str, shape: tuple[int, ...]) -> int:
        """Words of its buffer that an operand's tile of `shape` takes."""
        if operand == self.form.output and self.form.array is None:
            return prod(shape)
        if operand == CHANNELS or self.form.array is None:
            return self.words_of(operand, shape)
        across = dict(zip(self.form.array, self.array, strict=True))
        units = [across.get(dim, 1) for dim in self.data[operand]]
        whole = tuple(-(-size // unit) * unit for size, unit in zip(shape, units, strict=True))
        return prod(whole) if operand == self.form.output else self.words_of(operand, whole)

    def received_words(
        self, opcode: Opcode, tile: tuple[int, ...] | None = None, settings: Mapping[str, int] | None = None
    ) -> int:
        """Stream words that come back for an opcode."""
        kind = self.received_type(opcode)
        return sum(self.operand_words(operand, tile, settings, kind) for operand in opcode.receives)

    def decode(self, word: int) -> Opcode | None:
        """What the device does at an opcode word: an opcode, or several at once where it decodes bits."""
        for opcode in self.opcodes.values():
            if opcode.literal == word:
                return opcode
        parts = self.combination(word)
        return combined(word, parts) if parts else None

    def combination(self, word: int) -> list[Opcode] | None:
        """The opcodes of :attr:`bits` that make up `word`, in the order of execution; None if none do."""
        parts = [self.opcodes[name] for name in self.bits if (self.opcodes[name].literal or 0) & word]
        return parts if parts and word == sum(p.literal or 0 for p in parts) else None

    def sets(self, name: str) -> bool:
        """Whether some opcode sets this dim or setting on the device."""
        return any(
            name == field.dim
            for opcode in self.opcodes.values()
            for action, host in opcode.steps()
            if isinstance(action, SetDims) and isinstance(host, SendDim)
            for field in host.fields
        )


_USE_FIELDS = {part.name for part in fields(Use)} - {"name"}


def combined(word: int, parts: list[Opcode]) -> Opcode:
    """The opcode that does all of `parts`, one after the other, for one opcode word."""
    return Opcode(
        " ".join(part.name for part in parts),
        (SendLiteral(word), *(action for part in parts for action in part.payload)),
        tuple(action for part in parts for action in part.device),
    )
