"""Copies between matrices and windows with constant sizes and strides, compiled into the driver.

Packing does not prefetch. Packing with prefetches would be a quarter faster, but it takes two references
to L1 for each line. The code that takes C prefetches, and so does the NEON kernel that we compare with.

Copies of tiles at an edge go by rows, in one way. They went element by element with two comparisons each,
and the compiler made one of three loops of that, by what it knew of the sizes: 58x59x56 int8 took 12 %
longer with m outside than with n outside, and no model of sizes foresees that. Now a row is zeroed and
comes over in chunks of 16 bytes, of which the last may begin inside the one before it. Ragged products
take up to a third less time (39x24x99 int8 0.139 instead of 0.209 ms), and one set of costs fits all. We
tried to keep the compiler from making a copy of the function for known sizes (attribute ``used``): 2 to 3
% slower, and no better foreseen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StridedLayoutAttr,
    UnrankedMemRefType,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.dialects.elements import ADDED, named
from axiloom.drivergen.dialects.mlir import index
from axiloom.drivergen.passes.lowering.lower_to_calls import (
    get_block_arguments,
    put_block_arguments,
    split,
    tile_arguments,
)
from axiloom.isa.contract.types import WORD_BITS, DmaConfig


class _Function:
    """Rewrites one function; `declared` collects what it calls."""

    def __init__(self, function: func.FuncOp, dma: DmaConfig, declared: dict[str, func.FuncOp]) -> None:
        self.function = function
        self.declared = declared
        self.sizes = {
            "axl_in_window": dma.input_buffer_size * 8 // WORD_BITS,
            "axl_out_window": dma.output_buffer_size * 8 // WORD_BITS,
        }
        self.windows: dict[str, SSAValue] = {}
        self.at: Operation = function

    def rewrite(self) -> None:
        for op in list(self.function.walk()):
            self.at = op
            if isinstance(op, accel.SendOp):
                self._send(op)
            elif isinstance(op, accel.SendDimOp) and None in map(accel.constant, op.sizes):
                continue  # beside an edge; it is put together by accel-lower-to-calls
            elif isinstance(op, accel.SendLiteralOp | accel.SendIdxOp | accel.SendDimOp):
                self._word(op)
            elif isinstance(op, accel.RecvOp):
                self._recv(op)

    def insert(self, op: Operation) -> SSAValue:
        Rewriter.insert_op(op, InsertPoint.before(self.at))
        return op.results[0]

    def index(self, value: int) -> SSAValue:
        return index(self.at, value)

    def call(self, callee: str, arguments: Sequence[SSAValue], results: Sequence[Attribute]) -> func.CallOp:
        types = [a.type for a in arguments]
        self.declared.setdefault(callee, func.FuncOp.external(callee, types, list(results)))
        return func.CallOp(callee, arguments, results)

    def window(self, name: str) -> SSAValue:
        """The window as an array of words, asked for once in a function."""
        if name not in self.windows:
            call = self.call(name, [], [MemRefType(i32, [self.sizes[name]])])
            first = next(op for op in self.function.body.block.ops if not isinstance(op, arith.ConstantOp))
            Rewriter.insert_op(call, InsertPoint.before(first))
            call.res[0].name_hint = "in" if name == "axl_in_window" else "out"
            self.windows[name] = call.res[0]
        return self.windows[name]

    def pointer(self, window: SSAValue, offset: SSAValue, words: int) -> SSAValue:
        layout = StridedLayoutAttr([1], None)
        kind = MemRefType(i32, [words], layout)
        view = self.insert(memref.SubviewOp.get(window, [offset], [words], [1], kind))
        return self.insert(memref.CastOp.get(view, UnrankedMemRefType.from_type(i32)))

    def add(self, offset: SSAValue, words: int) -> SSAValue:
        base, known = split(offset)
        if base is None:
            return self.index(known + words)
        return self.insert(arith.AddiOp(base, self.index(known + words)))

    # --- one rule an op -------------------------------------------------------------------------------

    def _replace(self, op: accel.StageOp) -> None:
        op.end.replace_all_uses_with(self.add(op.offset, op.words()))
        Rewriter.erase_op(op)

    def _word(self, op: accel.SendLiteralOp | accel.SendIdxOp | accel.SendDimOp) -> None:
        word: Operation
        if isinstance(op, accel.SendIdxOp):
            word = arith.IndexCastOp(op.index, i32)
        else:
            word = arith.ConstantOp(IntegerAttr(_value(op), i32, truncate_bits=True))
        window = self.window("axl_in_window")
        store = memref.StoreOp.get(self.insert(word), window, [op.offset])
        if "opcode" in op.attributes:
            store.attributes["opcode"] = op.attributes["opcode"]
        Rewriter.insert_op(store, InsertPoint.before(op))
        self._replace(op)

    def _send(self, op: accel.SendOp) -> None:
        to = self.pointer(self.window("axl_in_window"), op.offset, op.words())
        form = "tile" if op.dense is None else "block"
        arguments = tile_arguments if op.dense is None else put_block_arguments
        call = self.call(f"axl_put_{form}_{named(op.tile.type)}", [to, *arguments(op, self.insert)], [])
        if "opcode" in op.attributes:
            call.attributes["opcode"] = op.attributes["opcode"]
        Rewriter.insert_op(call, InsertPoint.before(op))
        self._replace(op)

    def _recv(self, op: accel.RecvOp) -> None:
        kind = named(op.tile.type)
        narrow = kind not in ADDED
        arguments = tile_arguments if op.dense is None and not narrow else get_block_arguments
        source, *sizes = arguments(op, self.insert)
        there = self.pointer(self.window("axl_out_window"), op.offset, op.words())
        verb = "add" if op.mode.data == "accumulate" else "get"
        form = "tile" if arguments is tile_arguments else "block"
        callee = f"axl_{verb}_{form}_{kind}"
        Rewriter.replace_op(op, self.call(callee, [source, there, *sizes], []))


def _value(op: accel.SendLiteralOp | accel.SendDimOp) -> int:
    if isinstance(op, accel.SendLiteralOp):
        return op.value.value.data
    sizes = [accel.constant(size) or 0 for size in op.sizes]
    return sum(size << shift for size, shift in zip(sizes, op.shifts.get_values(), strict=True))


@dataclass(frozen=True)
class SpecialiseCopies(ModulePass):
    """Store words and copy tiles straight into the window, by functions that are compiled into the driver.

    ::

        %0 = accel.send_literal 1 at %at {opcode = "sA"}
        %1 = accel.send %A_tile as [16, 16] permutation [0, 1] at %0 : memref<16x16xi32, ...>

        %in = func.call @axl_in_window() : () -> memref<16384xi32>
        memref.store %word, %in[%at] {opcode = "sA"}
        %to = memref.subview %in[%0] [256] [1] : ...
        func.call @axl_put_tile_i32(%to, %A_tile, %c16, %c16, %c80, %c1, %c16, %c16) : ...

    The functions are those of ``sw/include/axiloom_copy.h``: with sizes and strides that are constants, what
    is left of a full tile is a loop of wide loads and stores. They check nothing: that all words lie in the
    window was checked when they were laid out.
    """

    name = "accel-specialise-copies"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        declared: dict[str, func.FuncOp] = {}
        for function in [o for o in op.ops if isinstance(o, func.FuncOp) and not o.is_declaration]:
            dma = accel.dma_of(function, op)
            if dma is not None:
                _Function(function, dma, declared).rewrite()
        op.body.block.add_ops(declared.values())
