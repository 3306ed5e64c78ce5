"""The PC's end of a serial line."""

from __future__ import annotations

from typing import Any

DIVISOR = 4


def command(kind: int, address: int, count: int, data: bytes = b"") -> bytes:
    return bytes([kind]) + address.to_bytes(4, "little") + count.to_bytes(2, "little") + data


def words(*values: int) -> bytes:
    return b"".join(value.to_bytes(4, "little") for value in values)


class Host:
    """Beside `device`, whose `rx` and `tx` are the line. The stop bit of byte number `lost` is low."""

    def __init__(self, device: Any, lost: int | None = None) -> None:
        self.device, self.lost = device, lost
        self.heard: list[int] = []

    async def line(self, ctx: Any) -> None:
        while True:
            while ctx.get(self.device.tx):
                await ctx.tick()
            await ctx.tick().repeat(DIVISOR // 2)
            byte = 0
            for bit in range(8):
                await ctx.tick().repeat(DIVISOR)
                byte |= ctx.get(self.device.tx) << bit
            await ctx.tick().repeat(DIVISOR)
            self.heard.append(byte)

    async def ask(self, ctx: Any, sent: bytes, answer_bytes: int) -> bytes:
        self.heard.clear()
        for number, byte in enumerate(sent):
            stop = int(number != self.lost)
            for bit in [0, *(byte >> i & 1 for i in range(8)), stop, *([] if stop else [1, 1])]:
                ctx.set(self.device.rx, bit)
                await ctx.tick().repeat(DIVISOR)
        while len(self.heard) < answer_bytes:
            await ctx.tick()
        return bytes(self.heard)
