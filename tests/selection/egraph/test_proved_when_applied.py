"""A rule of Axiloom's is proved when it is first applied, a user's before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from axiloom.graph import Graph, Type
from axiloom.graph.ops import Builder
from axiloom.selection.egraph import Limits, saturate, saturation
from axiloom.selection.rules import library
from axiloom.selection.rules.library import RuleText
from axiloom.selection.rules.prove import proved

TWICE = """
@exact
def twice(x: (m, n)):
    old = transpose(transpose(x, permutation=(1, 0)), permutation=(1, 0))
    new = x
"""
OPEN = """
@exact
def of_exponentials(x: (m, n)):
    assert number_of(x) == "float32"
    old = sqrt(abs(x))
    new = sqrt(abs(negate(x)))
"""


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AXILOOM_CACHE", str(tmp_path))
    monkeypatch.setattr(proved, "_DECIDED", {})


def _decided(folder: Path) -> set[str]:
    return {json.loads(file.read_text())["rule"] for file in (folder / proved.KIND).glob("*/value.json")}


def _graph(*operations: str) -> Graph:
    builder = Builder()
    made = x = builder.leaf("parameter", "x", Type((2, 3), "float32"))
    for op in operations:
        made = builder.op(op, made, **({"permutation": (1, 0)} if op == "transpose" else {}))
    return Graph("g", (x,), (made,))


def _as_ours(text: RuleText, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saturation, "_ours", lambda: {(text.place, text.text)})


def test_only_what_is_applied(tmp_path: Path) -> None:
    (text,) = (one for one in library.ours() if one.place == "moves.rules")
    found = saturate(_graph("transpose", "transpose", "abs"), [text], Limits(iterations=3))
    assert found.applied
    assert set(found.applied) == _decided(tmp_path)
    assert len(found.applied) < len(text.rules)


def test_what_is_not_decided_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = RuleText("both.rules", TWICE + OPEN)
    _as_ours(text, monkeypatch)
    graph = _graph("transpose", "transpose", "abs", "sqrt")
    assert "of_exponentials" in saturate(graph, [text], unproved=True).applied
    found = saturate(graph, [text])
    assert set(found.applied) == {"twice"}
    assert not any(node.rule == "of_exponentials" for one in found.classes for node in one)
    assert _decided(tmp_path) == {"twice", "of_exponentials"}
    monkeypatch.setattr(proved, "_DECIDED", {})  # another process, which finds the verdicts in the cache
    assert saturate(graph, [text]).classes == found.classes


@pytest.mark.parametrize("is_ours", [False, True])
def test_a_wrong_rule_is_a_fault(is_ours: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    text = RuleText("wrong.rules", TWICE.replace("new = x", "new = negate(x)"))
    if is_ours:
        _as_ours(text, monkeypatch)
    with pytest.raises(proved.RuleError, match="rule twice is wrong"):
        saturate(_graph("transpose", "transpose"), [text])


def test_a_users_rule_is_proved_though_nothing_matches() -> None:
    text = RuleText("wrong.rules", TWICE.replace("new = x", "new = negate(x)"))
    with pytest.raises(proved.RuleError, match="rule twice is wrong"):
        saturate(_graph("abs"), [text])
