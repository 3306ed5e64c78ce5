"""A driver that other tools wrote in MLIR, as C: the published `accel` dialect, or calls of its DMA library.

The text is taken as it is: each transfer is a transfer, each loop a loop. Arguments of the function are
global arrays of the same name (with `_` behind it, where C or the runtime has that name), which the simulator
fills and reads; `main` calls the function. Sizes of tiles are known in such texts; a text that computes them
is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType, i32
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from axiloom.drivergen.c import reserved
from axiloom.drivergen.c.names import identifier
from axiloom.drivergen.dialects import lowered
from axiloom.drivergen.dialects.lowered import InitDmaOp, RecvOp, SendLiteralOp, SendOp
from axiloom.drivergen.dialects.mlir import fail
from axiloom.errors import CompileError

HEAD = """/* {name}: a driver in MLIR, as C. */
#include "axiloom.h"

#define TRY(call)                             \\
    do {{                                      \\
        const dma_status try_status = (call); \\
        if (try_status != DMA_OK)             \\
            return try_status;                \\
    }} while (0)

typedef uint32_t __attribute__((may_alias)) word; /* elements of any type travel as words */
"""
TYPES = {"i32": "int32_t", "f32": "float"}
ARITHMETIC = {
    **dict.fromkeys((arith.AddiOp, arith.AddfOp), "+"),
    **dict.fromkeys((arith.SubiOp, arith.SubfOp), "-"),
    **dict.fromkeys((arith.MuliOp, arith.MulfOp), "*"),
}


@dataclass(frozen=True)
class View:
    """A tile of the array `base`; `offset` is C. Sizes, strides and the offset are in elements."""

    base: str
    offset: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def words(self) -> int:
        """Each element is one."""
        return prod(self.sizes)

    def at(self, places: Sequence[str]) -> str:
        return f"{self.base}[{_sum([self.offset, *map(_times, places, self.strides)])}]"


def translate(text: str, name: str) -> str:
    """The program in C; raises CompileError with the place of an op that no driver has."""
    module = lowered.parse(text, name)
    found = [op for op in module.walk() if isinstance(op, func.FuncOp) and op.body.blocks]
    sending = [one for one in found if any(map(_sends, one.walk()))]
    if len(sending) != 1:
        names = ", ".join(one.sym_name.data for one in sending) or "none"
        raise CompileError(f"{name}: one function with transfers is a driver; here there are {names}")
    return _Writer(sending[0], name).program()


def _sends(op: Operation) -> bool:
    return isinstance(op, SendOp | SendLiteralOp) or (
        isinstance(op, func.CallOp) and op.callee.root_reference.data == "dma_start_send"
    )


class _Writer:
    """The C of one function."""

    def __init__(self, function: func.FuncOp, name: str) -> None:
        self.function, self.name = function, name
        self.values: dict[SSAValue, str | View] = {}
        self.numbers: dict[SSAValue, int] = {}
        self.lines: list[str] = []
        self.op: Operation = function  # at hand, for messages
        self.depth = 1
        self.made = 0
        self.taken = {"driver", "try_status", "word"}

    def program(self) -> str:
        arrays = []
        for arg in self.function.body.block.args:
            shape = _shape(self.function, arg.type)
            symbol = self.symbol(arg.name_hint or f"arg{arg.index}")
            arrays.append(f"{_element(self.function, arg.type)} {symbol}[{prod(shape)}];")
            self.values[arg] = _whole(symbol, shape)
        self.block(self.function.body.block)
        return "\n".join(
            (
                HEAD.format(name=self.name),
                *arrays,
                "\nstatic dma_status driver(void)\n{",
                *self.lines,
                "    return dma_free();\n}\n",
                "int main(void)\n{\n    return driver();\n}\n",
            )
        )

    def say(self, line: str) -> None:
        self.lines.append(f"{'    ' * self.depth}{line}")

    def symbol(self, name: str) -> str:
        """Of an argument: its own name, where that is free."""
        found = identifier(name)
        while found in self.taken or reserved.taken(found):
            found += "_"
        self.taken.add(found)
        return found

    def fresh(self, kind: str) -> str:
        while True:
            self.made += 1
            if (name := f"{kind}{self.made}") not in self.taken:
                return name

    def block(self, block: Block) -> None:
        for op in block.ops:
            self.op = op
            for kind, write in WRITERS.items():
                if isinstance(op, kind):
                    write(self, op)
                    break
            else:
                fail(op, f"a driver in MLIR has {', '.join(kind.name for kind in WRITERS)}")

    # --- values --------------------------------------------------------------------------------------

    def number(self, op: Operation, value: SSAValue) -> int:
        if value not in self.numbers:
            fail(op, "a size of a tile must be a constant")
        return self.numbers[value]

    def text(self, value: SSAValue) -> str:
        found = self.values.get(value)
        if not isinstance(found, str):
            fail(self.op, "expected a number that the text computes")
        return found

    def view(self, op: Operation, value: SSAValue) -> View:
        found = self.values.get(value)
        if not isinstance(found, View):
            fail(op, "an array that is no argument, alloc or view of one")
        return found

    # --- transfers -----------------------------------------------------------------------------------

    def over(self, view: View, line: Callable[[str, str], str], offset: str) -> None:
        """`line(element, number of the word)` for each element of a view, row major."""
        places = [self.fresh("i") for _ in view.sizes]
        place = offset
        for name, size, inner in zip(places, view.sizes, _dense(view.sizes), strict=True):
            self.say(f"for (int32_t {name} = 0; {name} < {size}; {name}++)")
            self.depth += 1
            place = _sum([place, _times(name, inner)])
        self.say(line(view.at(places), place))
        self.depth -= len(places)

    def put(self, view: View, offset: str) -> None:
        self.over(view, lambda element, place: f"dma_in_buffer()[{place}] = *(word *)&{element};", offset)

    def get(self, view: View, offset: str) -> None:
        self.over(view, lambda element, place: f"*(word *)&{element} = dma_out_buffer()[{place}];", offset)

    def moved(self, direction: str, words: str, offset: str) -> None:
        self.say(f"TRY(dma_start_{direction}((uint32_t)({words}), (uint32_t)({offset})));")
        self.say(f"TRY(dma_wait_{direction}());")

    def ends(self, op: Operation, offset: str, words: int) -> None:
        for result in op.results:
            self.values[result] = f"({_sum([offset, str(words)])})"


def _offset(writer: _Writer, op: lowered.LoweredOp) -> str:
    """The second operand."""
    if len(op.values) > 2:
        fail(op, "expected a value and its offset")
    return writer.text(op.values[1]) if len(op.values) > 1 else "0"


def _init(writer: _Writer, op: Any) -> None:
    given = op.values if isinstance(op, InitDmaOp) else op.arguments
    if len(given) != 5:
        fail(op, "expected the DMA's address, and address and bytes of both windows")
    writer.say(f"TRY(dma_init({', '.join(f'(uint32_t)({writer.text(one)})' for one in given)}));")


def _send_literal(writer: _Writer, op: SendLiteralOp) -> None:
    offset = _offset(writer, op)
    writer.say(f"dma_in_buffer()[{offset}] = (uint32_t)({writer.text(op.values[0])});")
    writer.moved("send", "1", offset)
    writer.ends(op, offset, 1)


def _send(writer: _Writer, op: SendOp) -> None:
    view, offset = writer.view(op, op.values[0]), _offset(writer, op)
    writer.put(view, offset)
    writer.moved("send", str(view.words), offset)
    writer.ends(op, offset, view.words)


def _recv(writer: _Writer, op: RecvOp) -> None:
    view, offset = writer.view(op, op.values[0]), _offset(writer, op)
    writer.moved("recv", str(view.words), offset)
    writer.get(view, offset)
    writer.ends(op, offset, view.words)


# --- calls of the library ----------------------------------------------------------------------------------


def _two(op: func.CallOp) -> Sequence[SSAValue]:
    if len(op.arguments) != 2:
        fail(op, f"@{op.callee.root_reference.data} has two arguments")
    return op.arguments


def _start(direction: str) -> Callable[[_Writer, func.CallOp], None]:
    def write(writer: _Writer, op: func.CallOp) -> None:
        words, offset = map(writer.text, _two(op))
        writer.say(f"TRY(dma_start_{direction}((uint32_t)({words}), (uint32_t)({offset})));")
        writer.ends(op, "0", 0)

    return write


def _copy(way: str) -> Callable[[_Writer, func.CallOp], None]:
    def write(writer: _Writer, op: func.CallOp) -> None:
        array, place = _two(op)
        view, offset = writer.view(op, array), writer.text(place)
        (writer.put if way == "to" else writer.get)(view, offset)
        writer.ends(op, "0", 0)

    return write


def _wait(direction: str) -> Callable[[_Writer, func.CallOp], None]:
    return lambda writer, _op: writer.say(f"TRY(dma_wait_{direction}());")


CALLS: dict[str, Callable[[_Writer, func.CallOp], None]] = {
    "dma_init": _init,
    "dma_free": lambda _writer, _op: None,  # at the end of every program
    **{f"dma_start_{way}": _start(way) for way in ("send", "recv")},
    **{f"dma_wait_{way}": _wait(way) for way in ("send", "recv")},
    **{f"copy_to_inbuffer_{kind}": _copy("to") for kind in TYPES},
    **{f"copy_from_outbuffer_{kind}": _copy("from") for kind in TYPES},
}


def _call(writer: _Writer, op: func.CallOp) -> None:
    name = op.callee.root_reference.data
    if name not in CALLS:
        fail(op, f"@{name} is none of the library's {', '.join(CALLS)}")
    CALLS[name](writer, op)


# --- loops, numbers and arrays --------------------------------------------------------------------------


def _constant(writer: _Writer, op: arith.ConstantOp) -> None:
    value = op.value
    if not isinstance(value, IntegerAttr):
        fail(op, "of an integer or index alone")
    writer.numbers[op.result] = value.value.data
    writer.values[op.result] = str(value.value.data)


def _arithmetic(writer: _Writer, op: Any) -> None:
    sign = next(sign for kind, sign in ARITHMETIC.items() if isinstance(op, kind))
    left_text, right_text = writer.text(op.lhs), writer.text(op.rhs)
    if op.result.type == i32:  # wraps, as MLIR says
        left_text, right_text = f"(uint32_t)({left_text})", f"(uint32_t)({right_text})"
    writer.values[op.result] = f"({left_text} {sign} {right_text})"
    known = [writer.numbers.get(one) for one in (op.lhs, op.rhs)]
    if None not in known:
        left, right = (one or 0 for one in known)
        writer.numbers[op.result] = {"+": left + right, "-": left - right, "*": left * right}[sign]


def _index_cast(writer: _Writer, op: arith.IndexCastOp) -> None:
    writer.values[op.result] = writer.text(op.input)
    if op.input in writer.numbers:
        writer.numbers[op.result] = writer.numbers[op.input]


def _loop(writer: _Writer, op: scf.ForOp) -> None:
    name = writer.fresh("n")
    low, high, step = map(writer.text, (op.lb, op.ub, op.step))
    if op.iter_args:
        fail(op, "with values that it carries")
    writer.say(f"for (int32_t {name} = {low}; {name} < {high}; {name} += {step}) {{")
    writer.values[op.body.block.args[0]] = name
    writer.depth += 1
    writer.block(op.body.block)
    writer.depth -= 1
    writer.say("}")


def _alloc(writer: _Writer, op: memref.AllocOp | memref.AllocaOp) -> None:
    shape, name = _shape(op, op.memref.type), writer.fresh("array")
    writer.say(f"static {_element(op, op.memref.type)} {name}[{prod(shape)}];")
    writer.values[op.memref] = _whole(name, shape)


def _store(writer: _Writer, op: memref.StoreOp) -> None:
    view = writer.view(op, op.memref)
    writer.say(f"{view.at([writer.text(one) for one in op.indices])} = {writer.text(op.value)};")


def _subview(writer: _Writer, op: memref.SubviewOp) -> None:
    view = writer.view(op, op.source)
    offsets, sizes = iter(op.offsets), iter(op.sizes)
    starts = [
        writer.text(next(offsets)) if one == DYNAMIC_INDEX else str(one)
        for one in op.static_offsets.get_values()
    ]
    tile = tuple(
        writer.number(op, next(sizes)) if one == DYNAMIC_INDEX else int(one)
        for one in op.static_sizes.get_values()
    )
    if any(one != 1 for one in op.static_strides.get_values()):
        fail(op, "with a stride that is not 1")
    offset = _sum([view.offset, *map(_times, starts, view.strides)])
    writer.values[op.result] = View(view.base, offset, tile, view.strides)


def _cast(writer: _Writer, op: memref.CastOp) -> None:
    writer.values[op.dest] = writer.view(op, op.source)


def _generic(writer: _Writer, op: linalg.GenericOp) -> None:
    """Element by element: how a tile that came back is added up."""
    views = [writer.view(op, one) for one in (*op.inputs, *op.outputs)]
    out = views[-1]
    same = all(one.data == AffineMap.identity(len(out.sizes)) for one in op.indexing_maps)
    same &= all(view.sizes == out.sizes for view in views)
    if len(op.outputs) != 1 or not same:
        fail(op, "of one result, element by element and in the same order, is read here")
    places = [writer.fresh("i") for _ in out.sizes]
    for name, size in zip(places, out.sizes, strict=True):
        writer.say(f"for (int32_t {name} = 0; {name} < {size}; {name}++)")
        writer.depth += 1
    for arg, view in zip(op.body.block.args, views, strict=True):
        writer.values[arg] = view.at(places)
    for inner in op.body.block.ops:
        writer.op = inner
        if isinstance(inner, linalg.YieldOp):
            writer.say(f"{out.at(places)} = {writer.text(inner.operands[0])};")
        elif isinstance(inner, tuple(ARITHMETIC)):
            _arithmetic(writer, inner)
        else:
            fail(inner, "only sums, differences and products are read here")
    writer.depth -= len(places)


def _nothing(writer: _Writer, op: Operation) -> None:
    """Arrays are static; the end is the program's."""


