"""Ports are watched in every run, and RTL of others runs again under pauses: faults are named.

The designs are those of ``benchmarks/simulation/rules``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from _pytest.mark import ParameterSet
from amaranth.hdl import Const
from benchmarks.simulation.bus_rules import DESIGNS, said
from tests.some import slow

from axiloom.cosim.build import emitted
from axiloom.hw.soc.user import UserAccelerator

BY_NAME = {design.top: design for design in DESIGNS}
DEFAULT = (1, 6, 22, 38, 42)
"""Of the faults those that are looked at in each run: a handshake, a stream, registers, bursts, an answer."""


def planted() -> Iterator[ParameterSet]:
    """Each fault in a single design, the styles in turn: ``python -m benchmarks bus_rules`` runs all."""
    for fault in sorted({fault for design in DESIGNS for fault in design.faults}):
        having = [design for design in DESIGNS if fault in design.faults]
        design = having[fault % len(having)]
        marks = () if fault in DEFAULT else pytest.mark.slow
        yield pytest.param(design, fault, id=f"{design.top}-{fault}", marks=marks)


@pytest.mark.parametrize(("design", "fault"), [*planted()])
def test_a_fault_is_named(design, fault) -> None:
    text = said(design, fault)
    assert re.search(design.faults[fault][1], text, re.IGNORECASE), text


ALWAYS = ("hls_stream", "fsm_master")


@pytest.mark.parametrize("name", [*ALWAYS, *map(slow, sorted({*BY_NAME} - {*ALWAYS}))])
def test_a_right_design_passes(name) -> None:
    assert said(BY_NAME[name], 0) == ""


def test_a_breach_says_signal_interface_rule_cycle_and_seed() -> None:
    text = said(BY_NAME["fsm_stream"], 2)
    assert re.fullmatch(
        r"ProtocolError: a rule of the bus is broken: m \(the stream from the device\): m_tdata changes "
        r"while m_tvalid waits for m_tready \(IHI 0051 2\.2\.1\), \d+ times, first at fabric cycle [\d,]+, "
        r"under pauses on every channel \(--stall 1\)",
        text,
    )
    assert said(BY_NAME["fsm_stream"], 2, stall="--stall off") == ""


@pytest.mark.slow
def test_an_answer_with_another_id_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted in our own interconnect: all writes are answered with ID 3, the first one has 5."""
    ids = UserAccelerator._ids

    def wrong(self, m, bus, asked, answered):
        another = {"i_m_axi_gmem_BID": Const(3, 4)} if answered == "bid" else {}
        return ids(self, m, bus, asked, answered) | another

    monkeypatch.setattr(UserAccelerator, "_ids", wrong)
    monkeypatch.setattr(emitted, "_generator", lambda: "another ID")
    text = said(BY_NAME["id_master"], 0)
    assert "m_axi_gmem_BID is 3: no burst with that ID is under way (IHI 0022 A5.3)" in text


def test_what_differs_under_pauses_is_a_mismatch() -> None:
    """Words are wrong that come when a FIFO is half full: no rule is broken, and without pauses none is."""
    text = said(BY_NAME["fifo_stream"], 51)
    assert re.match(
        r"MismatchError: under pauses on every channel \(--stall [1-4]\): the result is another: ", text
    )


def test_a_hang_names_a_reset_of_the_other_polarity() -> None:
    text = said(replace(BY_NAME["fsm_stream"], reset="rstn"), 0)
    assert (
        "the module is held in reset: rstn is taken for active high, and results come if it is active low"
        in text
    )


def test_a_hang_names_registers_that_nobody_wrote() -> None:
    text = said(replace(BY_NAME["hls_stream"], opcodes="send(A), recv(C)", registers=()), 0)
    assert "registers (AXI4-Lite, s_axi_control) that were never written" in text
    assert "bit 0 of 0x0 (ap_start)" in text


@pytest.mark.slow
def test_a_hang_names_registers_at_a_wrong_offset() -> None:
    text = said(replace(BY_NAME["hls_stream"], registers=(("control", 0x20),)), 0)
    assert "written were 0x20 (last 0x1), not bit 0 of 0x0" in text
