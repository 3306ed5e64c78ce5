"""A DMA or a SoC in Amaranth's simulator: memory that checks the AXI rules, streams that stall, a CPU.

Every model samples the signals at the clock edge, as a register would, and then drives the next cycle.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from amaranth.hdl import Cat
from amaranth.sim import Simulator

OKAY, SLVERR, DECERR = 0, 2, 3
SG_BYTES = 8
"""Width of the descriptors' port."""

MM2S_DMACR, MM2S_DMASR, MM2S_SA, MM2S_SA_MSB, MM2S_LENGTH = 0x00, 0x04, 0x18, 0x1C, 0x28
S2MM_DMACR, S2MM_DMASR, S2MM_DA, S2MM_LENGTH = 0x30, 0x34, 0x48, 0x58

RUN, RESET, IOC_ENABLE, ERROR_ENABLE = 1 << 0, 1 << 2, 1 << 12, 1 << 14
HALTED, IDLE, INT_ERROR, SLV_ERROR, DEC_ERROR = 1 << 0, 1 << 1, 1 << 4, 1 << 5, 1 << 6
IOC, ERROR = 1 << 12, 1 << 14


@dataclass(frozen=True)
class Burst:
    address: int
    beats: int
    cycle: int
    """In which the address was accepted."""


@dataclass
class Timing:
    """Cycles from an address (or a last written word) to the answer; probability that a ready or valid
    that the model drives is low in a cycle."""

    latency: int = 4
    stall: float = 0.0
    stream_stall: float = 0.0
    writes: str = ""
    """``words first``: a write's address is taken after its last word; ``words offered``: it waits for WVALID
    (IHI 0022 A3.3.1), and words are taken after it."""


