"""The port of the DMA's registers, and what stands in front of several."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Value

from axiloom.hw.axi.interconnect import LiteDecoder
from axiloom.hw.axi.rules.language import Side
from axiloom.hw.dma.registers import ChannelRegisters, LiteSlave
from axiloom.hw.dma.sg_fetch import LENGTH_BITS
from axiloom.prove.axi.ours import agreements
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
    bus = signals(slave.bus)
    watch(bench, "bus", bus, Side.SUBORDINATE, outstanding=most, neighbour="lite_decoder.slave0")
    TOGETHER.check(bench, "bus", slave.bus)


def _decoder(bench: Bench, _width: int, most: int) -> None:
    decoder = bench.component("decoder", LiteDecoder([0, 1], 10))
    watch(bench, "bus", signals(decoder.bus), Side.SUBORDINATE, outstanding=most)
    for name in ("slave0", "slave1"):
        slave = getattr(decoder, name)
        TOGETHER.assume(bench, "lite_slave.bus", slave)
        watch(bench, name, signals(slave), Side.MANAGER, outstanding=most, neighbour="lite_slave.bus")


def _mm2s_registers(bench: Bench, width: int, _most: int) -> None:
    _channel(bench, ChannelRegisters(LENGTH_BITS, alignment=width // 8), width, "mm2s", 1)


def _s2mm_registers(bench: Bench, width: int, _most: int) -> None:
    word = width // 8
    channel_registers = ChannelRegisters(LENGTH_BITS, alignment=word, min_length=word, reports_length=True)
    _channel(bench, channel_registers, width, "s2mm", word)


def _channel(bench: Bench, channel_registers: ChannelRegisters, width: int, mover: str, least: int) -> None:
    """A command as the mover needs it, from any writes of registers."""
    clear = bench.free(1, "clear")
    regs = bench.component("registers", channel_registers, clear)
    command, status = regs.command, regs.mover
    error = status.slave_error | status.decode_error | regs.overflow
    strobes = [regs.write_control, regs.write_status, regs.write_address, regs.write_length]
    agreements.ONE_WRITE.assume(bench, f"dma.{mover}_registers", strobes)
    agreements.RISES.assume(bench, f"{mover}.command", command, status)
    agreements.ACTIVE_ENDS.assume(bench, f"{mover}.command", status)
    agreements.ACTIVE_FAILS.assume(bench, f"{mover}.command", status, error)
    agreements.ALIGNED.check(bench, "command", command, width // 8)
    agreements.SOME.check(bench, "command", command, least)
    agreements.ONE.check(bench, "command", command, status)
    agreements.AFTER_ERROR.check(bench, "command", command, agreements.failed(bench, error, clear))
    bench.cover("command", "start", command.start, "a command", needed=True)


TARGETS = {
    "mm2s_registers": Target(
        "what commands MM2S: its addresses, lengths and order", _mm2s_registers, streams=True, bursts=False
    ),
    "s2mm_registers": Target(
        "what commands S2MM: its addresses, lengths and order", _s2mm_registers, streams=True, bursts=False
    ),
    "lite_slave": Target("the port of the DMA's registers", _lite_slave),
    "lite_decoder": Target("one register port to several DMAs", _decoder),
}
