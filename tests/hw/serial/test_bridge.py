"""A host's bytes become accesses on the bus, and the answers bytes: words, the worst response, the sum."""

from __future__ import annotations

from typing import Any

import pytest
from tests.hw.component_bench import simulate
from tests.hw.serial.line import DIVISOR, Host, command, words

from axiloom.hw.serial.bridge import SerialBridge
from axiloom.hw.serial.protocol import READ, WRITE


def talk(
    sent: bytes, answer_bytes: int, memory: dict[int, int], *, lost: int | None = None
) -> tuple[bytes, dict[int, int]]:
    """What the bridge answers to `sent`, on a bus whose `memory` is everywhere that it has an address.

    The stop bit of byte number `lost` is low.
    """
    bridge = SerialBridge(DIVISOR)
    bus = bridge.bus
    host = Host(bridge, lost)

    async def slave(ctx: Any) -> None:
        """Accepts after a cycle, answers after another."""
        while True:
            while not ctx.get(bus.awvalid | bus.arvalid):
                await ctx.tick()
            writes = ctx.get(bus.awvalid)
            address = ctx.get(bus.awaddr if writes else bus.araddr)
            response = 0 if address in memory else 3
            ready = (bus.awready, bus.wready) if writes else (bus.arready,)
            valid = bus.bvalid if writes else bus.rvalid
            for signal in ready:
                ctx.set(signal, 1)
            if writes and response == 0:
                assert ctx.get(bus.wvalid)
                assert ctx.get(bus.wstrb) == 0xF
                memory[address] = ctx.get(bus.wdata)
            await ctx.tick()
            for signal in ready:
                ctx.set(signal, 0)
            ctx.set(valid, 1)
            ctx.set(bus.bresp if writes else bus.rresp, response)
            ctx.set(bus.rdata, memory.get(address, 0xDEADBEEF))
            while not ctx.get(bus.bready if writes else bus.rready):
                await ctx.tick()
            await ctx.tick()
            ctx.set(valid, 0)

    async def ask(ctx: Any) -> None:
        await host.ask(ctx, sent, answer_bytes)

    simulate(bridge, ask, models=[host.line, slave], limit=14 * DIVISOR * (len(sent) + answer_bytes + 4))
    return bytes(host.heard), memory


def test_a_write_of_three_words() -> None:
    sent = command(WRITE, 0x16000010, 3, words(1, 0x80000000, 0xCAFEF00D))
    answer, memory = talk(sent, 2, {0x16000010 + 4 * i: 0 for i in range(3)})
    assert answer == bytes([0, sum(sent) % 256])
    assert memory == {0x16000010: 1, 0x16000014: 0x80000000, 0x16000018: 0xCAFEF00D}


def test_a_read_of_two_words() -> None:
    sent = command(READ, 0x40400004, 2)
    values = words(0x00010001, 0xFFFFFFFF)
    answer, _ = talk(sent, 10, {0x40400004: 0x00010001, 0x40400008: 0xFFFFFFFF})
    assert answer == values + bytes([0, sum(sent + values) % 256])


def test_bytes_between_commands_and_no_words_at_all() -> None:
    sent = command(READ, 0x10, 0)
    answer, _ = talk(b"\0\xff" + sent, 2, {})
    assert answer == bytes([0, sum(sent) % 256])


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (command(WRITE, 0x20, 2, words(5, 6)), 2),  # the second of the two words is nowhere
        (command(READ, 0x20, 2), 10),
    ],
    ids=["write", "read"],
)
def test_the_worst_response_is_told(sent: bytes, answer: int) -> None:
    assert talk(sent, answer, {0x20: 1})[0][-2] == 3


def test_a_lost_byte_is_told() -> None:
    sent = command(READ, 0x20, 1)
    answer, _ = talk(b"\0" + sent, 6, {0x20: 7}, lost=0)
    assert answer[-2] == 1 << 2


def test_two_commands_in_a_row() -> None:
    first, second = command(WRITE, 0x20, 1, words(9)), command(READ, 0x20, 1)
    # The host waits for an answer; the second command begins when the first one's has gone.
    pause = b"\0" * 4
    answer, _ = talk(first + pause + second, 8, {0x20: 0})
    assert answer[2:6] == words(9)
    assert answer[-2] == 0