@dataclass
class Bench:
    """`dut` has the members of AxiDma; those of its streams that it has are driven and observed.

    `memory` is indexed by byte address / 4. `errors` maps a page (address >> 12) to a response.
    `word_bytes` is the width of streams and data ports.
    """

    dut: Any
    timing: Timing = field(default_factory=Timing)
    seed: int = 0
    burst: int = 16
    errors: dict[int, int] = field(default_factory=dict)
    word_bytes: int = 4

    def __post_init__(self) -> None:
        self.memory = np.zeros(1 << 16, dtype=np.uint32)
        self.random = random.Random(self.seed)
        self.cycle = 0
        self.reads: list[Burst] = []
        self.writes: list[Burst] = []
        self.sg_reads: list[Burst] = []
        self.sg_writes: list[Burst] = []
        self.last_response_cycle = 0
        self.sent: list[tuple[int, bool]] = []
        """What came out of MM2S: word, TLAST."""
        self.sent_cycles: list[int] = []
        self.to_receive: deque[tuple[int, bool]] = deque()
        """What goes into S2MM."""
        self.taken = 0
        """Words that S2MM took."""

    def packet(self, words: Sequence[int]) -> None:
        """Queue a packet for S2MM."""
        self.to_receive.extend((int(w), i == len(words) - 1) for i, w in enumerate(words))

    def run(self, main: Callable[[Cpu], Awaitable[None]], limit: int = 60_000) -> None:
        """Simulate until `main` returns."""
        simulator = Simulator(self.dut)
        simulator.add_clock(1e-8)
        cpu = Cpu(self)

        async def program(ctx: Any) -> None:
            cpu.ctx = ctx
            await main(cpu)

        async def count(ctx: Any) -> None:
            while True:
                await ctx.tick()
                self.cycle += 1
                assert self.cycle < limit, f"no end after {limit} cycles"

        simulator.add_testbench(program)
        for model in (count, *self.models()):
            simulator.add_testbench(model, background=True)
        simulator.run()

    def models(self) -> list[Any]:
        """What runs beside the program: memory, and the streams of a DMA that stands alone."""
        dut = self.dut
        streams = []
        if hasattr(dut, "m_axis_mm2s"):
            streams = [
                self._sink(dut.m_axis_mm2s, dut.reset_out),
                self._source(dut.s_axis_s2mm, dut.reset_out),
            ]
        ports = [
            self._read_channel(self.dut.m_axi_mm2s, self.word_bytes, self.reads),
            self._write_channel(self.dut.m_axi_s2mm, self.word_bytes, self.writes),
        ]
        if hasattr(self.dut, "m_axi_sg"):
            ports += [
                self._read_channel(self.dut.m_axi_sg, SG_BYTES, self.sg_reads),
                self._write_channel(self.dut.m_axi_sg, SG_BYTES, self.sg_writes, one_word=True),
            ]
        return [*ports, *streams]

    async def count(self, ctx: Any) -> None:
        """The model that all others need, where `run` is not what runs."""
        while True:
            await ctx.tick()
            self.cycle += 1

    # --- memory ---

    def _ready(self) -> bool:
        return self.random.random() >= self.timing.stall

    def _check_burst(self, request: int, width: int) -> Burst:
        address, beats, size, burst = (
            request & 0xFFFFFFFF,
            (request >> 32 & 0xFF) + 1,
            request >> 40 & 7,
            request >> 43 & 3,
        )
        assert beats <= self.burst, f"burst of {beats} beats"
        assert (1 << size, burst) == (width, 1), "not an INCR burst of whole words"
        assert address % width == 0
        last = address + width * beats - 1
        assert address >> 12 == last >> 12, f"{address:#x}, {beats} beats: crosses 4 KiB"
        return Burst(address, beats, self.cycle)

    def word(self, address: int, width: int) -> int:
        """What memory holds there, `width` bytes."""
        place = self.memory[address // 4 : (address + width) // 4]
        return int.from_bytes(place.tobytes(), "little")

    def _store(self, address: int, width: int, value: int) -> None:
        data = np.frombuffer(value.to_bytes(width, "little"), np.uint32)
        self.memory[address // 4 : (address + width) // 4] = data

    def _response(self, address: int) -> int:
        return self.errors.get(address >> 12, OKAY)

    def _read_channel(self, bus: Any, width: int, log: list[Burst]) -> Any:
        """`width` is in bytes."""
        payload = Cat(bus.araddr, bus.arlen, bus.arsize, bus.arburst, bus.arprot, bus.arcache)

        async def model(ctx: Any) -> None:
            stable = Stable("AR")
            beats: deque[tuple[int, int, bool]] = deque()  # ready in cycle, address, last
            while True:
                _, _, arvalid, arready, request, rvalid, rready = await ctx.tick().sample(
                    bus.arvalid, bus.arready, payload, bus.rvalid, bus.rready
                )
                stable.check(arvalid, arready, request)
                if arvalid and arready:
                    burst = self._check_burst(request, width)
                    log.append(burst)
                    due = self.cycle + self.timing.latency
                    for i in range(burst.beats):
                        beats.append((due, burst.address + width * i, i == burst.beats - 1))
                if rvalid and rready:
                    beats.popleft()
                ctx.set(bus.arready, self._ready())
                if not rvalid or rready:
                    available = bool(beats) and beats[0][0] <= self.cycle and self._ready()
                    ctx.set(bus.rvalid, available)
                    if available:
                        _, address, last = beats[0]
                        response = self._response(address)
                        ctx.set(bus.rdata, self.word(address, width) if response == OKAY else 0)
                        ctx.set(bus.rlast, last)
                        ctx.set(bus.rresp, response)

        return model

    def _write_channel(self, bus: Any, width: int, log: list[Burst], one_word: bool = False) -> Any:
        """`one_word`: of each beat, 32 bits, as STATUS is written; else all of it."""
        payload = Cat(bus.awaddr, bus.awlen, bus.awsize, bus.awburst, bus.awprot, bus.awcache)
        data = Cat(bus.wdata, bus.wstrb, bus.wlast)

        async def model(ctx: Any) -> None:
            stable_address, stable_data = Stable("AW"), Stable("W")
            open_bursts: deque[Burst] = deque()
            early: deque[tuple[int, int, bool]] = deque()  # value, strobes, last: before their address
            words = [0xF << 4 * i for i in range(width // 4)]
            beat = 0
            responses: deque[tuple[int, int]] = deque()
            while True:
                (
                    _,
                    _,
                    awvalid,
                    awready,
                    request,
                    wvalid,
                    wready,
                    word,
                    bvalid,
                    bready,
                ) = await ctx.tick().sample(
                    bus.awvalid, bus.awready, payload, bus.wvalid, bus.wready, data, bus.bvalid, bus.bready
                )
                stable_address.check(awvalid, awready, request)
                stable_data.check(wvalid, wready, word)
                if wvalid and wready:
                    strobes = word >> 8 * width & ((1 << width) - 1)
                    assert strobes in (words if one_word else (sum(words),))
                    early.append((word & ((1 << 8 * width) - 1), strobes, bool(word >> 9 * width)))
                if awvalid and awready:
                    burst = self._check_burst(request, width)
                    log.append(burst)
                    open_bursts.append(burst)
                while early and open_bursts:
                    burst, (value, strobes, last) = open_bursts[0], early.popleft()
                    assert last == (beat == burst.beats - 1), f"WLAST on beat {beat} of {burst}"
                    address = burst.address + width * beat
                    if self._response(address) == OKAY:
                        for i, word in enumerate(words):
                            if strobes & word:
                                self._store(address + 4 * i, 4, value >> 32 * i & 0xFFFFFFFF)
                    beat += 1
                    if last:
                        open_bursts.popleft()
                        beat = 0
                        responses.append((self.cycle + self.timing.latency, self._response(burst.address)))
                if bvalid and bready:
                    responses.popleft()
                    self.last_response_cycle = self.cycle
                may = {
                    "": (True, True),
                    "words first": (any(last for *_, last in early), True),
                    "words offered": (bool(wvalid) and not wready, bool(open_bursts)),
                }
                addresses, words_too = may[self.timing.writes]
                ctx.set(bus.awready, addresses and self._ready())
                ctx.set(bus.wready, words_too and self._ready())
                if not bvalid or bready:
                    available = bool(responses) and responses[0][0] <= self.cycle and self._ready()
                    ctx.set(bus.bvalid, available)
                    if available:
                        ctx.set(bus.bresp, responses[0][1])

        return model

    # --- streams ---

    def _sink(self, stream: Any, stop: Any) -> Any:
        """`stop` is the only thing that may take back a word."""

        async def model(ctx: Any) -> None:
            stable = Stable("stream")
            while True:
                _, _, valid, ready, word, stops = await ctx.tick().sample(
                    stream.tvalid, stream.tready, Cat(stream.tdata, stream.tlast), stop
                )
                if stops:
                    assert not valid
                    stable = Stable("stream")
                stable.check(valid, ready, word)
                if valid and ready:
                    bits = 8 * self.word_bytes
                    self.sent.append((word & ((1 << bits) - 1), bool(word >> bits)))
                    self.sent_cycles.append(self.cycle)
                ctx.set(stream.tready, self.random.random() >= self.timing.stream_stall)

        return model

    def _source(self, stream: Any, reset: Any) -> Any:
        """`reset`: of an accelerator, with the DMA."""

        async def model(ctx: Any) -> None:
            while True:
                _, _, valid, ready, resetting = await ctx.tick().sample(stream.tvalid, stream.tready, reset)
                if resetting:
                    self.to_receive.clear()
                    ctx.set(stream.tvalid, 0)
                    continue
                if valid and ready:
                    self.to_receive.popleft()
                    self.taken += 1
                if not valid or ready:
                    offered = bool(self.to_receive) and self.random.random() >= self.timing.stream_stall
                    ctx.set(stream.tvalid, offered)
                    if offered:
                        ctx.set(stream.tdata, self.to_receive[0][0])
                        ctx.set(stream.tlast, self.to_receive[0][1])

        return model


class Stable:
    """Once valid, a channel keeps valid and payload until ready (IHI 0022, A3.2.1)."""

    def __init__(self, channel: str) -> None:
        self.channel = channel
        self.waiting: int | None = None

    def check(self, valid: int, ready: int, payload: int) -> None:
        if self.waiting is not None:
            assert valid, f"{self.channel}: valid fell before ready"
            assert payload == self.waiting, f"{self.channel}: payload changed before ready"
        self.waiting = payload if valid and not ready else None


class Cpu:
    """The program: reads and writes registers, waits."""

    ctx: Any

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.bus = bench.dut.s_axi_lite

    async def write(self, address: int, value: int) -> None:
        ctx, bus = self.ctx, self.bus
        for name, signal_value in (("awaddr", address), ("wdata", value), ("wstrb", 0xF)):
            ctx.set(getattr(bus, name), signal_value)
        ctx.set(bus.awvalid, 1)
        ctx.set(bus.wvalid, 1)
        await ctx.tick().until(bus.awready & bus.wready)
        ctx.set(bus.awvalid, 0)
        ctx.set(bus.wvalid, 0)
        ctx.set(bus.bready, 1)
        (response,) = await ctx.tick().sample(bus.bresp).until(bus.bvalid)
        ctx.set(bus.bready, 0)
        assert response == OKAY

    async def read(self, address: int) -> int:
        ctx, bus = self.ctx, self.bus
        ctx.set(bus.araddr, address)
        ctx.set(bus.arvalid, 1)
        await ctx.tick().until(bus.arready)
        ctx.set(bus.arvalid, 0)
        ctx.set(bus.rready, 1)
        value, response = await ctx.tick().sample(bus.rdata, bus.rresp).until(bus.rvalid)
        ctx.set(bus.rready, 0)
        assert response == OKAY
        return int(value)

    async def wait(self, cycles: int) -> None:
        await self.ctx.tick().repeat(cycles)

    async def until(self, status: int, bits: int) -> int:
        """Poll a DMASR until one of the bits is set."""
        while True:
            value = await self.read(status)
            if value & bits:
                return value

    async def start(self, dmacr: int = RUN | IOC_ENABLE | ERROR_ENABLE) -> None:
        await self.write(MM2S_DMACR, dmacr)
        await self.write(S2MM_DMACR, dmacr)

    async def send(self, address: int, length: int) -> None:
        await self.write(MM2S_SA, address)
        await self.write(MM2S_LENGTH, length)

    async def receive(self, address: int, length: int) -> None:
        await self.write(S2MM_DA, address)
        await self.write(S2MM_LENGTH, length)
