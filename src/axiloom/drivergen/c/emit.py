"""The last stage: functions of calls and loops become C99 that people review and ship.

Expressions are folded into the statements that use them; values with a name become ``const`` variables,
matrices flat pointers with explicit index arithmetic, loops keep the names of their dims. Expressions are in
:mod:`axiloom.drivergen.c.expressions`, names and types in :mod:`axiloom.drivergen.c.names`.

Waiting is inlined. A poll through a function of another file cost the drivers by hand half more
references. That flattered the generated drivers.

Words and rows of a queue are inline with a plain port, and calls with a coherent one. Calls are less
code: at 16^3 the first call takes 3 % less time through a plain port. But a driver of many small tiles
pays for them each time: v3_4 at 32^3 took 12.7 % longer. Small problems run through the coherent port by
default, so each port has the form for what runs through it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from textwrap import wrap

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float32Type,
    MemRefType,
    ModuleOp,
    StringAttr,
    i32,
    i64,
)
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.utils.type import get_element_type_or_self

from axiloom.drivergen.c.driver import in_whole_lines
from axiloom.drivergen.c.expressions import (
    MATH_HEADER,
    Expressions,
    floating,
    has_rule,
    integer,
    uses_math,
)
from axiloom.drivergen.c.names import Names, c_type, comment, identifier, numpy_type
from axiloom.drivergen.c.status import TRY
from axiloom.drivergen.c.tables import table_lines, table_names
from axiloom.drivergen.dialects import accel, queue, table
from axiloom.drivergen.dialects.elements import suffix
from axiloom.drivergen.dialects.mlir import fail
from axiloom.drivergen.nest.emit_rows import PART
from axiloom.drivergen.nest.tile import CACHE_LINE

__all__ = ["c_type", "comment", "emit", "header", "identifier", "prototype"]

COLUMNS = 110
"""Where comments are wrapped."""

READ_ONLY = ("axl_out_window",)
"""Functions that return a pointer to what may only be read."""

WORDS = {"dma_put_word": 1, "dma_queue_word": 1, "dma_queue_pair": 2}
"""Functions whose first arguments are words of a stream."""

HEADERS = {
    "dma_packet_": "axiloom_packets.h",
    "dma_tiles_": "axiloom_packets.h",
    "axl_": "axiloom_copy.h",
    "dma_queue_": "axiloom_sg.h",
    "dma_table_": "axiloom_table.h",
}
"""Where functions of the runtime are declared that are not in axiloom.h, by their first letters."""


def prototype(function: func.FuncOp, taken: Sequence[str] = (), *, restrict: bool = False) -> str:
    """``dma_status matmul(const int32_t *A, ...)`` without the semicolon; no argument has a `taken` name."""
    names = Names(taken)
    kinds = [a.data.get("accel.kind") for a in function.arg_attrs or []]
    parameters = []
    for arg, kind in zip(function.body.block.args, kinds, strict=True):
        assert isinstance(arg.type, MemRefType)
        element = c_type(arg.type.element_type)
        if element is None:
            fail(
                function, f"argument {arg.index} has elements of {arg.type.element_type}; C has no such type"
            )
        const = "const " if kind == StringAttr("in") else ""
        parameters.append(f"{const}{element} *{'restrict ' if restrict else ''}{names.add(arg, 'arg')}")
    result = "dma_status" if function.function_type.outputs.data else "void"
    if PART in function.attributes:
        result = f"static {result}"
    return f"{result} {identifier(function.sym_name.data)}({', '.join(parameters) or 'void'})"


class _Function(Expressions):
    """Statements of one function."""

    def __init__(self, function: func.FuncOp, taken: Sequence[str], *, restrict: bool) -> None:
        self.function = function
        self.lines: list[str] = []
        self.names = Names(taken)
        self.indent = 1
        for arg in function.body.block.args:
            self.names.add(arg, "arg")
        head = prototype(function, taken, restrict=restrict)
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
            elif has_rule(op):
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
        word = value is not None and value >= 1 << 16 and op.value.type != i64
        text = self.word(op.value) if word else self.expression(op.value)
        self.line(f"{self.element(op.memref, op.indices)} = {text};")

    def preload(self, op: accel.PreloadOp) -> None:
        self.line(f"axl_preload(&{self.element(op.array, op.indices)}, {op.lines.value.data});")

    def alloc(self, op: memref.AllocOp) -> None:
        if op.memref.first_use is None:
            return
        kind = op.memref.type
        assert isinstance(kind, MemRefType)
        element, size = c_type(kind.element_type) or "", kind.element_count()
        # A DMA may read or write it in place: lines of its own, from the first element to the last.
        name, size = self.names.add(op.memref, "between"), in_whole_lines(size, numpy_type(element))
        self.line(f"static {element} {name}[{size}] __attribute__((aligned({CACHE_LINE})));")

    def view(self, op: memref.ExpandShapeOp | memref.CollapseShapeOp) -> None:
        """The same elements under other indices: the same pointer."""
        base, offset = self.place(op.src)
        if offset == "0":
            self.names.share(op.result, base)
            return
        assert isinstance(op.result.type, MemRefType)
        element = c_type(op.result.type.element_type)
        const = "const " if self._only_read(op.src) else ""
        self.line(f"{const}{element} *const {self.names.add(op.result, 'view')} = {base} + {offset};")

    def get_global(self, op: memref.GetGlobalOp) -> None:
        assert isinstance(op.memref.type, MemRefType)
        element, symbol = c_type(op.memref.type.element_type), identifier(op.name_.root_reference.data)
        if op.memref.name_hint == symbol:
            self.names.share(op.memref, symbol)
            return
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
        if (words := WORDS.get(callee)) is not None:
            arguments[:words] = map(self.word, call.arguments[:words])
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

    def places(self, op: queue.PlacesOp) -> None:
        sizes = op.sizes.get_values()
        rows = zip(sizes[::3], sizes[1::3], sizes[2::3], strict=True)
        self.line(f"dma_rows {self.names.add(op.result)}[] = {{")
        for address, numbers in zip(op.addresses, rows, strict=True):
            self.line(f"    {{{', '.join([self.expression(address), *map(str, numbers)])}}},")
        self.line("};")

    def run_table(self, op: table.TableRunOp) -> None:
        arguments = ", ".join(self.names[value] for value in op.arguments)
        self.line(f"TRY(dma_table_run(&{identifier(op.of.data)}, (const void *const[]){{{arguments}}}));")

    def give_back(self, op: func.ReturnOp) -> None:
        if op.arguments:
            known = accel.constant(op.arguments[0])
            self.line(f"return {'DMA_OK' if known == 0 else self.expression(op.arguments[0])};")

    def nothing(self, op: Operation) -> None:
        """Printed where it is used, or not at all."""


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
    memref.ExpandShapeOp: _Function.view,
    memref.CollapseShapeOp: _Function.view,
    func.CallOp: _Function.call,
    func.ReturnOp: _Function.give_back,
    accel.CheckOp: _Function.check,
    accel.PreloadOp: _Function.preload,
    queue.CleanRowsOp: _Function.clean,
    queue.PlacesOp: _Function.places,
    table.TableRunOp: _Function.run_table,
}


def _only_choice(op: scf.IfOp) -> scf.IfOp | None:
    """The `scf.if` that is all that another one holds."""
    ops = [inner for inner in op.true_region.block.ops if not _unprinted(inner)]
    return ops[0] if len(ops) == 1 and isinstance(ops[0], scf.IfOp) else None


def _unprinted(op: Operation) -> bool:
    if isinstance(op, scf.YieldOp | memref.SubviewOp | memref.CastOp):
        return True
    return has_rule(op) and all(result.name_hint is None for result in op.results)


def _global(op: memref.GlobalOp) -> list[str]:
    """An array of the file's, perhaps read-only, with the elements of a dense constant."""
    values, element = op.initial_value, c_type(op.type.element_type)
    if element is None:
        fail(op, "there is no C for it")
    count = op.type.element_count()
    const = "const " if op.constant is not None else ""
    head = f"static {const}{element} {identifier(op.sym_name.data)}[{count}]"
    if op.alignment is not None:
        head += f" __attribute__((aligned({op.alignment.value.data})))"
    if not isinstance(values, DenseIntOrFPElementsAttr):
        return [f"{head};"]
    if element in ("float", "double"):
        single = isinstance(get_element_type_or_self(op.type), Float32Type)
        texts = [floating(float(number), single=single) for number in values.get_values()]
    else:
        texts = [integer(int(number)) for number in values.get_values()]
    texts = texts * count if len(texts) == 1 else texts
    rows = [", ".join(texts[i : i + 12]) for i in range(0, count, 12)]
    return [f"{head} = {{", *(f"    {row}," for row in rows), "};"]


