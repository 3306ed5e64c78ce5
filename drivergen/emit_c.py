"""The last stage: functions of calls and loops become C99 that people review and ship.

Expressions are folded into the statements that use them; values with a name become ``const`` variables,
matrices flat pointers with explicit index arithmetic, loops keep the names of their dims. Sums and products
of elements are computed unsigned, so that they wrap as in the hardware instead of being undefined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from operator import add, mul, sub
from textwrap import wrap
from typing import NoReturn

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    StringAttr,
    i1,
    i32,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from axiloom.drivergen import dialect as accel
from axiloom.drivergen import queue
from axiloom.drivergen.mlir import fail

KEYWORDS = re.compile(
    "auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|long|"
    "register|restrict|return|short|signed|sizeof|static|struct|switch|typedef|union|unsigned|void|volatile|"
    "while|main"
)
RUNTIME = re.compile(r"dma_|DMA_|axl_|AXL_|TRY$|u?int\d*_t$|ptrdiff_t$|size_t$|_")
"""Names of the runtime, of the standard headers it includes and of what the emitter defines."""

TRY = """\
/* Leave the function with the status of a call that failed. */
#define TRY(call)                             \\
    do {                                      \\
        const dma_status try_status = (call); \\
        if (try_status != DMA_OK)             \\
            return try_status;                \\
    } while (0)
"""

_WRAPPING: dict[type[Operation], str] = {arith.AddiOp: "+", arith.SubiOp: "-", arith.MuliOp: "*"}
_FOLDED: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: add,
    arith.SubiOp: sub,
    arith.MuliOp: mul,
}
_BITWISE: dict[type[Operation], str] = {
    arith.AndIOp: "&",
    arith.OrIOp: "|",
    arith.XOrIOp: "^",
    arith.ShLIOp: "<<",
}
_COMPARED = {0: "==", 1: "!=", 6: "<", 7: "<=", 8: ">", 9: ">="}
"""Predicates of arith.cmpi on unsigned values."""

COLUMNS = 110
"""Where comments are wrapped."""

READ_ONLY = ("axl_out_window",)
"""Functions that return a pointer to what may only be read."""

HEADERS = {
    "dma_packet_": "axiloom_packets.h",
    "dma_tiles_": "axiloom_packets.h",
    "axl_": "axiloom_copy.h",
    "dma_queue_": "axiloom_sg.h",
}
"""Where functions of the runtime are declared that are not in axiloom.h, by their first letters."""

_CHOICE: dict[type[Operation], str] = {
    arith.MinUIOp: "<",
    arith.MinSIOp: "<",
    arith.MaxUIOp: ">",
    arith.MaxSIOp: ">",
}


def known(value: SSAValue) -> int | None:
    """The value of an index that is computed from constants alone."""
    fold = _FOLDED.get(type(value.owner)) if isinstance(value.owner, Operation) else None
    if fold is None or not isinstance(value.type, IndexType):
        return accel.constant(value)
    left, right = (known(operand) for operand in value.owner.operands)  # type: ignore[union-attr]
    if left is None or right is None or not 0 <= fold(left, right) < 1 << 32:
        return None
    return fold(left, right)


def identifier(name: str) -> str:
    """`name` as a C identifier that is no keyword and none of the runtime's."""
    text = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not text or text[0].isdigit():
        text = f"v{text}"
    return f"{text}_" if KEYWORDS.fullmatch(text) else f"x{text}" if RUNTIME.match(text) else text


class _Names:
    """Unique C identifiers for SSA values: their own names, with a number where that is taken."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._names: dict[SSAValue, str] = {}

    def __getitem__(self, value: SSAValue) -> str:
        return self._names[value]

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._names

    def add(self, value: SSAValue, fallback: str = "v") -> str:
        base = name = identifier(value.name_hint or fallback)
        number = 1
        while name in self._taken:
            name, number = f"{base}{number}", number + 1
        self._taken.add(name)
        self._names[value] = name
        return name

    def get(self, value: SSAValue) -> str | None:
        return self._names.get(value)

    def share(self, value: SSAValue, name: str) -> None:
        """Another value lives in the variable `name`."""
        self._names[value] = name

    def scope(self) -> _Names:
        """Names for an inner block: what is added there is free again behind it."""
        inner = _Names(self._taken)
        inner._names = dict(self._names)
        return inner


def c_type(kind: Attribute) -> str | None:
    """C type of a scalar or of a matrix' elements; None if C has none for it."""
    if isinstance(kind, IndexType):
        return "uint32_t"
    if isinstance(kind, IntegerType) and kind.width.data in (8, 16, 32, 64):
        return f"int{kind.width.data}_t"
    return None


