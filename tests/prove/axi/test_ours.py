"""``axiloom prove axi``: our modules."""

from __future__ import annotations

import pytest

from axiloom.prove import abc
from axiloom.prove.axi import ours
from axiloom.prove.verdict import Answer

pytestmark = pytest.mark.synth


QUEUES = ("s2mm", "s2mm_strided", "read_arbiter", "write_arbiter")
"""Their lemmas take minutes."""


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "name",
    ["stream_skid", "stream_input", "lite_slave", *(pytest.param(q, marks=pytest.mark.slow) for q in QUEUES)],
)
def test_modules_without_a_bound(name: str) -> None:
    for verdict, _ in abc.prove(name, ours.TARGETS[name].bench()):
        assert verdict.good, verdict
        assert verdict.answer is not Answer.HOLDS or verdict.bound is None
