"""Which ports of a module are AXI, from their names."""

from __future__ import annotations

import pytest

from axiloom.base.errors import BuildError
from axiloom.hw.axi.rules.language import Side
from axiloom.hw.rtl_files.ports import Port
from axiloom.prove.axi.ports import Module, understand


def ports(text: str) -> list[Port]:
    """``i name`` or ``o name:bits``."""
    found = []
    for word in text.split(","):
        direction, name = word.split()
        name, _, bits = name.partition(":")
        found.append(Port(name, direction == "i", int(bits or 1)))
    return found


STREAMS = "i aclk, i aresetn, i s_tvalid, o s_tready, i s_tdata:32, o m_tvalid, i m_tready, o m_tdata:32"


def test_streams_by_direction() -> None:
    module = understand("both", ports(STREAMS))
    assert [(p.name, p.protocol.name, p.side) for p in module.axi] == [
        ("s", "AXI4-Stream", Side.SUBORDINATE),
        ("m", "AXI4-Stream", Side.MANAGER),
    ]
    assert (module.clocks, module.resets) == (("aclk",), {"aresetn": True})
    assert module.inputs == {"s_tvalid": 1, "s_tdata": 32, "m_tready": 1}


def of(text: str, **named: list[str]) -> Module:
    return understand("one", ports(text), **named)


def test_lengths_make_it_axi4() -> None:
    lite = (
        "i CLK, i M_AXI_ARREADY, o M_AXI_ARVALID, o M_AXI_ARADDR:32, i M_AXI_RVALID, o M_AXI_RREADY, "
        "i M_AXI_RDATA:32"
    )
    assert of(lite).axi[0].protocol.name == "AXI4-Lite"
    (port,) = of(f"{lite}, o M_AXI_ARLEN:8").axi
    assert (port.name, port.protocol.name, port.side) == ("M_AXI", "AXI4", Side.MANAGER)
    assert port.signals["arlen"].name == "M_AXI_ARLEN"
    assert not of(lite).resets


def test_a_prefix_before_the_clock() -> None:
    module = of("i s_axi_aclk, i s_axi_aresetn, o tvalid, i tready")
    assert (module.clocks, module.axi[0].name) == (("s_axi_aclk",), "bus")
    assert module.resets == {"s_axi_aresetn": True}


def test_resets_are_tied_and_clocks_where_somebody_says_so() -> None:
    text = "i s_aclk, i m_aclk, i s_aresetn, i rst, o tvalid, i tready, i mode:2"
    with pytest.raises(BuildError, match=r"found s_aclk, m_aclk: .*: --clock s_aclk --clock m_aclk"):
        of(text)
    module = of(text, clocks=["s_aclk", "m_aclk"])
    assert module.clocks == ("s_aclk", "m_aclk")
    assert module.resets == {"s_aresetn": True, "rst": False}
    assert (module.inputs, module.free) == ({"tready": 1, "mode": 2}, ["mode"])


def test_named_clock_and_reset() -> None:
    module = of("i tick, i nuke, o a_tvalid, i a_tready", clocks=["tick"], resets=["nuke"])
    assert (module.clocks, module.resets) == (("tick",), {"nuke": False})


@pytest.mark.parametrize(
    ("text", "named", "why"),
    [
        ("i go, o tvalid", {}, "module one: one clock is needed, found none: name it with --clock PORT"),
        ("i clk, i aclk, o tvalid", {}, "found clk, aclk: .* if one .* all: --clock clk --clock aclk"),
        ("i clk, o led", {}, "no AXI port, none with <prefix>tvalid, .* its ports are clk, led"),
        ("i clk, o tvalid", {"clocks": ["klok"]}, "--clock klok: no input of that name; of one bit are clk"),
        ("i clk, o arvalid, o araddr:9, i rvalid, i rdata:8", {}, "port bus has arvalid and no arready"),
        ("i clk, o arvalid, i arready, i rvalid", {}, "port bus has arvalid and no araddr, rdata"),
        (
            "i clk, o arvalid, o araddr, i arready, i rvalid, i rdata:24",
            {},
            "rdata has 24 bits; AXI has 8 to",
        ),
        (
            "i clk, o arvalid, o araddr:9, i arready, o rvalid, i rready, o rdata:8",
            {},
            "port bus is of both sides: arvalid of a manager, rvalid of a subordinate",
        ),
    ],
)
def test_refused(text: str, named: dict[str, list[str]], why: str) -> None:
    with pytest.raises(BuildError, match=why):
        of(text, **named)
