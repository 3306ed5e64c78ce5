"""A program on the RTL of its text alone: what its commands read goes in, what they store is compared.

The text's simulator executes the same plan beside it: every packet of the RTL must have the bytes that the
simulator stored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from axiloom.base.errors import DriverError
from axiloom.device.rtl import DeviceRtl
from axiloom.device.streams import Segment, run
from axiloom.selection.drive.execute import Values
from axiloom.selection.drive.replay import Replay
from axiloom.selection.drive.tokens import tokened
from axiloom.selection.program.program import Program
from axiloom.selection.validate.transfers import plan

_MANY = 20_000
"""Cycles for which it is worth to compile the simulation for longer."""


@dataclass(frozen=True)
class Executed:
    """`cycles` of the RTL, and those that were foretold of it; bytes over the streams; `results` by name."""

    cycles: int
    foretold: int | None
    bytes_in: int
    bytes_out: int
    results: Values


def execute(device: DeviceRtl, program: Program, values: Values) -> Executed:
    """Raises DriverError at the first packet whose bytes are not those of the simulator."""
    program = tokened(program, device.isa)
    replay = Replay(program, plan(program, device.isa, device.stream_width), device.isa, values)
    commands = list(replay.packets())
    beats = b"".join(sent for _, sent, _ in commands)
    packets = [
        (f"command {place}, {command.opcode}", expected)
        for place, (command, _, expected) in enumerate(commands)
        if expected
    ]
    words = -(-device.stream_width // 64)
    sent = np.frombuffer(beats, f"<u{min(device.stream_width, 64) // 8}").astype(np.uint64).reshape(-1, words)
    foretold = device.foretold(program)
    many = foretold is None or foretold > _MANY
    (outcome,) = run(device.verilog, device.top, [Segment(sent)], width=device.stream_width, fast=many)
    if outcome.error:
        raise DriverError(f"{program.name}: the device stopped with fault {outcome.error}")
    if len(outcome.packets) != len(packets) or len(outcome.rest):
        raise DriverError(f"{program.name}: {len(outcome.packets)} packets came, not {len(packets)}")
    size = min(device.stream_width, 64) // 8
    for place, (packet, (command, expected)) in enumerate(zip(outcome.packets, packets, strict=True)):
        data = packet.ravel().astype(f"<u{size}").tobytes()
        if data[: len(expected)] != expected:
            raise DriverError(f"{program.name}: packet {place}, of {command}, has other bytes than its text")
    return Executed(
        outcome.cycles,
        foretold,
        len(beats),
        sum(len(expected) for _, expected in packets),
        replay.results(),
    )
