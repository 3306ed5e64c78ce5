"""Operators of programs as functions of C, bit for bit: each is a ``static inline`` of its formats.

Integers wrap by way of unsigned types. float32 flushes subnormal operands and results by hand, so that no
host's mode matters.
"""

from __future__ import annotations

import re

from axiloom.isa.numerics.formats import Format, Kind, format_of
from axiloom.nests.affine.operations import Meaning

HEADER = """\
#include <stdint.h>

typedef __int128 int128_t;
typedef unsigned __int128 uint128_t;
static inline float flushed(float x) { return __builtin_fabsf(x) < 0x1p-126f ? x * 0.0f : x; }
static inline float rounded(float x) { return x != x ? __builtin_nanf("") : flushed(x); }
"""
_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_BINARY = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}


def c_type(format: Format) -> str:
    if format.kind is Kind.FLOAT:
        return "float"
    return f"{'' if format.signed else 'u'}int{format.container}_t"


def function_name(what: Meaning) -> str:
    parts = [what.operator, *dict.fromkeys((*what.operands[-1:], what.number))]
    return re.sub(r"\W+", "_", "_".join(parts)).strip("_")


def definition(what: Meaning) -> str:
    """Raises ValueError for an operator that there is not."""
    source, result = format_of(what.operands[-1]), format_of(what.number)
    names = "abc"[: len(what.operands)]
    parameters = ", ".join(
        f"{c_type(format_of(number))} {name}" for number, name in zip(what.operands, names, strict=True)
    )
    return (
        f"static inline {c_type(result)} {function_name(what)}({parameters})"
        f" {{ {_body(what, source, result)} }}"
    )


def _body(what: Meaning, source: Format, result: Format) -> str:
    name = what.operator
    if name == "select":
        return "return a ? b : c;"
    if name == "convert":
        return _convert(source, result)
    if source.kind is Kind.FLOAT:
        return _float(what)
    if name in _SIGNS:
        return f"return a {_SIGNS[name]} b;"
    if name in ("max", "min"):
        return f"return a {'>' if name == 'max' else '<'} b ? a : b;"
    if name == "mul" and source.kind is Kind.FIXED:
        return _fixed_product(source, result)
    wide = f"uint{max(32, source.container)}_t"
    if name in _BINARY:
        return f"return {wrapped(f'({wide})a {_BINARY[name]} ({wide})b', result)};"
    one = {"neg": f"0 - ({wide})a", "not": f"~({wide})a", "abs": f"a < 0 ? 0 - ({wide})a : ({wide})a"}
    if name in one:
        return f"return {wrapped(one[name], result)};"
    raise _unknown(what)


def wrapped(text: str, format: Format) -> str:
    """Any integer as one of `format`."""
    kind, free = c_type(format), 64 - format.bits
    if format.bits == format.container:
        return f"({kind})({text})"
    if format.signed:
        return f"({kind})((int64_t)((uint64_t)({text}) << {free}) >> {free})"
    return f"({kind})(({text}) & {(1 << format.bits) - 1:#x}u)"


def _clip(text: str, wide: str, format: Format) -> str:
    low, high = format.lowest, format.highest
    return (
        f"{wide} y = {text}; return y < {low} ? {low} : y > {high}{'u' * (not format.signed)} ? {high} : y;"
    )


def _wide(format: Format, bits: int) -> str:
    return f"{'' if format.signed else 'u'}int{64 if bits < 64 else 128}_t"


def _fixed_product(source: Format, result: Format) -> str:
    wide = _wide(source, 2 * source.bits)
    if result != source:
        return f"return {wrapped(f'({wide})a * b', result)};"
    half = (1 << source.fraction) >> 1
    product = f"(({wide})a * b + {half}) >> {source.fraction}" if source.fraction else f"({wide})a * b"
    return _clip(product, wide, source) if source.bits < 32 else f"return {wrapped(product, source)};"


def _float(what: Meaning) -> str:
    name = what.operator
    a, b = "flushed(a)", "flushed(b)"
    if name in _SIGNS:
        return f"return {a} {_SIGNS[name]} {b};"
    if name in ("add", "sub", "mul", "div"):
        sign = {"add": "+", "sub": "-", "mul": "*", "div": "/"}[name]
        return f"return rounded({a} {sign} {b});"
    forms: dict[str, str] = {
        "neg": f"-{a}",
        "abs": f"__builtin_fabsf({a})",
        "sqrt": f"__builtin_sqrtf({a})",
        "max": "a != a || b != b ? __builtin_nanf(\"\") : flushed(a) < flushed(b) ? b : a",
        "min": "a != a || b != b ? __builtin_nanf(\"\") : flushed(b) < flushed(a) ? b : a",
    }
    if name not in forms:
        raise _unknown(what)
    return f"return rounded({forms[name]});"


def _convert(source: Format, result: Format) -> str:
    raise ValueError(f"no operator `convert` of {source.name} to {result.name}")


def _unknown(what: Meaning) -> ValueError:
    return ValueError(f"no operator `{what.operator}` of {', '.join(what.operands)} to {what.number}")
