"""Texts that are wrong or meant to do harm: refused in one line with the place, and soon."""

from __future__ import annotations

import time

import pytest

from axiloom.base.errors import SpecError
from axiloom.isa.instructions.read import MOST_TEXT, parse, read

HEAD = "word = input(8)\nx = memory(4, type=int8)\n"


def instruction(*lines: str) -> str:
    return HEAD + "@instruction(word[0] == 1)\ndef f():\n" + "".join(f"    {line}\n" for line in lines)


def value(text: str) -> str:
    return instruction(f"x[0] = int8({text})")


def doubling(count: int) -> str:
    return "".join(
        f"def f{i + 1}(a: int8) -> int8:\n    return int8(f{i}(a) + f{i}(a))\n" for i in range(count)
    )


# ruff: noqa: E501
REFUSED = {
    "1 << 10**9": (value("1 << 10**9"), "`10 ** 9`: expressions have"),
    "a shift that is too far": (value("1 << 1000000000"), "a shift by 1000000000: it must be within 0 to 4096"),
    "shifts of shifts": (value("1 << 4000 << 4000"), "8001 bits: no number has more than 4096"),
    "9**9**9": (value("9**9**9"), "expressions have"),
    "products of products": (
        "A = 1 << 2000\nB = A * A\nC = B * B\n" + value("C"), "`B * B`: 8001 bits: no number has more than 4096",
    ),
    "a long literal": (value("0x" + "f" * 100_000), "no number has more than 4096"),
    "a long decimal": (value("9" * 5000), "4300"),
    "a shift by less than 0": (value("word << -1"), "a shift by -1"),
    "a division by 0": (value("word // (word - word)"), "it must be positive"),
    "many minus signs": (value("-" * 3000 + "1"), "recursion"),
    "many additions": (value("1 + " * 5000 + "1"), "recursion"),
    "deep brackets of calls": (value("abs(" * 197 + "1" + ")" * 197), "nested deeper than 200"),
    "a large table": ("T = table(" + "1," * 70_000 + ")\n" + value("T[0]"), "T has 70000 entries: up to 65536"),
    "wide entries": ("T = table(1 << 100)\n" + value("T[0]"), "T has entries of more than 63 bits"),
    "a sum of all numbers": (value("sum(1 for k in range(1 << 60))"), "up to 1048576 terms"),
    "cat of all numbers": (value("cat(uint8(k) for k in range(1 << 20))"), "up to 4096 parts"),
    "wide bits": (value("bits(-word, 0, 1 << 40)"), "up to 4096 bits are accepted"),
    "a wide slice": (value("(-word)[0:1000000000]"), "up to 4096 bits are accepted"),
    "wide types": (value("uint9999(word)"), "no function of that name"),
    "a large memory": ("m = memory(1 << 40, type=int8)\n" + value("1"), "m has 1099511627776 elements"),
    "sizes below 0": ("m = memory(-1, -1, type=int8)\n" + value("1"), "m has 0 elements"),
    "many dims": ("m = memory(" + "1, " * 100 + "type=int8)\n" + value("1"), "m has 100 dims: up to 8"),
    "many lanes": (
        instruction("for i, j, k in lanes(4096, 4096, 4096):", "    x[0] = 1"), "lanes: up to 16777216",
    ),
    "an input of 2**70 bits": ("w = input(1 << 70)\n" + value("1"), "not a number of 71 bits"),
    "a register's value": ("r = register(int8, 1 << 4000)\n" + value("1"), "a number of 4001 bits is none of"),
    "functions that double": (
        "def f0(a: int8) -> int8:\n    return a\n" + doubling(60) + value("f60(1)"), "operations with all that it calls",
    ),
    "procedures that double": (
        HEAD + "@procedure\ndef p0(a: int8):\n    x[0] = a\n"
        + "".join(f"@procedure\ndef p{i + 1}(a: int8):\n    p{i}(a)\n    p{i}(a)\n" for i in range(40))
        + "@instruction(word[0] == 1)\ndef f():\n    p40(1)\n",
        "make more than 2048 statements",
    ),
    "recursion": ("def g(a: int8) -> int8:\n    return g(a)\n" + value("g(1)"), "no function of that name"),
    "import": ("import os\n" + value("1"), "a file has declarations, functions and instructions"),
    "a call of Python": (value("__import__('os')"), "no function of that name"),
    "an attribute": (value("x.__class__"), "expressions have"),
    "a lambda": (value("(lambda: 1)()"), "expressions have"),
    "a text": (value("'a'"), "expressions have"),
    "a float": (value("1.5"), "expressions have"),
    "a name with an underscore": (instruction("_np = 3", "x[0] = _np"), "_np cannot be a name here"),
    "such a parameter": ("def g(_np: int8) -> int8:\n    return _np\n" + value("g(1)"), "_np cannot be"),
    "such a term": (value("sum(_np for _np in range(3))"), "_np cannot be a name here"),
    "two equal parameters": ("def g(a: int8, a: int8) -> int8:\n    return a\n" + value("g(1, 2)"), "a cannot be"),
    "two equal iterators": (instruction("for i, i in lanes(2, 2):", "    x[i] = 1"), "two iterators are called i"),
    "letters that look alike": ("ſ = 3\ns = 4\n" + value("s"), "two things are called s"),
    "two decorators": (value("1").replace("def f", "@opaque\ndef f"), "one decorator, not 2"),
    "while": (instruction("while True:", "    x[0] = 1"), "`while True:`"),
    "a zero byte": ("\0" + value("1"), "null"),
    "nothing": ("", "there is no @instruction"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    text, message = REFUSED[name]
    start = time.process_time()
    with pytest.raises(SpecError) as error:
        parse(text, "t.isa", "t")
    said = str(error.value)
    assert message in said
    assert said.startswith("t.isa:")
    assert "\n" not in said
    assert len(said) < 500
    assert time.process_time() - start < 5


def test_a_large_file(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "large.isa"
    path.write_text("#" * (MOST_TEXT + 1))
    with pytest.raises(SpecError, match="more than 262,144 bytes, which are not read"):
        read(path)
