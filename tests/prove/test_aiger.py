"""AIGER files: what is read is what is written, and a step is a question about two cycles."""

from __future__ import annotations

import pytest

from axiloom.prove.aiger import Aiger

# An input inverts `low`, and where it is high sets `high`. Outputs: both are high; `low` is.
COUNTER = Aiger(
    inputs=1,
    latches=(12, 17),
    outputs=(14, 4),
    gates=((5, 3), (4, 2), (11, 9), (6, 4), (11, 7)),
    symbols={"i0": "up", "l0": "low", "l1": "high", "o0": "three", "o1": "odd"},
)


def test_what_is_written_is_read() -> None:
    assert Aiger.read(COUNTER.write()) == COUNTER


def test_a_cone_has_what_an_output_needs() -> None:
    cone = COUNTER.cone(COUNTER.output("odd"))
    assert cone.symbols["o0"] == "odd"
    assert "l1" not in cone.symbols
    assert len(cone.gates) < len(COUNTER.gates)


def test_a_step_begins_in_any_state() -> None:
    step = COUNTER.step()
    assert step.inputs == COUNTER.inputs + len(COUNTER.latches)
    assert step.symbols["i1"] == "low"
    assert len(step.latches) == len(COUNTER.latches) + 1 + len(COUNTER.outputs)
    assert Aiger.read(step.write()) == step


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"aag 0 0 0 0 0\n", "no binary AIGER file"), (b"aig 1 0 1 0 0\n3 1\n", "does not begin at 0")],
)
def test_refused(data: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Aiger.read(data)
