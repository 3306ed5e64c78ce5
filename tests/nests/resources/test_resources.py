"""What a circuit takes, against what Yosys has counted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from amaranth.hdl import _ir as ir
from amaranth.hdl import _nir as nir
from benchmarks.nest.nest_resources import Design, circuit

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Circuit, Fifo, Operate, Storage, Term
from axiloom.hw.nest.core import Core
from axiloom.hw.nest.operators import Cost, operator
from axiloom.nests.resources import Amount, estimate, pieces
from axiloom.nests.resources import pipe as pipe_module
from axiloom.nests.resources.forms import FormCount
from axiloom.nests.resources.pieces import any_of, block_ram, choice, delay, in_turn, lut_ram, total

_COSTS = {"add": Cost(0, 308, 198), "mul": Cost(2, 83, 156)}


def _cost(node: Operate) -> Cost:
    return _COSTS[node.operator]


def test_pieces() -> None:
    assert delay(32, {0, 1, 2}) == Amount(ff=64)
    assert delay(32, {2, 12}) == Amount(lut=32, ff=64)
    assert delay(8, {70}) == Amount(lut=24)
    assert block_ram(32, 512, 1).bram36 == 0.5
    assert block_ram(32, 1024, 1).bram36 == 1
    assert block_ram(64, 512, 2).bram36 == 2
    assert lut_ram(32, 32, 1).lut == 24
    assert lut_ram(32, 64, 2).lut == 88
    assert choice(32, 1, coded=True) == 0
    assert choice(32, 4, coded=True) == 32
    assert choice(32, 5, coded=False) == 64
    assert choice(8, 8, coded=True) == 24
    assert in_turn(32, {0: "a", 1: "a"}) == 0
    assert in_turn(32, {0: "a", 1: "b"}) == 32
    assert in_turn(32, {turn: turn for turn in range(8)}) == 64
    assert total([(0, 4), (4, 9)]) == 0  # digits beside each other need no adder
    assert total([(0, 6), (2, 8)]) == 4


ALONE = {3: 22, 4: 27, 6: 27, 8: 27, 12: 29, 16: 29, 20: 31, 32: 31, 40: 47, 64: 47, 100: 58}
"""LUTs of a FIFO of 16 bits by its places, alone in Yosys."""


@pytest.mark.parametrize("depth", ALONE)
def test_a_fifo_alone(depth: int) -> None:
    """What is `filled` and `free` is counted where somebody waits for it: here both are outputs."""
    counter = depth.bit_length()
    found = estimate(Circuit("alone", (), (), (Fifo("f", 16, depth),))).parts["fifos"].lut + 2 * any_of(
        counter
    )
    assert abs(found / ALONE[depth] - 1) < 0.1


def test_bits_that_addresses_share_need_no_choice() -> None:
    count = FormCount({"i": (0, 23), "j": (0, 31), "k": (0, 7)})
    i, j, k = (Affine(((name, factor),)) for name, factor in (("i", 8), ("j", 1), ("k", 1)))
    of_i = (None,) * 3 + tuple(("i", 0, bit) for bit in range(5))
    assert count.wires((Term(i + k),)) == (*(("k", 0, bit) for bit in range(3)), *of_i[3:])
    assert count.wires((Term(i), Term(j, 1, 4))) == (*(("j", 2, bit) for bit in range(3)), *of_i[3:])
    assert count.wires((Term(j, 1, 1, 8),)) == tuple(("j", 0, bit) for bit in range(3))
    assert count.wires((Term(i + j),)) == ()  # bits of a sum
    assert count.wires((Term(i + 1),)) == ()
    assert count.wires((Term(i * 3),)) == ()


def test_parts_add_up_and_lanes_cost() -> None:
    one, four = (estimate(circuit("gemm", "float32", lanes), _cost) for lanes in (1, 4))
    assert sum(each.lut for each in four.parts.values()) == four.total.lut
    assert four.parts["operators"] == one.parts["operators"] * (four.total.dsp // one.total.dsp)
    assert four.total.dsp > one.total.dsp
    assert not four.total.fits(Amount(four.total.dsp - 1, 10**6, 10**6, 100))
    assert four.total.fits(Amount(four.total.dsp, 10**6, 10**6, 100))


def test_arrays_of_the_caller_are_counted_apart() -> None:
    made = circuit("twice", "float32", 2)
    found = estimate(made, _cost)
    assert found.resident.bram36 == sum(0.5 * each.banks for each in made.memories if each.external)
    inside = tuple(replace(each, external=False, storage=Storage.BLOCK) for each in made.memories)
    every = estimate(replace(made, memories=inside), _cost)
    assert every.resident == Amount()
    assert every.total.bram36 > found.total.bram36


def _registers(made: Circuit) -> int:
    """Bits of flip-flops in the RTL's netlist, outside of operators."""
    component = Core(made, operator)
    members = [each for _, _, each in component.signature.flatten(component)]
    ports = [(each.name, each, None) for each in members]
    netlist = ir.build_netlist(ir.Fragment.get(component, None), ports=ports)
    return sum(len(cell.data) for cell in netlist.cells if isinstance(cell, nir.FlipFlop))


DESIGNS = (("gemm", "float32", 4), ("trmm", "float32", 2), ("jacobi1d", "int32", 2), ("mvt", "int32", 4))


@pytest.mark.every(3)
@pytest.mark.parametrize("design", DESIGNS)
def test_each_register_of_the_rtl_is_counted(design: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without shift registers."""
    monkeypatch.setattr(pieces, "_SHORTEST", 1_000_000)
    made = circuit(*design)
    found = estimate(made, lambda node: Cost()).total.ff
    assert abs(found / _registers(made) - 1) < 0.05
    monkeypatch.setattr(pipe_module, "delay", lambda bits, taps: Amount())
    assert estimate(made, lambda node: Cost()).total.ff / _registers(made) < 0.95


@pytest.mark.synth
@pytest.mark.slow
@pytest.mark.parametrize("design", [("gemm", "float32", 4), ("bicg", "int32", 4)])
def test_within_a_tenth_of_yosys(design: Design) -> None:
    from axiloom.base.cache import cached_build
    from axiloom.boards.synthesis.resources import synthesise
    from axiloom.hw.verilog.nest import emit_nest

    made = circuit(*design)
    verilog = emit_nest(made, operator, readable=False)
    used = synthesise(verilog.text, verilog.top, cached_build)
    found = estimate(made).total
    assert found.dsp == used.dsp
    assert abs(found.lut / used.lut - 1) < 0.1
    assert abs(found.ff / used.ff - 1) < 0.1
