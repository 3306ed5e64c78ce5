"""What a board on a serial line has: the bridge from the line to a bus, and memory in place of windows."""

from __future__ import annotations

from unittest.mock import patch

from amaranth.hdl import Cat, Module, Mux
from amaranth.lib import wiring

from axiloom.hw.axi.rules.language import Side
from axiloom.hw.serial.bridge import SerialBridge
from axiloom.hw.serial.memory import InputWindow, OutputWindow
from axiloom.hw.serial.uart import UartReceiver
from axiloom.prove.axi.ours.target import Target, signals
from axiloom.prove.axi.watched import watch
from axiloom.prove.bench import Bench
from axiloom.prove.inside import Inside

DIVISOR = 4
"""Clock cycles a bit; for the bytes that the bridge sends, which no rule of the bus sees."""
WINDOW = 64
"""Bytes: the smallest, so that bursts end beyond the window too."""


class _AnyBytes(wiring.Component):  # type: ignore[misc]  # of Amaranth, which has no types
    """In the place of the receiver: any byte in any cycle, which is more than a line can bring."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(UartReceiver(DIVISOR).signature)
        self._bench = bench

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name in ("valid", "data", "framing_error"):
            own = getattr(self, name)
            m.d.comb += own.eq(self._bench.free(len(own), f"line_{name}"))
        return m


def _bridge(bench: Bench, _width: int, most: int) -> None:
    serial_bridge = SerialBridge(DIVISOR)
    with patch.dict(SerialBridge.elaborate.__globals__, UartReceiver=lambda _divisor: _AnyBytes(bench)):
        Inside(serial_bridge)  # elaborates it
    bridge = bench.component("bridge", serial_bridge)
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
    input_window = InputWindow(0, WINDOW)
    inside = Inside(input_window)
    window = bench.component("window", input_window)
    watch(bench, "lite", signals(window.lite), Side.SUBORDINATE, outstanding=most)
    axi, seen = window.axi, watch(bench, "axi", signals(window.axi), Side.SUBORDINATE, outstanding=most)
    active, left, last = inside["active"], inside["left"], axi.rvalid & axi.rlast
    beat, (oldest, second, *_) = seen.seen["r_beat"], seen.queues["reads"]
    bench.lemma(
        "bursts",
        (seen.seen["reads_level"] == active + last) & (~axi.rvalid | axi.rlast | active),
        "a burst is read, and the last beat of another may wait",
    )
    under_way = Mux(active, oldest == beat + left + axi.rvalid, beat == 0)
    lengths = Mux(last, (beat == oldest) & (~active | (second == left)), under_way)
    bench.lemma("lengths", lengths, "what is left of a burst is what it asked for less its beats")


def _output(bench: Bench, _width: int, most: int) -> None:
    window = bench.component("window", OutputWindow(0, WINDOW))
    for name in ("lite", "axi"):
        watch(bench, name, signals(getattr(window, name)), Side.SUBORDINATE, outstanding=most)


TARGETS = {
    "serial_bridge": Target("commands on a serial line to a bus", _bridge),
    "serial_input": Target("memory that the host writes and MM2S reads", _input),
    "serial_output": Target("memory that S2MM writes and the host reads", _output),
}
