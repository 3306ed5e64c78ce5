"""Number formats as types of HLS C++, and their operators as text.

Integers of 8, 16, 32 and 64 bits are C's; other widths are ``ap_int`` and ``ap_uint``. ``fixed<B,F>`` is
``ap_fixed<B, B - F, AP_RND, AP_WRAP>``: halves up, as `isa/numerics` rounds. Products of less than 32 bits
and conversions stop at the ends of the range (``AP_SAT``), as ``hw/nest/operators`` has them.

C's own integers wrap when the host compiles with ``-fwrapv``, and in hardware. What C++ leaves open is open
here too: divisors of 0, shifts beyond the width, NaN as an integer; `max` of zeros of both signs; which NaN
a sum is; and the last bit of `exp`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from axiloom.isa.numerics.formats import Format, Kind, format_of
from axiloom.nests.affine.operations import Meaning

_INFIX = {
    "mul": ("*", 12),
    "div": ("/", 12),
    "rem": ("%", 12),
    "add": ("+", 11),
    "sub": ("-", 11),
    "shl": ("<<", 10),
    "shr": (">>", 10),
    "lt": ("<", 9),
    "le": ("<=", 9),
    "gt": (">", 9),
    "ge": (">=", 9),
    "eq": ("==", 8),
    "ne": ("!=", 8),
    "and": ("&", 7),
    "xor": ("^", 6),
    "or": ("|", 5),
}
"""C++'s operators and how strongly they bind."""
_FUNCTIONS = {"abs": "fabsf", "sqrt": "sqrtf", "exp": "expf"}
"""Of <math.h>, which HLS tools and every host have."""
_MODULAR = frozenset({"add", "sub", "mul", "neg", "and", "or", "xor", "not"})
"""Their low bits follow from their operands' low bits: no cast is needed between them."""
ATOM, UNARY, CONDITIONAL = 20, 15, 2


@dataclass(frozen=True)
class Text:
    """`exact`: the value is one of its format already; else only its low bits are."""

    text: str
    strength: int = ATOM
    exact: bool = True

    def at(self, strength: int) -> str:
        """In brackets if it binds less."""
        return self.text if self.strength >= strength else f"({self.text})"


def is_native(format: Format) -> bool:
    return format.kind is Kind.INTEGER and format.bits in (8, 16, 32, 64)


def type_name(format: Format) -> str:
    """What elements are declared as."""
    if format.kind is Kind.FLOAT:
        return "float" if format.bits == 32 else "double"
    if format.kind is Kind.BOOL:
        return "bool"
    sign = "" if format.signed else "u"
    if is_native(format):
        return f"{sign}int{format.bits}_t"
    if format.kind is Kind.INTEGER:
        return f"ap_{sign}int<{format.bits}>"
    return f"{sign}fixed{format.bits}_{format.fraction}_t"


def saturated_name(format: Format) -> str:
    return type_name(format).replace("_t", "_sat_t")


def declarations(format: Format) -> tuple[str, ...]:
    """Type definitions that the format's names need."""
    if format.kind is not Kind.FIXED:
        return ()
    base = f"ap_{'' if format.signed else 'u'}fixed<{format.bits}, {format.bits - format.fraction}, AP_RND"
    return (
        f"typedef {base}, AP_WRAP> {type_name(format)};",
        f"typedef {base}, AP_SAT> {saturated_name(format)};",
    )


def literal(value: int | float, format: Format) -> Text:
    """`value`: of fixed-point, in units. Raises ValueError for one that a double does not hold."""
    if format.kind is Kind.FLOAT:
        number = format.numpy.type(value)
        if np.isnan(number):
            return Text("NAN")
        if np.isinf(number):
            return Text("INFINITY" if number > 0 else "-INFINITY", ATOM if number > 0 else UNARY)
        return Text(f"{number!s}{'f' * (format.bits == 32)}", UNARY if np.signbit(number) else ATOM)
    if format.kind is Kind.BOOL:
        return Text("true" if value else "false")
    whole = int(value)
    if format.kind is Kind.FIXED:
        real = whole / 2**format.fraction
        if real * 2**format.fraction != whole:
            raise ValueError(f"a literal of {whole} units of {format.name} is none of C++'s")
        return Text(f"{type_name(format)}({real!r})")
    if not is_native(format):
        return Text(f"{type_name(format)}({whole})")
    suffix = {32: "", 64: "L"}.get(format.bits, "")
    suffix = "u" * (not format.signed and format.bits >= 32) + suffix
    if whole == format.lowest and format.signed and format.bits >= 32:
        return Text(f"({whole + 1}{suffix} - 1)")
    return Text(f"{whole}{suffix}", UNARY if whole < 0 else ATOM)


