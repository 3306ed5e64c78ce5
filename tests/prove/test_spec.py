"""``axiloom prove spec``: built-ins hold, and faults in a model are found, by proof or by simulation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import z3

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.cli import main
from axiloom.isa.formal import beats, sound
from axiloom.isa.formal.beats import Beats, model_of
from axiloom.isa.formal.programs import Builder, Loop
from axiloom.isa.instructions.tree import Expr, Wrapped, unsigned
from axiloom.isa.opcode_map import kernels, reader
from axiloom.isa.opcode_map.state import Part, Size
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
    assert kinds == {
        "covers", "decode", "invariants", "every instruction ends", "what is sent", "layouts"
    }  # fmt: skip
    assert [one.source for one in verdicts if one.bound is not None] == ["simulation"]


@pytest.mark.slow
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


Fault = Callable[[pytest.MonkeyPatch], None]


def build(device: isa.AcceleratorSpec, fault: Fault) -> Beats:
    """The model of an opcode map that was read, or became terms, in a wrong way."""
    with pytest.MonkeyPatch.context() as patch:
        fault(patch)
        return model_of(device)


def transposed(patch: pytest.MonkeyPatch) -> None:
    at = Part.at
    patch.setattr(
        Part, "at", lambda part, operand, index: at(part, "A" if operand == "B" else operand, index)
    )


def unsigned_elements(patch: pytest.MonkeyPatch) -> None:
    added = kernels._added
    patch.setattr(
        kernels,
        "_added",
        lambda part, total, *factors: added(part, total, *(Wrapped(one, unsigned(8)) for one in factors)),
    )


def never_clears(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(reader._Draft, "_clear", lambda _draft: None)


def early(patch: pytest.MonkeyPatch) -> None:
    """TLAST one word before the last."""
    bits = beats.BIT
    patch.setattr(beats, "BIT", bits[::-1])


@pytest.mark.parametrize("fault", [transposed, unsigned_elements, never_clears, early])
def test_simulation_sees(fault: Fault) -> None:
    verdict = spec.compared(build(V3, fault))
    assert verdict.answer is Answer.VIOLATED
    assert "not so at word" in verdict.text


def no_padding(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kernels, "choice", lambda _condition, yes, _no: yes)


def test_simulation_sees_what_an_image_lacks() -> None:
    device = isa.builtin("conv_v4", data_type="int8")
    assert spec.compared(build(device, no_padding)).answer is Answer.VIOLATED


def late(patch: pytest.MonkeyPatch) -> None:
    """Loops that stop one too late."""

    def more(builder: Builder, loop: Loop, _known: object) -> z3.BoolRef:
        at = builder.ila.states[loop.register]
        end = builder._terms(builder.ila.states, builder._kept(loop, inside=False)).value(loop.end)
        more: z3.BoolRef = z3.ULE(z3.ZeroExt(64 - at.size(), at), end.wide(64))
        return more

    patch.setattr(Builder, "_more", more)


def sized(**others: Callable[[Mapping[str, Size]], Size]) -> Fault:
    """Addresses with other sizes."""

    def fault(patch: pytest.MonkeyPatch) -> None:
        at = Part.at

        def wrong(part: Part, operand: str, index: Mapping[str, Expr]) -> Expr:
            sizes = part.sizes
            part.sizes = {**sizes, **{dim: other(sizes) for dim, other in others.items()}}
            try:
                return at(part, operand, index)
            finally:
                part.sizes = sizes

        patch.setattr(Part, "at", wrong)

    return fault


pitched = sized(fw=lambda sizes: sizes["fw"] + 1)
transposed_sizes = sized(
    fh=lambda sizes: sizes["fw"], iw=lambda sizes: sizes["ih"], ow=lambda sizes: sizes["oh"]
)


def endless(patch: pytest.MonkeyPatch) -> None:
    """An opcode that sends again when it has sent."""

    def ended(device: Any, state: dict[str, Any]) -> None:
        state["step"] = z3.BitVecVal((device.counts or [1])[-1], state["step"].size())

    patch.setattr(beats._Device, "ended", ended)


def any_size(patch: pytest.MonkeyPatch) -> None:
    """Loads of whatever size."""
    patch.setattr(reader._Draft, "_fits", lambda *_, **__: None)


def illegal(patch: pytest.MonkeyPatch) -> None:
    """Sizes that no device may have."""
    patch.setattr(reader._Draft, "_legal", lambda *_: None)


def lost(patch: pytest.MonkeyPatch) -> None:
    """TLAST on every word."""
    patch.setattr(beats, "BIT", (beats.BIT[0], beats.BIT[0]))


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("fault", "kind", "name"),
    [
        (late, "invariants", "cO: what is under way: conv_v4.cO.piece1.i_fw.body"),
        (any_size, "invariants", "I as it was laid fits its buffer: conv_v4.sI.piece3.i_x.done"),
        (illegal, "invariants", "sizes are legal: conv_v4.cfg.0"),
        (endless, "every instruction ends", "conv_v4.rO.send0.last: ends"),
        (lost, "what is sent", "conv_v4.rO.send0.word: sends"),
        (pitched, "layouts", "layout of F: within what is loaded"),
        (transposed_sizes, "layouts", "layout of F: injective"),
    ],
)
def test_proofs_see(fault: Fault, kind: str, name: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        fault(patch)
        claims = spec.claims(model_of(isa.builtin("conv_v4")))
    claims = [claim for claim in claims if claim.kind == kind and claim.name == name]
    (verdict,) = spec.decided("conv_v4", claims, 20)
    assert verdict.answer is Answer.VIOLATED
    assert kind == "layouts" or "not so with" in verdict.text


@pytest.mark.parametrize("name", ["unknown", "sF"])
def test_proofs_see_words_that_nothing_takes(name: str) -> None:
    model = model_of(isa.builtin("conv_v4")).ila
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
    assert sum(known["unbounded"].values()) == claims > 100
    assert proved.line(device).startswith(
        "v1_4: decode, invariants, every instruction ends, what is sent, layouts "
        f"({claims} claims, unbounded); its model beside the functional model on "
        f"{first[-1].bound:,} words"
    )
    # What a model is not made of does not count; what it is made of does.
    moved = isa.revise(device, dma=replace(device.link.dma, address=0x50000000))
    assert proved.of(moved) == known
    assert proved.of(isa.revise(device, stream_width=64)) is None


def test_uninterpreted_products() -> None:
    model = model_of(V3, products="uninterpreted")
    assert set(model.ila.functions) == {"product"}
    assert spec.compared(model).answer is Answer.HOLDS  # for simulations they are the products


def test_what_z3_leaves_goes_to_both() -> None:
    a, b = z3.BitVecs("a b", 12)
    hard = (a + b) * (a + b) == a * a + 2 * a * b + b * b
    wrong = z3.Implies(a * b == 35, a == 5)
    said = list(solvers.decide([hard, wrong], 60))
    assert [one.holds for one in said] == [True, False]
    assert set(said[1].values) == {"a", "b"}
