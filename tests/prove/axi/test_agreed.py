"""What the parts of a DMA rely on of each other catches a fault of whoever keeps it."""

from __future__ import annotations

import pytest
from tests.prove.axi import mutants
from tests.prove.axi.mutants import MM2S, REGISTERS, Mutant

from axiloom.prove.axi.ours import agreements
from axiloom.prove.axi.ours.registers import TOGETHER
from axiloom.prove.axi.ours.target import Agreement
from axiloom.prove.verdict import Answer

SG, FETCH, DMA = "axiloom.hw.dma.sg", "axiloom.hw.dma.sg_fetch", "axiloom.hw.dma.axi_dma"


def one(place: str, module: str, old: str, new: str) -> Mutant:
    target, port, name = place.split(".")
    return Mutant(target, port, name, module, ((old, new),))


ALL = (
    one(
        "mm2s_registers.command.aligned",
        REGISTERS,
        "self.command.address[: exact_log2(self._alignment)].any() | ",
        "",
    ),
    one("s2mm_registers.command.some", REGISTERS, " | (new_length < self._min_length)", ""),
    one("mm2s_registers.command.one", REGISTERS, "~refused & ~busy &", "~refused &"),
    one("mm2s_registers.command.after_error", REGISTERS, "run & ~any_error & ", ""),
    one("mm2s.command.active_fails", MM2S, "over.eq(failed & self.drained)", "over.eq(failed)"),
    one(
        "mm2s.command.active_ends",
        MM2S,
        "with m.If(self.status.done | over):",
        "with m.If(delivered | over):",
    ),
    one(
        "mm2s.command.rises",
        MM2S,
        "with m.If(self.command.start):\n                m.d.sync += self.status.active",
        "with m.If(1):\n                m.d.sync += self.status.active",
    ),
    one("lite_slave.bus.together", REGISTERS, "bus.wready.eq(self.write)", "bus.wready.eq(1)"),
    one(
        "mm2s.stop.drained_stays",
        MM2S,
        "                & ~self.stop\n                & (room",
        "                & (room",
    ),
    one("mm2s_descriptors.command.ready", SG, "(self.command.ready | new.misfit)", "1"),
    one("mm2s_descriptors.command.aligned", FETCH, "            | descriptor.address[:shift].any()\n", ""),
    one("mm2s_descriptors.command.rows_aligned", FETCH, "descriptor.length[:shift].any() | ", ""),
    one(
        "s2mm_descriptors.command.some",
        FETCH,
        "(descriptor.length < self._min_length)",
        "(descriptor.length == 0)",
    ),
    one("mm2s_descriptors.requests.descriptors", SG, "Const(STATUS * 4, 6)", "Const(STATUS * 4 + 1, 6)"),
    one("dma.stop.stop_stays", DMA, "with m.If(clear):", "with m.If(reset_cycles == 1):"),
    one("dma.stop.clear_drained", DMA, " & mm2s.drained & s2mm.drained", " & s2mm.drained"),
)


def test_every_agreement_has_a_mutant() -> None:
    """But that one register is written in a cycle: the strobes are the cases of a switch."""
    agreed = {one.name for one in (*vars(agreements).values(), TOGETHER) if isinstance(one, Agreement)}
    assert agreed == {one.rule for one in ALL} | {"one_write"}


@pytest.mark.synth
@pytest.mark.slow
@pytest.mark.parametrize("mutant", ALL, ids=[one.name for one in ALL])
def test_is_caught(mutant: Mutant) -> None:
    assert mutants.hunt(mutant).answer is Answer.VIOLATED
