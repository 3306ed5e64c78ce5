"""A queue whose transfers are all known becomes a table of descriptors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects import accel, queue, table
from axiloom.drivergen.dialects.elements import element_bits

COMMENT = "comment"


class _NotATableError(Exception):
    """What keeps a queue a queue."""


@dataclass
class _Unrolled:
    """What a function sends and receives, by going through its loops."""

    function: func.FuncOp
    numbers: dict[SSAValue, int] = field(default_factory=dict)
    places: dict[SSAValue, tuple[int, int]] = field(default_factory=dict)
    """Number of the argument, bytes from its beginning."""
    pieces: list[Operation] = field(default_factory=list)
    words: list[int] = field(default_factory=list)
    """That are in no piece yet."""
    opcodes: list[str] = field(default_factory=list)
    """Their opcodes."""
    sends: int = 0
    receives: int = 0
    opened: bool = False
    closed: bool = False
    taker: str = ""
    place: tuple[int, ...] = ()
    owned: bool = False

    def through(self) -> None:
        block = self.function.body.block
        for argument in block.args:
            self.places[argument] = (argument.index, 0)
        self.block(block)
        if not self.closed:
            raise _NotATableError("it has no queue")
        if not self.receives:
            raise _NotATableError("nothing comes back")

    def block(self, block: Block) -> None:
        for op in block.ops:
            rule = _RULES.get(type(op))
            if rule is None:
                raise _NotATableError(f"the driver has more to do than to queue ({op.name})")
            rule(self, op)

    # --- numbers and places ---------------------------------------------------------------------------

    def number(self, value: SSAValue) -> int:
        known = accel.constant(value)
        if known is not None:
            return known
        if value not in self.numbers:
            raise _NotATableError("a size or an offset is not known")
        return self.numbers[value]

    def constant(self, op: arith.ConstantOp) -> None:
        """It is looked up where it is used."""

    def computed(self, op: Operation) -> None:
        left, right = (self.number(operand) for operand in op.operands)
        self.numbers[op.results[0]] = _COMPUTED[type(op)](left, right)

    def loop(self, op: scf.ForOp) -> None:
        if op.iter_args:
            raise _NotATableError("a loop carries a value")
        counter = op.body.block.args[0]
        for value in range(self.number(op.lb), self.number(op.ub), self.number(op.step)):
            self.numbers[counter] = value
            self.block(op.body.block)

    def whole(self, value: SSAValue) -> tuple[int, int]:
        if value not in self.places:
            raise _NotATableError("it moves an array that is no argument")
        return self.places[value]

    def subview(self, op: memref.SubviewOp) -> None:
        argument, offset = self.whole(op.source)
        assert isinstance(op.source.type, MemRefType)
        strides = op.source.type.get_strides()
        if strides is None or None in strides:
            raise _NotATableError("an array has unknown strides")
        dynamic = iter(op.offsets)
        offsets = [
            self.number(next(dynamic)) if static == DYNAMIC_INDEX else static
            for static in op.static_offsets.get_values()
        ]
        elements = sum(at * (stride or 0) for at, stride in zip(offsets, strides, strict=True))
        self.places[op.result] = (argument, offset + elements * element_bits(op.source.type) // 8)

    def same_place(self, op: Operation) -> None:
        self.places[op.results[0]] = self.whole(op.operands[0])

    def nothing(self, op: Operation) -> None:
        """Nothing is moved."""

    # --- calls ----------------------------------------------------------------------------------------

    def call(self, op: func.CallOp) -> None:
        callee = op.callee.root_reference.data
        rule = _CALLS.get(callee)
        if rule is None:
            raise _NotATableError(f"the driver has more to do than to queue ({callee})")
        if self.opened == (rule in _OPENS) or self.closed:
            raise _NotATableError("it has more than one queue")
        opcode = op.attributes.get("opcode")
        if isinstance(opcode, StringAttr):
            self.opcodes.append(opcode.data)
        rule(self, list(op.arguments))

    def open(self, arguments: list[SSAValue]) -> None:
        self.opened = True

    def open_ahead(self, arguments: list[SSAValue]) -> None:
        taker, *place = arguments
        assert isinstance(taker.owner, queue.TakerNameOp)
        self.opened, self.taker = True, taker.owner.of.data
        self.place = tuple(map(self.number, place))

    def own(self, arguments: list[SSAValue]) -> None:
        self.owned = True

    def clean_all(self, arguments: list[SSAValue]) -> None:
        """Behind a coherent port nothing is cleaned."""

    def close(self, arguments: list[SSAValue]) -> None:
        self.end_words()
        self.closed = True

    def word(self, arguments: list[SSAValue]) -> None:
        self.words.append(self.number(arguments[0]) & 0xFFFFFFFF)

    def end_words(self) -> None:
        if self.words:
            self.send(table.TableWordsOp(self.words))
            self.words = []

    def send(self, piece: Operation) -> None:
        if self.opcodes:
            piece.attributes["opcode"] = StringAttr(" ".join(self.opcodes))
            self.opcodes = []
        self.sends += 1
        self.append(piece, self.sends)

    def append(self, piece: Operation, count: int) -> None:
        if count > table.MOST:
            raise _NotATableError(f"it takes more than {table.MOST} descriptors")
        self.pieces.append(piece)

    def rows(self, arguments: list[SSAValue]) -> None:
        self.end_words()
        pointer, *sizes = arguments
        self.send(table.TableSendOp(*self.whole(pointer), *map(self.number, sizes)))

    def receive(self, arguments: list[SSAValue]) -> None:
        pointer, rows, cols = arguments
        self.receives += 1
        self.append(
            table.TableTileOp(*self.whole(pointer), self.number(rows), self.number(cols)), self.receives
        )

    def receive_rows(self, arguments: list[SSAValue]) -> None:
        pointer, *sizes = arguments
        self.receives += 1
        piece = table.TableReceiveOp(*self.whole(pointer), *map(self.number, sizes))
        self.append(piece, self.receives)


_COMPUTED: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: lambda left, right: left + right,
    arith.SubiOp: lambda left, right: left - right,
    arith.MuliOp: lambda left, right: left * right,
    arith.MinSIOp: min,
    arith.MinUIOp: min,
}
_RULES: dict[type[Operation], Callable[..., None]] = {
    arith.ConstantOp: _Unrolled.constant,
    **dict.fromkeys(_COMPUTED, _Unrolled.computed),
    scf.ForOp: _Unrolled.loop,
    scf.YieldOp: _Unrolled.nothing,
    memref.SubviewOp: _Unrolled.subview,
    memref.CastOp: _Unrolled.same_place,
    memref.ExpandShapeOp: _Unrolled.same_place,
    memref.CollapseShapeOp: _Unrolled.same_place,
    queue.BytesOp: _Unrolled.same_place,
    queue.TakerNameOp: _Unrolled.nothing,
    queue.CleanRowsOp: _Unrolled.nothing,
    accel.CheckOp: _Unrolled.nothing,
    func.CallOp: _Unrolled.call,
    func.ReturnOp: _Unrolled.nothing,
}
_OPENS = (_Unrolled.open, _Unrolled.open_ahead)
_CALLS: dict[str, Callable[..., None]] = {
    "dma_queue_open": _Unrolled.open,
    "dma_queue_open_ahead": _Unrolled.open_ahead,
    "dma_queue_own": _Unrolled.own,
    "dma_queue_clean_all": _Unrolled.clean_all,
    "dma_queue_word": _Unrolled.word,
    "dma_queue_rows": _Unrolled.rows,
    "dma_queue_receive": _Unrolled.receive,
    "dma_queue_receive_rows": _Unrolled.receive_rows,
    "dma_queue_close": _Unrolled.close,
}


@dataclass(frozen=True)
class ToTable(ModulePass):
    """Replace a queue by a table, if all that it moves is known.

    That takes loops of known bounds, arguments that travel in place, results that come once each, and at most
    40 descriptors a channel. It is for a DMA whose port looks into the caches::

        accel.table "f_table" of 3 taker "add_to_C" place [64, 16, 64, 2] beats 0 {
          accel.table_words [1, 16793616] {opcode = "sA"}
          accel.table_send 0, 0, 256, 1, 256
          accel.table_words [2, 16793616] {opcode = "sB"}
          accel.table_send 1, 0, 256, 1, 256
          accel.table_tile 2, 0, 16, 16
          accel.table_words [4, 16793616, 8, 16793616] {opcode = "cC rC"}
        }
        func.func @f_init() -> i32 {
          %0 = accel.table_name "f_table"
          %1 = func.call @dma_table_init(%0, ...)
          ...
        func.func @f(%A, %B, %C) -> i32 {
          accel.table_run "f_table" (%A, %B, %C)

    A queue that stays one says why, in a comment.
    """

    name = "accel-to-table"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [
            function
            for function in op.ops
            if isinstance(function, func.FuncOp) and not function.is_declaration
        ]
        opened = [call for call in op.walk() if _calls(call, "dma_queue_open", "dma_queue_open_ahead")]
        if not opened:
            return
        try:
            init, function = _two(functions)
            unrolled = _Unrolled(function)
            unrolled.through()
        except _NotATableError as reason:
            opened[0].attributes[COMMENT] = StringAttr(f"A queue, and no table of descriptors: {reason}.")
            return
        name = f"{function.sym_name.data}_table"
        _call_with_table(op, init, name)
        _replace(function, name)
        new_table = table.TableOp(
            name,
            len(function.body.block.args),
            unrolled.taker,
            unrolled.place,
            unrolled.pieces,
            beats=unrolled.owned,
        )
        op.body.block.insert_op_before(new_table, functions[0])
        for declared in list(op.ops):
            if isinstance(declared, func.FuncOp) and declared.sym_name.data in (*_CALLS, "dma_init"):
                Rewriter.erase_op(declared)


def _calls(op: Operation, *names: str) -> bool:
    return isinstance(op, func.CallOp) and op.callee.root_reference.data in names


def _two(functions: list[func.FuncOp]) -> tuple[func.CallOp, func.FuncOp]:
    """The call of dma_init, which is all that the first function has, and the driver."""
    if len(functions) != 2:
        raise _NotATableError("it has more than one function")
    calls = [op for op in functions[0].walk() if isinstance(op, func.CallOp)]
    if len(calls) != 1 or not _calls(calls[0], "dma_init"):
        raise _NotATableError("it starts with more than dma_init")
    if len(functions[1].body.block.args) > table.ARGUMENTS:
        raise _NotATableError(f"it has more than {table.ARGUMENTS} arguments")
    return calls[0], functions[1]


def _call_with_table(module: ModuleOp, init: func.CallOp, name: str) -> None:
    address = table.TableNameOp(name)
    call = func.CallOp("dma_table_init", [address.result, *init.arguments], [init.res[0].type])
    Rewriter.replace_op(init, [address, call], call.res)
    types = [argument.type for argument in call.arguments]
    module.body.block.add_op(func.FuncOp.external("dma_table_init", types, [init.res[0].type]))


def _replace(function: func.FuncOp, name: str) -> None:
    """All that the function did by one op."""
    block = function.body.block
    last = block.last_op
    assert isinstance(last, func.ReturnOp)
    kept = {last, *(value.owner for value in last.arguments if not isinstance(value, BlockArgument))}
    run = table.TableRunOp(name, block.args)
    comments = [op.attributes[COMMENT] for op in block.ops if COMMENT in op.attributes]
    if comments:
        run.attributes[COMMENT] = comments[0]
    for op in reversed(list(block.ops)):
        if op not in kept:
            Rewriter.erase_op(op, safe_erase=False)
    Rewriter.insert_op(run, InsertPoint.at_start(block))
