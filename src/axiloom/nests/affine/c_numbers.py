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
static inline double rounded_double(double x) { return x != x ? __builtin_nan("") : x; }
static inline float rounded(float x) { return x != x ? __builtin_nanf("") : flushed(x); }
"""
_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_BINARY = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}


def c_type(format: Format) -> str:
    if format.kind is Kind.FLOAT:
        return "float" if format.bits == 32 else "double"
    if format.kind is Kind.BOOL:
        return "_Bool"
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
        return _float(what, is_double=source.bits == 64)
    if name in _SIGNS:
        return f"return a {_SIGNS[name]} b;"
    if name in ("max", "min"):
        return f"return a {'>' if name == 'max' else '<'} b ? a : b;"
    if name == "mul" and source.kind is Kind.FIXED:
        return _fixed_product(source, result)
    wide = f"uint{max(32, source.container, result.container)}_t"
    if name in _BINARY:
        return f"return {wrapped(f'({wide})a {_BINARY[name]} ({wide})b', result)};"
    if source.kind is Kind.INTEGER and name in ("div", "rem"):
        return _divide(name, source)
    if source.kind is Kind.INTEGER and name in ("shl", "shr"):
        return _shift(name, source)
    unary = {"neg": f"0 - ({wide})a", "not": f"~({wide})a", "abs": f"a < 0 ? 0 - ({wide})a : ({wide})a"}
    if name in unary:
        return f"return {wrapped(unary[name], result)};"
    raise _unknown(what)


def wrapped(text: str, format: Format) -> str:
    """Any integer as one of `format`."""
    if format.kind is Kind.BOOL:
        return f"({text}) & 1"
    kind, free = c_type(format), 64 - format.bits
    if format.bits == format.container:
        return f"({kind})({text})"
    if format.signed:
        return f"({kind})((int64_t)((uint64_t)({text}) << {free}) >> {free})"
    return f"({kind})(({text}) & {(1 << format.bits) - 1:#x}uL)"


def _clip(text: str, wide: str, format: Format) -> str:
    low, high = _integer(format.lowest), _integer(format.highest)
    return f"{wide} y = {text}; return y < ({wide}){low} ? {low} : y > ({wide}){high} ? {high} : y;"


def _wide(format: Format, bits: int) -> str:
    return f"{'' if format.signed else 'u'}int{64 if bits < 64 else 128}_t"


def _fixed_product(source: Format, result: Format) -> str:
    wide = _wide(source, 2 * source.bits)
    if result != source:
        return f"return {wrapped(f'({wide})a * b', result)};"
    half = f"(({wide})1 << {source.fraction - 1})"
    product = f"(({wide})a * b + {half}) >> {source.fraction}" if source.fraction else f"({wide})a * b"
    return _clip(product, wide, source) if source.bits < 32 else f"return {wrapped(product, source)};"


def _divide(name: str, format: Format) -> str:
    """All ones for a divisor of 0, whose remainder is the dividend; the least number by -1 wraps."""
    ones = wrapped("-1", format)
    if name == "div":
        by_minus_one = f"b == -1 ? {wrapped('0 - (uint64_t)a', format)} : " if format.signed else ""
        return f"return b == 0 ? {ones} : {by_minus_one}a / b;"
    return f"return b == 0 ? a : {'b == -1 ? 0 : ' if format.signed else ''}a % b;"


def _shift(name: str, format: Format) -> str:
    """By the bits of b as an unsigned number; beyond the width nothing is left but the sign."""
    amount = f"uint64_t n = (uint64_t)b & {(1 << format.bits) - 1:#x}uL;"
    if name == "shl":
        return f"{amount} return n >= {format.bits} ? 0 : {wrapped('(uint64_t)a << n', format)};"
    rest = "a < 0 ? -1 : 0" if format.signed else "0"
    return f"{amount} return n >= {format.bits} ? ({rest}) : a >> n;"


def _float(what: Meaning, is_double: bool) -> str:
    """Of float32, or of double, whose subnormal numbers are kept: only the interpreter has it."""
    name = what.operator
    a, b = ("a", "b") if is_double else ("flushed(a)", "flushed(b)")
    rounded, suffix = ("rounded_double", "") if is_double else ("rounded", "f")
    if name in _SIGNS:
        return f"return {a} {_SIGNS[name]} {b};"
    if name in ("add", "sub", "mul", "div"):
        sign = {"add": "+", "sub": "-", "mul": "*", "div": "/"}[name]
        return f"return {rounded}({a} {sign} {b});"
    if name in ("max", "min"):  # IEEE 754-2019 maximumNumber: a NaN gives way, and -0 is less than 0
        sign = ">" if name == "max" else "<"
        zeros = "b : a" if name == "max" else "a : b"
        return (
            f"a = {a}; b = {b}; return {rounded}(a != a ? b : b != b ? a : "
            f"a {sign} b ? a : b {sign} a ? b : __builtin_signbit(a) ? {zeros});"
        )
    forms = {
        "neg": f"-{a}",
        "abs": f"__builtin_fabs{suffix}({a})",
        "sqrt": f"__builtin_sqrt{suffix}({a})",
        "exp": f"{'__builtin_exp' if is_double else 'circuit_exp'}({a})",
    }
    if name not in forms:
        raise _unknown(what)
    return f"return {rounded}({forms[name]});"


def _convert(source: Format, result: Format) -> str:
    operand = "flushed(a)" if source.name == "float32" else "a"
    if result.kind is Kind.BOOL:
        return f"return {operand} != 0;"
    if source.kind is Kind.FLOAT and result.kind is Kind.FLOAT:
        return "return rounded((float)a);" if result.bits == 32 else f"return rounded_double({operand});"
    if source.kind is Kind.FLOAT:
        return _from_float(result, operand)
    if result.kind is Kind.FLOAT:
        return f"return ({c_type(result)})a * 0x1p-{source.fraction}{'f' * (result.bits == 32)};"
    if Kind.FIXED not in (source.kind, result.kind):
        return f"return {wrapped('a', result)};"
    shift = result.fraction - source.fraction
    if shift >= 0:
        return _clip(f"(int128_t)a * ((int128_t)1 << {shift})", "int128_t", result)
    return _clip(f"((int128_t)a + {_power(-shift - 1)}) >> {-shift}", "int128_t", result)


def _from_float(result: Format, operand: str) -> str:
    """To an integer towards zero, to fixed-point halves up; the end of the range beyond it, 0 for NaN."""
    nearest = result.kind is Kind.FIXED
    units = f"{operand} * 0x1p{result.fraction}"
    rounding = " if (__builtin_fabs(y) < 0x1p30) y = __builtin_floor(y + 0.5);" if nearest else ""
    low, high = _integer(result.lowest), _integer(result.highest)
    return (
        f"double y = {units}; if (y != y) return 0;{rounding} if (y >= {float(result.highest + 1)}) "
        f"return {high}; if (y <= {float(result.lowest)}) return {low}; return ({c_type(result)})y;"
    )


def _power(exponent: int) -> str:
    return f"((int128_t)1 << {exponent})"


def _integer(value: int) -> str:
    """A literal of C of the value, whatever its size."""
    if -(1 << 31) < value < 1 << 31:
        return str(value)
    if value == -(1 << 63):
        return "(-0x7fffffffffffffffL - 1)"
    return f"{value}{'u' * (value >= 1 << 63)}L"


def _unknown(what: Meaning) -> ValueError:
    return ValueError(f"no operator `{what.operator}` of {', '.join(what.operands)} to {what.number}")
