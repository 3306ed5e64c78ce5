"""Reading MLIR: the context with our dialect, a parser that keeps locations, and errors that name them."""

from __future__ import annotations

import re
from math import isinf
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects import arith, func, get_all_dialects
from xdsl.dialects.builtin import (
    Builtin,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FileLineColLoc,
    IntAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    NameLoc,
    StringAttr,
    TensorType,
    UnknownLoc,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Block, Dialect, Operation, SSAValue
from xdsl.parser import ParserState
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Position, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind

from axiloom.base.errors import CompileError
from axiloom.drivergen.dialects import others, sound
from axiloom.drivergen.dialects.accel import Accel
from axiloom.drivergen.dialects.named import linalg_dialect
from axiloom.drivergen.dialects.old_forms import OldFormsParser

ALIGNMENT_BYTES = 4
"""In front of the data: their alignment."""


def builtin_dialect() -> Dialect:
    """xDSL's, with resources of its own: those of xDSL are those of all texts that were ever parsed."""
    return Dialect("builtin", list(Builtin.operations), list(Builtin.attributes), [OpAsmDialectInterface()])


def dense(op: Operation, ctx: Context) -> str | None:
    """Give a constant its data from the resources that `ctx` has read; what is wrong, if it cannot."""
    if not isinstance(op, arith.ConstantOp) or not isinstance(op.value, DenseResourceAttr):
        return None
    name, kind = op.value.resource_handle.data, op.value.type
    storage = ctx.get_dialect("builtin").get_interface(OpAsmDialectInterface)
    blob = storage.lookup(name) if storage is not None else None
    if not blob:
        return f"there are no data for the resource {name}"
    if not isinstance(kind, TensorType) or kind.element_type == IntegerType(1):
        return f"resources of {kind} are not supported; accepted are tensors of i8 to i64, f32 and f64"
    data = bytes.fromhex(blob.removeprefix("0x"))[ALIGNMENT_BYTES:]
    wanted = kind.element_type.compile_time_size
    for size in kind.get_shape():
        wanted *= size
    if len(data) != wanted:
        return f"the resource {name} has {len(data)} bytes, {kind} has {wanted}"
    op.properties["value"] = DenseIntOrFPElementsAttr(kind, BytesAttr(data))
    return None


def resolve(module: ModuleOp, ctx: Context) -> tuple[Operation, str] | None:
    """All constants of `module`; the first that has no data, and why."""
    for op in module.walk():
        if (fault := dense(op, ctx)) is not None:
            return op, fault
    return None


MOST_DIGITS = 80
"""Of an integer: more than a type of any use has. Python itself stops at 4,300."""


class GuardedLexer(MLIRLexer):
    """Ends on every text, in a time that grows with its length; every fault is a ParseError."""

    # xDSL's own repeats a repetition: on a string without an end it tries all ways to cut it into pieces.
    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')
    _string_so_far = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+')

    def lex(self) -> MLIRToken:
        try:
            return super().lex()
        except ParseError as error:
            if not error.msg.startswith("Unexpected character"):
                raise
            character = ascii(error.span.text)  # a control character must not reach the terminal
            raise ParseError(error.span, f"Unexpected character: {character}") from None

    def _lex_string_literal(self, start_pos: Position) -> MLIRToken:
        if self._unescaped_characters_regex.match(self.input.content, start_pos) is None:
            begun = self._string_so_far.match(self.input.content, start_pos)
            stop = begun.end() if begun else start_pos
            if self.input.at(stop) == "\\":
                escapes = r"\n, \t, \\, \" and two hexadecimal digits"
                raise ParseError(Span(stop, stop + 1, self.input), f"unknown escape; accepted are {escapes}")
            raise ParseError(Span(start_pos, stop, self.input), "the string does not end on its line")
        return super()._lex_string_literal(start_pos)

    def _lex_number(self, start_pos: Position) -> MLIRToken:
        if not "0" <= self.input.content[start_pos] <= "9":
            raise ParseError(Span(start_pos, start_pos + 1, self.input), "Unexpected character")
        token = super()._lex_number(start_pos)
        if token.kind is MLIRTokenKind.INTEGER_LIT and len(token.text) > MOST_DIGITS:
            raise ParseError(token.span, f"an integer of {len(token.text)} digits; at most {MOST_DIGITS}")
        if token.kind is MLIRTokenKind.FLOAT_LIT and isinf(float(token.text)):
            raise ParseError(token.span, "the number is larger than any float")
        return token


def register_dialects(ctx: Context) -> None:
    """All of xDSL's dialects with our linalg ops, and `accel`."""
    ours = {"linalg": linalg_dialect, "builtin": builtin_dialect}
    for name, dialect in {**get_all_dialects(), **ours}.items():
        ctx.register_dialect(name, dialect)
    ctx.register_dialect("accel", lambda: Accel)


def context() -> Context:
    """One that knows these dialects."""
    ctx = Context()
    register_dialects(ctx)
    return ctx


DEEPEST = 64
"""Ops inside each other: parser and passes recurse, and Python allows about twice as many."""


class LocatedParser(OldFormsParser):
    """xDSL's parser, with the place of each op in the text as its location where the text gives none.

    Whatever it cannot read is a ParseError with a place: xDSL's custom parsers raise all sorts of things.
    """

    def __init__(self, ctx: Context, text: str, name: str) -> None:
        super().__init__(ctx, "", name)
        self._parser_state = ParserState(GuardedLexer(Input(text, name)))
        self._depth = 0

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        try:
            return super().parse_module(allow_implicit_module)
        except ParseError:
            raise
        except Exception as error:
            raise ParseError(self._current_token.span, _unreadable(error)) from error

    def parse_operation(self) -> Operation:
        span = self._current_token.span
        if self._depth == DEEPEST:
            raise ParseError(span, f"more than {DEEPEST} ops inside each other")
        self._depth += 1
        try:
            op = super().parse_operation()
        except ParseError as error:
            if error.msg.endswith("is not registered") and error.__cause__ is None:
                raise ParseError(span, error.msg) from error  # xDSL points at what comes behind the name
            raise
        except Exception as error:
            raise ParseError(span, self._unreadable_op(span, error)) from error
        finally:
            self._depth -= 1
        at = span.get_location()
        here = FileLineColLoc(StringAttr(at.file), IntAttr(at.line), IntAttr(at.col))
        if isinstance(op.location, UnknownLoc):
            op.location = here
        elif isinstance(op.location, NameLoc) and not isinstance(op.location.location, FileLineColLoc):
            op.location = NameLoc(op.location.desc, here)
        return op

    def _unreadable_op(self, span: Span[str], error: Exception) -> str:
        name, rest = _OP_NAME.match(self.lexer.input.content, span.start), _unreadable(error)
        if name is None:
            return rest
        if name[1].startswith("linalg.") and name[2] == "(":
            return f"{name[1]}: a form with (...) is read of linalg.fill alone; write ins(...) outs(...)"
        return f"{name[1]}: {rest}"


_OP_NAME = re.compile(r'(?:%[^=\n]*=\s*)?"?([A-Za-z_][\w.$]*)"?\s*(\(?)')
"""The name of an op in the text, behind its results, and the parenthesis behind it if there is one."""


def _unreadable(error: Exception) -> str:
    """What another exception than ParseError means, for whoever wrote the text."""
    if isinstance(error, RecursionError):
        return "too many things inside each other"
    if "set_int_max_str_digits" in str(error):
        return "an integer of too many digits"
    if isinstance(error, (AssertionError, IndexError, KeyError, AttributeError, TypeError)):
        return "it does not parse; is it in the form that MLIR prints?"  # their text is about xDSL's insides
    return f"it does not parse: {_one_line(str(error)) or type(error).__name__}"


def parse(text: str, name: str = "input.mlir") -> ModuleOp:
    """The verified module in `text`; raises CompileError with file, line and column."""
    ctx, file = context(), _FUNCTION.sub("", name)
    if not text.strip():
        raise CompileError(f"{file}: is empty; a function in MLIR is expected")
    others.refuse(text, file)
    try:
        module = LocatedParser(ctx, separated(text), file).parse_module()
    except ParseError as error:
        raise CompileError(explained(error)) from error
    verify(module, ctx)
    return module


_FUNCTION = re.compile(r"(?<=\.mlir):[^:/]*$")
"""Behind a file: which of its functions is meant. A place is in the file."""


def separated(text: str) -> str:
    """`text` as xDSL reads it, with every op at the same place."""
    text = _OLD_ALIAS.sub(lambda found: found[1] + " " * len(found[2]), text)
    text = _TYPED_POINTER.sub(lambda found: found[1] + " " * len(found[2]), text)
    return _SEVERAL_RESULTS.sub(r"\1 \2 ", text)


_OLD_ALIAS = re.compile(r"^(\s*![\w.$-]+\s*=\s*)(type\b)", re.MULTILINE)
"""``!name = type TYPE``, as it was written; today without the word."""
_TYPED_POINTER = re.compile(r"(!llvm\.ptr)(<[\w.]+>)")
"""Pointers had a type of what they point at."""


def explained(error: ParseError) -> str:
    """``file:line:column: what`` of xDSL's error, on one line."""
    at = error.span.get_location()
    return f"{at.file}:{at.line}:{at.col}: {_one_line(error.msg)}"


def verify(module: ModuleOp, ctx: Context) -> None:
    """Raise CompileError for the first op just read that cannot be; resources become constants."""
    try:
        if (found := resolve(module, ctx) or sound.fault(module)) is not None:
            fail(*found)
        for op in module.walk():
            _verify(op)
    except RecursionError:
        raise CompileError(f"{where(module)}: too many things inside each other") from None


def _verify(op: Operation) -> None:
    try:
        op.verify(verify_nested_ops=False)
    except RecursionError:
        raise
    except Exception as error:  # some verifiers raise more than VerifyException
        fail(op, f"does not verify: {_one_line(str(error)) or type(error).__name__}")


_SEVERAL_RESULTS = re.compile(r"^(\s*\} -> )\((tensor<[^()]*>)\)", re.MULTILINE)
"""Types of a `linalg.generic`'s results, in parentheses that xDSL does not expect; spaces keep columns."""


def _one_line(text: str) -> str:
    return "; ".join(line.strip() for line in text.strip().splitlines() if line.strip())


def where(op: Operation) -> str:
    """``file:line:column`` of an op, or of the nearest op around it that has a location.

    With the name behind it in parentheses where the text names the place: ``loc("conv1")``.
    """
    place: Operation | None = op
    while place is not None:
        named = place.location
        location: Attribute = named.location if isinstance(named, NameLoc) else named
        name = f" ({named.desc.data})" if isinstance(named, NameLoc) else ""
        if isinstance(location, FileLineColLoc):
            return f"{location.filename.data}:{location.line.data}:{location.column.data}{name}"
        place = place.parent_op()
    return "unknown place"


def fail(op: Operation, why: str, kind: type[CompileError] = CompileError) -> NoReturn:
    """Raise CompileError, of the `kind`, that names `op` and its place."""
    doc = op.doc if isinstance(op, linalg.GenericOp) else None
    name = doc.data if doc is not None and doc.data.startswith("linalg.") else op.name
    raise kind(f"{where(op)}: {name}: {why}")


def index(at: Operation | Block, value: int) -> SSAValue:
    """A constant of type index at the start of the function around `at`, where an equal one is used again."""
    around = at if isinstance(at, Operation) else at.parent_op()
    while around is not None and not isinstance(around, func.FuncOp):
        around = around.parent_op()
    assert around is not None, "constants live in functions"
    block = around.body.block
    wanted = IntegerAttr.from_index_int_value(value)
    first = block.first_op
    while isinstance(first, arith.ConstantOp):
        if first.value == wanted:
            return first.result
        first = first.next_op
    constant = arith.ConstantOp(wanted)
    constant.result.name_hint = f"c{value}"
    if first is None:
        block.add_op(constant)
    else:
        block.insert_op_before(constant, first)
    return constant.result


def only_function(module: ModuleOp, name: str) -> func.FuncOp:
    """The one function with a body in `module`; CompileError if there are none or several."""
    functions = [op for op in module.ops if isinstance(op, func.FuncOp) and not op.is_declaration]
    if len(functions) != 1:
        names = ", ".join(f.sym_name.data for f in functions) or "none"
        raise CompileError(f"{name}: exactly one func.func with a body is expected, found {names}")
    return functions[0]
