"""Types of C and their conversions (C11, 6.3.1): promotion, usual arithmetic conversions, constants."""

from __future__ import annotations

import re
from dataclasses import dataclass

from axiloom.isa.numerics.formats import Kind, format_of

DOUBLE = "double"
"""No number of a program: the type of ``0.5`` and of ``fabs(x)``, until it is converted to float."""
FLOAT = "float32"
INT = "int32"

BUILTIN = {
    "float": FLOAT,
    "double": DOUBLE,
    "signed char": "int8",
    "unsigned char": "uint8",
    **dict.fromkeys(("short", "short int", "signed short", "signed short int"), "int16"),
    **dict.fromkeys(("unsigned short", "unsigned short int"), "uint16"),
    **dict.fromkeys(("int", "signed", "signed int"), INT),
    **dict.fromkeys(("unsigned", "unsigned int"), "uint32"),
    **dict.fromkeys(("long long", "long long int", "signed long long", "signed long long int"), "int64"),
    **dict.fromkeys(("unsigned long long", "unsigned long long int"), "uint64"),
}
STANDARD = {f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
"""Of <stdint.h>."""
TYPEDEFS = " ".join(f"typedef int {name};" for name in (*STANDARD, "size_t", "ptrdiff_t"))
"""So that the parser knows the names of types."""
REFUSED = {
    "char": "whether `char` has a sign depends on the machine; write int8_t or uint8_t",
    "long": "how wide `long` is depends on the machine; write int32_t or int64_t",
    "size_t": "how wide `size_t` is depends on the machine; write uint32_t or uint64_t",
    "ptrdiff_t": "how wide `ptrdiff_t` is depends on the machine; write int32_t or int64_t",
    "_Bool": "a bool is no element of an array; write uint8_t",
    "bool": "a bool is no element of an array; write uint8_t",
}


def number(names: list[str], typedefs: dict[str, str]) -> str:
    """The number (or `DOUBLE`) of a type. Raises ValueError that says what to write instead."""
    # Words may stand in any order: `unsigned long long int`, `long unsigned`.
    order = ("unsigned", "signed", "short", "long", "char", "int", "float", "double")
    name = " ".join(sorted(names, key=lambda each: order.index(each) if each in order else -1))
    for table in (BUILTIN, STANDARD, typedefs):
        if name in table:
            return table[name]
    known = next((why for word, why in REFUSED.items() if word in names), None)
    raise ValueError(known or f"type `{name}`; elements are float, (u)int8_t to (u)int64_t, int, short")


def promoted(number: str) -> str:
    """What an operand of arithmetic becomes: what is narrower than int becomes int."""
    if number == DOUBLE or format_of(number).kind is not Kind.INTEGER:
        return number
    return INT if format_of(number).bits < 32 else number


def common(a: str, b: str) -> str:
    """The type in which C computes with operands of types `a` and `b`."""
    a, b = promoted(a), promoted(b)
    for floating in (DOUBLE, FLOAT):
        if floating in (a, b):
            return floating
    if a == b:
        return a
    first, second = format_of(a), format_of(b)
    if first.bits != second.bits:
        return a if first.bits > second.bits else b
    return a if not first.signed else b


@dataclass(frozen=True)
class Constant:
    value: int | float
    number: str


def constant(text: str) -> Constant:
    """``12``, ``0x1fu``, ``1.5f``, ``1e-3``. Raises ValueError."""
    found = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)", text)
    if found is None:
        found = re.fullmatch(r"([\d.]+(?:[eE][+-]?\d+)?)([fF]?)", text)
        if found is None:
            raise ValueError(f"constant `{text}`; accepted are integers and decimal numbers such as 0.5f")
        return Constant(float(found[1]), FLOAT if found[2] else DOUBLE)
    digits, suffix = found[1].lower(), found[2].lower()
    octal = len(digits) > 1 and digits.startswith("0") and not digits.startswith("0x")
    value = int(digits, 8 if octal else 0)
    unsigned, long = "u" in suffix, "l" in suffix
    decimal = not octal and not digits.startswith("0x")
    for bits in (64,) if long else (32, 64):
        for signed in (False,) if unsigned else (True,) if decimal else (True, False):
            if value < 1 << (bits - signed):
                return Constant(value, f"{'' if signed else 'u'}int{bits}")
    raise ValueError(f"`{text}` has more than 64 bits")