def prototype(function: func.FuncOp, *, restrict: bool = False) -> str:
    """``dma_status matmul(const int32_t *A, ...)`` without the semicolon."""
    names = _Names([])
    kinds = [a.data.get("accel.kind") for a in function.arg_attrs or []]
    parameters = []
    for arg, kind in zip(function.body.block.args, kinds, strict=True):
        assert isinstance(arg.type, MemRefType)
        element = c_type(arg.type.element_type)
        if element is None:
            fail(function, f"argument {arg.index} has elements of {arg.type.element_type}; C has none such")
        const = "const " if kind == StringAttr("in") else ""
        parameters.append(f"{const}{element} *{'restrict ' if restrict else ''}{names.add(arg, 'arg')}")
    result = "dma_status" if function.function_type.outputs.data else "void"
    return f"{result} {identifier(function.sym_name.data)}({', '.join(parameters) or 'void'})"


class _Function:
    """Statements of one function."""

    def __init__(self, function: func.FuncOp, taken: Iterable[str], *, restrict: bool) -> None:
        self.function = function
        self.lines: list[str] = []
        self.names = _Names(taken)
        self.indent = 1
        for arg in function.body.block.args:
            self.names.add(arg, "arg")
        head = prototype(function, restrict=restrict)
        self.lines += [head, "{"]
        for arg in function.body.block.args:
            if arg.first_use is None:
                self.line(f"(void){self.names[arg]};")
        self.block(function.body.block)
        self.lines.append("}")

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    # --- statements -----------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        for op in block.ops:
            comment = op.attributes.get("comment", op.attributes.get("opcode"))
            if isinstance(comment, StringAttr):
                self._comment(comment.data.replace("*/", "* /"))
            rule = _STATEMENTS.get(type(op))
            if rule is not None:
                rule(self, op)
            elif type(op) in _EXPRESSIONS:
                self._name(op.results[0])
            else:
                fail(op, "there is no C for it")

    def _comment(self, text: str) -> None:
        first, *more = wrap(text, COLUMNS - 4 * self.indent - len("/*  */"))
        for number, line in enumerate([first, *more]):
            end = "" if number < len(more) else " */"
            self.line(f"{' *' if number else '/*'} {line}{end}")

    def _name(self, value: SSAValue) -> None:
        """A variable for a value that has a name and is no constant."""
        if value.name_hint is None or value.first_use is None or isinstance(value.owner, arith.ConstantOp):
            return
        text = self.expression(value)
        self.line(f"const {self._scalar(value)} {self.names.add(value)} = {text};")

    def _scalar(self, value: SSAValue) -> str:
        text = c_type(value.type)
        if text is None:
            self._no_c(value, f"type {value.type}")
        return text

    def _no_c(self, value: SSAValue, what: str) -> NoReturn:
        owner = value.owner if isinstance(value.owner, Operation) else self.function
        fail(owner, f"there is no C for {what}")

    def loop(self, op: scf.ForOp) -> None:
        counter, outer = op.body.block.args[0], self.names
        begin, end, step = self.expression(op.lb), self.summand(op.ub), self.expression(op.step)
        carried = [self._carried(op, number) for number in range(len(op.iter_args))]
        self.names = outer.scope()
        name = self.names.add(counter, "i")
        advance = f"{name}++" if step == "1" else f"{name} += {step}"
        self.line(f"for ({self._scalar(counter)} {name} = {begin}; {name} < {end}; {advance}) {{")
        self.indent += 1
        self.block(op.body.block)
        last = op.body.block.last_op
        assert last is not None
        for variable, value in zip(carried, last.operands, strict=True):
            self._assign(variable, value, last.operands)
        self.indent -= 1
        self.names = outer
        self.line("}")

    def _carried(self, op: scf.ForOp, number: int) -> str:
        """The variable of a value that a loop carries; the same for all the loops of a nest."""
        init, arg, result = op.iter_args[number], op.body.block.args[number + 1], op.results[number]
        shared = isinstance(init, BlockArgument) and init in self.names and init.has_one_use()
        if shared:
            name = self.names[init]
        else:
            text = self.expression(init)
            name = self.names.add(result if result.name_hint else arg, "x")
            self.line(f"{self._scalar(arg)} {name} = {text};")
        self.names.share(arg, name)
        self.names.share(result, name)
        return name

    def _assign(self, variable: str, value: SSAValue, together: Sequence[SSAValue]) -> None:
        """What a variable is in the next iteration."""
        text = self.expression(value)
        if text == variable:
            return
        others = [v for v in together if v is not value and self.names.get(v) == variable]
        if others:
            self._no_c(value, "values that change places")
        start = f"{variable} + "
        sum_ = text.startswith(start) and re.fullmatch(r"\w+", text.removeprefix(start))
        self.line(f"{variable} += {text.removeprefix(start)};" if sum_ else f"{variable} = {text};")

    def choose(self, op: scf.IfOp) -> None:
        if op.results or (op.false_region.blocks and op.false_region.block.ops.first is not None):
            fail(op, "there is no C for it")
        conditions = [op.cond]
        while (inner := _only_choice(op)) is not None:
            op = inner
            conditions.append(op.cond)
        texts = [self.expression(c) for c in conditions]
        if len(texts) > 1:
            texts = [f"({text})" if "||" in text else text for text in texts]
        self.line(f"if ({' && '.join(texts)}) {{")
        self.indent += 1
        outer, self.names = self.names, self.names.scope()
        self.block(op.true_region.block)
        self.names = outer
        self.indent -= 1
        self.line("}")

    def load(self, op: memref.LoadOp) -> None:
        name = self.names.add(op.res, "element")
        self.line(f"const {self._scalar(op.res)} {name} = {self.element(op.memref, op.indices)};")

    def store(self, op: memref.StoreOp) -> None:
        value = accel.constant(op.value)
        text = self.expression(op.value) if value is None or value < 1 << 16 else self.word(op.value)
        self.line(f"{self.element(op.memref, op.indices)} = {text};")

    def alloc(self, op: memref.AllocOp) -> None:
        kind = op.memref.type
        assert isinstance(kind, MemRefType)
        element, size = c_type(kind.element_type), kind.element_count()
        self.line(f"static {element} {self.names.add(op.memref, 'between')}[{size}];")

    def get_global(self, op: memref.GetGlobalOp) -> None:
        assert isinstance(op.memref.type, MemRefType)
        element, symbol = c_type(op.memref.type.element_type), identifier(op.name_.root_reference.data)
        self.line(f"const {element} *const {self.names.add(op.memref, 'constant')} = {symbol};")

    def call(self, op: func.CallOp) -> None:
        """A call is printed where its status is checked; one that has none, or gives a pointer, here."""
        if not op.res:
            arguments = ", ".join(self.expression(a) for a in op.arguments)
            self.line(f"{op.callee.root_reference.data}({arguments});")
            return
        if isinstance(op.res[0].type, MemRefType):
            element = c_type(op.res[0].type.element_type)
            const = "const " if op.callee.root_reference.data in READ_ONLY else ""
            name = self.names.add(op.res[0], "window")
            self.line(f"{const}{element} *const {name} = {op.callee.root_reference.data}();")
            return
        uses = [use.operation for use in op.res[0].uses] if op.res else []
        if len(uses) != 1 or not isinstance(uses[0], accel.CheckOp):
            fail(op, "there is no C for a call whose status is not checked once")

    def check(self, op: accel.CheckOp) -> None:
        call = op.status.owner
        if not isinstance(call, func.CallOp):
            fail(op, "it checks what is no call's status")
        callee = call.callee.root_reference.data
        arguments = [self.expression(a) for a in call.arguments]
        if callee in ("dma_put_word", "dma_queue_word"):
            arguments[0] = self.word(call.arguments[0])
        for value in call.res[1:]:
            self.line(f"{self._scalar(value)} {self.names.add(value)};")
            arguments.append(f"&{self.names[value]}")
        self.line(f"TRY({callee}({', '.join(arguments)}));")

    def clean(self, op: queue.CleanRowsOp) -> None:
        where = [self.expression(v) for v in (op.address, op.row_bytes, op.rows, op.stride)]
        text = f"dma_clean_rows({', '.join(where)});"
        if not op.first:
            self.line(text)
            return
        self.line(f"if ({' && '.join(f'{self.expression(counter)} == 0' for counter in op.first)})")
        self.line(f"    {text}")

    def give_back(self, op: func.ReturnOp) -> None:
        if op.arguments:
            known = accel.constant(op.arguments[0])
            self.line(f"return {'DMA_OK' if known == 0 else self.expression(op.arguments[0])};")

    def nothing(self, op: Operation) -> None:
        """Printed where it is used, or not at all."""

    # --- expressions ----------------------------------------------------------------------------------

    def expression(self, value: SSAValue) -> str:
        if value in self.names:
            return self.names[value]
        op = value.owner
        rule = _EXPRESSIONS.get(type(op)) if isinstance(op, Operation) else None
        if rule is None:
            self._no_c(value, f"this use of {value.name_hint or 'a value'}")
        return rule(self, op)

    def word(self, value: SSAValue) -> str:
        """A stream word: hexadecimal where it is constant, an index as it is."""
        known = accel.constant(value)
        if known is not None:
            return f"{known & 0xFFFFFFFF:#x}u"
        if isinstance(value.owner, arith.IndexCastOp):
            return self.expression(value.owner.input)
        return self.expression(value)

    def term(self, value: SSAValue) -> str:
        """An expression that can stand beside any operator."""
        text = self.expression(value)
        return text if re.fullmatch(r"\w+", text) else f"({text})"

    def summand(self, value: SSAValue) -> str:
        """An expression that can stand beside a plus."""
        text = self.expression(value)
        sums = arith.AddiOp | arith.MuliOp | arith.DivUIOp
        plain = isinstance(value.owner, sums) and isinstance(value.type, IndexType)
        return text if plain or re.fullmatch(r"\w+", text) else f"({text})"

    def factor(self, value: SSAValue) -> str:
        """An expression that can stand in front of a times."""
        plain = isinstance(value.owner, arith.MuliOp | arith.DivUIOp) and isinstance(value.type, IndexType)
        return self.expression(value) if plain else self.term(value)

    def constant(self, op: arith.ConstantOp) -> str:
        if not isinstance(op.value, IntegerAttr):
            fail(op, "there is no C for it")
        value = op.value.value.data
        if isinstance(op.result.type, IndexType):
            address = value >= 1 << 16 and value % (1 << 12) == 0
            return f"{value:#x}u" if address else f"{value}u" if value >= 1 << 31 else str(value)
        return "INT32_MIN" if value == -(1 << 31) else str(value)

    def wrapping(self, op: Operation) -> str:
        """Addition and so on modulo the width of the type."""
        if isinstance(op.results[0].type, IndexType):
            if (total := known(op.results[0])) is not None:
                return str(total)
            left, right = (self.term(v) for v in op.operands)
            if isinstance(op, arith.AddiOp) and left == "0":
                return self.expression(op.rhs)
            if isinstance(op, arith.AddiOp | arith.SubiOp) and right == "0":
                return self.expression(op.lhs)
            if isinstance(op, arith.AddiOp):
                left, right = (self.summand(v) for v in op.operands)
            elif isinstance(op, arith.MuliOp):
                left = self.factor(op.lhs)
            else:
                left = self.summand(op.operands[0])
            return f"{left} {_WRAPPING[type(op)]} {right}"
        return f"({self._scalar(op.results[0])})({self._modular(op)})"

    def _modular(self, op: Operation) -> str:
        """The same in unsigned arithmetic, whose overflow C defines."""
        left, right = (self._unsigned(v, op) for v in op.operands)
        return f"{left} {_WRAPPING[type(op)]} {right}"

    def _unsigned(self, value: SSAValue, user: Operation) -> str:
        inner = value.owner
        folded = value.type == i32 and value not in self.names
        if folded and isinstance(inner, arith.AddiOp | arith.SubiOp | arith.MuliOp):
            text = self._modular(inner)
            return text if isinstance(inner, arith.MuliOp) and isinstance(user, arith.AddiOp) else f"({text})"
        wide = "uint64_t" if self._scalar(value) == "int64_t" else "uint32_t"
        return f"({wide}){self.term(value)}"

    def quotient(self, op: arith.DivUIOp) -> str:
        return f"{self.term(op.lhs)} / {self.term(op.rhs)}"

    def compare(self, op: arith.CmpiOp) -> str:
        sign = _COMPARED.get(op.predicate.value.data)
        if sign is None:
            fail(op, "there is no C for it")
        return f"{self.term(op.lhs)} {sign} {self.term(op.rhs)}"

    def select(self, op: arith.SelectOp) -> str:
        condition = self.expression(op.cond)
        condition = f"({condition})" if "&&" in condition or "||" in condition else condition
        return f"{condition} ? {self.summand(op.lhs)} : {self.summand(op.rhs)}"

    def bitwise(self, op: Operation) -> str:
        if op.results[0].type == i1:
            sign = "&&" if isinstance(op, arith.AndIOp) else "||"
            return f" {sign} ".join(self.expression(v) for v in op.operands)
        left, right = (self.term(v) for v in op.operands)
        return f"({self._scalar(op.results[0])})((uint32_t){left} {_BITWISE[type(op)]} (uint32_t){right})"

    def choice(self, op: Operation) -> str:
        left, right = (self.term(v) for v in op.operands)
        unsigned = isinstance(op, arith.MinUIOp | arith.MaxUIOp) and not isinstance(op.result.type, IndexType)
        cast = "(uint32_t)" if unsigned else ""
        return f"{cast}{left} {_CHOICE[type(op)]} {cast}{right} ? {left} : {right}"

    def cast(self, op: Operation) -> str:
        return f"({self._scalar(op.results[0])}){self.term(op.operands[0])}"

    def address(self, op: memref.CastOp) -> str:
        place, text = self.place(op.source)
        return f"&{place}[{text}]" if text != "0" else place

    def taker(self, op: queue.TakerNameOp) -> str:
        return identifier(op.of.data) if op.of.data else "NULL"

    def element(self, matrix: SSAValue, indices: Sequence[SSAValue]) -> str:
        base, offset = self.place(matrix, list(indices))
        return f"{base}[{offset}]"

    def place(self, matrix: SSAValue, indices: Sequence[SSAValue] | None = None) -> tuple[str, str]:
        """Name of the array behind a memref, and the offset of the element at `indices` (or the first)."""
        kind = matrix.type
        assert isinstance(kind, MemRefType)
        strides = kind.get_strides()
        if strides is None or any(s is None for s in strides):
            self._no_c(matrix, f"a matrix without known strides, {kind}")
        terms = [
            text
            for index, stride in zip(indices or [], strides, strict=False)
            if (text := self._scaled(index, stride or 1)) != "0"
        ]
        if isinstance(matrix.owner, memref.SubviewOp):
            base, start = self.place(matrix.owner.source, self._offsets(matrix.owner))
            terms = [start, *terms] if start != "0" else terms
        else:
            base = self.names[matrix]
        return base, " + ".join(terms) or "0"

    def _scaled(self, index: SSAValue, stride: int) -> str:
        if stride == 1:
            return self.summand(index)
        text = self.term(index)
        return text if text == "0" else f"{text} * {stride}"

    def _offsets(self, view: memref.SubviewOp) -> list[SSAValue]:
        offsets = view.static_offsets.get_values()
        if any(o != DYNAMIC_INDEX for o in offsets) or set(view.static_strides.get_values()) != {1}:
            fail(view, "there is no C for it")
        return list(view.offsets)


