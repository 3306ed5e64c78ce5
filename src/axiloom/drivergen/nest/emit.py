"""A plan as ops of the `accel` dialect: the loops, and in them each opcode as one blocking transfer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from types import MappingProxyType
from typing import TypeVar

from xdsl.builder import Builder
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    MemRefType,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.dialects.mlir import fail, index
from axiloom.drivergen.dialects.views import collapsed, expanded
from axiloom.drivergen.match.trait import Trait
from axiloom.drivergen.nest.annotated import source_of
from axiloom.drivergen.nest.flow import Placed, placed
from axiloom.drivergen.nest.tile import Tile
from axiloom.isa import Link
from axiloom.isa.contract.types import WORD_BITS
from axiloom.plan import Command, Level, Loop, Plan, Receive, Register, Send, Span, Words
from axiloom.plan.figures import moves
from axiloom.plan.packets import runs
from axiloom.plan.tree import Move, Node, Word

WORD_BYTES = WORD_BITS // 8
POINTED_BITS = 512
POINTED_WORDS = 1024 // WORD_BITS
"""What a device reads in a window begins on a beat of the widest AXI4 port. In place it is whole beats of
512 bits, which are whole cache lines too."""
POINTER = "pointer"

NO_VIEWS: Mapping[Placed, SSAValue] = MappingProxyType({})
_OpT = TypeVar("_OpT", bound=Operation)


def emit(op: linalg.GenericOp, trait: Trait, plan: Plan, *, join: bool = False) -> None:
    """The plan of an annotated op in front of it. CompileError where it does not fit windows or loops.

    `join`: commands that follow each other share a transfer (:func:`axiloom.plan.packets.runs`).
    """
    Emitter(op, trait, join=join).nodes(plan.body, comment(trait))


def comment(trait: Trait) -> str:
    """Above the loops of an op."""
    dims = [trait.dims[loop] for loop in trait.order]
    tile = " x ".join(str(trait.tile[loop]) for loop in trait.order)
    return f"Tiles of {tile} ({', '.join(dims)}), flow {trait.flow}."


def name_of(region: Placed) -> str | None:
    """What a view of it is called."""
    name = source_of(region).value.name_hint
    return name if region.whole or not name else f"{name}_tile"


class Emitter:
    """Where the next op goes; of the loops around it the counters, and what is left at an edge.

    `flat`: tiles without gaps that are matrices travel as such, which descriptors can express.
    """

    def __init__(self, op: Operation, link: Trait | Link, *, flat: bool = False, join: bool = False) -> None:
        self.op, self.link, self.flat, self.join = op, link, flat, join
        self.opcode = ""
        self.builder = Builder(InsertPoint.before(op))
        self.loops: dict[str, Loop | Level] = {}
        self.counters: dict[str, SSAValue] = {}
        self.starts: dict[str, SSAValue] = {}
        """Counters that stop where the last tile is whole."""
        self.lengths: dict[str, SSAValue] = {}
        self.views: dict[Placed, SSAValue] = {}

    def insert(self, op: _OpT) -> _OpT:
        return self.builder.insert(op)

    def index(self, value: int) -> SSAValue:
        return index(self.op, value)

    def named(self, op: Operation, name: str) -> SSAValue:
        (result,) = self.insert(op).results
        result.name_hint = name
        return result

    # --- loops ----------------------------------------------------------------------------------------

    @contextmanager
    def inside(self, block: Block, views: Mapping[Placed, SSAValue] = NO_VIEWS) -> Iterator[None]:
        """What is computed there is not known outside. `views`: those outside that are known there."""
        outside = self.builder, self.counters, self.starts, self.lengths, self.views
        self.builder, self.views = Builder(InsertPoint.at_end(block)), dict(views)
        self.counters, self.starts, self.lengths = dict(self.counters), dict(self.starts), dict(self.lengths)
        yield
        self.builder, self.counters, self.starts, self.lengths, self.views = outside

    def nodes(self, nodes: Sequence[Node], comment: str = "") -> None:
        """`comment`: of the loops among them."""
        for _, group in groupby(nodes, lambda node: isinstance(node, Loop)):
            own = list(group)
            self.commands([node for node in own if isinstance(node, Command)])
            for node in own:
                if isinstance(node, Loop):
                    loop = self.loop(node)
                    if comment:
                        loop.attributes["comment"] = StringAttr(comment)

    def commands(self, commands: Sequence[Command]) -> None:
        """Transfers that block."""
        for *before, last in runs(commands, self.link.dma) if self.join else ([c] for c in commands):
            staged = None
            for command in before:
                staged = Opcode(self, command).stage(staged or self.index(0))
            Opcode(self, last).emit(staged)

    def loop(self, node: Loop) -> scf.ForOp:
        body = Block(arg_types=[IndexType()])
        bounds = (self.index(0), self.index(node.end), self.index(node.step))
        with self.inside(body):
            self._count(node, body.args[0])
            self.nodes(node.body)
            self.insert(scf.YieldOp())
        return self.insert(scf.ForOp(*bounds, [], Region(body)))

    def _count(self, node: Loop, counter: SSAValue) -> None:
        """The loop's counter, and what depends on it alone."""
        name, end = node.name, node.end
        counter.name_hint = name
        if node.of:
            counter.name_hint = f"{name}_in"
            end = self.loops[node.of].end
            counter = self.named(arith.AddiOp(self.counters[node.of], counter), name)
        self.loops[name], self.counters[name] = node, counter
        if end <= node.step or end % node.step == 0:
            return
        regions = [placed(move) for move in moves(node.body)]
        if any(name in region.edges for region in regions):
            rest = self.insert(arith.SubiOp(self.index(end), counter))
            self.lengths[name] = self.named(arith.MinUIOp(self.index(node.step), rest), f"{name}_len")
        if any(span.shift and name in dict(span.loops) for region in regions for span in region.spans):
            last = self.index(end - node.step)
            self.starts[name] = self.named(arith.MinUIOp(counter, last), f"{name}_start")

    # --- tiles ----------------------------------------------------------------------------------------

    def travels(self, move: Send | Receive) -> Tile:
        region = placed(move)
        return region.flat if self.flat else region.tile

    def view(self, region: Placed) -> SSAValue:
        """A tile where it lies in its array."""
        if region not in self.views:
            view = self.insert(self._view(region)).result
            self.views[region] = self._reshaped(view, region) if self.flat else view
        return self.views[region]

    def _view(self, region: Placed) -> memref.SubviewOp:
        source = source_of(region).value
        assert isinstance(source.type, MemRefType)
        starts = [self._start(span, region.operand) for span in region.spans]
        sizes: list[SSAValue | int] = [1] * len(region.spans)
        for dim, length in zip(sorted(region.order), region.tile.lengths, strict=True):
            sizes[dim] = self.rest(region.edges[dim] or "") if length == DYNAMIC_INDEX else length
        view = memref.SubviewOp.get(
            source, starts, sizes, region.steps, region.kind(source.type.element_type)
        )
        view.result.name_hint = name_of(region)
        return view

    def _reshaped(self, view: SSAValue, region: Placed) -> SSAValue:
        """The same elements in rows and columns."""
        if not region.is_reshaped:
            return view
        (rows, columns), rank = region.flat.shape, len(region.tile.shape)
        if rows == region.tile.shape[0]:
            return collapsed(self.builder, view, [1, rank - 1])
        return expanded(self.builder, collapsed(self.builder, view, [rank]), [[rows, columns]])

    def _start(self, span: Span, operand: str) -> SSAValue:
        """The first element on an axis."""
        parts = {self.loops[name].of for name, _ in span.loops if name in self.loops}
        terms = [self.index(span.base)] if span.base else []
        for name, elements in span.loops:
            if name not in parts:
                terms.append(self._moved(name, elements, span, operand))
        if not terms:
            return self.index(0)
        first, *rest = terms
        for term in rest:
            first = self.insert(arith.AddiOp(first, term)).result
        return first

    def _moved(self, name: str, elements: int, span: Span, operand: str) -> SSAValue:
        """By a loop, so many elements an iteration."""
        counter, step = self.counter(name, f"moves {operand}"), self.loops[name].step
        if span.shift:
            counter = self.starts.get(name, counter)
        if elements % step:
            counter, step = self.insert(arith.DivUIOp(counter, self.index(step))).result, 1
        if elements == step:
            return counter
        return self.insert(arith.MuliOp(counter, self.index(elements // step))).result

    def rest(self, name: str) -> SSAValue:
        """Elements of a tile of a loop that may be at its end."""
        return self.lengths[name]

    def counter(self, name: str, what: str) -> SSAValue:
        """Of a loop, which must be around the opcode."""
        if name not in self.counters:
            fail(self.op, f"opcode {self.opcode} {what} outside the loop over {name}")
        return self.counters[name]


class Opcode:
    """One blocking transfer: receive armed, words staged, sent and waited for, result stored."""

    def __init__(self, nest: Emitter, command: Command) -> None:
        self.nest, self.command = nest, command
        nest.opcode = command.opcode
        self.begun = False
        self.dma, self.width = nest.link.dma, nest.link.stream_width

    def insert(self, op: _OpT) -> _OpT:
        if not self.begun and isinstance(op, accel.StageOp | accel.StartRecvOp):
            op.attributes["opcode"] = StringAttr(self.command.opcode)
            if self.command.loads:
                op.attributes["loads"] = UnitAttr()
            self.begun = True
        return self.nest.insert(op)

    def index(self, value: int) -> SSAValue:
        return self.nest.index(value)

    def emit(self, staged: SSAValue | None = None) -> None:
        """`staged`: what is sent with it lies in front of this offset."""
        moves = self.command.moves
        receives = [move for move in moves if isinstance(move, Receive)]
        streamed = [move for move in receives if move.by is None]
        armed = self._arm(streamed[0]) if streamed else None
        self._access(self.command.before)
        self._send([move for move in moves if not isinstance(move, Receive)], staged)
        for receive in streamed:
            armed = armed or self._arm(receive)
            self.insert(accel.WaitOp(armed.token))
            self.take(receive, self.index(0))
            armed = None
        pointed = [(receive, self._point_out(receive)) for receive in receives if receive.by is not None]
        self._access(self.command.after)
        for receive, in_place in pointed:
            if in_place:
                self.insert(accel.TakeInPlaceOp(*self._in_place(receive)))
            else:
                self.insert(accel.TakeOutOp(self.index(0), self.index(receive.words)))
                self.take(receive, self.index(0))

    def stage(self, offset: SSAValue, moves: Sequence[Move] | None = None) -> SSAValue:
        """The words that (some) moves send, from an offset of the input window on; the offset behind."""
        self.nest.opcode = self.command.opcode
        self.begun |= any(isinstance(move, Receive) for move in self.command.moves)
        for move in moves or self.command.moves:
            if not isinstance(move, Receive):
                offset = self._stage(move, offset)
        return offset

    # --- sent -----------------------------------------------------------------------------------------

    def _send(self, moves: Sequence[Send | Words], staged: SSAValue | None) -> None:
        begin = self._carry_in([move for move in moves if isinstance(move, Send) and move.by])
        end, words = staged or begin, 0
        for move in moves:
            if isinstance(move, Send) and move.by is not None:
                continue
            end = self._stage(move, end)
            words += move.words
        if words:
            self._check_length("sends", words, self.dma.input_buffer_size, "input")
            self.insert(accel.WaitOp(self.insert(accel.StartSendOp(begin, end)).token))

    def _stage(self, move: Send | Words, offset: SSAValue) -> SSAValue:
        if isinstance(move, Send):
            if move.words % (self.width // WORD_BITS):
                what = f"{move.words} words are no whole beats of {self.width} bits"
                fail(self.nest.op, f"opcode {self.command.opcode}: {what}")
            return self._tile(move, offset).end
        for value in move.values:
            offset = self.insert(self._word(value, offset)).end
        return offset

    def _word(self, value: Word, offset: SSAValue) -> accel.StageOp:
        if isinstance(value, int):
            return accel.SendLiteralOp(value, offset)
        if isinstance(value, str):
            return accel.SendIdxOp(self.nest.counter(value, f"sends the index of {value}"), offset)
        sizes = [self.index(field.value) for field in value]
        return accel.SendDimOp(sizes, [field.shift for field in value], offset)

    def _tile(self, send: Send, offset: SSAValue) -> accel.SendOp:
        view, tile = self._view(send), self.nest.travels(send)
        return self.insert(accel.SendOp(view, tile.shape, tile.permutation, offset, tile.dense))

    def _view(self, move: Send | Receive) -> SSAValue:
        return self.nest.view(placed(move))

    # --- received -------------------------------------------------------------------------------------

    def _arm(self, receive: Receive) -> accel.StartRecvOp:
        self._check_length("receives", receive.words, self.dma.output_buffer_size, "output")
        return self.insert(accel.StartRecvOp(self.index(0), self.index(receive.words)))

    def take(self, receive: Receive, offset: SSAValue) -> None:
        """Out of the output window, to its place."""
        view, tile = self._view(receive), self.nest.travels(receive)
        mode = "accumulate" if receive.add else "overwrite"
        self.insert(accel.RecvOp(view, tile.shape, tile.permutation, offset, mode, tile.dense))

    # --- operands that no stream carries --------------------------------------------------------------

    def _access(self, accesses: Sequence[Register]) -> None:
        for access in accesses:
            kind = accel.WriteRegisterOp if access.how == "write" else accel.WaitRegisterOp
            self.insert(kind(access.at, access.value))

    def _carry_in(self, sends: Sequence[Send]) -> SSAValue:
        """Inputs by registers and pointers; gives where the window is free then."""
        words = 0
        for send in sends:
            assert send.by is not None
            if send.by.how == POINTER and _lies_in_place(send):
                self.insert(accel.PointAtInputOp(send.by.at, *self._in_place(send)))
                continue
            begin = self.index(words)
            stage = self._tile(send, begin)
            if send.by.how == POINTER:
                self.insert(accel.PointInOp(send.by.at, begin, self.index(words + send.words)))
                words += -(-send.words // POINTED_WORDS) * POINTED_WORDS
                self._check_length("gives", words, self.dma.input_buffer_size, "input")
            else:
                tile = placed(send).tile
                self.insert(accel.WriteElementsOp(send.by.at, begin, stage.end, tile.elements, tile.bits))
        return self.index(words)

    def _point_out(self, receive: Receive) -> bool:
        """The device is told where it writes a result: in place, or in the window."""
        assert receive.by is not None
        if not receive.add and _lies_in_place(receive):
            self.insert(accel.PointAtResultOp(receive.by.at, *self._in_place(receive)))
            return True
        self._check_length("receives", receive.words, self.dma.output_buffer_size, "output")
        self.insert(accel.PointOutOp(receive.by.at, self.index(0), self.index(receive.words)))
        return False

    def _in_place(self, move: Send | Receive) -> tuple[SSAValue, int]:
        tile = placed(move).tile
        return self._view(move), tile.elements * tile.bits // WORD_BITS

    def _check_length(self, what: str, words: int, window: int, side: str) -> None:
        size, width, op = words * WORD_BYTES, self.dma.length_width, self.nest.op
        what = f"opcode {self.command.opcode} {what} {size} bytes"
        if size >= 1 << width:
            fail(op, f"{what}; a LENGTH register of {width} bits takes {(1 << width) - 1}")
        if size > window:
            fail(op, f"{what}; the {side} window has {window}")


def _lies_in_place(move: Send | Receive) -> bool:
    """May the device have the tile as it lies: whole lines, without padding?"""
    tile = placed(move).tile
    return tile.is_one_piece and tile.elements * tile.bits % POINTED_BITS == 0
