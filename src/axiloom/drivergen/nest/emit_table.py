"""A queue whose transfers are all known becomes a table of descriptors.

It is the queue with its loops unrolled. That takes arguments that travel in place, and at most 40 descriptors
a channel; a queue that stays one says why, in a comment. It is for a DMA whose port looks into the caches.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import DYNAMIC_INDEX, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects import accel, table
from axiloom.drivergen.dialects.views import VIEWS
from axiloom.drivergen.nest.annotated import source_of
from axiloom.drivergen.nest.constants import begin_of, rest_of, start_of
from axiloom.drivergen.nest.flow import Placed, placed
from axiloom.drivergen.nest.queues import Group, array, in_order
from axiloom.plan import Command, Loop, Plan, Queue, Receive, Send, Words
from axiloom.plan.tree import Node, Word

TABLE = "table"
"""On ``accel.init_dma``: the table that it fills in."""


class NotATableError(Exception):
    """What keeps a queue a queue."""


class _Pieces:
    """What a plan sends and receives, by going through its loops."""

    def __init__(self, arguments: Sequence[SSAValue]) -> None:
        self.arguments = list(arguments)
        if len(self.arguments) > table.ARGUMENTS:
            raise NotATableError(f"it has more than {table.ARGUMENTS} arguments")
        self.loops: dict[str, Loop] = {}
        self.at: dict[str, int] = {}
        self.pieces: list[Operation] = []
        self.words: list[int] = []
        """That are in no piece yet."""
        self.opcodes: list[str] = []
        """Their opcodes."""
        self.sends = self.receives = 0

    def walk(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if isinstance(node, Loop):
                self.loops[node.name] = node
                for number in range(node.trips):
                    self.at[node.name] = number
                    self.walk(node.body)
            else:
                assert isinstance(node, Command)
                self.command(node)

    def command(self, command: Command) -> None:
        self.opcodes.append(command.opcode)
        for move in in_order(command):
            if isinstance(move, Words):
                self.words += [self.word(value) & 0xFFFFFFFF for value in move.values]
            elif isinstance(move, Send):
                self.send(move)
            else:
                self.receive(move)

    def word(self, value: Word) -> int:
        if isinstance(value, str):
            return int(self.at[value] * self.loops[value].step)
        return value if isinstance(value, int) else sum(field.value << field.shift for field in value)

    def send(self, send: Send) -> None:
        region = placed(send)
        if not send.in_place or not region.flat.is_whole:
            raise NotATableError(
                f"the driver has more to do than to queue: it copies tiles of {region.operand}"
            )
        self.end_words()
        self.sent(table.TableSendOp(*self.place(send), *region.flat.sizes))

    def end_words(self) -> None:
        if self.words:
            self.sent(table.TableWordsOp(self.words))
            self.words = []

    def sent(self, piece: Operation) -> None:
        if self.opcodes:
            piece.attributes["opcode"] = StringAttr(" ".join(self.opcodes))
            self.opcodes = []
        self.sends += 1
        self.append(piece, self.sends)

    def receive(self, receive: Receive) -> None:
        region, place = placed(receive), self.place(receive)
        self.receives += 1
        if receive.in_place:
            self.append(table.TableReceiveOp(*place, *region.flat.sizes), self.receives)
            return
        lengths = [self.length(region, dim) for dim in region.flat.permutation]
        self.append(table.TableTileOp(*place, *lengths), self.receives)

    def append(self, piece: Operation, count: int) -> None:
        if count > table.MOST:
            raise NotATableError(f"it takes more than {table.MOST} descriptors")
        self.pieces.append(piece)

    # --- regions --------------------------------------------------------------------------------------

    def place(self, move: Send | Receive) -> tuple[int, int]:
        """Number of the argument, bytes from its beginning."""
        region = placed(move)
        if array(move) not in self.arguments:
            raise NotATableError("it moves an array that is no argument")
        begin = begin_of(source_of(region).value)
        if begin is None:
            raise NotATableError("a size or an offset is not known")
        elements = sum(start_of(span, self.at, self.loops) * (span.stride or 0) for span in region.spans)
        return self.arguments.index(array(move)), (begin + elements) * region.bits // 8

    def length(self, region: Placed, dim: int) -> int:
        length = region.flat.lengths[dim]
        if length != DYNAMIC_INDEX:
            return length
        return rest_of(region.edges[sorted(region.order)[dim]], self.at, self.loops)


class Table:
    """The table of a function; `arguments` are those that it will have."""

    def __init__(self, function: func.FuncOp, init: accel.InitDmaOp, arguments: Sequence[SSAValue]) -> None:
        self.function, self.init, self.arguments = function, init, arguments
        self.name = f"{function.sym_name.data}_table"
        self.notes = ""
        self.is_filled = False

    def fill(
        self,
        groups: Sequence[Group],
        plans: Sequence[Sequence[Plan]],
        taker: str,
        place: Sequence[int] | None,
    ) -> None:
        """With one queue. NotATableError where that is not all the function does, or not all is known."""
        ops = {nest.op for group in groups for nest in group.nests}
        for op in self.function.body.block.ops:
            if op not in ops and not isinstance(op, (*VIEWS, arith.ConstantOp, func.ReturnOp)):
                raise NotATableError(f"the driver has more to do than to queue ({op.name})")
        if len(groups) > 1:
            raise NotATableError("it has more than one queue")
        pieces = _Pieces(self.arguments)
        owned = False
        for plan in plans[0]:
            if plan.before:
                raise NotATableError(f"the driver has more to do than to queue ({plan.before[0].opcode})")
            assert isinstance(plan.transport, Queue)
            owned |= plan.transport.own is not None
            pieces.walk(plan.transport.body)
        pieces.end_words()
        if not pieces.receives:
            raise NotATableError("nothing comes back")
        filled = table.TableOp(self.name, len(self.arguments), taker, place or (), pieces.pieces, beats=owned)
        init = self.init.parent_op()
        assert init is not None
        Rewriter.insert_op(filled, InsertPoint.before(init))
        self.init.attributes[TABLE] = StringAttr(self.name)
        self.is_filled = True

    def run(self) -> None:
        """In place of all that the function did."""
        block = self.function.body.block
        last = block.last_op
        assert last is not None
        for op in reversed(list(block.ops)):
            if op is not last:
                Rewriter.erase_op(op, safe_erase=False)
        op = table.TableRunOp(self.name, block.args)
        op.attributes["comment"] = StringAttr(self.notes)
        Rewriter.insert_op(op, InsertPoint.before(last))