WRITERS: dict[type[Operation], Callable[[_Writer, Any], None]] = {
    InitDmaOp: _init,
    SendLiteralOp: _send_literal,
    SendOp: _send,
    RecvOp: _recv,
    func.CallOp: _call,
    arith.ConstantOp: _constant,
    **dict.fromkeys(ARITHMETIC, _arithmetic),
    arith.IndexCastOp: _index_cast,
    scf.ForOp: _loop,
    scf.YieldOp: _nothing,
    memref.AllocOp: _alloc,
    memref.AllocaOp: _alloc,
    memref.DeallocOp: _nothing,
    memref.StoreOp: _store,
    memref.SubviewOp: _subview,
    memref.CastOp: _cast,
    linalg.GenericOp: _generic,
    func.ReturnOp: _nothing,
}
"""What an op becomes. An op that is not here is refused."""


# --- types -------------------------------------------------------------------------------------------------


def _shape(op: Operation, kind: Attribute) -> tuple[int, ...]:
    """Of an array of a known size with 32-bit elements."""
    if not isinstance(kind, MemRefType) or DYNAMIC_INDEX in kind.get_shape():
        fail(op, f"a driver has arrays of known sizes, not {kind}")
    return tuple(kind.get_shape())


def _element(op: Operation, kind: Attribute) -> str:
    element = str(kind.element_type) if isinstance(kind, MemRefType) else str(kind)
    if element not in TYPES:
        fail(op, f"elements must be {' or '.join(TYPES)}, not {element}")
    return TYPES[element]


def _times(place: str, stride: int) -> str:
    return place if stride == 1 else "0" if place == "0" else f"{place} * {stride}"


def _sum(terms: Sequence[str]) -> str:
    return " + ".join(term for term in terms if term != "0") or "0"


def _dense(sizes: Sequence[int]) -> Iterator[int]:
    """Strides of a row-major array of these sizes."""
    return (prod(sizes[dim + 1 :]) for dim in range(len(sizes)))


def _whole(base: str, sizes: tuple[int, ...]) -> View:
    return View(base, "0", sizes, tuple(_dense(sizes)))
