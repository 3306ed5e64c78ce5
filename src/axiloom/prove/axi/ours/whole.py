"""A whole DMA: what joins its parts. The rules of an outer port are proved of the part behind it."""

from __future__ import annotations

from amaranth.hdl import Cat, Value

from axiloom.hw.dma.axi_dma import AxiDma
from axiloom.prove.axi.ours import agreements
from axiloom.prove.axi.ours.target import Target
from axiloom.prove.bench import Bench
from axiloom.prove.inside import Inside

CHANNELS = ("mm2s", "s2mm")
STROBES = {
    "dma": ("write_control", "write_status", "write_address", "write_length"),
    "dma_sg": ("write_control", "write_status", "write_current", "write_tail"),
}
MOVERS: dict[str, dict[str, str]] = {"dma": {}, "dma_sg": {"mm2s": "mm2s_strided", "s2mm": "s2mm_strided"}}
"""Of each DMA the targets of its parts, where their names differ."""
PORTS = {
    "dma": {
        "s_axi_lite": "lite_slave.bus",
        "m_axi_mm2s": "mm2s.bus",
        "m_axis_mm2s": "mm2s.stream",
        "m_axi_s2mm": "s2mm.bus",
        "s_axis_s2mm": "s2mm.stream",
    },
    "dma_sg": {
        "s_axi_lite": "lite_slave.bus",
        "m_axi_mm2s": "mm2s_strided.bus",
        "m_axis_mm2s": "mm2s_strided.stream",
        "m_axi_s2mm": "s2mm_strided.bus",
        "s_axis_s2mm": "s2mm_strided.stream",
        "m_axi_sg": "sg_port.bus",
    },
}
"""Of each DMA its outer ports, and the target and port that proves their rules."""


def _dma(bench: Bench, width: int, _most: int) -> None:
    _whole(bench, "dma", AxiDma(width))


def _dma_sg(bench: Bench, width: int, _most: int) -> None:
    _whole(bench, "dma_sg", AxiDma(width, scatter_gather=True))


def _whole(bench: Bench, name: str, design: AxiDma) -> None:
    inside = Inside(design)
    dma = bench.component("dma", design)
    stop, clear = dma.reset_out, inside["clear"]
    parts = [*CHANNELS, *(["sg_port"] if design.scatter_gather else [])]
    for part in parts:
        drained = inside[f"{part}.drained"]
        agreements.DRAINED_STAYS.assume(bench, f"{MOVERS[name].get(part, part)}.stop", stop, drained)
    agreements.STOP_STAYS.check(bench, "stop", stop, clear)
    agreements.CLEAR_DRAINED.check(
        bench, "stop", stop, clear, Cat(inside[f"{p}.drained"] for p in parts).all()
    )
    for channel in CHANNELS:
        strobes = [inside[f"{channel}_registers.{strobe}"] for strobe in STROBES[name]]
        agreements.ONE_WRITE.check(bench, f"{channel}_registers", strobes)
    bench.cover("stop", "clear", clear, "a soft reset", needed=True)
    for port, behind in _behind(design).items():
        same = Cat(
            Value.cast(getattr(getattr(dma, port), signal)) == inside[f"{behind}__{signal}"]
            for signal, member in getattr(dma, port).signature.members.items()
            if f"{behind}__{signal}" in inside
        )
        bench.check(port, "joined", same.all(), f"the port shows what {behind} shows")


def _behind(dma: AxiDma) -> dict[str, str]:
    """Outer port to the inner one behind it, by their names."""
    joined = {"s_axi_lite": "lite_slave.bus", "m_axi_mm2s": "mm2s.bus", "m_axis_mm2s": "mm2s.stream"}
    joined |= {"m_axi_s2mm": "s2mm.bus", "s_axis_s2mm": "s2mm.stream"}
    return joined | ({"m_axi_sg": "sg_port.bus"} if dma.scatter_gather else {})


TARGETS = {
    "dma": Target("the DMA as a whole: what joins its parts", _dma, streams=True, bursts=False),
    "dma_sg": Target("the scatter-gather DMA as a whole", _dma_sg, streams=True, bursts=False),
}
