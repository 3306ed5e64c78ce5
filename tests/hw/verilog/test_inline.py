"""Putting expressions together must not change what they are: every one is computed both ways, by Verilog's
own rules of widths (IEEE 1364-2005, 5.4), in Icarus."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

from axiloom.hw.verilog.inline import MAX_LENGTH, Inliner

WIDTHS = {"a": 4, "b": 4, "c": 1, "d": 1, "e": 8}


def inliner(definitions: dict[str, str], **widths: int) -> Inliner:
    return Inliner(definitions, WIDTHS | widths)


def test_bits_are_put_together_with_parentheses_where_one_would_have_to_think() -> None:
    one = inliner({"_1": "~ c", "_2": "c & d", "_3": "_1 | _2"}, _1=1, _2=1, _3=1)
    assert one.whole("_3", 1) == "~c | (c & d)"
    assert one.used == {"_1", "_2", "_3"}


def test_what_is_shared_is_put_together_once() -> None:
    """Each wire is read twice by the next one: 2 ** 60 ways lead to the first."""
    chain = {f"_{n}": f"_{n - 1} ^ _{n - 1}" for n in range(1, 61)}
    one = inliner({"_0": "c & d", **chain}, **{f"_{n}": 1 for n in range(61)})
    assert one.whole("_1", 1) == "(c & d) ^ (c & d)"
    assert one.whole("_2", 1) == "(c & d) ^ (c & d) ^ (c & d) ^ (c & d)"
    assert len(one.whole("_60", 1)) <= MAX_LENGTH
    sums = {"_0": "a + b", **{f"_{n}": f"_{n - 1} + _{n - 1}" for n in range(1, 61)}}
    one = inliner(sums, **{f"_{n}": 6 for n in range(61)})
    assert one.whole("_60[3:0]", 4) == "_60[3:0]"


def test_a_narrow_expression_is_not_widened() -> None:
    one = inliner({"_1": "~ c", "_2": "a + b"}, _1=1, _2=4)
    assert one.whole("e + _1", 8) == "e + _1"
    assert one.whole("e + _2", 8) == "e + _2", "its carry would come back"
    assert one.whole("_2", 8) == "_2"
    assert one.whole("c ? _2 : e", 8) == "c ? _2 : e"
    one = inliner({"_3": "a + b"}, _3=5)
    assert one.whole("_3[3:0]", 8) == "_3[3:0]"
    assert one.used == set()


def test_a_port_gets_no_expression_that_is_narrower() -> None:
    """Yosys reads it as wide as its operands, and extends what it has got."""
    sums = {"_1": "$signed(a) - $signed(b)", "_2": "e + a", "_3": "{ a, b }", "_4": "a == b"}
    one = inliner(sums, _1=5, _2=8, _3=8, _4=1)
    assert one.port("_1", 5) == "_1"
    assert one.used == set()
    assert [one.port(name, 8) for name in ("_2", "_3")] == ["e + a", "{ a, b }"]
    assert one.port("_4", 1) == "a == b"
    assert one.used == {"_2", "_3", "_4"}


def test_the_low_bits_of_a_sum() -> None:
    one = inliner({"_1": "a + b"}, _1=5)
    assert one.whole("_1[3:0]", 4) == "a + b"
    assert one.whole("_1[2:0]", 3) == "_1[2:0]"


def test_literals_are_as_wide_as_what_they_meet() -> None:
    assert inliner({}).whole("a == 1'h1", 1) == "a == 4'h1"
    assert inliner({}).whole("! a", 1) == "a == 0"


def test_no_expression_grows_without_end() -> None:
    names = [f"_{i}" for i in range(60)]
    definitions = {name: f"{before} & c" for before, name in zip(["d", *names], names, strict=False)}
    one = inliner(definitions, **dict.fromkeys(names, 1))
    assert len(one.whole(names[-1], 1)) <= MAX_LENGTH
    assert names[0] not in one.used


def random_wires(rng: random.Random, count: int) -> tuple[dict[str, str], dict[str, int]]:
    """Wires of one operator each, as Yosys prints them."""
    definitions: dict[str, str] = {}
    widths = dict(WIDTHS)
    for number in range(count):
        atoms = [*widths, "1'h1", "4'h9", "8'hc3"]
        left, right = rng.choice(atoms), rng.choice(atoms)
        bits = [atom for atom in atoms if inliner({}, **widths).width(atom) == 1]
        wide = max(inliner({}, **widths).width(atom) or 0 for atom in (left, right))
        choices = [
            (f"{left} + {right}", wide + 1),
            (f"{left} - {right}", wide),
            (f"{left} & {right}", wide),
            (f"{left} ^ {right}", wide),
            (f"{rng.choice(bits)} | {rng.choice(bits)}", 1),
            (f"~ {rng.choice(bits)}", 1),
            (f"{left} == {right}", 1),
            (f"{left} < {right}", 1),
            (f"! {left}", 1),
            (f"{rng.choice(bits)} ? {left} : {right}", wide),
        ]
        expression, width = rng.choice(choices)
        name = f"_{number}"
        definitions[name], widths[name] = expression, width
    return definitions, widths


@pytest.mark.icarus
@pytest.mark.parametrize("seed", range(6))
def test_what_is_put_together_computes_the_same(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    body, compared, grown = [], [], 0
    declared = "".join(f"  reg [{width - 1}:0] {name};\n" for name, width in WIDTHS.items())
    for number in range(30):
        definitions, widths = random_wires(rng, 6)
        one = Inliner(definitions, widths)
        last = f"_{len(definitions) - 1}"
        width = widths[last]
        for take in {width, max(1, width - 1)}:
            source = last if take == width else f"{last}[{take - 1}:0]"
            text = one.whole(source, take)
            grown += text != source
            prefix = f"w{number}_{take}"
            for name, expression in definitions.items():
                body.append(f"  wire [{widths[name] - 1}:0] {prefix}{name} = {named(expression, prefix)};\n")
            body.append(f"  wire [{take - 1}:0] {prefix}p = {named(source, prefix)};\n")
            body.append(f"  wire [{take - 1}:0] {prefix}q = {named(text, prefix)};\n")
            compared.append(prefix)
    assert grown > 20
    checks = "".join(
        f'    if ({one}p !== {one}q) begin $display("{one} %b %b", {one}p, {one}q); $finish; end\n'
        for one in compared
    )
    (tmp_path / "bench.v").write_text(
        f"module bench;\n{declared}{''.join(body)}  integer i;\n  initial begin\n"
        "    for (i = 0; i < 200; i = i + 1) begin\n    {a, b, c, d, e} = $random; #1;\n"
        f'{checks}    end\n    $display("same");\n  end\nendmodule\n'
    )
    subprocess.run(["iverilog", "-g2005", "-o", "bench", "bench.v"], cwd=tmp_path, check=True)
    told = subprocess.run(["vvp", "bench"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert told == "same\n", told


def named(expression: str, prefix: str) -> str:
    """With the wires' names in their own scope."""
    return re.sub(r"(?<!\w)_(\d+)", rf"{prefix}_\1", expression)
