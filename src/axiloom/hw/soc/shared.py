"""Several accelerators on one chip, each with its DMA, behind one set of ports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.base.errors import SpecError
from axiloom.hw.axi.interconnect import PAGE_BITS, LiteDecoder, ReadArbiter, WriteArbiter
from axiloom.hw.axi.signatures import AXI4, AXI4Lite
from axiloom.hw.dma.registers import ADDRESS_WIDTH
from axiloom.hw.dma.sg_port import WIDTH as SG_WIDTH
from axiloom.hw.soc.soc import Soc
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.files.together import check_together

_STREAM = ("tdata", "tvalid", "tready", "tlast")


class SharedSoc(wiring.Component):
    """A :class:`Soc` for each of `specs`, two or more, with the ports of one.

    The registers of each DMA lie at its specification's own ``dma.address``, so ``s_axi_lite`` has 32
    address bits; an access elsewhere is answered DECERR. ``m_axi_mm2s``, ``m_axi_s2mm`` and ``m_axi_sg`` are
    shared, burst by burst, in turn. Interrupts and probes are as wide as there are accelerators, the
    first in the lowest bits: ``mm2s_introut[1]`` is the second one's. ``debug_idle`` is of all.

    Raises :exc:`SpecError` for what :func:`axiloom.isa.check_together` finds.
    """

    def __init__(
        self,
        specs: Sequence[AcceleratorSpec],
        accelerators: Sequence[wiring.Component | None] = (),
        *,
        watched: bool = False,
    ) -> None:
        faults = check_together(specs)
        if faults:
            raise SpecError(faults)
        self._specs = tuple(specs)
        self._watched = watched
        self._accelerators = tuple(accelerators) or (None,) * len(self._specs)
        count, first = len(self._specs), self._specs[0]
        width = first.link.stream_width
        bits = {"tdata": width, "tvalid": 1, "tready": 1, "tlast": 1}
        sg = first.link.dma.scatter_gather
        probes = {
            f"debug_{direction}_{name}": bits[name] * count for direction in ("in", "out") for name in _STREAM
        }
        self._each = {
            "mm2s_introut": count,
            "s2mm_introut": count,
            **probes,
            "debug_compute": count,
            "debug_error": 4 * count,
            "debug_mm2s_busy": count,
            "debug_s2mm_busy": count,
            **({"debug_mm2s_done": count, "debug_s2mm_done": count} if sg else {}),
        }
        super().__init__(
            {
                "s_axi_lite": In(AXI4Lite(32)),
                "m_axi_mm2s": Out(AXI4(32, width, "read")),
                "m_axi_s2mm": Out(AXI4(32, width, "write")),
                **({"m_axi_sg": Out(AXI4(32, SG_WIDTH, "read-write"))} if sg else {}),
                "debug_idle": Out(1),
                **{name: Out(total) for name, total in self._each.items()},
            }
        )

    @property
    def specs(self) -> tuple[AcceleratorSpec, ...]:
        return self._specs

    def elaborate(self, platform: object) -> Module:
        m = Module()
        count, first = len(self.specs), self.specs[0]
        nodes = []
        for number, (spec, accelerator) in enumerate(zip(self.specs, self._accelerators, strict=True)):
            node = Soc(spec, accelerator=accelerator, watched=self._watched, number=number)
            m.submodules["soc_" + re.sub(r"\W", "_", spec.name)] = node
            nodes.append(node)

        pages = [spec.link.dma.address >> PAGE_BITS for spec in self.specs]
        m.submodules.decoder = decoder = LiteDecoder(pages, ADDRESS_WIDTH)
        m.submodules.reads = reads = ReadArbiter(count, first.link.stream_width)
        m.submodules.writes = writes = WriteArbiter(count, first.link.stream_width)
        wiring.connect(m, wiring.flipped(self.s_axi_lite), decoder.bus)
        wiring.connect(m, reads.bus, wiring.flipped(self.m_axi_mm2s))
        wiring.connect(m, writes.bus, wiring.flipped(self.m_axi_s2mm))
        for i, node in enumerate(nodes):
            wiring.connect(m, getattr(decoder, f"slave{i}"), node.s_axi_lite)
            wiring.connect(m, node.m_axi_mm2s, getattr(reads, f"master{i}"))
            wiring.connect(m, node.m_axi_s2mm, getattr(writes, f"master{i}"))
        if first.link.dma.scatter_gather:
            self._share_descriptors(m, nodes)

        m.d.comb += self.debug_idle.eq(Cat(node.debug_idle for node in nodes).all())
        for name in self._each:
            m.d.comb += getattr(self, name).eq(Cat(getattr(node, name) for node in nodes))
        return m

    def _share_descriptors(self, m: Module, nodes: Sequence[Soc]) -> None:
        """A port that reads and writes: an arbiter for either."""
        m.submodules.sg_reads = reads = ReadArbiter(len(nodes), SG_WIDTH)
        m.submodules.sg_writes = writes = WriteArbiter(len(nodes), SG_WIDTH)
        for access, arbiter in (("read", reads), ("write", writes)):
            channels = AXI4(32, SG_WIDTH, access).members.items()
            for name, member in channels:
                _drive(m, member.flow == Out, getattr(arbiter.bus, name), getattr(self.m_axi_sg, name))
                for i, node in enumerate(nodes):
                    into = getattr(getattr(arbiter, f"master{i}"), name)
                    _drive(m, member.flow == Out, getattr(node.m_axi_sg, name), into)


def _drive(m: Module, forward: bool, master: Any, slave: Any) -> None:
    m.d.comb += slave.eq(master) if forward else master.eq(slave)
