"""StableHLO's text, as ``jax.jit(f).lower(...).as_text()`` prints it, to functions of statements.

Pretty and generic forms are read alike: operands, attributes, words and types are collected, and the rules
take what belongs to an operation and refuse the rest. Locations and attributes of functions are passed over:
they do not change what is computed.
"""

from __future__ import annotations

import re
from typing import Any

from axiloom.graph.graph import GraphError, Type
from axiloom.graph.numbers import Array
from axiloom.read.hlo.attributes import DEEPEST, attribute, listed, pairs, signature, tensor, types
from axiloom.read.hlo.lexer import Tokens
from axiloom.read.hlo.literals import dense
from axiloom.read.hlo.program import Function, Module, Statement

_PATTERN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*)
    |(?P<type>tensor<[^<>]*>)
    |(?P<dense>dense<[^>]*>)
    |(?P<array>array<[^>]*>)
    |(?P<resource>dense_resource<[^>]*>)
    |(?P<opaque>[#!][\w.]+(?:<(?:->|[^<>]|<[^<>]*>)*>)?)
    |(?P<value>%[\w.$-]+(?:\#\d+)?(?::\d+)?)
    |(?P<symbol>@(?:[\w.$-]+|"[^"\n]*"))
    |(?P<block>\^\w+)
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<number>-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?))
    |(?P<arrow>->)
    |(?P<word>[A-Za-z_][\w.$]*)
    |(?P<mark>[()\[\]{}<>:,=*+?-])
    """,
    re.VERBOSE,
)
_PREFIXES = ("stablehlo.", "mhlo.", "chlo.", "func.")
_RETURNS = ("return", "stablehlo.return", "mhlo.return", "func.return")


def parse(text: str, name: str, entry: str | None = None) -> Module:
    """Raises ReadError. `entry`: the function, else ``main`` or the only public one."""
    tokens = Tokens(name, text, _PATTERN)
    functions: dict[str, Function] = {}
    public: list[str] = []
    while tokens.kind != "end":
        if tokens.kind == "opaque":
            _skip_alias(tokens)
        elif tokens.take("module"):
            _skip_to_body(tokens)
        elif tokens.peek == "func.func":
            function, shown = _function(tokens)
            if function.name in functions:
                raise tokens.error(f"function @{function.name} twice")
            functions[function.name] = function
            public += [function.name] * shown
        elif tokens.peek == "}":
            tokens.next()
            _location(tokens)
        else:
            raise tokens.error(f"`{tokens.peek[:40]}`: a module or func.func is needed")
    wanted = entry or ("main" if "main" in functions else public[0] if len(public) == 1 else None)
    if wanted not in functions:
        there = ", ".join(functions) or "none"
        raise tokens.error(f"no function {wanted or 'main'}: there are {there}")
    return Module(functions, wanted)


def _skip_alias(tokens: Tokens) -> None:
    """``#loc1 = loc("file":1:2)``"""
    tokens.next()
    tokens.need("=")
    if not tokens.take("loc"):
        raise tokens.error("an alias of something else than a location is not read")
    tokens.skip_balanced("(", ")")


def _location(tokens: Tokens) -> None:
    if tokens.peek == "loc" and tokens.texts[tokens.at + 1] == "(":
        tokens.next()
        tokens.skip_balanced("(", ")")


def _skip_to_body(tokens: Tokens) -> None:
    if tokens.kind == "symbol":
        tokens.next()
    if tokens.take("attributes"):
        tokens.skip_balanced("{", "}")
    tokens.need("{")


def _function(tokens: Tokens) -> tuple[Function, bool]:
    tokens.need("func.func")
    private = tokens.take("private")
    if not private:
        tokens.take("public")
    line = tokens.line
    function = Function(tokens.of("symbol", "a function's name")[1:].strip('"'), line=line)
    tokens.need("(")
    while not tokens.take(")"):
        function.parameters.append(_argument(tokens))
        tokens.take(",")
    if tokens.take("->") and not tokens.take("("):
        tensor(tokens)
    else:
        while tokens.texts[tokens.at - 1] not in (")",):
            tensor(tokens)
            if tokens.peek == "{":
                tokens.skip_balanced("{", "}")
            if not tokens.take(","):
                tokens.need(")")
    if tokens.take("attributes"):
        tokens.skip_balanced("{", "}")
    tokens.need("{")
    _body(tokens, function, 0)
    _location(tokens)
    return function, not private


def _argument(tokens: Tokens) -> tuple[str, Type]:
    name = tokens.of("value", "an argument")
    tokens.need(":")
    type_ = tensor(tokens)
    if tokens.peek == "{":
        tokens.skip_balanced("{", "}")
    _location(tokens)
    return name, type_


def _body(tokens: Tokens, function: Function, depth: int) -> None:
    """Statements up to and with the closing brace."""
    if depth > DEEPEST:
        raise tokens.error(f"regions more than {DEEPEST} deep")
    while not tokens.take("}"):
        if tokens.peek in _RETURNS or tokens.peek.strip('"') in _RETURNS:
            function.results = _returned(tokens)
            continue
        if function.results:
            raise tokens.error("a statement behind the return")
        function.statements.append(_statement(tokens, depth))


def _returned(tokens: Tokens) -> tuple[str, ...]:
    tokens.next()
    bracketed = tokens.take("(")
    names = []
    while tokens.kind == "value":
        names.append(tokens.next())
        tokens.take(",")
    if bracketed:
        tokens.need(")")
    if tokens.take(":"):
        types(tokens)
    _location(tokens)
    return tuple(names)


def _statement(tokens: Tokens, depth: int) -> Statement:
    line = tokens.line
    name = tokens.of("value", "a result") if tokens.kind == "value" else ""
    if name:
        tokens.need("=")
    quoted = tokens.kind == "string"
    op = tokens.next().strip('"') if quoted else tokens.of("word", "an operation")
    base = name.split(":")[0]
    parts = _Parts()
    while not (tokens.peek == ":" and tokens.kind == "mark"):
        _part(tokens, parts, depth)
    tokens.need(":")
    takes, results = signature(tokens)
    # ``reduce`` has its body behind its types.
    if tokens.take("reducer"):
        parts.regions.append(_reducer(tokens, depth))
    _location(tokens)
    for prefix in _PREFIXES:
        op = op.removeprefix(prefix)
    literal = _literal(tokens, op, parts, results, line)
    return Statement(
        line, op, tuple(parts.operands), parts.attributes, results, base, takes, tuple(parts.regions), literal
    )


class _Parts:
    def __init__(self) -> None:
        self.operands: list[str] = []
        self.attributes: dict[str, Any] = {}
        self.regions: list[Function] = []
        self.words = 0

    def set(self, tokens: Tokens, name: str, value: Any) -> None:
        if name in self.attributes:
            raise tokens.error(f"{name} twice")
        self.attributes[name] = value


def _part(tokens: Tokens, parts: _Parts, depth: int) -> None:
    """One operand, attribute, word or region."""
    if tokens.take(",") or tokens.take("(") or tokens.take(")"):
        if tokens.texts[tokens.at - 1] == "(" and tokens.peek == "{":
            tokens.next()
            _regions(tokens, parts, depth)
        return
    if tokens.kind == "value":
        parts.operands.append(tokens.next())
        return
    if tokens.take("init"):
        tokens.need(":")
        return
    if tokens.take("<"):
        _dictionary(tokens, parts, depth)
        tokens.need(">")
        return
    if tokens.peek == "{":
        _dictionary(tokens, parts, depth)
        return
    if tokens.peek == "[":
        parts.set(tokens, "ranges", listed(tokens, depth))
        return
    if tokens.kind == "resource":
        raise tokens.error("a constant must be dense<...>: contents elsewhere are not read")
    if tokens.kind in ("dense", "symbol"):
        parts.set(tokens, tokens.kind, tokens.next())
        return
    _named(tokens, parts, depth)


def _named(tokens: Tokens, parts: _Parts, depth: int) -> None:
    """``dims = [0]``, ``applies stablehlo.add``, ``across dimensions = [1]``, ``LT``."""
    word = tokens.of("word", "an operand or attribute")
    if word == "across":
        return
    if word == "applies":
        applied = tokens.of("word", "an operation")
        parts.set(tokens, "applies", applied.removeprefix("stablehlo.").removeprefix("mhlo."))
        return
    if tokens.take("="):
        parts.set(tokens, word, attribute(tokens, depth))
        return
    parts.set(tokens, f"word{parts.words}", word)
    parts.words += 1


def _dictionary(tokens: Tokens, parts: _Parts, depth: int) -> None:
    for name, value in pairs(tokens, depth).items():
        parts.set(tokens, name, value)


def _regions(tokens: Tokens, parts: _Parts, depth: int) -> None:
    """``({ ^bb0(%a: T): ... })``, the first brace passed."""
    while True:
        parts.regions.append(_block(tokens, depth))
        if not tokens.take(","):
            break
        tokens.need("{")
    tokens.need(")")


def _block(tokens: Tokens, depth: int) -> Function:
    function = Function("region", line=tokens.line)
    if tokens.kind == "block":
        tokens.next()
        tokens.need("(")
        while not tokens.take(")"):
            function.parameters.append(_argument(tokens))
            tokens.take(",")
        tokens.need(":")
    _body(tokens, function, depth + 1)
    return function


def _reducer(tokens: Tokens, depth: int) -> Function:
    """``(%a: T, %b: T) (...) { ... }``: a pair for each operand. First ones come first."""
    pairs: list[list[tuple[str, Type]]] = []
    line = tokens.line
    while tokens.take("("):
        pairs.append([])
        while not tokens.take(")"):
            pairs[-1].append(_argument(tokens))
            tokens.take(",")
    if any(len(pair) != 2 for pair in pairs):
        raise tokens.error("a reducer of two arguments an operand is needed")
    function = Function("reducer", [pair[i] for i in (0, 1) for pair in pairs], line=line)
    tokens.need("{")
    _body(tokens, function, depth + 1)
    return function


def _literal(tokens: Tokens, op: str, parts: _Parts, results: tuple[Type, ...], line: int) -> Array | None:
    if op != "constant":
        return None
    contents = parts.attributes.pop("dense", None)
    if contents is None:
        raise tokens.error("a constant must be dense<...>: contents elsewhere are not read", line)
    try:
        return dense(contents[6:-1], results[0])
    except GraphError as error:
        raise tokens.error(str(error), line) from None
