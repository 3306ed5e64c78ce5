"""``axiloom prove spec``: built-ins hold, and faults in a model are found, by proof or by simulation."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import z3

from axiloom import isa
from axiloom.cli import main
from axiloom.errors import SpecError
from axiloom.isa.formal import sound
from axiloom.isa.formal.streams import MatMulModel, model_of
from axiloom.prove import solvers, spec
from axiloom.prove.verdict import Answer

V3 = isa.builtin("v3_4", data_type="int8")


@pytest.mark.parametrize(
    ("name", "kind", "encoding"),
    [("v2_4", "int16", "literals"), ("v1_4", "int32", "bitmask"),
     ("v4_16", "int8", "literals")],
)  # fmt: skip
def test_built_ins_are_sound(name: str, kind: str, encoding: str) -> None:
    verdicts = list(spec.prove(isa.builtin(name, data_type=kind, encoding=encoding), 60))
    assert [one for one in verdicts if not one.good] == []
    assert len(verdicts) > 100
    assert sum(one.bound is not None for one in verdicts) == 1  # the simulation


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "verdicts.json"
    assert main(["prove", "spec", "--accel", "v3", "--size", "4", "--json", str(file)]) == 0
    assert "hold without a bound, 1 to a bound" in capsys.readouterr().out
    assert all(one["good"] for one in json.loads(file.read_text())["verdicts"])
    assert main(["prove", "spec", "--accel", "loopback"]) == 3
    assert (
        "loopback: there is no formal model of the form copy yet, only of matmul, image, window"
        in capsys.readouterr().err
    )


def build(change: Callable[[MatMulModel], None]) -> Any:
    made = MatMulModel(V3, "exact")
    change(made)
    return made.build()


def transposed(made: MatMulModel) -> None:
    address = made.place_of
    made.place_of = lambda operand: address("A" if operand == "B" else operand)  # type: ignore[method-assign]


def unsigned(made: MatMulModel) -> None:
    made.multiply = lambda a, b: z3.ZeroExt(24, a) * z3.ZeroExt(24, b)


def never_clears(made: MatMulModel) -> None:
    made.cleared = dict  # type: ignore[method-assign]


@pytest.mark.parametrize("fault", [transposed, unsigned, never_clears])
def test_simulation_sees(fault: Callable[[MatMulModel], None]) -> None:
    verdict = spec.compared(V3, build(fault))
    assert verdict.answer is Answer.VIOLATED
    assert "not so at word" in verdict.text


def test_proofs_see_what_breaks_an_invariant(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(made: MatMulModel, dim: str) -> z3.BoolRef:
        """A program that stops one too late."""
        return z3.ZeroExt(16, made.counters[dim]) == made.sizes[dim]

    monkeypatch.setattr(MatMulModel, "at_end", late)
    wrong = [one for one in islice(spec.prove(V3, 20), len(sound.claims(model_of(V3)))) if not one.good]
    assert "counters are within the tile: v3_4.compute.product" in [one.name for one in wrong]
    assert "not so with" in wrong[0].text


@pytest.mark.parametrize(
    ("device", "why"),
    [
        (isa.builtin("loopback"), "there is no formal model of the form copy yet"),
        (isa.builtin("v3_4", data_type="float32"), "formal models are of integers"),
    ],
)
def test_refused(device: isa.AcceleratorSpec, why: str) -> None:
    with pytest.raises(SpecError, match=why):
        model_of(device)


def test_uninterpreted_products() -> None:
    model = model_of(V3, products="uninterpreted")
    assert set(model.functions) == {"product"}
    assert spec.compared(V3, model).answer is Answer.HOLDS  # for simulations they are the products


def test_what_z3_leaves_goes_to_both() -> None:
    a, b = z3.BitVecs("a b", 12)
    hard = (a + b) * (a + b) == a * a + 2 * a * b + b * b
    wrong = z3.Implies(a * b == 35, a == 5)
    said = list(solvers.decide([hard, wrong], 60))
    assert [one.holds for one in said] == [True, False]
    assert set(said[1].values) == {"a", "b"}
