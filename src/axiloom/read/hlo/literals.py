"""Contents of constants: numbers, hexadecimal bits, nested lists."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from axiloom.graph.graph import GraphError, Type
from axiloom.graph.numbers import Array, Number, number

MOST_ELEMENTS = 1 << 26
_BRACKETS = str.maketrans("[]{}", "    ")
_WORDS = {"true": "1", "false": "0"}


def dense(content: str, type_: Type) -> Array:
    """What stands within ``dense<...>``: a number everywhere, nested lists, or bytes as hex digits. Raises
    GraphError."""
    of, content = _limited(type_), content.strip()
    if content.startswith('"'):
        return _bytes(content.strip('"'), type_, of)
    if not content.startswith("["):
        if not content and not type_.elements:
            return np.zeros(type_.shape, of.host)
        return np.full(type_.shape, _numbers([content], of)[0])
    return nested(content, type_)


def nested(content: str, type_: Type) -> Array:
    """Lists in lists, in ``[]`` or ``{}``, whose lengths must be those of the type. Raises GraphError."""
    of = _limited(type_)
    items = content.translate(_BRACKETS).replace(",", " ").split()
    if len(items) != type_.elements:
        raise GraphError(f"a constant of {len(items)} numbers where {type_} has {type_.elements}")
    _check_shape(content.replace("{", "[").replace("}", "]"), type_)
    return _numbers(items, of).reshape(type_.shape)


def _check_shape(content: str, type_: Type) -> None:
    """How many lists of each depth there are says the shape."""
    counts = [0] * (len(type_.shape) + 1)
    depth = 0
    for bracket in re.findall(r"[\[\]]", content):
        depth += 1 if bracket == "[" else -1
        if depth > len(type_.shape) or depth < 0:
            raise GraphError(f"a constant whose lists do not nest as {type_} does")
        if bracket == "[":
            counts[depth] += 1
    wanted, lists = [], 1
    for size in type_.shape:
        wanted.append(lists)
        lists *= size
    if depth or counts[1:] != wanted:
        raise GraphError(f"a constant whose lists are not those of {type_}")


def _limited(type_: Type) -> Number:
    if type_.elements > MOST_ELEMENTS:
        raise GraphError(f"a constant of {type_.elements} elements; at most {MOST_ELEMENTS} are read")
    return number(type_.number)


def _numbers(items: Sequence[str], of: Number) -> Array:
    """Raw host values of numbers' texts; ``0x`` are their bits."""
    if any(item.startswith(("0x", "-0x")) for item in items):
        return np.array(
            [_bits(item, of) if item.startswith("0x") else of.parse(item) for item in items], of.host
        )
    words = [_WORDS.get(item, item) for item in items]
    try:
        if of.kind == "float":
            return of.encode(np.array(words, np.float64))
        values = np.array(list(map(int, words)), dtype=object)
    except (ValueError, OverflowError):
        bad = next(
            (item for item in items if not re.fullmatch(r"[-+\d.eE]+|[-+]?(inf|nan)|true|false", item)),
            items[0],
        )
        raise GraphError(f"`{bad[:40]}` is no {of}") from None
    return _integers(values, of)


def _integers(values: Array, of: Number) -> Array:
    """Within the range; a text may give the bits of a negative number without its sign (``255`` for int8)."""
    if not values.size:
        return values.astype(of.host)
    low, high = min(values), max(values)
    if of.kind == "bool":
        fits = low >= 0 and high <= 1
    else:
        fits = low >= int(np.iinfo(of.host).min) and high <= int(np.iinfo(of.host).max)
    if not fits:
        raise GraphError(f"{low if low < 0 else high} is no {of}")
    return values.astype(of.host)


def _bits(item: str, of: Number) -> Array:
    digits = item[2:]
    if not re.fullmatch(r"[0-9A-Fa-f]+", digits) or len(digits) * 4 > max(of.bits, 8):
        raise GraphError(f"`{item[:40]}` is no {of} of {of.bits} bits")
    raw = np.array(int(digits, 16), f"uint{of.host.itemsize * 8}")
    return raw.view(of.host) if of.kind != "bool" else np.array(bool(raw))


def _bytes(digits: str, type_: Type, of: Number) -> Array:
    """Little endian, one element after the other; a single element is meant everywhere."""
    if not digits.startswith("0x") or len(digits) % 2 or not re.fullmatch(r"[0-9A-Fa-f]*", digits[2:]):
        raise GraphError(f'a constant "{digits[:20]}": a string of hexadecimal bytes is needed')
    raw = bytes.fromhex(digits[2:])
    if of.kind == "bool":
        raise GraphError("a bool constant in hexadecimal bytes: write its values")
    values = (
        np.frombuffer(raw, of.host.newbyteorder("<")).astype(of.host)
        if len(raw) % of.host.itemsize == 0
        else None
    )
    if values is None or values.size not in (1, type_.elements):
        raise GraphError(f"a constant of {len(raw)} bytes where {type_} has {type_.elements} elements")
    return np.full(type_.shape, values[0]) if values.size == 1 else values.reshape(type_.shape)
