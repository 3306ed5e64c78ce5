"""``axiloom prove spec``: built-ins hold, and faults in a model are found, by proof or by simulation."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import z3

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.cli import main
from axiloom.isa.contract.types import Clear
from axiloom.isa.formal import sound
from axiloom.isa.formal.streams import MatMulModel, model_of
from axiloom.isa.formal.streams.conv import ImageModel
from axiloom.isa.formal.streams.programs import StreamModel
from axiloom.isa.formal.streams.state import fitted
from axiloom.prove import solvers, spec
from axiloom.prove.verdict import Answer, Verdict
from axiloom.report import proved

V3 = isa.builtin("v3_4", data_type="int8")


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("name", "kind", "encoding"), [("v1_4", "int32", "bitmask"), ("conv_v3", "int16", "literals")]
)
def test_built_ins_are_sound(name: str, kind: str, encoding: str) -> None:
    sound_in_all(isa.builtin(name, data_type=kind, encoding=encoding))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "post", "width"), [("v4_16", True, 64), ("conv_v3", False, 128), ("conv_v4", True, 32)]
)
def test_more_built_ins_are_sound(name: str, post: bool, width: int) -> None:
    sound_in_all(isa.revise(isa.builtin(name, data_type="int8", post=post), stream_width=width))


def sound_in_all(device: isa.AcceleratorSpec) -> None:
    verdicts = spec.prove(device)
    assert [one for one in verdicts if not one.good] == []
    kinds = {one.source for one in verdicts if one.bound is None}
    assert kinds == {"covers", "decode", "invariants", "every instruction ends", "layouts"}
    assert [one.source for one in verdicts if one.bound is not None] == ["simulation"]


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "verdicts.json"
    assert main(["prove", "spec", "--accel", "v3", "--size", "4", "--json", str(file)]) == 0
    assert "1 for some words alone" in capsys.readouterr().out
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


def no_padding(made: ImageModel) -> None:
    pixel = made.pixel

    def without(*names: str) -> tuple[Any, z3.BoolRef]:
        at, _ = pixel(*names)
        return at, z3.BoolVal(True)

    made.pixel = without  # type: ignore[method-assign]


def test_simulation_sees_what_an_image_lacks() -> None:
    device = isa.builtin("conv_v4", data_type="int8")
    made = ImageModel(device, "exact")
    no_padding(made)
    assert spec.compared(device, made.build()).answer is Answer.VIOLATED


def late(made: StreamModel) -> None:
    """Loops that stop one too late."""
    made.at_end = lambda dim: fitted(made.counters[dim], 32) == fitted(made.sizes[dim], 32)  # type: ignore[method-assign]


def pitched(made: StreamModel) -> None:
    """Rows of filters that lie `pitch` apart, and all that is within them too."""

    def position(operand: str, index: Any, sizes: Any, pitch: Any) -> Any:
        first, *others = made.shape_dims(operand)
        at = index[first]
        for number, dim in enumerate(others):
            at = at * (pitch if made.rows(operand) and not number else sizes[dim]) + index[dim]
        return at

    made.position = position  # type: ignore[method-assign]


def transposed_sizes(made: StreamModel) -> None:
    position = made.position
    made.position = lambda operand, index, sizes, pitch: position(  # type: ignore[method-assign]
        operand, index, {**sizes, "fh": sizes.get("fw"), "iw": sizes.get("ih")}, pitch
    )


def endless(made: StreamModel) -> None:
    """An opcode whose last action comes again and again."""
    last = made.places.of(Clear)[-1]
    made.places.every[last.number - 1] = replace(last, following=last.number)


def small(made: StreamModel) -> None:
    """Loads of whatever size."""
    fits = made.fits
    made.fits = lambda operand, sizes: (  # type: ignore[method-assign]
        z3.BoolVal(True) if sizes is made.sizes else fits(operand, sizes)
    )


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("fault", "kind", "name"),
    [
        (late, "invariants", "counters are within the tile: conv_v4.compute.product"),
        (small, "invariants", "I as it was loaded fits its buffer: conv_v4.sI.2.last"),
        (endless, "every instruction ends", "conv_v4.clear.all: ends"),
        (pitched, "layouts", "layout of F: within what is loaded"),
        (transposed_sizes, "layouts", "layout of F: injective"),
    ],
)
def test_proofs_see(fault: Callable[[StreamModel], None], kind: str, name: str) -> None:
    made = ImageModel(isa.builtin("conv_v4"), "exact")
    fault(made)
    claims = [one for one in sound.claims(made.build()) if one.kind == kind and one.name == name]
    (verdict,) = spec.decided("conv_v4", claims, 20)
    assert verdict.answer is Answer.VIOLATED
    assert kind == "layouts" or "not so with" in verdict.text


@pytest.mark.parametrize("name", ["unknown", "sF"])
def test_proofs_see_words_that_nothing_takes(name: str) -> None:
    model = model_of(isa.builtin("conv_v4"))
    model.instructions[:] = [one for one in model.instructions if one.name != name]
    claims = [one for one in sound.claims(model) if one.name == "conv_v4: complete"]
    (verdict,) = spec.decided("conv_v4", claims, 20)
    assert verdict.answer is Answer.VIOLATED


@pytest.mark.parametrize(
    ("device", "why"),
    [
        (isa.builtin("loopback"), "there is no formal model of the form copy yet"),
        (isa.builtin("v3_4", data_type="float32"), "formal models are of integers, not of float32"),
    ],
)
def test_refused(device: isa.AcceleratorSpec, why: str) -> None:
    with pytest.raises(SpecError, match=why):
        model_of(device)


@pytest.mark.slow
def test_verdicts_are_kept_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AXILOOM_CACHE", str(tmp_path))
    device = isa.builtin("v1_4")
    assert proved.of(device) is None
    assert "nothing yet" in proved.line(device)
    said: list[int] = []

    def say(_verdict: Verdict, total: int) -> None:
        said.append(total)

    first = spec.prove(device, 60, say)
    assert said == [len(first)] * len(first)
    assert spec.prove(device, 60, say) == [replace(one, cached=True) for one in first]
    assert len(said) == len(first)
    known = proved.of(device)
    assert known is not None
    claims = sum(verdict.answer is Answer.HOLDS and verdict.bound is None for verdict in first)
    assert sum(known["unbounded"].values()) == claims > 200
    assert proved.line(device).startswith(
        "v1_4: decode, invariants, every instruction ends, layouts "
        f"({claims} claims, unbounded); its model beside the functional model on "
        f"{first[-1].bound:,} words"
    )
    # What a model is not made of does not count; what it is made of does.
    moved = isa.revise(device, dma=replace(device.dma, address=0x50000000))
    assert proved.of(moved) == known
    assert proved.of(isa.revise(device, stream_width=64)) is None


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
