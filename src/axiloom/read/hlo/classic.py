"""HLO's own text, as XLA prints it, to functions of statements with StableHLO's names.

Layouts (``{1,0}``) are how a compiler stores values, not what they are: only ``bitcast`` reads them. Passed
over are ``metadata``, ``backend_config``, ``frontend_attributes`` and ``operand_precision``. Everything else
that an operation does not know is refused.
"""

from __future__ import annotations

import re
from typing import Any

from axiloom.graph.graph import GraphError, Type
from axiloom.graph.numbers import Array
from axiloom.read.hlo.lexer import Tokens
from axiloom.read.hlo.literals import nested
from axiloom.read.hlo.program import Function, Module, Statement

_PATTERN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<shape>[a-z]\w*\[[^\]\n]*\](?:\{[^{}\n]*\})?)
    |(?P<labels>[bf?\d]+_[io?\d]+->[bf?\d]+)
    |(?P<sizes>-?\d+(?:_-?\d+)*(?:x-?\d+(?:_-?\d+)*)+|-?\d+(?:_-?\d+)+)
    |(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))
    |(?P<arrow>->)
    |(?P<left_out>\.\.\.)
    |(?P<word>%?[A-Za-z_][\w.\-]*)
    |(?P<mark>[()\[\]{}<>:,=;*?-])
    """,
    re.VERBOSE | re.DOTALL,
)
NUMBERS = {
    "f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "pred": "bool", "s8": "int8",
    "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32",
    "u64": "uint64",
}  # fmt: skip
_PASSED = ("metadata", "backend_config", "frontend_attributes", "operand_precision")
_CALLS = ("to_apply", "calls", "body", "condition")
_DEEPEST = 64
_NAMES = {
    "dot": "dot_general", "broadcast": "broadcast_in_dim", "reduce-window": "reduce_window",
    "get-tuple-element": "get_tuple_element", "shift-left": "shift_left", "custom-call": "custom_call",
    "shift-right-arithmetic": "shift_right_arithmetic", "shift-right-logical": "shift_right_logical",
    "dynamic-slice": "dynamic_slice", "opt-barrier": "optimization_barrier",
}  # fmt: skip
_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")


def parse(text: str, name: str, entry: str | None = None) -> Module:
    """Raises ReadError. `entry`: the computation, else the one marked ENTRY."""
    tokens = Tokens(name, _without_tables(text), _PATTERN)
    functions: dict[str, Function] = {}
    marked: str | None = None
    if tokens.take("HloModule"):
        _skip_header(tokens)
    while tokens.kind != "end":
        first = tokens.take("ENTRY")
        function = _function(tokens)
        if function.name in functions:
            raise tokens.error(f"computation {function.name} twice")
        functions[function.name] = function
        marked = function.name if first else marked
    wanted = entry or marked
    if wanted not in functions:
        there = ", ".join(functions) or "none"
        raise tokens.error(f"no computation {wanted or 'marked ENTRY'}: there are {there}")
    return Module(functions, wanted)


def _without_tables(text: str) -> str:
    """Compiled modules carry tables of source places before the computations; their lines become empty."""
    lines, inside = text.split("\n"), False
    for i, line in enumerate(lines):
        inside = line.strip() in _TABLES or (inside and bool(line.strip()))
        if inside:
            lines[i] = ""
    return "\n".join(lines)


def _skip_header(tokens: Tokens) -> None:
    """The module's name and attributes, to the end of the line."""
    line = tokens.line
    while tokens.kind != "end" and tokens.line == line:
        tokens.next()


def _function(tokens: Tokens) -> Function:
    line = tokens.line
    function = Function(tokens.of("word", "a computation's name").lstrip("%"), line=line)
    if tokens.peek == "(":
        tokens.skip_balanced("(", ")")
        tokens.need("->")
        _types(tokens, 0)
    tokens.need("{")
    parameters: dict[int, tuple[str, Type]] = {}
    layouts: dict[str, tuple[int, ...] | None] = {}
    root = ""
    while not tokens.take("}"):
        marked = tokens.take("ROOT")
        statement = _statement(tokens)
        layouts[statement.result] = statement.layout
        statement.stored = tuple(layouts.get(operand) for operand in statement.operands)
        root = root if root and not marked else statement.result
        if marked:
            function.results = (statement.result,)
        elif not function.results:
            root = statement.result  # without a mark, the last instruction is the root
        if statement.op == "parameter":
            _parameter(tokens, statement, parameters)
        else:
            function.statements.append(statement)
        tokens.take(";")
    if sorted(parameters) != list(range(len(parameters))):
        raise tokens.error(f"{function.name} has the parameters {sorted(parameters)}: 0, 1, ... are needed")
    function.parameters = [parameters[i] for i in range(len(parameters))]
    function.results = function.results or (root,)
    return function


def _parameter(tokens: Tokens, statement: Statement, parameters: dict[int, tuple[str, Type]]) -> None:
    number = statement.attributes["number"]
    if number in parameters:
        raise tokens.error(f"parameter {number} twice")
    if len(statement.types) != 1 or statement.attributes.get("tuple"):
        raise tokens.error("a parameter that is a tuple is not read")
    parameters[number] = (statement.result, statement.types[0])