def _taker(op: queue.TakerOp) -> str:
    macro = "DMA_TAKER_ADD" if op.mode.data == "accumulate" else "DMA_TAKER_COPY"
    macro += "" if op.element == i32 else f"_{suffix(op.element)}".upper()
    sizes = [*op.shape.get_values(), *op.strides.get_values()]
    return f"{macro}({', '.join([identifier(op.sym_name.data), *map(str, sizes)])})"


def emit(module: ModuleOp, banner: str, include: str, *, restrict: bool = False) -> str:
    """The C file of a module at the stage of calls or loops.

    `banner`: text of the comment on top; `include`: the header with the prototypes; `restrict`: pointers do
    not overlap, so that loops can be vectorised. Raises CompileError for what has no C.
    """
    functions = [op for op in module.ops if isinstance(op, func.FuncOp) and not op.is_declaration]
    arrays = [op for op in module.ops if isinstance(op, memref.GlobalOp)]
    tables = [op for op in module.ops if isinstance(op, table.TableOp)]
    taken = [identifier(op.sym_name.data) for op in functions]
    taken += [identifier(op.sym_name.data) for op in arrays]
    takers = [op for op in module.ops if isinstance(op, queue.TakerOp)]
    taken += [identifier(op.sym_name.data) for op in takers]
    taken += [name for op in tables for name in table_names(op)]
    calls = {op.callee.root_reference.data for op in module.walk() if isinstance(op, func.CallOp)}
    includes = {file for start, file in HEADERS.items() if any(name.startswith(start) for name in calls)}
    if any(uses_math(op) for op in module.walk()):
        includes.add(MATH_HEADER)
    parts = [comment(banner), "\n".join(f'#include "{file}"' for file in (include, *sorted(includes)))]
    if calls:
        parts.append(TRY.rstrip("\n"))
    parts += [_taker(op) for op in takers]
    parts += ["\n".join(_global(op)) for op in arrays]
    parts += ["\n".join(table_lines(op)) for op in tables]
    parts += ["\n".join(_Function(op, taken, restrict=restrict).lines) for op in functions]
    return "\n\n".join(parts) + "\n"


def header(module: ModuleOp, banner: str, guard: str, include: str, *, restrict: bool = False) -> str:
    """The header of the same module: its prototypes, after `include` (``<stdint.h>``, ``"axiloom.h"``)."""
    functions = [op for op in module.ops if isinstance(op, func.FuncOp) and not op.is_declaration]
    shown = (op for op in functions if PART not in op.attributes)
    prototypes = [f"{prototype(op, restrict=restrict)};" for op in shown]
    head = f"{comment(banner)}\n#ifndef {guard}\n#define {guard}\n\n#include {include}"
    return "\n\n".join([head, *prototypes, "#endif"]) + "\n"
