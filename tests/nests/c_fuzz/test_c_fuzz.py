"""A small share of ``python -m tests.nests.c_fuzz``, and that it sees what it is for."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from tests.nests.c_fuzz import programs, run

from axiloom.nests.lower.iteration import graph, narrow
from axiloom.nests.program import Expression, Op
from axiloom.nests.program.loaded import Loaded


@pytest.mark.parametrize("count", [12, pytest.param(60, marks=pytest.mark.slow)])
def test_equal_to_the_compiler_or_refused(count: int) -> None:
    counts = run.run(range(count), f"share of {count}", in_rtl=count // 12)
    assert counts["equal to the compiler's"] + counts["refused"] + counts["undefined, said by a run"] == count


def test_every_kind_is_written() -> None:
    texts = [programs.text(Random(number)) for number in range(300)]
    kinds = Counter(kind for text in texts for kind in text.kinds)
    assert len(kinds) == 22
    assert min(kinds.values()) >= 10
    assert {text.undefined for text in texts} == {"", *(why for why, _ in programs.UNDEFINED)}


def test_a_misreading_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the first statement of each program is forgotten."""
    right = run.load

    def forgetful(*words: Any) -> Loaded:
        loaded = right(*words)
        left = loaded.program.statements[1:] or loaded.program.statements
        return replace(loaded, program=replace(loaded.program, statements=left))

    monkeypatch.setattr(run, "load", forgetful)
    with pytest.raises(Exception, match="expected"):
        run.run(range(40), "misread")


def test_a_wrong_circuit_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: sums are products, as narrow ones once were."""

    def wrong(tree: Expression) -> Expression:
        right = narrow.narrowed(tree)
        return replace(right, name="mul") if isinstance(right, Op) and right.name == "add" else right

    monkeypatch.setattr(graph, "narrowed", wrong)
    with pytest.raises(run.FaultError, match="in the circuit's model"):
        run.run(range(40), "narrow")
