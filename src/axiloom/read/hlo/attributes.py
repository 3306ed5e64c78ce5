"""Attributes and types of StableHLO's text."""

from __future__ import annotations

import re
from typing import Any

from axiloom.graph.graph import GraphError, Type
from axiloom.read.hlo.lexer import Tokens
from axiloom.read.hlo.literals import dense

NUMBERS = {
    "f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i1": "bool", "i8": "int8",
    "i16": "int16", "i32": "int32", "i64": "int64", "ui8": "uint8", "ui16": "uint16", "ui32": "uint32",
    "ui64": "uint64",
}  # fmt: skip
DEEPEST = 64


def pairs(tokens: Tokens, depth: int) -> dict[str, Any]:
    tokens.need("{")
    entries: dict[str, Any] = {}
    while not tokens.take("}"):
        name = tokens.next().strip('"')
        if name in entries:
            raise tokens.error(f"{name} twice")
        entries[name] = attribute(tokens, depth + 1) if tokens.take("=") else True
        if tokens.peek != "}":
            tokens.need(",")
    return entries


def attribute(tokens: Tokens, depth: int) -> Any:
    if depth > DEEPEST:
        raise tokens.error(f"attributes more than {DEEPEST} deep")
    if tokens.peek == "{":
        return pairs(tokens, depth)
    if tokens.peek == "[":
        return _joined(tokens, depth)
    if tokens.kind == "array":
        return _array(tokens)
    if tokens.kind == "dense":
        return _dense_attribute(tokens)
    if tokens.take("<"):
        raise tokens.error("an attribute in angle brackets is not read")
    text = tokens.next()
    value: Any = text
    if re.fullmatch(r"-?\d+", text):
        value = int(text)
    elif text in ("true", "false"):
        value = text == "true"
    if tokens.peek == ":" and tokens.texts[tokens.at + 1] in ("i64", "i32", "i1", "f32", "f64"):
        tokens.at += 2
    return value


def _joined(tokens: Tokens, depth: int) -> Any:
    """A list; lists with ``x`` and ``->`` between them are a tuple."""
    lists = [listed(tokens, depth)]
    while (tokens.peek == "x" and tokens.texts[tokens.at + 1] == "[") or tokens.peek == "->":
        tokens.next()
        lists.append(listed(tokens, depth))
    return lists[0] if len(lists) == 1 else tuple(lists)


def listed(tokens: Tokens, depth: int) -> list[Any]:
    """Of values, or of ranges such as ``1:4:2``, which become tuples."""
    tokens.need("[")
    values: list[Any] = []
    while not tokens.take("]"):
        value = attribute(tokens, depth + 1)
        steps = [value]
        while tokens.take(":"):
            steps.append(tokens.integer())
        values.append(tuple(steps) if len(steps) > 1 else value)
        if tokens.peek != "]":
            tokens.need(",")
    return values


def _array(tokens: Tokens) -> list[Any]:
    """``array<i64: 1, 2>``"""
    text = tokens.next()[6:-1]
    kind, _, items = text.partition(":")
    if kind.strip() not in ("i64", "i32", "i1"):
        raise tokens.error(f"an array of {kind.strip()[:20]}")
    parts = [part.strip() for part in items.split(",") if part.strip()]
    if not all(re.fullmatch(r"-?\d{1,18}|true|false", part) for part in parts):
        raise tokens.error(f"`{items[:40]}` are no integers")
    return [part == "true" if part in ("true", "false") else int(part) for part in parts]


def _dense_attribute(tokens: Tokens) -> Any:
    """``dense<[[0, 1]]> : tensor<1x2xi64>`` as nested lists."""
    text = tokens.next()[6:-1]
    tokens.need(":")
    type_ = tensor(tokens)
    try:
        return dense(text, type_).tolist()
    except GraphError as error:
        raise tokens.error(str(error)) from None


def signature(tokens: Tokens) -> tuple[tuple[Type, ...] | None, tuple[Type, ...]]:
    """``T``, ``T, U`` (operands; the result's last), ``(T, U) -> V``, ``T -> U``."""
    if tokens.peek == "(":
        operands = _bracketed(tokens)
        tokens.need("->")
        return operands, _bracketed(tokens) if tokens.peek == "(" else (tensor(tokens),)
    written = types(tokens)
    if tokens.take("->"):
        return None, (tensor(tokens),)
    return None, written[-1:]


def _bracketed(tokens: Tokens) -> tuple[Type, ...]:
    tokens.need("(")
    inside = () if tokens.peek == ")" else types(tokens)
    tokens.need(")")
    return inside


def types(tokens: Tokens) -> tuple[Type, ...]:
    tensors = [tensor(tokens)]
    while tokens.take(","):
        tensors.append(tensor(tokens))
    return tuple(tensors)


def tensor(tokens: Tokens) -> Type:
    text = tokens.of("type", "a tensor's type")[7:-1]
    *sizes, of = text.replace(" ", "").split("x")
    if not all(re.fullmatch(r"\d{1,12}", size) for size in sizes) or len(sizes) > 32:
        raise tokens.wrong(f"tensor<{text[:40]}>: sizes must be known numbers")
    if of not in NUMBERS:
        raise tokens.wrong(f"tensor<{text[:40]}>: numbers are {', '.join(NUMBERS)}")
    return Type(tuple(map(int, sizes)), NUMBERS[of])
