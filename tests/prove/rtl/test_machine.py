"""Verilog as terms: the machine does what a simulator would, on integers and on terms."""

from __future__ import annotations

import random

import pytest
import z3

from axiloom.base.errors import BuildError
from axiloom.prove.rtl.terms import machine, multiplier

VERILOG = """
module top(input clk, input rst, input [7:0] d, input en, output reg [15:0] sum, output [7:0] word);
  reg [7:0] store [0:3];
  reg [1:0] at;
  wire signed [15:0] both = $signed(word) * $signed(d);
  assign word = store[at];
  always @(posedge clk) begin
    if (en) store[at] <= d;
    at <= rst ? 0 : at + en;
    sum <= rst ? 0 : sum + both;
  end
endmodule
"""


@pytest.fixture(scope="module")
def read() -> machine.Machine:
    return machine.read((("top.v", VERILOG),), "top")


def test_it_runs_as_the_verilog_says(read: machine.Machine) -> None:
    step, source = read.simulator(), random.Random(1)
    state = {name: source.getrandbits(term.size()) for name, term in read.registers.items()}
    state, _ = step(state, {"rst": 1, "d": 0, "en": 0})
    store = [state[f"store[{i}]"] for i in range(4)]
    at = total = 0
    for _ in range(200):
        d, en = source.getrandbits(8), source.getrandbits(1)
        after, out = step(state, {"rst": 0, "d": d, "en": en})
        assert out == {"sum": total, "word": store[at]}
        signed = [value - (value >> 7 << 8) for value in (store[at], d)]
        total = (total + signed[0] * signed[1]) & 0xFFFF
        if en:
            store[at], at = d, (at + 1) % 4
        state = after


def test_terms_are_the_same(read: machine.Machine) -> None:
    symbolic, concrete, source = read.stepper(), read.simulator(), random.Random(2)
    numbers = {name: source.getrandbits(term.size()) for name, term in read.registers.items()}
    terms = {name: z3.BitVecVal(numbers[name], term.size()) for name, term in read.registers.items()}
    for _ in range(20):
        given = {"rst": 0, "d": source.getrandbits(8), "en": source.getrandbits(1)}
        widths = {"rst": 1, "d": 8, "en": 1}
        made = {name: z3.BitVecVal(value, widths[name]) for name, value in given.items()}
        terms, _ = symbolic(terms, made)
        numbers, _ = concrete(numbers, given)
        known = {name: z3.simplify(machine.with_products(term)).as_long() for name, term in terms.items()}
        assert known == numbers


def test_products_of_stored_words_have_no_meaning(read: machine.Machine) -> None:
    nodes = machine.walk([read.following["sum"]])
    assert [one for one in nodes if str(one.decl().name()).startswith(machine.PRODUCT)]


def test_faulty_verilog_is_refused() -> None:
    with pytest.raises(BuildError, match="Yosys could not read top"):
        machine.read((("top.v", "module top(input clk; endmodule"),), "top")


def _says(claim: z3.BoolRef) -> tuple[bool | None, str, None]:
    solver = z3.Solver()
    solver.set("timeout", 3000)
    solver.add(z3.Not(claim))
    return {"unsat": True, "sat": False}.get(str(solver.check())), "z3", None


@pytest.mark.parametrize(("low", "right"), [(17, True), (16, False)])
def test_a_multiplier_of_parts(low: int, right: bool) -> None:
    """Halves at bit 17 make the product; the same weights do not if factors are taken apart at bit 16."""

    def multiply(a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BitVecRef:
        part = machine.product(32)
        lows = [z3.ZeroExt(32 - low, z3.Extract(low - 1, 0, one)) for one in (a, b)]
        highs = [z3.ZeroExt(low, z3.Extract(31, low, one)) for one in (a, b)]
        total: z3.BitVecRef = part(*lows) + ((part(highs[0], lows[1]) + part(lows[0], highs[1])) << 17)
        return total

    holds, _ = multiplier.holds(multiply, 32, _says)
    assert bool(holds) is right


@pytest.mark.parametrize("pieces", [[(0, 1), (1, 16)], [(0, 7), (7, 8), (8, 16)]])
def test_a_register_in_parts_is_the_same(read: machine.Machine, pieces: list[tuple[int, int]]) -> None:
    parts, source = read.parted({"sum": pieces}), random.Random(3)
    names = machine.part_names("sum", [0, *(high for _, high in pieces)])
    assert names is not None
    assert set(names) == set(parts.registers) - set(read.registers)
    whole = {name: source.getrandbits(term.size()) for name, term in read.registers.items()}
    taken = {name: value for name, value in whole.items() if name != "sum"}
    for name, (low, high) in zip(names, pieces, strict=True):
        taken[name] = whole["sum"] >> low & (1 << high - low) - 1
        assert parts.parts["sum"][pieces.index((low, high))] == (low, high - 1, name)
    one, other = read.simulator(), parts.simulator()
    for _ in range(20):
        given = {"rst": 0, "d": source.getrandbits(8), "en": source.getrandbits(1)}
        whole, out = one(whole, given)
        taken, same = other(taken, given)
        assert out == same


def test_parts_of_registers_have_names() -> None:
    assert machine.part_names("a.b", [0, 1, 4]) == ["a.b [0]", "a.b [3:1]"]
    assert machine.part_names("a.b [7:4]", [0, 3, 4]) == ["a.b [6:4]", "a.b [7]"]
    assert machine.part_names("{ a [1] b [0] }", [0, 1, 2]) is None
    assert machine.part_names("store[3]", [0, 4, 8]) is None


def test_registers_that_yosys_joins_are_parts_again() -> None:
    assert machine._joined("{ \\at.x [5:3] \\at.y [0] }", 4) == [("at.y [0]", 0, 1), ("at.x [5:3]", 1, 4)]
    assert machine._joined("{ \\at.x \\at.y [0] }", 4) == []  # how wide is x?
    assert machine._joined("at.x [5:3]", 3) == []
