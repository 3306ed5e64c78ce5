# amaranth: UnusedElaboratable=no
"""Plain identifiers: none that a tool would refuse, none given twice, none changed that others define."""

from __future__ import annotations

import re

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.rtl_files.lint import lint
from axiloom.hw.verilog import emit as verilog
from axiloom.hw.verilog.names import KEYWORDS, plain_names


def test_names() -> None:
    text = plain_names(r"assign \begin  = s_axis__tdata & \a$7  & a & 4'hb_eg & \b.c[2] ; /* x */")
    assert text == "assign begin_ = s_axis_tdata & a_7 & a & 4'hb_eg & b_c_2; "
    assert plain_names(r"x__y & x_y & \x$y ") == "x_y_2 & x_y & x_y_3"
    assert plain_names(r".s__in(s__in) & s__out ", keep={"s__in"}) == ".s__in(s__in) & s_out "


@pytest.mark.parametrize(
    ("escaped", "plain"),
    [
        (r"\$12 ", "_12"),
        (r"\a$7 ", "a_7"),
        (r"\a.b ", "a_b"),
        (r"\7up ", "n7up"),
        (r"\wire ", "wire_"),
        (r"\logic ", "logic_"),
        (r"\__ ", "_"),
        (r"\$auto$verilog_backend.cc:2355:dump_module$3 ", "_start"),
    ],
)
def test_one_name(escaped: str, plain: str) -> None:
    assert plain_names(escaped) == plain


def test_a_name_is_the_same_wherever_it_stands_and_no_other_gets_it() -> None:
    text = plain_names(r"a_b \a.b \a__b \a$b \a.b a_b 8'ha_b")
    assert text == "a_b a_b_2a_b_3a_b_4a_b_2a_b 8'ha_b"


def test_comments_go_but_not_the_statement_that_is_empty() -> None:
    assert plain_names("a; /* of Yosys */ b;") == "a;  b;"
    assert plain_names("  1'h0:\n      /* empty */;\n").split() == ["1'h0:", ";"]


class Keywords(wiring.Component):
    """Signals of all names that are keywords of SystemVerilog, in a row."""

    def __init__(self) -> None:
        super().__init__({"i": In(1), "o": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        value: Signal = self.i
        for name in sorted(KEYWORDS):
            register = Signal(name=name)
            m.d.sync += register.eq(~value)
            value = register
        m.d.comb += self.o.eq(value)
        return m


def test_names_that_are_keywords_get_others() -> None:
    text = verilog.convert(Keywords(), "all_of_them")
    assert {"within_", "cross_", "always_comb_", "wire_"} <= set(re.findall(r"\w+", text))
    assert lint(text, "all_of_them") == []
