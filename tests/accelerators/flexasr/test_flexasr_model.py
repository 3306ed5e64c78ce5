"""FlexASR's text as a formal model: everything that is proved of any model, by z3."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import z3

from axiloom.isa.formal import bounds, sound
from axiloom.isa.formal.programs import Model, model_of
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import parse

FILE = targets()["flexasr"]


def model(right: str = "", wrong: str = "") -> Model:
    text = FILE.read_text()
    assert right in text
    return model_of(parse(text.replace(right, wrong) if right else text, "flexasr.isa", "flexasr"))


def refuted(claims: list[sound.Claim]) -> Iterator[str]:
    for one in claims:
        solver = z3.Solver()
        solver.set("timeout", 60_000)
        solver.add(z3.Not(one.formula))
        if solver.check() != z3.unsat:
            yield one.name


@pytest.mark.slow
def test_sound() -> None:
    """One instruction at a time, invariants, every program ends, every index lies within: in every state."""
    made = model()
    claims = [*sound.claims(made.ila), *bounds.claims(made.source)]
    assert len(claims) > 3000
    assert list(refuted(claims)) == []


@pytest.mark.slow
def test_two_instructions_at_once() -> None:
    made = model("of_buffer(addr, 6))\ndef write_small", "of_buffer(addr, 5))\ndef write_small")
    assert "flexasr: write_large, write_small" in refuted([*sound.decode_claims(made.ila)])


@pytest.mark.slow
def test_an_index_outside() -> None:
    """No claim is left of the text as it is: each index's range lies within its memory."""
    assert bounds.claims(model().source) == []
    made = model("small[uint10(soft + g), step] =", "small[soft + g, step] =")
    (name,) = refuted(bounds.claims(made.source))
    assert "small" in name
