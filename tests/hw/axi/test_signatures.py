# amaranth: UnusedElaboratable=no
"""Port names and widths of the AXI signatures, and what they refuse."""

from __future__ import annotations

import copy
import re

import pytest
from amaranth.hdl import Module
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4, AXI4Lite, AXI4Stream, flat_ports
from axiloom.hw.dma.mover import MoverCommand, MoverStatus
from axiloom.hw.dma.sg_port import SgRequests
from axiloom.hw.engine.load_port import LoadPort


class Bridge(wiring.Component):
    def __init__(self) -> None:
        super().__init__(
            {
                "s_axis": In(AXI4Stream(32)),
                "m_axi": Out(AXI4(access="read")),
                "s_axi_lite": In(AXI4Lite(10)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        return Module()


def test_flat_ports_have_the_names_that_vendor_tools_look_for() -> None:
    ports = flat_ports(Bridge())
    assert {name for name in ports if name.startswith("s_axis_")} == {
        "s_axis_tdata", "s_axis_tvalid", "s_axis_tready", "s_axis_tlast",
    }  # fmt: skip
    assert {name for name in ports if name.startswith("m_axi_")} == {
        "m_axi_araddr", "m_axi_arlen", "m_axi_arsize", "m_axi_arburst", "m_axi_arprot", "m_axi_arcache",
        "m_axi_arvalid", "m_axi_arready", "m_axi_rdata", "m_axi_rresp", "m_axi_rlast", "m_axi_rvalid",
        "m_axi_rready",
    }  # fmt: skip
    assert len(ports["s_axi_lite_awaddr"][0]) == 10
    assert ports["s_axi_lite_bvalid"][1] is PortDirection.Output
    assert ports["m_axi_arready"][1] is PortDirection.Input


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: AXI4Stream(24),
            "AXI4-Stream data width must be one of 8, 16, 32, 64, 128, 256, 512, 1024, not 24",
        ),
        (lambda: AXI4Lite(10, 16), "AXI4-Lite data width must be one of 32, 64, not 16"),
        (lambda: AXI4Lite(0), "AXI4-Lite address width must be an integer from 1 to 64, not 0"),
        (
            lambda: AXI4(access="both"),
            """AXI4 access must be "read", "write" or "read-write", not 'both'""",
        ),
    ],
)
def test_bad_parameters_are_quoted(make: type, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make()


def test_parameters_print_as_they_are_written() -> None:
    assert repr(AXI4Stream(64)) == "AXI4Stream(64)"
    assert repr(AXI4Lite(10)) == "AXI4Lite(10, 32)"
    assert repr(AXI4(32, 64, "write")) == "AXI4(32, 64, 'write')"


def test_signatures_are_equal_by_their_parameters() -> None:
    kinds = [
        *(AXI4Stream(width) for width in (32, 64)),
        *(AXI4Lite(bits, width) for bits in (10, 32) for width in (32, 64)),
        *(AXI4(32, width, access) for width in (32, 64) for access in ("read", "write")),
        AXI4(40, 32, "read"),
        *(MoverCommand(bits, strided) for bits in (14, 26) for strided in (False, True)),
        MoverStatus(),
        SgRequests(),
        LoadPort(),
    ]
    again = [copy.deepcopy(kind) for kind in kinds]
    for i, kind in enumerate(kinds):
        assert [kind == other for other in again] == [i == number for number in range(len(kinds))], kind
        assert kind != kind.members
    assert (repr(SgRequests()), repr(LoadPort())) == ("SgRequests()", "LoadPort()")
