"""Verilog of circuits of loop nests."""

from __future__ import annotations

from tests.nest import circuits, model

from axiloom.hw.nest.circuit import Storage
from axiloom.hw.verilog.nest import emit_nest


def test_top_checks_and_operators_are_named() -> None:
    verilog = emit_nest(circuits.tokens(), model.plain, checks=True)
    assert verilog.top == "nest_tokens"
    assert verilog.operators == ("nest_add_int32_1",)
    assert verilog.text.count("module nest_") == 2
    assert "FIFO full: it overflows" in verilog.checks


def test_lanes_share_the_module_of_an_operator() -> None:
    text = emit_nest(circuits.shared_unit(), model.plain).text
    assert text.count("module nest_mul_int32_2") == 1


def test_only_a_fifo_promises_that_no_word_is_read_when_it_is_written() -> None:
    """Yosys believes ``no_rw_check``; a bank is read then, and gives the old word."""
    bank = emit_nest(circuits.accumulate(Storage.BLOCK), model.plain).text
    assert '(* ram_style = "block" *) reg [31:0] s_0 [7:0];' in bank.replace("\n", " ")
    assert "no_rw_check" not in bank
    assert "reads_old" not in bank
    assert "no_rw_check" in emit_nest(circuits.fifo(100, 3), model.plain).text
