"""Constants of a text: several in a line, and with as many bits as their type says in a cat."""

from __future__ import annotations

import pytest

from axiloom.base.errors import SpecError
from axiloom.isa.instructions.read import parse
from axiloom.isa.instructions.simulator.simulate import Simulator

TEXT = """
LOAD, STORE = 2, 3
word = input(8)
half = memory(4, type=uint8)
r = register(uint24)

@instruction(word[0:2] == LOAD)
def load():
    r = cat(uint8(5), half[word[2:4]], uint8(259))

@instruction(word[0:2] == STORE)
def store():
    r = cat(uint4(0), uint4(word))
"""


def test_a_small_form_changes_nothing_else() -> None:
    text = "\nsmall(STORE=LOAD + 1, lanes=4)\n"
    plain, small = (parse(TEXT + more, "t.isa", "t") for more in ("", text))
    assert small.small == {"STORE": 3, "lanes": 4}
    assert small == plain
    assert repr(small) == repr(plain)


@pytest.mark.parametrize("vectorised", [True, False])
def test_a_constant_has_the_bits_of_its_type(vectorised: bool) -> None:
    device = Simulator(parse(TEXT, "t.isa", "t"), vectorised=vectorised)
    device.state["half"][1] = 0xA7
    assert device.command(word=0b110) == "load"
    assert device.state["r"] == 0x03A705
    assert device.command(word=0b1011) == "store"
    assert device.state["r"] == 0xB0


@pytest.mark.parametrize(
    ("right", "wrong", "why"),
    [
        ("cat(uint4(0), ", "cat(0, ", "t.isa:13: `0` in cat: say how many bits, such as uint8(0)"),
        ("2, 3", "2, 3, 4", "t.isa:2: 2 names and 3 values"),
        ("LOAD, STORE", "LOAD, word[0]", "t.isa:2: `word[0]` is no name"),
        ("LOAD, STORE", "LOAD, LOAD", "t.isa:2: two things are called LOAD"),
        (
            "word =",
            "small(LOAD=1, ROWS=2)\nword =",
            "t.isa:3: no constant `ROWS`; there are LOAD, STORE, lanes, ",
        ),
        ("word =", "small(LAOD=1)\nword =", "t.isa:3: no constant `LAOD`; did you mean `LOAD`?"),
        ("word =", "small(2)\nword =", "t.isa:3: small(CONSTANT=VALUE, ...), with lanes and stream_width"),
        (
            "word =",
            "small(**LOAD)\nword =",
            "t.isa:3: small(CONSTANT=VALUE, ...), with lanes and stream_width",
        ),
        ("word =", "small(LOAD=1)\nsmall(LOAD=2)\nword =", "t.isa:4: a text has one small form"),
        ("word =", "small(LOAD=word)\nword =", "t.isa:3: there is no `word`"),
    ],
)
def test_what_is_refused(right: str, wrong: str, why: str) -> None:
    with pytest.raises(SpecError) as error:
        parse(TEXT.replace(right, wrong, 1), "t.isa", "t")
    assert why in str(error.value)