def _statement(tokens: Tokens) -> Statement:
    line = tokens.line
    name = tokens.of("word", "an instruction").lstrip("%")
    tokens.need("=")
    layout = _layout(tokens.peek)
    types = _types(tokens, 0)
    op = tokens.of("word", "an operation")
    statement = Statement(line, _NAMES.get(op, op), (), {}, types, name, layout=layout)
    tokens.need("(")
    if op == "constant":
        statement.literal = _literal(tokens, types, line)
    elif op == "parameter":
        statement.attributes["number"] = tokens.integer()
        tokens.need(")")
    else:
        statement.operands = _operands(tokens)
    while tokens.take(","):
        _attribute(tokens, statement)
    return statement


def _types(tokens: Tokens, depth: int) -> tuple[Type, ...]:
    """A shape, or those of a tuple."""
    if not tokens.take("("):
        return (_type(tokens),)
    if depth > _DEEPEST:
        raise tokens.error(f"tuples more than {_DEEPEST} deep")
    types: list[Type] = []
    while not tokens.take(")"):
        types += _types(tokens, depth + 1)
        tokens.take(",")
    return tuple(types)


def _type(tokens: Tokens) -> Type:
    text = tokens.of("shape", "a shape such as f32[4,8]")
    of, sizes = text.split("[", 1)
    sizes = sizes.split("]")[0].replace(" ", "")
    parts = sizes.split(",") if sizes else []
    if not all(re.fullmatch(r"\d{1,12}", part) for part in parts) or len(parts) > 32:
        raise tokens.wrong(f"{text[:40]}: sizes must be known numbers")
    if of not in NUMBERS:
        raise tokens.wrong(f"{text[:40]}: numbers are {', '.join(NUMBERS)}")
    return Type(tuple(map(int, parts)), NUMBERS[of])


def _layout(text: str) -> tuple[int, ...] | None:
    """``f32[4,8]{1,0}``; a layout in tiles is not plain."""
    if re.fullmatch(r"[a-z]\w*\[\]", text):
        return ()
    match = re.fullmatch(r"[a-z]\w*\[[^\]]*\]\{([\d,]*)\}", text)
    return tuple(int(dimension) for dimension in match[1].split(",") if dimension) if match else None


def _operands(tokens: Tokens) -> tuple[str, ...]:
    """Names; older texts put each one's shape before it."""
    names: list[str] = []
    while not tokens.take(")"):
        if tokens.kind == "shape":
            tokens.next()
        names.append(tokens.of("word", "an operand").lstrip("%"))
        if tokens.peek != ")":
            tokens.need(",")
    return tuple(names)


def _literal(tokens: Tokens, types: tuple[Type, ...], line: int) -> Array:
    start = tokens.starts[tokens.at]
    depth = 1
    while depth:
        token = tokens.next()
        depth += (token == "(") - (token == ")")
    content = re.sub(r"/\*.*?\*/", " ", tokens.text[start : tokens.starts[tokens.at - 1]])
    if "..." in content:
        raise tokens.error("the constant's contents are left out: print large constants", line)
    try:
        return nested(content, types[0])
    except GraphError as error:
        raise tokens.error(str(error), line) from None


def _attribute(tokens: Tokens, statement: Statement) -> None:
    name = tokens.of("word", "an attribute")
    tokens.need("=")
    value = tokens.next().lstrip("%") if name in _CALLS else _value(tokens, name, 0)
    if name in statement.attributes:
        raise tokens.error(f"{name} twice")
    if name not in _PASSED:
        statement.attributes[name] = value


def _value(tokens: Tokens, name: str, depth: int) -> Any:
    if depth > _DEEPEST:
        raise tokens.error(f"attributes more than {_DEEPEST} deep")
    if name in _PASSED and tokens.peek == "{":
        tokens.skip_balanced("{", "}")
        return None
    if name == "window":
        return _window(tokens)
    if tokens.peek == "{":
        return _braces(tokens, depth)
    if tokens.peek == "[":
        return _range(tokens)
    text = tokens.next()
    if re.fullmatch(r"-?\d{1,18}", text):
        return int(text)
    return {"true": True, "false": False}.get(text, text.strip('"'))


def _braces(tokens: Tokens, depth: int) -> list[Any]:
    tokens.need("{")
    values: list[Any] = []
    while not tokens.take("}"):
        values.append(_value(tokens, "", depth + 1))
        if tokens.peek != "}":
            tokens.need(",")
    return values


def _range(tokens: Tokens) -> tuple[int, ...]:
    """``[1:4:2]``"""
    tokens.need("[")
    bounds = [tokens.integer()]
    while tokens.take(":"):
        bounds.append(tokens.integer())
    tokens.need("]")
    return tuple(bounds)


def _window(tokens: Tokens) -> dict[str, str]:
    """``{size=3x3 stride=2x2 pad=1_1x0_2}``"""
    tokens.need("{")
    parts: dict[str, str] = {}
    while not tokens.take("}"):
        name = tokens.of("word", "a part of the window")
        tokens.need("=")
        if name in parts:
            raise tokens.error(f"{name} twice")
        parts[name] = tokens.next()
    return parts
