"""What z3 says of a device is asked of bitwuzla: a wrong answer, or a way left out, is not certified."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import z3

from axiloom import isa
from axiloom.hw.verilog.emit import emit
from axiloom.prove.rtl.maps import ours as maps
from axiloom.prove.rtl.opcodes.cases import Cases
from axiloom.prove.rtl.opcodes.explore import Explorer
from axiloom.prove.rtl.refine import Refiner
from axiloom.prove.rtl.terms import machine
from axiloom.prove.rtl.terms.machine import Machine, product
from axiloom.prove.rtl.terms.referee import Referee

VERILOG = """
module top(input aclk, input [7:0] a, output [7:0] y);
  reg [7:0] sum;
  always @(posedge aclk) sum <= sum + a;
  assign y = ~sum;
endmodule
"""
X, Y, Z = z3.BitVecs("x y z", 32)


def read() -> Machine:
    return machine.read.__wrapped__((("top.v", VERILOG),), "top")


def certified(referee: Referee, read: Machine) -> set[str]:
    referee.ask(read)
    return referee.answer({"a", "b"})


def test_what_is_so_is_certified() -> None:
    referee, read_ = Referee(), read()
    referee.group = "a"
    referee.proved(z3.Implies(z3.ULT(X, 4), z3.ULT(X, 5)))
    assert referee.simplify(X + Y + 0) is not None
    memory = z3.Array("m", z3.BitVecSort(4), z3.BitVecSort(32))
    low, high = z3.BitVecVal(1, 4), z3.BitVecVal(9, 4)
    one = z3.Store(z3.Store(memory, high, X + (Y + Z)), low, Y)
    referee.same(one, z3.Store(z3.Store(memory, low, Y), high, Z + X + Y))
    referee.worked([X * Y], [(X, Z), (Y, z3.BitVecVal(2, 32))], [Z * 2])
    step = read_.stepper()
    step({name: z3.BitVec("held", 8) for name in read_.registers}, {"a": z3.BitVecVal(3, 8)})
    assert certified(referee, read_) == {"a", "b"}


def wrong_cycle(_: Referee, read: Machine) -> None:
    step = read.stepper()
    step({name: z3.BitVec("held", 8) for name in read.registers}, {"a": z3.BitVecVal(3, 8)})
    (module, *_rest) = [one for one in read.modules if one.members[0][0]]
    ((key, (values, results)),) = module.known.items()
    module.known[key] = values, [result + 1 for result in results]


def wrong_product(_: Referee, read: Machine) -> None:
    numbers = product(32)(z3.BitVecVal(3, 32), z3.BitVecVal(4, 32))
    read.modules[0].products.append((numbers, z3.BitVecVal(13, 32)))
    _.same(numbers, z3.BitVecVal(13, 32))


MEMORY = z3.Array("m", z3.BitVecSort(4), z3.BitVecSort(32))
WRONG: dict[str, Callable[[Referee, Machine], None]] = {
    "a rewriting": lambda referee, _: referee.same(X + Y, X - Y),
    "a memory": lambda referee, _: referee.same(z3.Store(MEMORY, 1, X), z3.Store(MEMORY, 2, X)),
    "a command": lambda referee, _: referee.worked([X * Y], [(X, Z)], [X * Z]),
    "a cycle": wrong_cycle,
    "a product": wrong_product,
    "a claim on all": lambda referee, _: referee.proved(X != 77, ""),
    "what was left out": lambda referee, _: referee.fails(""),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_what_all_rests_on(wrong: str) -> None:
    referee, read_ = Referee(), read()
    WRONG[wrong](referee, read_)
    assert certified(referee, read_) == set()


def test_a_claim_of_its_own() -> None:
    referee, read_ = Referee(), read()
    referee.group = "a"
    referee.proved(X + Y == X)
    referee.proved(X == X)
    assert certified(referee, read_) == {"b"}


# --- a whole proof


def proofs(verilog: str | None = None) -> dict[str, tuple[bool | None, str]]:
    """Of a small v1: by claim without a bound, whether it holds, and who certifies it."""
    spec = maps.small(isa.builtin("v1_4"))
    found = Refiner(maps.device_of(spec, verilog)).prove()
    return {one.name: (one.holds, one.certified) for one in found if one.bound is None}


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Refiner, "_overlap", lambda _: None)


@pytest.mark.usefixtures("_quick")
@pytest.mark.slow
def test_a_way_that_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each flag that a case is split by, the last value."""
    monkeypatch.setattr(Cases, "_forked", lambda *args, _all=Cases._forked: _all(*args)[:-1] or _all(*args))
    found = proofs()
    assert all(holds for holds, _ in found.values())  # nobody else sees it
    assert {name for name, (_, by) in found.items() if not by} >= {"sAsBcCrC.0.more", "sAsBcCrC.1.more"}


@pytest.mark.slow
@pytest.mark.usefixtures("_quick")
def test_all_is_certified() -> None:
    assert set(proofs().values()) == {(True, "bitwuzla")}


@pytest.mark.slow
@pytest.mark.usefixtures("_quick")
def test_a_pause_that_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def in_haste(_: Explorer, node: Any, words: int, gaps: bool, stalls: bool) -> list[tuple[int, int]]:
        return [(int(node.taken < words), 1)]

    monkeypatch.setattr(Explorer, "_choices", in_haste)
    found = proofs()
    assert all(holds for holds, _ in found.values())
    assert not found["sAsBcCrC.1.last"][1]


@pytest.mark.slow
@pytest.mark.usefixtures("_quick")
def test_a_solver_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """The RTL sends a row's halves in the wrong order, and z3 says that this is right."""
    right, wrong = "(!send_half)", "send_half"
    verilog = emit(maps.small(isa.builtin("v1_4")), "accelerator")
    assert right in verilog
    monkeypatch.setattr(Refiner, "_said", lambda *_: (True, "z3", {}))
    found = proofs(verilog.replace(right, wrong))
    assert not all(by for _, by in found.values())