_STATEMENTS: dict[type[Operation], Callable[..., None]] = {
    scf.ForOp: _Function.loop,
    scf.IfOp: _Function.choose,
    scf.YieldOp: _Function.nothing,
    memref.LoadOp: _Function.load,
    memref.StoreOp: _Function.store,
    memref.AllocOp: _Function.alloc,
    memref.DeallocOp: _Function.nothing,
    memref.GetGlobalOp: _Function.get_global,
    memref.SubviewOp: _Function.nothing,
    memref.CastOp: _Function.nothing,
    func.CallOp: _Function.call,
    func.ReturnOp: _Function.give_back,
    accel.CheckOp: _Function.check,
    queue.CleanRowsOp: _Function.clean,
}
_EXPRESSIONS: dict[type[Operation], Callable[..., str]] = {
    arith.ConstantOp: _Function.constant,
    **dict.fromkeys(_WRAPPING, _Function.wrapping),
    **dict.fromkeys(_BITWISE, _Function.bitwise),
    **dict.fromkeys(_CHOICE, _Function.choice),
    arith.DivUIOp: _Function.quotient,
    arith.CmpiOp: _Function.compare,
    arith.SelectOp: _Function.select,
    arith.ExtSIOp: _Function.cast,
    arith.TruncIOp: _Function.cast,
    arith.IndexCastOp: _Function.cast,
    memref.CastOp: _Function.address,
    queue.TakerNameOp: _Function.taker,
}