def cast(value: Text, format: Format) -> Text:
    """The value in its format, whatever C++ makes of it before."""
    return value if value.exact else Text(f"{type_name(format)}({value.text})")


def operator(what: Meaning, operands: list[Text]) -> Text:
    """Raises ValueError for an operator that HLS C++ has no text for."""
    formats = [format_of(operand) for operand in what.operands]
    source, result, name = formats[-1], format_of(what.number), what.operator
    modular = name in _MODULAR and not (source.kind is Kind.FIXED and name == "mul")
    if not modular and name != "convert":
        operands = [cast(operand, format) for operand, format in zip(operands, formats, strict=True)]
    if name == "select":
        condition, yes, no = (operand.at(CONDITIONAL + 1) for operand in operands)
        return Text(f"{condition} ? {yes} : {no}", CONDITIONAL)
    if name == "convert":
        return _convert(operands[0], source, result)
    if name in ("max", "min"):
        a, b = operands
        if source.kind is Kind.FLOAT:
            return Text(f"f{name}{'f' * (source.bits == 32)}({a.text}, {b.text})")
        sign = ">" if name == "max" else "<"
        return Text(f"{a.at(10)} {sign} {b.at(10)} ? {a.at(3)} : {b.at(3)}", CONDITIONAL)
    if name == "mul" and source.kind is Kind.INTEGER and source != result:
        operands = [Text(f"{type_name(result)}({operand.text})") for operand in map(cast, operands, formats)]
        source = result
    if name in _INFIX and not (source.kind is Kind.FIXED and name in ("div", "rem", "shl", "shr")):
        sign, strength = _INFIX[name]
        a, b = (_widened(operand, source, name) for operand in operands)
        text = f"{a.at(strength)} {sign} {b.at(strength + 1)}"
        if source.kind is Kind.FIXED and name == "mul" and source == result:
            if result.bits < 32:
                text = f"{saturated_name(result)}({text})"
            return Text(f"{type_name(result)}({text})")
        return Text(text, strength, _is_exact(source, result) or name in ("rem", "shr"))
    return _unary(what, source, operands)


def _is_exact(source: Format, result: Format) -> bool:
    """Whether C++'s own type of the result is the format's."""
    return Kind.FLOAT is source.kind or Kind.BOOL is result.kind or (is_native(source) and source.bits >= 32)


def _widened(value: Text, source: Format, name: str) -> Text:
    """C++ computes products of uint16_t in int, where they may not fit."""
    if name == "mul" and source.name == "uint16":
        return Text(f"(uint32_t){value.at(UNARY)}", UNARY)
    return value


def _unary(what: Meaning, source: Format, operands: list[Text]) -> Text:
    name, (a, *_) = what.operator, operands
    is_float = source.kind is Kind.FLOAT
    if name == "neg":
        return Text(f"-{a.at(UNARY + 1)}", UNARY, _is_exact(source, source))
    if name == "not":
        sign = "!" if source.kind is Kind.BOOL else "~"
        return Text(f"{sign}{a.at(UNARY + 1)}", UNARY, _is_exact(source, source))
    if name == "abs" and not is_float:
        if not source.signed:
            return a
        zero = literal(0, source)
        return Text(
            f"{a.at(10)} < {zero.text} ? {type_name(source)}(-{a.at(UNARY + 1)}) : {a.at(3)}", CONDITIONAL
        )
    if is_float and name in _FUNCTIONS:
        return Text(f"{_FUNCTIONS[name][: None if source.bits == 32 else -1]}({a.text})")
    raise ValueError(f"no operator `{name}` of {', '.join(what.operands)} to {what.number} in HLS C++")


def _convert(value: Text, source: Format, result: Format) -> Text:
    value = cast(value, source)
    target = type_name(result)
    if result.kind is Kind.BOOL:
        return Text(f"{value.at(9)} != {literal(0, source).text}", 8)
    if source.kind is Kind.FIXED and result.kind is Kind.FLOAT:
        return Text(f"{value.at(ATOM)}.to_float()")
    if source.kind is Kind.FIXED and result.kind is Kind.INTEGER:
        sign = "" if result.signed else "u"
        whole = f"ap_{sign}fixed<{result.bits}, {result.bits}, AP_RND, AP_SAT>({value.text})"
        return Text(f"{target}({whole}.to_int64())")
    if result.kind is Kind.FIXED:
        if source.kind is Kind.INTEGER and not is_native(source):
            value = Text(f"{'' if source.signed else 'u'}int64_t({value.text})")
        return Text(f"{target}({saturated_name(result)}({value.text}))")
    if source.kind is Kind.INTEGER and not is_native(source) and result.kind is Kind.FLOAT:
        value = Text(f"{'' if source.signed else 'u'}int64_t({value.text})")
    return Text(f"{target}({value.text})")
