# amaranth: UnusedElaboratable=no
"""What one module of ours takes for granted, its neighbour proves: a comparison of sets, without a prover."""

from __future__ import annotations

import pytest

from axiloom.hw.axi.rules import protocols
from axiloom.prove.axi import ours
from axiloom.prove.axi.ours import whole
from axiloom.prove.bench import OUTSIDE, Bench


@pytest.fixture(scope="module")
def benches() -> dict[str, Bench]:
    return {name: target.bench() for name, target in ours.TARGETS.items()}


def checks(bench: Bench) -> set[tuple[str, str]]:
    return {(prop.port, prop.name) for prop in bench.properties if not prop.is_cover}


def test_each_assumption_is_proved_where_it_says(benches: dict[str, Bench]) -> None:
    missing = []
    for name, bench in benches.items():
        for one in bench.assumptions:
            if one.kept_by == OUTSIDE:
                continue
            target, _, port = one.kept_by.partition(".")
            if target not in benches or (port, one.name) not in checks(benches[target]):
                missing.append(f"{name} takes {one.name} of {one.kept_by}")
    assert missing == []


def test_only_rules_of_axi_are_left_to_those_outside(benches: dict[str, Bench]) -> None:
    """And what a bench says of its own inputs: a constant stays what it is."""
    rules = {
        f"{channel}_{what}"
        for channel in protocols.ASKED
        for what in "held stable reset 4k size length wrap outstanding last strobes early asked resp".split()
    }
    for name, bench in benches.items():
        unnamed = [one for one in bench.assumptions if not one.name]
        others = {one.name for one in bench.assumptions if one.kept_by == OUTSIDE} - rules - {""}
        assert others == set(), name
        assert len(unnamed) == bench.constants, name


def test_what_is_assumed_at_one_side_of_a_joint_is_checked_at_the_other(benches: dict[str, Bench]) -> None:
    """Both are the same function of the same signals: the same agreement."""
    assumed = {(one.kept_by, one.name) for b in benches.values() for one in b.assumptions} - {(OUTSIDE, "")}
    agreed = {(who, name) for who, name in assumed if who != OUTSIDE}
    assert len(agreed) > 20
    for who, name in agreed:
        target, _, port = who.partition(".")
        (prop,) = [p for p in benches[target].properties if (p.port, p.name) == (port, name)]
        assert prop.text


@pytest.mark.parametrize("dma", whole.PORTS)
def test_each_outer_port_of_a_dma_is_proved_by_a_part(dma: str, benches: dict[str, Bench]) -> None:
    joined = {prop.port for prop in benches[dma].properties if prop.name == "joined"}
    assert joined == set(whole.PORTS[dma])
    for who in whole.PORTS[dma].values():
        target, _, port = who.partition(".")
        assert port in {prop.port for prop in benches[target].properties}
