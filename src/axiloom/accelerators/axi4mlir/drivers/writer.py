"""The C of a driver in MLIR, op by op.

The text is taken as it is: each transfer is a transfer, each loop a loop. A function of the text that is
called is written in its caller's place, so sizes that it is given are numbers there. What an op becomes
stands in a registry, which ``transfers.py`` and ``loops.py`` fill; an op that is not in it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NoReturn, TypeVar

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from axiloom.accelerators.axi4mlir.drivers.view import View, dense, times, total, whole
from axiloom.drivergen.c import reserved
from axiloom.drivergen.c.names import identifier
from axiloom.drivergen.dialects.mlir import fail

T = TypeVar("T")
TYPES = {"i32": "int32_t", "f32": "float"}
"""Of elements; each is a word of a stream."""
SCALARS = {**TYPES, "index": "int32_t", "i64": "int64_t", "f64": "double"}
DEEPEST = 16
"""Calls inside each other."""


class Writer:
    """Functions of one text, one after the other. `functions`: those with a body, by name. `unwaited`:
    directions (``send``, ``recv``) whose transfers the text never waits for."""

    def __init__(self, functions: dict[str, func.FuncOp], unwaited: Sequence[str] = ()) -> None:
        self.functions, self.unwaited = functions, unwaited
        self.values: dict[SSAValue, str | View] = {}
        self.numbers: dict[SSAValue, int] = {}
        self.ranges: dict[SSAValue, range] = {}  # of loops' counters
        self.arrays: list[str] = []
        self.lines: list[str] = []
        self.prints: set[str] = set()
        self.depth = 1
        self.called: list[str] = []
        self.wanted: dict[SSAValue, str] = {}  # names for arrays that a called function makes
        self.made = 0
        self.taken = {"driver", "begin", "try_status", "word", "SHOW"}

    def entry(self, function: func.FuncOp, prefix: str) -> None:
        """A function whose arguments are global arrays and numbers. `prefix`: before their names."""
        self.op: Operation = function  # at hand, for messages
        for arg in function.body.block.args:
            symbol = self.symbol(prefix + (arg.name_hint or f"arg{arg.index}"))
            if isinstance(arg.type, MemRefType):
                self.values[arg] = self.array(symbol, function, arg.type)
            else:
                self.arrays.append(f"{scalar(function, arg.type)} {symbol};")
                self.values[arg] = symbol
        self.block(function.body.block)

    def array(self, symbol: str, op: Operation, kind: MemRefType[Any], sizes: Sequence[int] = ()) -> View:
        """A global array; `sizes`: what the type does not say."""
        shape, element = shaped(op, kind, sizes), element_of(op, kind)
        self.arrays.append(f"{element} {symbol}[{prod(shape)}];")
        return whole(symbol, shape, element)

    def call(self, op: func.CallOp) -> None:
        """A function of the text, in place of its call."""
        name = op.callee.root_reference.data
        function = self.functions[name]
        if name in self.called or len(self.called) == DEEPEST:
            fail(op, f"@{name} calls itself" if name in self.called else f"more than {DEEPEST} calls deep")
        body = function.body.block
        for arg, argument in zip(body.args, op.arguments, strict=True):
            _carry(self.values, argument, arg)
            _carry(self.numbers, argument, arg)
            _carry(self.ranges, argument, arg)
        ends = body.last_op
        returned = ends.operands if isinstance(ends, func.ReturnOp) else ()
        for result, value in zip(op.results, returned, strict=True):
            if result.name_hint:
                self.wanted[value] = result.name_hint
        self.called.append(name)
        self.block(body)
        self.called.pop()
        self.op = op
        for result, value in zip(op.results, returned, strict=True):
            _carry(self.values, value, result)
            _carry(self.numbers, value, result)

    def say(self, line: str) -> None:
        self.lines.append(f"{'    ' * self.depth}{line}")

    def symbol(self, name: str) -> str:
        """Of an array: its own name, where that is free."""
        symbol = identifier(name)
        while symbol in self.taken or reserved.taken(symbol):
            symbol += "_"
        self.taken.add(symbol)
        return symbol

    def fresh(self, kind: str) -> str:
        while True:
            self.made += 1
            if (name := f"{kind}{self.made}") not in self.taken:
                self.taken.add(name)
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
        text = self.values.get(value)
        if not isinstance(text, str):
            fail(self.op, "expected a number that the text computes")
        return text

    def view(self, op: Operation, value: SSAValue) -> View:
        view = self.values.get(value)
        if not isinstance(view, View):
            fail(op, "an array that is no argument, alloc or view of one")
        return view

    def over(self, view: View, line: Callable[[str, str], str], offset: str = "0") -> None:
        """`line(element, number of the word)` for each element of a view, row major."""
        places = [self.fresh("i") for _ in view.sizes]
        place = offset
        for name, size, inner in zip(places, view.sizes, dense(view.sizes), strict=True):
            self.say(f"for (int32_t {name} = 0; {name} < {size}; {name}++)")
            self.depth += 1
            place = total([place, times(name, inner)])
        self.say(line(view.at(places), place))
        self.depth -= len(places)


def _carry(known: dict[SSAValue, T], value: SSAValue, to: SSAValue) -> None:
    """What is known of a value is so of the one that it becomes; what was known of that holds no more."""
    known.pop(to, None)
    if value in known:
        known[to] = known[value]


Write = Callable[[Writer, Any], None]
WRITERS: dict[type[Operation], Write] = {}
"""What an op becomes."""


def writes(*kinds: type[Operation]) -> Callable[[Write], Write]:
    """Enter a function for these ops."""

    def enter(write: Write) -> Write:
        WRITERS.update(dict.fromkeys(kinds, write))
        return write

    return enter


# --- types -------------------------------------------------------------------------------------------------


def shaped(op: Operation, kind: Attribute, sizes: Sequence[int] = ()) -> tuple[int, ...]:
    """Of an array of a known size with 32-bit elements; `sizes`: in the place of each ``?``."""
    if not isinstance(kind, MemRefType):
        _unknown(op, kind)
    remaining, shape = list(sizes), []
    for size in kind.get_shape():
        if size == DYNAMIC_INDEX and not remaining:
            _unknown(op, kind)
        shape.append(remaining.pop(0) if size == DYNAMIC_INDEX else size)
    return tuple(shape)


def _unknown(op: Operation, kind: Attribute) -> NoReturn:
    fail(op, f"a driver has arrays of known sizes, not {kind}")


def element_of(op: Operation, kind: Attribute) -> str:
    element = str(kind.element_type) if isinstance(kind, MemRefType) else str(kind)
    if element not in TYPES:
        fail(op, f"elements must be {' or '.join(TYPES)}, not {element}")
    return TYPES[element]


def scalar(op: Operation, kind: Attribute) -> str:
    if str(kind) not in SCALARS:
        fail(op, f"a number must be {', '.join(SCALARS)}, not {kind}")
    return SCALARS[str(kind)]
