"""Each rule catches a fault; ``python -m tests.prove.axi.mutants`` prints all."""

from __future__ import annotations

import pytest
from amaranth.hdl import Module, Signal
from tests.prove.axi import mutants
from tests.prove.axi.mutants import ALL, Mutant

from axiloom.hw.axi.rules import protocols
from axiloom.hw.axi.rules.language import Watch
from axiloom.hw.axi.signatures import AXI4, AXI4Stream
from axiloom.prove.verdict import Answer

QUICK = {"stream_skid.o.t_stable", "packer.m_axis.t_held", "lite_slave.bus.b_asked"}


def test_every_rule_has_a_mutant() -> None:
    rules = set()
    for signature in (AXI4(), AXI4Stream()):
        port = {name: Signal(member.shape) for name, member in signature.members.items()}
        watch = Watch(Module(), port, Signal(), name="port")
        protocol = protocols.of(port)
        assert protocol is not None
        protocol.watch(watch)
        rules |= {one.rule.name for one in watch.rules}
    assert rules == {one.rule for one in ALL}
    assert len(ALL) >= 40


def marked(mutant: Mutant, number: int) -> object:
    slow = () if mutant.name in QUICK and mutant.edits == first[mutant.name] else (pytest.mark.slow,)
    return pytest.param(mutant, id=f"{number}-{mutant.name}", marks=(pytest.mark.synth, *slow))


first = {one.name: one.edits for one in reversed(ALL)}


@pytest.mark.every(3)
@pytest.mark.parametrize("mutant", [marked(one, i) for i, one in enumerate(ALL)])
def test_is_caught(mutant: Mutant) -> None:
    assert mutants.hunt(mutant).answer is Answer.VIOLATED
