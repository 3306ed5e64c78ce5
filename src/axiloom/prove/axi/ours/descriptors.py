"""Scatter-gather: the port to the descriptors."""

from __future__ import annotations

from amaranth.hdl import Value

from axiloom.hw.axi.rules.language import Side
from axiloom.hw.dma.sg_port import SgPort
from axiloom.prove.axi.ours.target import Target, signals
from axiloom.prove.axi.watched import watch
from axiloom.prove.bench import Bench


def _sg_port(bench: Bench, _width: int, most: int) -> None:
    port = bench.component("port", SgPort())
    for channel in (port.channel0, port.channel1):  # the registers take no descriptor elsewhere (PG021)
        bench.assume((channel.read_address[:6] == 0) & (channel.write_address[:2] == 0))
    stops(bench, port.stop, port.drained)
    watch(bench, "bus", signals(port.bus), Side.MANAGER, outstanding=most)


def stops(bench: Bench, stop: Value, drained: Value) -> None:
    """A reset comes when what was begun has ended, and `stop` stays until then: the channel's registers."""
    before = bench.register(stop & ~bench.reset)
    bench.assume(~before | stop)
    bench.assume(~bench.reset | drained)


TARGETS = {
    "sg_port": Target("the port of the scatter-gather DMA for its descriptors", _sg_port),
}
