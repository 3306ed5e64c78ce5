# amaranth: UnusedElaboratable=no
"""Pipes issue, and nodes are executed in their slots; the rest is seen in whole circuits (tests/nest)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from amaranth.hdl import Fragment
from tests.nest import circuits, model

from axiloom.hw.nest.circuit import Circuit, Node
from axiloom.hw.nest.core import Core
from axiloom.hw.verilog.nest import emit_nest


def with_nodes(circuit: Circuit, *nodes: Node) -> Circuit:
    return replace(circuit, pipes=(replace(circuit.pipes[0], nodes=nodes),))


def test_a_value_that_is_not_there_yet_is_refused() -> None:
    circuit = circuits.one_pipe()
    *nodes, last = circuit.pipes[0].nodes
    early = with_nodes(circuit, *nodes, replace(last, slot=4))
    with pytest.raises(ValueError, match="pipe axpy: node 4 is there in slot 5, used in slot 4"):
        Fragment.get(Core(early, model.plain), None)


def test_equal_reads_are_one() -> None:
    circuit = circuits.one_pipe()
    nodes = circuit.pipes[0].nodes
    twice = with_nodes(circuit, *nodes[:5], nodes[0], replace(nodes[5], value=5, slot=9))
    core = Core(twice, model.plain, checks=True)
    Fragment.get(core, None)
    assert core.checks == []  # a port with one address has nothing to watch


def test_delays_have_no_reset_and_what_is_valid_has() -> None:
    """So delays become shift registers, and a reset leaves no iteration under way."""
    text = emit_nest(circuits.one_pipe(), model.plain).text
    assert "always @(posedge aclk) axpy_i_at_2 <= axpy_i_at_1;" in text
    assert "axpy_valid_2 <= axpy_valid_1;\n    if (rst) axpy_valid_2 <= 1'h0;" in text


def test_no_multiplier_computes_an_address() -> None:
    text = emit_nest(circuits.triangular(), model.plain).text
    assert "*" not in text.replace("@*", "")
