"""A plan over bytes of whole arrays as functions: descriptors read and write what lies as it travels.

What does not, the CPU packs in an array of the driver's before it is sent, or takes out of one once the queue
that it came through is closed. Arrays that no caller gives are the driver's own: constants, and what is
passed from one command to another.

A device with packets that never change has one command: all that is sent is one packet, all that comes back
another. Its arrays may begin anywhere: the runtime asks where, and packs what does not begin on a beat.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.builder import Builder
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
    i8,
    i32,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects import accel, queue
from axiloom.drivergen.nest.emit_queue import Queued
from axiloom.drivergen.nest.tile import CACHE_LINE
from axiloom.isa import Link
from axiloom.isa.contract.types import WORD_BITS
from axiloom.plan import Command, Plan, Queue, Receive, Region, Send, Words
from axiloom.plan.figures import moves
from axiloom.plan.tree import rows

PART = "accel.part"
"""Attribute of a function that only others of its module call."""
A_FUNCTION = 1000
"""Calls of one function of C: compilers take long for very long ones."""
_OWNED = 1 << 16
"""Bytes below which the runtime takes each packet out of the caches by itself."""


@dataclass(frozen=True)
class Array:
    """An array of a plan, and its name in C.

    `kind`: ``in`` or ``out``, of an argument; else it is the driver's own, of `values` if it is constant.
    """

    array: Hashable
    name: str
    element: Attribute
    shape: tuple[int, ...]
    kind: str = ""
    values: Sequence[int] = ()

    @property
    def type(self) -> MemRefType[Attribute]:
        return MemRefType(self.element, self.shape)


def own(array: Hashable, name: str, size: int) -> Array:
    """One of the driver's, of `size` bytes, in cache lines of its own."""
    return Array(array, name, i8, (-(-size // CACHE_LINE) * CACHE_LINE,))


def emit(name: str, plan: Plan, arrays: Sequence[Array], link: Link) -> ModuleOp:
    """The functions `name` and ``name_init``, at the stage of `accel`. Regions are rows of bytes."""
    init = func.FuncOp(f"{name}_init", ((), ()))
    init.body.block.add_ops([accel.InitDmaOp(accel.DmaInitConfigAttr(link.dma)), func.ReturnOp()])
    emitter = (_Packets if link.packets else _Rows)(name, arrays, link)
    for node in plan.body:
        if isinstance(node, Queue):
            emitter.queue(node)
        else:
            emitter.nodes([node])
    return ModuleOp([*(_global(array) for array in arrays if not array.kind), init, *emitter.functions()])


def _global(array: Array) -> memref.GlobalOp:
    values: Attribute = UnitAttr()
    if array.values:
        values = DenseIntOrFPElementsAttr.from_list(TensorType(i32, array.shape), array.values)
    constant = UnitAttr() if array.values else None
    return memref.GlobalOp.get(
        StringAttr(array.name), array.type, values, constant=constant, alignment=CACHE_LINE
    )


class _Rows(Queued):
    """Functions of about `A_FUNCTION` calls, one after the other."""

    def __init__(self, name: str, arrays: Sequence[Array], link: Link) -> None:
        self.function, self.arrays = name, arrays
        self.parts: list[func.FuncOp] = []
        self.unchecked: dict[str, tuple[list[Attribute], Sequence[Attribute]]] = {}
        super().__init__(self._part(f"{name}_0"), link, {})

    def _part(self, name: str) -> func.ReturnOp:
        """The end of a new function."""
        arguments = [array for array in self.arrays if array.kind]
        kinds = [DictionaryAttr({"accel.kind": StringAttr(array.kind)}) for array in arguments]
        types = [array.type for array in arguments]
        function = func.FuncOp(name, (types, ()), arg_attrs=ArrayAttr(kinds))
        self.values: dict[Hashable, SSAValue] = {}
        for argument, array in zip(function.args, arguments, strict=True):
            argument.name_hint = array.name
            self.values[array.array] = argument
        function.body.block.add_op(end := func.ReturnOp())
        self.parts.append(function)
        self.calls = 0
        return end

    def _turn(self, name: str) -> None:
        """To a new function."""
        self.op = self._part(name)
        self.builder = Builder(InsertPoint.before(self.op))

    def functions(self) -> list[func.FuncOp]:
        """All, those first that others call, and what is declared elsewhere."""
        parts = list(self.parts)
        if len(parts) == 1:
            parts[0].sym_name = StringAttr(self.function)
        else:
            self._turn(self.function)
            for part in parts:
                part.attributes[PART] = UnitAttr()
                call = self.insert(func.CallOp(part.sym_name.data, self.parts[-1].args, [i32]))
                self.insert(accel.CheckOp(call.res[0]))
        outside = [func.FuncOp.external(name, types, [i32]) for name, types in self.declared.items()]
        outside += [func.FuncOp.external(name, *types) for name, types in self.unchecked.items()]
        return [*self.parts, *outside]

    def queue(self, node: Queue) -> None:
        self._call("dma_queue_open", self.index(1), self.insert(queue.TakerNameOp("")).result)
        apart = [move for move in moves(node.body) if isinstance(move, Receive) and move.of]
        if apart:  # packets that are no whole cache lines: allowed where nobody else writes
            first, last = (move.region.spans[1] for move in (apart[0], apart[-1]))
            size = min(last.base + last.tile - first.base, _OWNED)
            address, *_ = self._rows(apart[0].region)
            self._call("dma_queue_own", address, self.index(size))
        self.nodes(node.body)
        self._call("dma_queue_close")
        for receive in apart:
            for packed, region in _packed(receive.region, receive.of):
                self._copy(region, packed)

    def commands(self, commands: Sequence[Command]) -> None:
        for command in commands:
            if self.calls > A_FUNCTION and not self.counters:
                self._turn(f"{self.function}_{len(self.parts)}")
            super().commands([command])

    def _call(self, callee: str, *arguments: SSAValue) -> func.CallOp:
        self.calls += 1
        return super()._call(callee, *arguments)

    def _words(self, words: Words) -> None:
        """Two a call: code that runs once comes from memory, and inline a word takes 100 bytes of it."""
        even = len(words.values) // 2 * 2
        for pair in zip(words.values[:even:2], words.values[1:even:2], strict=True):
            self._call("dma_queue_pair", *map(self._word, pair))
        super()._words(replace(words, values=words.values[even:]))

    def _send(self, send: Send) -> None:
        for packed, region in _packed(send.region, send.of):
            self._copy(packed, region)
        self._call("dma_queue_piece", *self._rows(send.region), self.index(int(send.clean)))

    def _receive(self, receive: Receive) -> None:
        self._call("dma_queue_receive_rows", *self._rows(receive.region))

    def _copy(self, to: Region, source: Region) -> None:
        (into, size, rows, stride), (out, _, _, between) = self._rows(to), self._rows(source)
        self._run("axl_copy_rows", into, stride, out, between, size, rows)

    def _run(self, callee: str, *arguments: SSAValue, gives: Sequence[Attribute] = ()) -> Sequence[SSAValue]:
        """Call a function of the runtime that has no status."""
        self.calls += 1
        self.unchecked[callee] = [argument.type for argument in arguments], gives
        return self.insert(func.CallOp(callee, arguments, gives)).res

    def _rows(self, region: Region) -> list[SSAValue]:
        """Where it lies, bytes of a row, rows, bytes from row to row."""
        lines, span = region.spans
        array = self.values.get(region.array) or self._own(region.array)
        address = self.insert(queue.BytesOp(self._pointer(array), span.base)).result
        return [address, *map(self.index, (span.tile, lines.tile, lines.stride or 0))]

    def _own(self, of: Hashable) -> SSAValue:
        """An array of the driver's, in this function."""
        array = next(array for array in self.arrays if array.array == of)
        get = memref.GetGlobalOp(array.name, array.type)
        get.memref.name_hint = array.name
        Rewriter.insert_op(get, InsertPoint.at_start(self.parts[-1].body.block))
        self.values[of] = get.memref
        return get.memref


class _Packets(_Rows):
    """One packet in, one back, which begin with the first send and the first receive of the command."""

    def queue(self, node: Queue) -> None:
        (command,) = node.body
        assert isinstance(command, Command)
        sends, receives, words = _exchanged(command)
        for receive in receives:
            if receive.in_place and any(send.region.array == receive.region.array for send in sends):
                # Its lines leave the caches before the DMA writes there.
                address, size, count, _ = self._rows(receive.region)
                self.insert(queue.CleanRowsOp(address, [size, count, size], ()))
        self._call("dma_queue_open_rows", self._places(receives), *map(self.index, (len(receives), words)))
        for send in sends:
            self._call("dma_queue_array", *self._padded(send))
        self._call("dma_queue_close")

    def commands(self, commands: Sequence[Command]) -> None:
        (command,) = commands
        sends, receives, words = _exchanged(command)
        begin = self.index(0)
        sent = 0
        for send in sends:
            self._call("dma_put_rows", *self._padded(send), self.index(sent))
            sent += send.words
        self._call("dma_start_recv", self.index(words), begin)
        self._call("dma_start_send", self.index(sent), begin)
        self._call("dma_wait_send")
        self._call("dma_wait_recv")
        (window,) = self._run("axl_out_window", gives=[MemRefType(i32, [DYNAMIC_INDEX])])
        places, count = self._places(receives), self.index(len(receives))
        self._run("axl_take_rows", places, self._pointer(window), count, begin)

    def _places(self, receives: Sequence[Receive]) -> SSAValue:
        places = [(self._rows(receive.region)[0], _sizes(receive)) for receive in receives]
        addresses = [address for address, _ in places]
        return self.insert(queue.PlacesOp(addresses, [n for _, sizes in places for n in sizes])).result

    def _padded(self, send: Send) -> list[SSAValue]:
        return [self._rows(send.region)[0], *map(self.index, _sizes(send))]


def _exchanged(command: Command) -> tuple[list[Send], list[Receive], int]:
    """What is sent, what comes back, and its words."""
    receives = [move for move in command.moves if isinstance(move, Receive)]
    sends = [move for move in command.moves if isinstance(move, Send)]
    return sends, receives, sum(receive.words for receive in receives)


def _sizes(move: Send | Receive) -> tuple[int, int, int]:
    """Bytes of a row, rows, bytes that a row has in the packet."""
    lines, span = move.region.spans
    return span.tile, lines.tile, move.words * WORD_BITS // 8 // lines.tile


def _packed(place: Region, regions: Sequence[Region]) -> Iterator[tuple[Region, Region]]:
    """Of each region where its rows lie in `place`, one behind the other."""
    at = place.spans[1].base
    for region in regions:
        lines, span = region.spans
        yield rows(place.array, at, span.tile, lines.tile, span.tile), region
        at += span.tile * lines.tile
