"""Lost answers, starvations and right designs of several styles."""

from __future__ import annotations

import pytest
from tests.prove.axi.planted import FAULTS, RIGHT, RTL, Planted, hunt, prove

pytestmark = pytest.mark.synth
QUICK = ("template.r_answered", "lite_regs.b_answered", "arbiter.t_taken_live", "control.aw_taken_live")


def _marked(fault: Planted) -> object:
    marks = [] if fault.name in QUICK else [pytest.mark.slow, pytest.mark.every(3)]
    return pytest.param(fault, marks=marks, id=fault.name)


@pytest.mark.parametrize("fault", [*map(_marked, FAULTS)])
def test_a_fault_is_found(fault: Planted) -> None:
    code, broken = hunt(fault)
    assert code == 1
    assert broken


SLOW = ("bridge", "memory", "store")


@pytest.mark.every(4)
@pytest.mark.parametrize(
    "design", [pytest.param(one, marks=[pytest.mark.slow] * (one in SLOW)) for one in RIGHT]
)
def test_a_right_design_is_not_accused(design: str) -> None:
    code, verdicts = prove(RTL / f"{design}.v", "--live", *RIGHT[design])
    assert not [name for name, one in verdicts.items() if one["answer"] == "violated"]
    assert code == 0
    proofs = [one for one in verdicts.values() if one["answer"] == "holds" and not one["bounded"]]
    assert all(one["certified"] for one in proofs)
