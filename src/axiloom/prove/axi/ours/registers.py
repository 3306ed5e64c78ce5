"""The port of the DMA's registers, and what stands in front of several."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Value

from axiloom.hw.axi.interconnect import LiteDecoder
from axiloom.hw.axi.rules.language import Side
from axiloom.hw.dma.registers import LiteSlave
from axiloom.prove.axi.ours.target import Agreement, Target, signals
from axiloom.prove.axi.watched import watch
from axiloom.prove.bench import Bench


def _together(_bench: Bench, bus: Any) -> Value:
    takes: Value = (bus.awvalid & bus.awready) == (bus.wvalid & bus.wready)
    return takes


TOGETHER = Agreement("together", "an address and its data are taken in the same cycle", _together)
"""AXI4-Lite allows more. The decoder asks it of its slaves, and the registers' port keeps it."""


def _lite_slave(bench: Bench, _width: int, most: int) -> None:
    slave = bench.component("slave", LiteSlave())
    watch(bench, "bus", signals(slave.bus), Side.SUBORDINATE, outstanding=most)
    TOGETHER.check(bench, "bus", slave.bus)


def _decoder(bench: Bench, _width: int, most: int) -> None:
    decoder = bench.component("decoder", LiteDecoder([0, 1], 10))
    watch(bench, "bus", signals(decoder.bus), Side.SUBORDINATE, outstanding=most)
    for name in ("slave0", "slave1"):
        slave = getattr(decoder, name)
        TOGETHER.assume(bench, "lite_slave.bus", slave)
        watch(bench, name, signals(slave), Side.MANAGER, outstanding=most, neighbour="lite_slave.bus")


TARGETS = {
    "lite_slave": Target("the port of the DMA's registers", _lite_slave),
    "lite_decoder": Target("one register port to several DMAs", _decoder),
}
