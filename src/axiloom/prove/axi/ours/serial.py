"""What a board on a serial line has: the bridge from the line to a bus, and memory in place of windows."""

from __future__ import annotations

from amaranth.hdl import Cat

from axiloom.hw.axi.rules.language import Side
from axiloom.hw.serial.bridge import SerialBridge
from axiloom.hw.serial.memory import InputWindow, OutputWindow
from axiloom.prove.axi.ours.target import Target, signals
from axiloom.prove.axi.watched import watch
from axiloom.prove.bench import Bench

DIVISOR = 4
"""Clock cycles a bit, as few as there may be: the line is looked at as often as it can be."""
WINDOW = 64
"""Bytes: the smallest, so that bursts end beyond the window too."""


def _bridge(bench: Bench, _width: int, most: int) -> None:
    bridge = bench.component("bridge", SerialBridge(DIVISOR))
    bus, seen = bridge.bus, watch(bench, "bus", signals(bridge.bus), Side.MANAGER, outstanding=most).seen
    # BREADY is high from the time a write is asked for until it is answered, RREADY so for a read.
    write = Cat(
        seen["aw_level"] == (~bus.awvalid & bus.wvalid), seen["w_level"] == (bus.awvalid & ~bus.wvalid)
    )
    write_ends = seen["done"] == (bus.bready & ~bus.awvalid & ~bus.wvalid)
    bench.lemma("write", write.all() & write_ends, "one write at a time")
    bench.lemma(
        "none", bus.bready | ~(bus.awvalid | bus.wvalid), "it is asked for while an answer is awaited"
    )
    bench.lemma("read", seen["reads_level"] == (bus.rready & ~bus.arvalid), "one read at a time")
    bench.lemma("no_read", bus.rready | ~bus.arvalid, "it is asked for while an answer is awaited")


def _input(bench: Bench, _width: int, most: int) -> None:
    window = bench.component("window", InputWindow(0, WINDOW))
    for name in ("lite", "axi"):
        watch(bench, name, signals(getattr(window, name)), Side.SUBORDINATE, outstanding=most)


def _output(bench: Bench, _width: int, most: int) -> None:
    window = bench.component("window", OutputWindow(0, WINDOW))
    for name in ("lite", "axi"):
        watch(bench, name, signals(getattr(window, name)), Side.SUBORDINATE, outstanding=most)


TARGETS = {
    "serial_bridge": Target("commands on a serial line to a bus", _bridge),
    "serial_input": Target("memory that the host writes and MM2S reads", _input),
    "serial_output": Target("memory that S2MM writes and the host reads", _output),
}
