"""What is proved of Axiloom's own modules: each port's rules, and the helpers that a proof takes.

A target is an entry of :data:`TARGETS`. What it assumes beyond the rules of AXI stands beside it, with who
keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Value

from axiloom.errors import UsageError
from axiloom.hw.axi.interconnect import LiteDecoder, ReadArbiter, WriteArbiter
from axiloom.hw.axi.rules.language import Side
from axiloom.hw.axi.stream import StreamInput, StreamSkid
from axiloom.hw.dma.registers import LiteSlave
from axiloom.hw.dma.sg_port import SgPort
from axiloom.isa.wording.names import hint
from axiloom.prove.axi.watched import watch
from axiloom.prove.bench import Bench


@dataclass(frozen=True)
class Target:
    """`build` adds a module and what is to be proved of it to a bench: bits of a stream, bursts under way."""

    text: str
    build: Callable[[Bench, int, int], None]
    streams: bool = False
    """Its data has the width of a stream."""
    bursts: bool = True
    """It has addresses, of which several may be under way."""

    def bench(self, width: int = 32, outstanding: int = 16) -> Bench:
        made = Bench()
        self.build(made, width, outstanding)
        return made


def chosen(names: Iterable[str]) -> list[str]:
    """The targets of these names, or all. Raises UsageError for a name that is none."""
    asked = list(names) or list(TARGETS)
    for name in asked:
        if name not in TARGETS:
            raise UsageError(
                f"prove axi: no module `{name}`{hint(name, TARGETS)}; there are {', '.join(TARGETS)}"
            )
    return asked


def signals(port: Any) -> dict[str, Value]:
    """The signals of an interface by their names."""
    return {name: Value.cast(getattr(port, name)) for name in port.signature.members}


def _stream_skid(bench: Bench, width: int, _most: int) -> None:
    skid = bench.component("skid", StreamSkid(width))
    watch(bench, "i", signals(skid.i), Side.SUBORDINATE)
    watch(bench, "o", signals(skid.o), Side.MANAGER)


def _stream_input(bench: Bench, width: int, _most: int) -> None:
    made = bench.component("input", StreamInput(width))
    watch(bench, "s_axis", signals(made.s_axis), Side.SUBORDINATE)
    words = {"tvalid": made.words.valid, "tready": made.words.ready, "tdata": made.words.payload}
    watch(bench, "words", words, Side.MANAGER)


def _registers(bench: Bench, _width: int, most: int) -> None:
    slave = bench.component("slave", LiteSlave())
    watch(bench, "bus", signals(slave.bus), Side.SUBORDINATE, outstanding=most)
    bench.check("bus", "together", _together(slave.bus), TOGETHER)


TOGETHER = "an address and its data are taken in the same cycle"
"""AXI4-Lite allows more. The decoder asks it of its slaves, and the registers' port keeps it."""


def _together(bus: Any) -> Value:
    takes: Value = (bus.awvalid & bus.awready) == (bus.wvalid & bus.wready)
    return takes


def _decoder(bench: Bench, _width: int, most: int) -> None:
    decoder = bench.component("decoder", LiteDecoder([0, 1], 10))
    watch(bench, "bus", signals(decoder.bus), Side.SUBORDINATE, outstanding=most)
    for name in ("slave0", "slave1"):
        slave = getattr(decoder, name)
        bench.assume(_together(slave))
        watch(bench, name, signals(slave), Side.MANAGER, outstanding=most)


def _sg_port(bench: Bench, _width: int, most: int) -> None:
    port = bench.component("port", SgPort())
    for channel in (port.channel0, port.channel1):  # the registers take no descriptor elsewhere (PG021)
        bench.assume((channel.read_address[:6] == 0) & (channel.write_address[:2] == 0))
    _stops(bench, port.stop, port.drained)
    watch(bench, "bus", signals(port.bus), Side.MANAGER, outstanding=most)


def _stops(bench: Bench, stop: Value, drained: Value) -> None:
    """A reset comes when what was begun has ended, and `stop` stays until then: the channel's registers."""
    before = bench.register(stop & ~bench.reset)
    bench.assume(~before | stop)
    bench.assume(~bench.reset | drained)


def _read_arbiter(bench: Bench, width: int, most: int) -> None:
    _arbiter(bench, bench.component("arbiter", ReadArbiter(2, width)), most)


def _write_arbiter(bench: Bench, width: int, most: int) -> None:
    _arbiter(bench, bench.component("arbiter", WriteArbiter(2, width)), most)


def _arbiter(bench: Bench, arbiter: Any, most: int) -> None:
    for name in ("master0", "master1"):
        watch(bench, name, signals(getattr(arbiter, name)), Side.SUBORDINATE, outstanding=most)
    watch(bench, "bus", signals(arbiter.bus), Side.MANAGER, outstanding=most)


TARGETS = {
    "stream_skid": Target(
        "a register on a stream, whose TREADY is one too", _stream_skid, streams=True, bursts=False
    ),
    "stream_input": Target("what the engines take words through", _stream_input, streams=True, bursts=False),
    "lite_slave": Target("the port of the DMA's registers", _registers),
    "lite_decoder": Target("one register port to several DMAs", _decoder),
    "sg_port": Target("the port of the scatter-gather DMA for its descriptors", _sg_port),
    "read_arbiter": Target("several DMAs' reads on one port to memory", _read_arbiter, streams=True),
    "write_arbiter": Target("several DMAs' writes on one port to memory", _write_arbiter, streams=True),
}
