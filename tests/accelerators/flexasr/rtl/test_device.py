"""FlexASR's units in Verilator beside their text: `device.py`, its units, `cycles.py`; and what is refused:
`meanings.py`."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.accelerators.flexasr.test_layers import LAYERS, Layer

from axiloom.accelerators.flexasr.rtl.meanings import machine
from axiloom.base.errors import SpecError, UsageError
from axiloom.device import streams
from axiloom.device.programs import execute
from axiloom.device.rtl import DeviceRtl, device
from axiloom.isa.instructions.library import target, targets
from axiloom.isa.instructions.read import parse
from axiloom.selection.program.program import Command, HostArray, Program


@cache
def units() -> DeviceRtl:
    return device(target("flexasr_units"))


@pytest.mark.every(13)
@pytest.mark.parametrize("made", LAYERS, ids=lambda one: one.name)
def test_layers(made: Layer) -> None:
    """Each packet is the text's, and cycles are as foretold."""
    run = execute(units(), made.program, made.values)
    assert np.array_equal(run.results["y"], made.expected)
    assert run.cycles == run.foretold


def _random(seed: int) -> tuple[Program, dict[str, Any]]:
    """Commands as they come: all operations, vectors that others have written, empty ones."""
    dice = np.random.default_rng(seed)

    def any_(below: int) -> int:
        return int(dice.integers(below))

    arrays = [
        HostArray("a", "in", (64, 16), "uint8", 0, "dram"),
        HostArray("y", "out", (64, 16), "uint8", 1024, "dram"),
    ]
    commands = [
        Command("load", {"n": 64, "out": 0, "base": 0}),
        Command("load_weights", {"n": 64, "out": 0, "base": 0}),
        *(Command("activate", {"operation": 1, "b": b, "row": b, "bias": any_(8)}) for b in range(4)),
        *(Command("product", {"n": 0, "added": k, "out": k}) for k in range(8)),
    ]
    for _ in range(60):
        match any_(5):
            case 0:
                at = any_(32)
                commands.append(Command("pool", {"n": any_(16), "row": any_(32), "out": at}))
            case 1:
                places = {"row": any_(60), "weights": any_(8), "added": any_(64), "out": any_(8)}
                biases = {name: any_(8) for name in ("weight_bias", "input_bias", "added_bias")}
                commands.append(Command("product", {"n": any_(4), **places, **biases}))
            case _:
                fields = {"a": any_(4), "b": any_(4), "row": any_(64), "sums": any_(8), "bias": any_(8)}
                operation = int(dice.choice([1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13]))
                commands.append(Command("activate", {"operation": operation, **fields}))
    commands.append(Command("store", {"n": 64, "row": 0, "base": 1024}))
    program = Program("flexasr_units", f"random_{seed}", tuple(commands), tuple(arrays))
    return program, {"a": dice.integers(0, 256, (64, 16), dtype=np.uint8)}


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 20))]
)
def test_random_commands(seed: int) -> None:
    run = execute(units(), *_random(seed))
    assert run.cycles == run.foretold


def test_what_is_illegal_stops_it() -> None:
    made = units()
    word = 6 | 5 << 4  # an operation that there is none of
    (outcome,) = streams.run(made.verilog, made.top, [streams.Segment(np.array([[word]], np.uint64))])
    assert outcome.error


MUTANTS = {
    "pool": ("x[row + 2 * r + 1, c])", "x[row + 2 * r, c])"),
    "product": ("+ 16 * i + k, c])", "+ 16 * k + i, c])"),
    "activate": ("int20(left + right)", "int20(left - right)"),
    "store": ("dram[base + 16 * r + c] = x[row + r, c]", "dram[base + 16 * r + c] = x[row, c]"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_an_instruction_that_no_unit_does_is_refused(name: str) -> None:
    text = targets()["flexasr_units"].read_text(encoding="utf-8")
    old, new = MUTANTS[name]
    assert text.count(old) == 1
    with pytest.raises(
        SpecError, match=rf"mine.isa:\d+: no unit does what {name} does; there are load, store"
    ):
        machine(parse(text.replace(old, new), "mine.isa", "mine"))


def test_other_numbers_are_other_logic() -> None:
    """A text with another sigmoid has RTL of that sigmoid."""
    text = targets()["flexasr_units"].read_text(encoding="utf-8")
    ours, other = (
        machine(parse(text.replace("AC_MATH = 321", f"AC_MATH = {v}"), "t.isa", "t")) for v in (321, 340)
    )
    assert ours.functions["tanh"] == other.functions["tanh"]
    assert ours.functions["sigmoid"] != other.functions["sigmoid"]


def test_lanes_are_the_text_s() -> None:
    with pytest.raises(UsageError, match="a vector has 16 elements: no --lanes"):
        device(target("flexasr_units"), 4)
    with pytest.raises(UsageError, match="stream width must divide the 128 bits"):
        device(target("flexasr_units"), stream_width=48)