def _only_choice(op: scf.IfOp) -> scf.IfOp | None:
    """The `scf.if` that is all that another one holds."""
    ops = [inner for inner in op.true_region.block.ops if not _unprinted(inner)]
    return ops[0] if len(ops) == 1 and isinstance(ops[0], scf.IfOp) else None


def _unprinted(op: Operation) -> bool:
    if isinstance(op, scf.YieldOp | memref.SubviewOp | memref.CastOp):
        return True
    return type(op) in _EXPRESSIONS and all(result.name_hint is None for result in op.results)


def _global(op: memref.GlobalOp) -> list[str]:
    """A read-only array with the elements of a dense constant."""
    values, element = op.initial_value, c_type(op.type.element_type)
    if not isinstance(values, DenseIntOrFPElementsAttr) or element is None:
        fail(op, "there is no C for it")
    count = op.type.element_count()
    texts = ["INT32_MIN" if n == -(1 << 31) else str(n) for n in map(int, values.get_values())]
    rows = [", ".join(texts[i : i + 12]) for i in range(0, count, 12)]
    name = identifier(op.sym_name.data)
    return [f"static const {element} {name}[{count}] = {{", *(f"    {row}," for row in rows), "};"]


def _taker(op: queue.TakerOp) -> str:
    macro = "DMA_TAKER_ADD" if op.mode.data == "accumulate" else "DMA_TAKER_COPY"
    sizes = [*op.shape.get_values(), *op.strides.get_values()]
    return f"{macro}({', '.join([identifier(op.sym_name.data), *map(str, sizes)])})"


