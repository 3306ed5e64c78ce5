"""The system on chip around an accelerator: the DMA, its AXI masters, its registers, and probes."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, ResetInserter, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.interconnect import LiteDecoder
from axiloom.hw.axi.signatures import AXI4, AXI4Lite
from axiloom.hw.dma.axi_dma import AxiDma
from axiloom.hw.dma.axi_fifo import AxiFifo
from axiloom.hw.dma.registers import ADDRESS_WIDTH
from axiloom.hw.dma.sg_port import WIDTH as SG_WIDTH
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.hw.soc import watched
from axiloom.hw.soc.accelerator import build
from axiloom.hw.soc.model import ModelAccelerator
from axiloom.hw.soc.user import CONTROL_BITS, UserAccelerator
from axiloom.isa.contract import interfaces
from axiloom.isa.contract.spec import AcceleratorSpec


class Soc(wiring.Component):
    """DMA and accelerator: AXI-Lite in, AXI masters out, everything in the domain ``sync``.

    Streams and data ports are as wide as the link says; with scatter-gather there is the port of the
    descriptors, ``m_axi_sg``, 64 bits wide, too.

    `user_rtl` takes the place of the generated accelerator; `accelerator` is any component with the
    members of :class:`MatMul` to take its place. A soft reset of the DMA (DMACR.Reset) also resets
    the accelerator: it may hold a part of a packet of which the rest will not come.
    ``m_axi_user`` is the AXI4 master of the user's module, where it has one.
    Registers of the user's module lie :data:`axiloom.isa.contract.rtl.REGISTERS_AT` behind the DMA's.

    `watched`: for a simulation, with :mod:`axiloom.hw.soc.watched` in the streams of accelerator `number`.
    `fifo`: an AXI4-Stream FIFO stands in the DMA's place, and the ports to memory stay quiet.

    Beside the buses (names in :mod:`axiloom.hw.axi.signatures`) and the interrupts there are probes for a
    simulator, that cost nothing where they are left open:

    - ``debug_in_*``, ``debug_out_*``: copies of the accelerator's two streams
    - ``debug_compute``, ``debug_error``: the accelerator's
    - ``debug_mm2s_busy``, ``debug_s2mm_busy``: a transfer is under way
    - ``debug_mm2s_done``, ``debug_s2mm_done``: the last word of a descriptor (only with scatter-gather)
    - ``debug_idle``: nothing changes before the next access to a register
    """

    def __init__(
        self,
        spec: AcceleratorSpec,
        user_rtl: UserRtl | None = None,
        accelerator: wiring.Component | None = None,
        *,
        watched: bool = False,
        number: int = 0,
        fifo: bool = False,
    ) -> None:
        self._spec = spec
        self._watched = watched
        self._number = number
        self._fifo = fifo
        self._user_rtl = user_rtl
        self._accelerator = accelerator
        probes = {
            f"debug_{direction}_{name}": Out(width)
            for direction in ("in", "out")
            for name, width in (("tdata", spec.link.stream_width), ("tvalid", 1), ("tready", 1), ("tlast", 1))
        }
        super().__init__(
            {
                "s_axi_lite": In(
                    AXI4Lite(CONTROL_BITS + 1 if user_rtl and spec.link.rtl.registers else ADDRESS_WIDTH)
                ),
                "m_axi_mm2s": Out(AXI4(32, spec.link.stream_width, "read")),
                "m_axi_s2mm": Out(AXI4(32, spec.link.stream_width, "write")),
                **(
                    {"m_axi_sg": Out(AXI4(32, SG_WIDTH, "read-write"))}
                    if spec.link.dma.scatter_gather
                    else {}
                ),
                **(
                    {"m_axi_user": Out(AXI4(32, user_rtl.master_width))}
                    if user_rtl and user_rtl.master
                    else {}
                ),
                "mm2s_introut": Out(1),
                "s2mm_introut": Out(1),
                "debug_idle": Out(1),
                **probes,
                "debug_compute": Out(1),
                "debug_error": Out(4),
                "debug_mm2s_busy": Out(1),
                "debug_s2mm_busy": Out(1),
                **(
                    {"debug_mm2s_done": Out(1), "debug_s2mm_done": Out(1)}
                    if spec.link.dma.scatter_gather
                    else {}
                ),
            }
        )

    @property
    def spec(self) -> AcceleratorSpec:
        return self._spec

    @property
    def user_rtl(self) -> UserRtl | None:
        return self._user_rtl

    def elaborate(self, platform: object) -> Module:
        m = Module()
        dma: AxiDma | AxiFifo
        if self._fifo:
            dma = AxiFifo()
        else:
            dma = AxiDma(
                self.spec.link.stream_width,
                self.spec.link.dma.length_width,
                scatter_gather=self.spec.link.dma.scatter_gather,
                coherent=self.spec.link.dma.coherent,
            )
            wiring.connect(m, dma.m_axi_mm2s, wiring.flipped(self.m_axi_mm2s))
            wiring.connect(m, dma.m_axi_s2mm, wiring.flipped(self.m_axi_s2mm))
        m.submodules.dma = dma
        accelerator: Any
        if self.user_rtl is not None:
            user_accelerator = UserAccelerator(self.user_rtl, self.spec, watched=self._watched)
            m.submodules.accelerator = accelerator = user_accelerator
            if self.user_rtl.master is not None:
                wiring.connect(m, accelerator.m_axi_user, wiring.flipped(self.m_axi_user))
            m.d.comb += [
                accelerator.restart.eq(dma.reset_out),
                accelerator.awaited.eq(dma.mm2s_busy | dma.s2mm_busy),
            ]
        elif isinstance(self._accelerator, ModelAccelerator):
            m.submodules.accelerator = accelerator = self._accelerator
            m.d.comb += accelerator.restart.eq(dma.reset_out)
        else:
            accelerator = self._accelerator or build(self.spec)
            m.submodules.accelerator = ResetInserter(dma.reset_out)(accelerator)

        if self.user_rtl is not None and self.spec.link.rtl.registers:
            self._share_registers(m, dma, accelerator)
        else:
            wiring.connect(m, wiring.flipped(self.s_axi_lite), dma.s_axi_lite)
        if self.spec.link.dma.scatter_gather:
            wiring.connect(m, dma.m_axi_sg, wiring.flipped(self.m_axi_sg))
            m.d.comb += [
                self.debug_mm2s_done.eq(dma.mm2s_done),
                self.debug_s2mm_done.eq(dma.s2mm_done),
            ]
        if self._watched and self.user_rtl is None:
            reset = Signal(name="watched_reset")
            m.d.comb += reset.eq(ResetSignal() | dma.reset_out)
            watched.stream(m, dma.m_axis_mm2s, accelerator.s_axis, interfaces.PORT_IN + self._number, reset)
            watched.stream(m, accelerator.m_axis, dma.s_axis_s2mm, interfaces.PORT_OUT + self._number, reset)
        else:
            wiring.connect(m, dma.m_axis_mm2s, accelerator.s_axis)
            wiring.connect(m, accelerator.m_axis, dma.s_axis_s2mm)

        for direction, stream in (("in", accelerator.s_axis), ("out", accelerator.m_axis)):
            for name in ("tdata", "tvalid", "tready", "tlast"):
                m.d.comb += getattr(self, f"debug_{direction}_{name}").eq(getattr(stream, name))
        m.d.comb += [
            self.mm2s_introut.eq(dma.mm2s_introut),
            self.s2mm_introut.eq(dma.s2mm_introut),
            self.debug_idle.eq(dma.quiet & ~accelerator.debug_busy),
            self.debug_compute.eq(accelerator.debug_compute),
            self.debug_error.eq(accelerator.debug_error),
            self.debug_mm2s_busy.eq(dma.mm2s_busy),
            self.debug_s2mm_busy.eq(dma.s2mm_busy),
        ]
        return m

    def _share_registers(self, m: Module, dma: AxiDma | AxiFifo, accelerator: UserAccelerator) -> None:
        """The DMA's registers in the lower half of the addresses, the accelerator's own in the upper half."""
        m.submodules.decoder = decoder = LiteDecoder((0, 1), CONTROL_BITS, CONTROL_BITS, CONTROL_BITS + 1)
        wiring.connect(m, wiring.flipped(self.s_axi_lite), decoder.bus)
        wiring.connect(m, decoder.slave1, accelerator.s_axi_control)
        for name, member in AXI4Lite(ADDRESS_WIDTH).members.items():
            ours, theirs = getattr(dma.s_axi_lite, name), getattr(decoder.slave0, name)
            m.d.comb += ours.eq(theirs) if member.flow == Out else theirs.eq(ours)
