"""Scatter-gather: the port to the descriptors, and the engine that makes commands of them."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Value
from amaranth.utils import exact_log2

from axiloom.hw.axi.rules.language import Side, Watch
from axiloom.hw.dma.sg import DescriptorEngine
from axiloom.hw.dma.sg_fetch import DEPTH, DESCRIPTOR
from axiloom.hw.dma.sg_port import MAX_READS, MAX_WRITES, SgPort
from axiloom.prove.axi.ours import agreements
from axiloom.prove.axi.ours.target import Target, signals
from axiloom.prove.axi.watched import watch
from axiloom.prove.bench import NEVER, Bench
from axiloom.prove.inside import Inside


def _sg_port(bench: Bench, _width: int, most: int) -> None:
    clear = bench.free(1, "clear")
    sg_port = SgPort()
    inside = Inside(sg_port)
    port = bench.component("port", sg_port, clear)
    agreements.DESCRIPTORS.assume(bench, "mm2s_descriptors.requests", port.channel0)
    agreements.DESCRIPTORS.assume(bench, "s2mm_descriptors.requests", port.channel1)
    agreements.stops(bench, port.stop, port.drained, clear, "dma_sg.stop")
    bus = watch(bench, "bus", signals(port.bus), Side.MANAGER, outstanding=most)
    if most >= max(MAX_READS, MAX_WRITES):
        _under_way(bench, port.bus, bus, inside)
    agreements.DRAINED_STAYS.check(bench, "stop", port.stop, port.drained)


def _under_way(bench: Bench, port: Any, bus: Watch, inside: Inside) -> None:
    readers, writers = inside["readers.level"], inside["writers.level"]
    known = (readers == bus.seen["reads_level"] + port.arvalid) & (readers <= MAX_READS)
    bench.lemma("readers", known, "the port knows who reads, of each read under way")
    offered = port.awvalid | port.wvalid
    known = (writers == bus.seen["done"] + offered) & (writers <= MAX_WRITES)
    bench.lemma("writers", known, "the port knows who writes, of each write under way")
    early = (bus.seen["w_level"] == (port.awvalid & ~port.wvalid)) & (
        bus.seen["aw_level"] == (port.wvalid & ~port.awvalid)
    )
    bench.lemma("one", early, "of one write at most an address or its data is taken, and the other is not")
    for rule in ("w_follows_live", "aw_follows_live"):
        bench.rank("bus", rule, NEVER)


def _mm2s(bench: Bench, width: int, _most: int) -> None:
    _engine(bench, width, receives=False)


def _s2mm(bench: Bench, width: int, _most: int) -> None:
    _engine(bench, width, receives=True)


def _engine(bench: Bench, width: int, *, receives: bool) -> None:
    """Commands as the mover needs them, from whatever is read as a descriptor."""
    word_bytes = width // 8
    least = word_bytes if receives else 1
    descriptor_engine = DescriptorEngine(width, receives)
    inside = Inside(descriptor_engine)
    clear = bench.free(1, "clear")
    engine = bench.component("engine", descriptor_engine, clear)
    agreements.DESCRIPTORS.check(bench, "requests", engine.requests)
    agreements.ALIGNED.check(bench, "command", engine.command, word_bytes)
    agreements.ROWS_ALIGNED.check(bench, "command", engine.command, word_bytes)
    agreements.SOME.check(bench, "command", engine.command, least)
    agreements.READY.check(bench, "command", engine.command)
    bench.cover("command", "start", engine.command.start, "a command", needed=True)
    bench.cover("command", "rows", engine.command.start & (engine.command.rows > 1), "a command with rows")

    # Each descriptor that was fetched fits the mover, or says that it does not.
    level, consume, produce = (inside[f"fetch.queue.{signal}"] for signal in ("level", "consume", "produce"))
    bits = exact_log2(DEPTH)
    bench.lemma(
        "pointers",
        ((produce - consume)[:bits] == level[:bits]) & (level <= DEPTH),
        "a FIFO's level is between its pointers",
    )
    for i in range(DEPTH):
        stored = DESCRIPTOR(inside.row("fetch.queue.storage", i))
        held = (Const(i, bits) - consume)[:bits] < level
        bench.lemma(f"fits{i}", ~held | _fits(stored, word_bytes, least), "a descriptor fits, or is a misfit")


def _fits(descriptor: Any, word_bytes: int, least: int) -> Value:
    """A descriptor is as the mover needs it, or marked as a misfit."""
    mask = word_bytes - 1
    rows = (descriptor.rows == 0) | (((descriptor.length | descriptor.stride) & mask) == 0)
    good = Cat((descriptor.address & mask) == 0, descriptor.length >= least, rows).all()
    return descriptor.misfit | good


TARGETS = {
    "sg_port": Target("the port of the scatter-gather DMA for its descriptors", _sg_port),
    "mm2s_descriptors": Target(
        "descriptors of MM2S: fetched, and made commands of", _mm2s, streams=True, bursts=False
    ),
    "s2mm_descriptors": Target(
        "descriptors of S2MM: fetched, and made commands of", _s2mm, streams=True, bursts=False
    ),
}
