"""Texts of C: a function of loops over arrays of 8 elements, defined for all data unless it says `undefined`.

Signed arithmetic may overflow: it wraps, here as in the product. Divisors and places of shifts are constants,
and subscripts are cut to the array, so that nothing else is undefined.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from random import Random

NARROW = ("signed char", "unsigned char", "short", "unsigned short", "int8_t", "uint16_t")
WIDE = ("int", "unsigned", "long long", "unsigned long long", "int64_t", "uint32_t")
TYPES = NARROW + WIDE
UNDEFINED = (
    *(
        ("a local is read before it is written", text)
        for text in (
            "KIND u;\nfor (int z = 0; z < 8; z++) { if (z == 1) u = 5; A[z] += u; }",
            "for (int z = 0; z < 8; z++) {\n    WIDE u;\n    if (z SIGN FEW) u = B[z];\n    A[z] = u;\n}",
            "for (int z = 0; z < 4; z++) {\n    KIND u[4];\n    u[FEW % 3] = 3;\n    A[z] = u[z];\n}",
            "KIND u[8];\nfor (int z = ONE; z < 8; z++) u[z] = z;\nfor (int z = 0; z < 8; z++) C[z] = u[z];",
        )
    ),
    *(
        ("a loop never ends", text)
        for text in (
            "for (unsigned z = 7; z >= 0; z--) A[z & 7] = z;",
            "for (unsigned char z = 0; z < MANY; z++) B[z & 7] = z;",
            "for (unsigned short z = ONE * 2 - 1; z != EVEN; z += 2) A[z & 7]++;",
        )
    ),
    *(
        ("an access outside", text)
        for text in (
            "for (int z = 0; z < 8; z++) A[z + ONE] = z;",
            "for (unsigned z = 0; z < 8; z++) A[0] += B[(unsigned char)(z - 1) / ONE];",
            "for (unsigned z = FEW; z < 8; z++) C[z - FEW - 1] = 1;",
        )
    ),
    ("a shift beyond the width", "for (int z = 0; z < 8; z++) A[z] = 1 << (z + PLACES);"),
    ("a division by zero", "for (int z = 0; z < 8; z++) A[z] = B[z] QUOTIENT (z - FEW);"),
)
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
INTEGERS, FLOATS = "ABCD", "FG"
HEAD = "#include <stdint.h>\n#include <stdbool.h>\n#include <math.h>\n#include <stdlib.h>\n"


@dataclass(frozen=True)
class Text:
    """`undefined`: why C leaves it undefined whatever the data, or ``""``. `kinds`: what is in it."""

    c: str
    defines: dict[str, str]
    undefined: str
    kinds: frozenset[str]


@dataclass
class Scope:
    """Names that stand for integers here, and the counters among them."""

    integers: list[str] = field(default_factory=list)
    counters: list[str] = field(default_factory=list)


def text(rng: Random) -> Text:
    return _Writer(rng).function()


class _Writer:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.kinds: set[str] = set()
        self.undefined = ""
        self.loops = 0
        self.names = 0
        self.helpers: list[str] = []
        self.tables = False
        self.defines: dict[str, str] = {}

    def function(self) -> Text:
        rng = self.rng
        head = [HEAD, self.size()]
        if rng.random() < 0.4:
            self.kinds.add("table")
            values = ", ".join(self.literal() for _ in range(rng.choice((8, 8, 3, 1))))
            head.append(f"static const {rng.choice(TYPES)} table[8] = {{{values}}};")
        tables = len(head) > 2
        if rng.random() < 0.4:
            self.helper(head)
        parameters = [f"{rng.choice(TYPES)} {name}[SIZE]" for name in INTEGERS]
        parameters += [f"float {name}[SIZE]" for name in FLOATS]
        parameters += [f"{rng.choice(TYPES)} s"]
        scope = Scope(["s"], [])
        body = list[str]()
        self.tables = tables
        for _ in range(rng.randint(0, 2)):
            body.append(self.local(scope))
        for _ in range(rng.randint(1, 3)):
            body += self.statement(scope, 0)
        if rng.random() < 0.12:
            body += self.undefined_by_design()
        result = "void"
        if rng.random() < 0.3:
            self.kinds.add("returned value")
            result = rng.choice((*TYPES, "bool", "float"))
            body.append(f"return {self.real(scope, 1) if result == 'float' else self.value(scope, 2)};")
        lines = [
            *head,
            f"{result} f({', '.join(parameters)})",
            "{",
            *(f"    {line}" for line in body),
            "}",
            "",
        ]
        return Text("\n".join(lines), self.defines, self.undefined, frozenset(self.kinds))

    def size(self) -> str:
        self.kinds.add(kind := self.rng.choice(("enum", "macro", "define")))
        if kind == "define":
            self.defines["SIZE"] = "8"
            return ""
        return "enum { SIZE = 8 };" if kind == "enum" else "#define SIZE (4 + 4)"

    def helper(self, head: list[str]) -> None:
        self.kinds.add("call")
        kind, a, b = (self.rng.choice(TYPES) for _ in range(3))
        inside = Scope(["x", "y"], [])
        self.tables = False
        early = (
            f"if ({self.condition(inside)}) return {self.value(inside, 1)}; "
            if self.rng.random() < 0.3
            else ""
        )
        head.append(f"static {kind} helper({a} x, {b} y) {{ {early}return {self.value(inside, 2)}; }}")
        self.helpers = ["helper"]

    def local(self, scope: Scope) -> str:
        """A scalar that is known from here on."""
        self.names += 1
        name, kind = f"t{self.names}", self.rng.choice((*TYPES, *TYPES, "bool"))
        static = ""
        if self.rng.random() < 0.15:
            self.kinds.add("static")
            static = "static "
        value = self.literal() if static else self.value(scope, 1)
        if kind == "bool":
            self.kinds.add("bool")
            value = self.rng.choice(("true", "3", "256", "0.25f")) if static else self.condition(scope)
            value = self.literal() if not static and self.rng.random() < 0.3 else value
        scope.integers.append(name)
        return f"{static}{kind} {name} = {value};"

    # --- statements -----------------------------------------------------------------------------------

    def statement(self, scope: Scope, depth: int) -> list[str]:
        rng, kind = self.rng, self.rng.random()
        if depth == 0 and rng.random() < 0.12:
            return self.after_loop(scope)
        if depth < 3 and kind < (0.75 if depth == 0 else 0.35):
            return self.loop(scope, depth)
        if kind < 0.85 and depth < 4 and rng.random() < 0.35:
            return self.branch(scope, depth)
        if rng.random() < 0.08:
            self.kinds.add("written in both branches")
            self.names += 1
            name = f"w{self.names}"
            yes, no = (f"{name} = {self.value(scope, 1)};" for _ in range(2))
            lines = [f"{rng.choice(TYPES)} {name};", f"if ({self.condition(scope)}) {yes} else {no}"]
            return ["{", *(f"    {line}" for line in (*lines, f"{rng.choice(INTEGERS)}[0] += {name};")), "}"]
        if rng.random() < 0.2:
            inner = Scope(list(scope.integers), list(scope.counters))
            declared = self.local(inner)
            return ["{", f"    {declared}", *(f"    {x}" for x in self.statement(inner, 4)), "}"]
        return [self.assignment(scope)]

    def loop(self, scope: Scope, depth: int) -> list[str]:
        rng = self.rng
        self.loops += 1
        name, kind = f"i{self.loops}", rng.choice(TYPES)
        inside = Scope([*scope.integers, name], [*scope.counters, name])
        start = rng.randint(0, 3)
        end = start + rng.choice((0, 1, 2, 3, 4, 5, 6))
        if scope.counters and rng.random() < 0.35:
            start_text, end_text = rng.choice(
                (
                    (f"({kind}){rng.choice(scope.counters)}", str(end)),
                    (str(start), f"(int){rng.choice(scope.counters)} + 2"),
                )
            )
            if start_text != str(start):
                kind = "int" if rng.random() < 0.7 else kind
        else:
            start_text, end_text = str(start), str(end)
        head = f"{kind} {name} = {start_text}; {name} < {end_text}; {name}++"
        pick = rng.random()
        if pick < 0.15:
            more = f"> {start}" if pick < 0.1 else f">= {start + 1}"
            head = f"{kind} {name} = {end}; {name} {more}; --{name}"
        elif pick < 0.25:
            self.kinds.add("step 2")
            head = f"{kind} {name} = {start}; {name} < {end}; {name} += 2"
        elif pick < 0.3:
            self.kinds.add("not equal")
            head = f"{kind} {name} = 0; {name} != {rng.choice((4, 6, 8))}; {name} += 2"
        elif pick < 0.35:
            self.kinds.add("step in the condition")
            head = f"{kind} {name} = {end}; {name}-- > {start};"
        elif pick < 0.5:
            self.kinds.add("bound that wraps")
            more = f"{self.comparison(inside)} && {name} < {end}"
            head = f"{kind} {name} = {start}; {more}; {name} = {name} + {rng.randint(1, 3)}"
        elif pick < 0.75:
            head = f"{kind} {name} = {start_text}; {name} + 1 <= {end_text}; {name}++"
        body = list[str]()
        for _ in range(rng.choice((1, 1, 2))):
            body += self.statement(inside, depth + 1)
        return [f"for ({head}) {{", *(f"    {line}" for line in body), "}"]

    def branch(self, scope: Scope, depth: int) -> list[str]:
        data = self.rng.random() < 0.4
        self.kinds.add("if on data" if data else "if")
        condition = f"{self.value(scope, 1)} {self.rng.choice(COMPARISONS)} {self.value(scope, 1)}"
        lines = [f"if ({condition if data else self.condition(scope)}) {{"]
        lines += [f"    {line}" for line in self.statement(scope, 4)]
        if self.rng.random() < 0.4:
            lines += ["} else {", *(f"    {line}" for line in self.statement(scope, 4))]
        return [*lines, "}"]

    def after_loop(self, scope: Scope) -> list[str]:
        self.kinds.add("counter after the loop")
        self.names += 1
        name, kind = (
            f"c{self.names}",
            self.rng.choice(("int", "short", "unsigned", "unsigned char", "long long")),
        )
        inside = Scope([*scope.integers, name], [*scope.counters, name])
        step, end = self.rng.randint(1, 3), self.rng.randint(0, 9)
        lines = [
            f"{kind} {name} = {self.rng.randint(0, 99)};",
            f"for ({name} = {self.rng.randint(0, 4)}; {name} < {end}; {name} += {step}) {{",
            f"    {self.assignment(inside)}",
            "}",
        ]
        scope.integers.append(name)
        return [*lines, f"{self.rng.choice(INTEGERS)}[{self.rng.randint(0, 7)}] = {name};"]

    def assignment(self, scope: Scope) -> str:
        rng, kind = self.rng, self.rng.random()
        if kind < 0.18:
            self.kinds.add("floats")
            sign = rng.choice(("=", "=", "+=", "*=", "-="))
            return f"{rng.choice(FLOATS)}[{self.subscript(scope)}] {sign} {self.real(scope, 2)};"
        written = [name for name in scope.integers if name.startswith("t")]
        if kind < 0.3 and written:
            target = rng.choice(written)
        else:
            target = f"{rng.choice(INTEGERS)}[{self.subscript(scope)}]"
        if kind > 0.93:
            return f"{target}{rng.choice(('++', '--'))};"
        if kind > 0.9:
            self.kinds.add("float to integer")
            real = self.real(scope, 1)
            inside = f"fabsf({real}) < 100.0f ? fabsf({real}) : 1.5f"
            return f"{target} = ({rng.choice(TYPES)})({inside if rng.random() < 0.8 else real});"
        if kind > 0.75:
            self.kinds.add("narrow")
            a, b = (f"{rng.choice(INTEGERS)}[{self.subscript(scope)}]" for _ in range(2))
            return f"{target} = {self.narrow(a, b)};"
        sign = rng.choice(("=", "=", "=", "+=", "-=", "*=", "^=", "|=", "&=", "<<= 1 +", ">>= 2 *"))
        value = "0" if sign.startswith(("<", ">")) else self.value(scope, 3)
        return f"{target} {sign} {value};"

    def narrow(self, a: str, b: str) -> str:
        """What is stored keeps the low bits of arithmetic in int."""
        forms = (
            *(f"{a} {sign} {b}" for sign in ("+", "-", "*", "&", "|", "^")),
            *(
                f"1 - {a}",
                f"{a} | 256",
                f"{a} + 10",
                f"-{a}",
                f"~{a}",
                f"{a} << 3",
                f"{a} >> 1",
                f"({a} + {b}) >> 1",
            ),
            *(
                f"{a} * 8",
                f"-4 * {a}",
                f"{a} - 2 * {b}",
                f"abs({a} - {b})",
                f"{a} > {b} ? {a} : {b}",
                f"!{a}",
            ),
            *(
                f"({a} + {b}) / 3",
                f"({a} ^ {b}) % 5",
                f"(long long){a} - {b}",
                f"(unsigned char)({a} + {b}) * {b}",
            ),
        )
        return self.rng.choice(forms)

    # --- values ---------------------------------------------------------------------------------------

    def literal(self) -> str:
        return self.rng.choice(
            ("0", "1", "3", "7u", "5", "-2", "200", "2LL", "0x80000000", "255", "65536", "'a'")
        )

    def form(self, scope: Scope, depth: int = 2) -> str:
        """Of counters and constants: affine but for its wraps."""
        rng, pick = self.rng, self.rng.random()
        if depth == 0 or pick < 0.3:
            return rng.choice(scope.counters) if scope.counters and rng.random() < 0.75 else self.literal()
        inner = self.form(scope, depth - 1)
        if pick < 0.45:
            self.kinds.add("cast of a counter")
            return f"({rng.choice(TYPES)})({inner})"
        if pick < 0.5:
            return f"{rng.choice('-~')}({inner})"
        if pick < 0.62:
            places = ("/ 3", "% 4", "* 5", "& 7", "<< 2", ">> 1", "* 70000", "% 3u", "* 65536 * 65536")
            self.kinds.add("counter that wraps")
            return f"({inner}) {rng.choice(places)}"
        return f"({inner}) {rng.choice('+-')} ({self.form(scope, depth - 1)})"

    def comparison(self, scope: Scope) -> str:
        return f"{self.form(scope)} {self.rng.choice(COMPARISONS)} {self.form(scope)}"

    def condition(self, scope: Scope) -> str:
        comparison = self.comparison(scope)
        if self.rng.random() < 0.3:
            both = self.rng.choice(("&& ", "|| ", "&& !", "|| !"))
            return f"({comparison}) {both}({self.condition(scope)})"
        return comparison

    def subscript(self, scope: Scope) -> str:
        rng = self.rng
        if scope.counters and rng.random() < 0.6:
            return rng.choice(
                (
                    f"{rng.choice(scope.counters)} & 7",
                    f"({rng.choice(scope.counters)} + {rng.randint(0, 9)}) % 8u",
                )
            )
        if rng.random() < 0.4:
            return f"({self.form(scope)}) & 7"
        return str(rng.randint(0, 7))

    def load(self, scope: Scope) -> str:
        if self.tables and self.rng.random() < 0.3:
            return f"table[{self.subscript(scope)}]"
        if not scope.counters and "x" in scope.integers:  # in the helper there are no arrays
            return self.rng.choice(scope.integers)
        return f"{self.rng.choice(INTEGERS)}[{self.subscript(scope)}]"

    def value(self, scope: Scope, depth: int) -> str:
        rng, pick = self.rng, self.rng.random()
        if depth == 0 or pick < 0.25:
            return rng.choice((self.form(scope, 1), self.load(scope), self.load(scope), *scope.integers[-2:]))
        a = self.value(scope, depth - 1)
        if pick < 0.33:
            condition = (
                self.condition(scope)
                if rng.random() < 0.5
                else f"{a} {rng.choice(COMPARISONS)} {self.load(scope)}"
            )
            return f"(({condition}) ? ({a}) : ({self.value(scope, depth - 1)}))"
        if pick < 0.43:
            return f"({rng.choice((*TYPES, *TYPES, 'bool', '_Bool'))})({a})"
        if pick < 0.5:
            return f"{rng.choice('-~!')}({a})"
        if pick < 0.57:
            return f"(({a}) {rng.choice(('/ 3', '% 7', '<< 2', '>> 3', '/ -5', '% 16u', '>> 9'))})"
        if pick < 0.62 and self.helpers:
            return f"helper({a}, {self.value(scope, 1)})"
        if pick < 0.7:
            return f"(({a}) {rng.choice((*COMPARISONS, '&&', '||'))} ({self.value(scope, depth - 1)}))"
        return f"(({a}) {rng.choice('+-*&|^')} ({self.value(scope, depth - 1)}))"

    def real(self, scope: Scope, depth: int) -> str:
        rng, pick = self.rng, self.rng.random()
        if depth == 0 or pick < 0.3:
            self.kinds.add("decimal literal")
            digits = "".join(rng.choice("0123456789") for _ in range(rng.choice((1, 3, 9, 30))))
            literals = (f"{rng.randint(0, 9)}.{digits}f", "1.00000005960464477539062500000001f", "0.1f")
            load = f"{rng.choice(FLOATS)}[{self.subscript(scope)}]"
            return rng.choice((load, load, rng.choice(literals), f"(float)({self.value(scope, 1)})"))
        a, b = self.real(scope, depth - 1), self.real(scope, depth - 1)
        if pick < 0.4:
            return f"{rng.choice(('sqrtf', 'fabsf', '-', ''))}({a})"
        if pick < 0.5:
            return f"({a} {rng.choice(COMPARISONS)} {b} ? {a} : {b})"
        return f"({a} {rng.choice('+-*/')} {b})"

    # --- undefined ------------------------------------------------------------------------------------

    def undefined_by_design(self) -> list[str]:
        """Whatever the data are: it is reached."""
        rng = self.rng
        self.undefined, lines = rng.choice(UNDEFINED)
        words = {
            "KIND": rng.choice(TYPES),
            "WIDE": rng.choice(("int", "unsigned", "long long")),
            "SIGN": rng.choice(("<", "==", "<=")),
            "ONE": str(rng.randint(1, 3)),
            "FEW": str(rng.randint(0, 5)),
            "MANY": str(rng.randint(256, 300)),
            "EVEN": str(rng.choice((4, 6, 8))),
            "PLACES": str(rng.randint(25, 40)),
            "QUOTIENT": rng.choice("/%"),
        }
        return re.sub("|".join(words), lambda word: words[word[0]], lines).splitlines()
