"""The place of an accelerator of which there is no RTL yet: a simulator puts the functional model there.

The model's SoC does not name its specification. Neither kernel nor sizes are in its Verilog, so a first
run of a new kernel builds nothing if its streams and DMA are known.
"""

from __future__ import annotations

from amaranth.hdl import ClockSignal, Const, Instance, Module, ResetSignal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4Stream

MODULE = "axiloom_model"
"""The Verilog module, which only simulators have (``cosim/rtl/axl_model.v``)."""
PORTS = (
    *("clk", "rst", "number", "s_axis_tdata", "s_axis_tvalid", "s_axis_tready", "m_axis_tdata"),
    *("m_axis_tvalid", "m_axis_tlast", "m_axis_tready", "debug_compute", "debug_error", "debug_busy"),
)


class ModelAccelerator(wiring.Component):
    """:data:`MODULE` behind the members of :class:`axiloom.hw.engine.engine.Engine`.

    `number` tells the models of a SoC apart. `restart` resets it, as the reset of the domain does.
    """

    def __init__(self, stream_width: int, number: int = 0) -> None:
        self._number = number
        super().__init__(
            {
                "s_axis": In(AXI4Stream(stream_width)),
                "m_axis": Out(AXI4Stream(stream_width)),
                "debug_compute": Out(1),
                "debug_error": Out(4),
                "debug_busy": Out(1),
                "restart": In(1),
            }
        )

    @property
    def number(self) -> int:
        return self._number

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.model = Instance(
            MODULE,
            i_clk=ClockSignal(),
            i_rst=ResetSignal() | self.restart,
            i_number=Const(self.number, 8),
            i_s_axis_tdata=self.s_axis.tdata,
            i_s_axis_tvalid=self.s_axis.tvalid,
            o_s_axis_tready=self.s_axis.tready,
            o_m_axis_tdata=self.m_axis.tdata,
            o_m_axis_tvalid=self.m_axis.tvalid,
            o_m_axis_tlast=self.m_axis.tlast,
            i_m_axis_tready=self.m_axis.tready,
            o_debug_compute=self.debug_compute,
            o_debug_error=self.debug_error,
            o_debug_busy=self.debug_busy,
        )
        return m
