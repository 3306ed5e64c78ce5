# amaranth: UnusedElaboratable=no
"""What one module of ours takes for granted, its neighbour proves: a comparison of sets, without a prover."""

from __future__ import annotations

import pytest

from axiloom.hw.axi.rules import protocols
from axiloom.prove.axi import ours
from axiloom.prove.axi.matrix import KINDS
from axiloom.prove.axi.ours import whole
from axiloom.prove.bench import OUTSIDE, Bench


@pytest.fixture(scope="module")
def benches() -> dict[str, Bench]:
    return {name: target.bench() for name, target in ours.TARGETS.items()}


def checks(bench: Bench) -> set[tuple[str, str]]:
    return {(prop.port, prop.name) for prop in bench.properties if not prop.is_cover}


def test_each_assumption_is_proved_where_it_says(benches: dict[str, Bench]) -> None:
    missing, agreed = [], set()
    for name, bench in benches.items():
        for one in bench.assumptions:
            if one.kept_by == OUTSIDE:
                continue
            target, _, port = one.kept_by.partition(".")
            agreed.add((one.kept_by, one.name))
            if target not in benches or (port, one.name) not in checks(benches[target]):
                missing.append(f"{name} takes {one.name} of {one.kept_by}")
    assert missing == []
    assert len(agreed) > 40  # it compares something


def test_only_rules_of_axi_are_left_to_those_outside(benches: dict[str, Bench]) -> None:
    """And what a bench says of its own inputs: a constant stays what it is."""
    ends = {end for ends in KINDS.values() for end in ends}
    rules = {f"{channel}_{end}" for channel in protocols.ASKED for end in ends}
    for name, bench in benches.items():
        unnamed = [one for one in bench.assumptions if not one.name]
        others = {one.name for one in bench.assumptions if one.kept_by == OUTSIDE} - rules - {""}
        assert others == set(), name
        assert len(unnamed) == bench.constants, name


@pytest.mark.parametrize("dma", whole.PORTS)
def test_each_outer_port_of_a_dma_is_proved_by_a_part(dma: str, benches: dict[str, Bench]) -> None:
    joined = {prop.port for prop in benches[dma].properties if prop.name == "joined"}
    assert joined == set(whole.PORTS[dma])
    for who in whole.PORTS[dma].values():
        target, _, port = who.partition(".")
        assert port in {prop.port for prop in benches[target].properties}