def emit(module: ModuleOp, banner: str, include: str, *, restrict: bool = False) -> str:
    """The C file of a module at the stage of calls or loops.

    `banner`: text of the comment on top; `include`: the header with the prototypes; `restrict`: pointers do
    not overlap, so that loops can be vectorised. Raises CompileError for what has no C.
    """
    functions = [op for op in module.ops if isinstance(op, func.FuncOp) and not op.is_declaration]
    arrays = [op for op in module.ops if isinstance(op, memref.GlobalOp)]
    taken = [identifier(op.sym_name.data) for op in functions]
    taken += [identifier(op.sym_name.data) for op in arrays]
    takers = [op for op in module.ops if isinstance(op, queue.TakerOp)]
    taken += [identifier(op.sym_name.data) for op in takers]
    calls = {op.callee.root_reference.data for op in module.walk() if isinstance(op, func.CallOp)}
    includes = {file for start, file in HEADERS.items() if any(name.startswith(start) for name in calls)}
    parts = [comment(banner), "\n".join(f'#include "{file}"' for file in (include, *sorted(includes)))]
    if calls:
        parts.append(TRY.rstrip("\n"))
    parts += [_taker(op) for op in takers]
    parts += ["\n".join(_global(op)) for op in arrays]
    parts += ["\n".join(_Function(op, taken, restrict=restrict).lines) for op in functions]
    return "\n\n".join(parts) + "\n"


def header(module: ModuleOp, banner: str, guard: str, include: str, *, restrict: bool = False) -> str:
    """The header of the same module: its prototypes, after `include` (``<stdint.h>``, ``"axiloom.h"``)."""
    functions = [op for op in module.ops if isinstance(op, func.FuncOp) and not op.is_declaration]
    prototypes = [f"{prototype(op, restrict=restrict)};" for op in functions]
    head = f"{comment(banner)}\n#ifndef {guard}\n#define {guard}\n\n#include {include}"
    return "\n\n".join([head, *prototypes, "#endif"]) + "\n"


def comment(text: str) -> str:
    """A C comment of one or more lines."""
    first, *rest = text.replace("*/", "* /").splitlines()
    return "\n".join([f"/* {first}", *(f" * {line}" for line in rest)]) + " */"
