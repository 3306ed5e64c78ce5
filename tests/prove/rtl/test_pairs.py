"""Pairs are taken apart where that is proved, and nowhere else."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from axiloom import isa
from axiloom.hw.verilog.emit import emit
from axiloom.isa import AcceleratorSpec
from axiloom.prove.rtl import replay, verdicts
from axiloom.prove.rtl.maps import ours as maps
from axiloom.prove.rtl.terms import machine
from axiloom.prove.rtl.terms.pairs import apart
from axiloom.prove.verdict import Answer

TOP = "axiloom_accelerator"


def small() -> AcceleratorSpec:
    spec = isa.builtin("v3", 4, data_type="int8")
    tile = replace(spec.tile, size=(2, 4, 4))
    return isa.revise(spec, name="v3_pairs", tile=tile, buffers={"A": 2, "B": 4, "C": 8}, macs=4)


def taken_apart(verilog: str) -> int:
    """Of the two pairs, those that are now two products."""
    before = machine.read(((f"{TOP}.v", verilog),), TOP)
    after = apart(before)
    changed = {name for name, term in after.following.items() if not term.eq(before.following[name])}
    assert all(re.search(r"\.pair_0\.(full|both)$", name) for name in changed)
    return len(changed) // 2


MUTANTS = {
    "a borrow between the products": ("17'h08000", "17'h00000"),
    "the low factor has no sign": (r"\{ pair\[16:7\](, pair\[7\]){7}", "{ pair[16:8], 8'h00"),
    "the shared factor has no sign": (r"\* \$signed\(shared\)", "* $signed({ 1'h0, shared })"),
}


@pytest.mark.slow
def test_both_products_are_taken_apart() -> None:
    assert taken_apart(emit(small(), "accelerator")) == 2


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_what_is_no_pair_of_products_stays(mutant: str) -> None:
    bad, count = re.subn(*MUTANTS[mutant], emit(small(), "accelerator"))
    assert count == 1
    assert taken_apart(bad) == 0


@pytest.mark.slow
@pytest.mark.usefixtures("eight_words")
def test_an_engine_with_pairs_refines_its_model() -> None:
    found = verdicts.prove(maps.device_of(small()), 60)
    assert [one for one in found if not one.good] == []
    assert {"product", "reset", "wait", "overlap"} <= {one.name for one in found}


@pytest.mark.slow
@pytest.mark.parametrize(
    "mutant", [*MUTANTS.values(), (r"- \$signed\(\{ 1'h0, \w+\[7\] \}\)", "- $signed(2'h0)")]
)
def test_a_wrong_product_is_found(mutant: tuple[str, str], tmp_path: Path) -> None:
    spec = small()
    good = emit(spec, "accelerator")
    bad, count = re.subn(*mutant, good, count=1)
    assert count == 1
    device = maps.device_of(spec, bad)
    wrong = [one for one in verdicts.prove(device, 60, folder=tmp_path) if not one.good]
    assert [one.answer for one in wrong] == [Answer.VIOLATED]
    assert not replay.passes(Path(wrong[0].replay), device)
