"""About how long a product takes on an accelerator and on the CPU: which of them is to do it.

Both are within a factor of three. That is enough: beyond a hundred thousand multiply-adds one is many
times as fast, and below ten thousand its start takes longer than the product. The constants are of what
``axiloom run --against cpu`` prints for ``tests/fixtures/quantised`` on the PYNQ-Z2's profile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from axiloom.drivergen.c.driver import Call, Driver
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS

START = 6_000
"""Fabric cycles until an accelerator has its first tiles, and what it gave is in memory."""
COPIED = 3
"""Fabric cycles a word that the CPU copies. Where each is used once, as a vector's product does, nothing
hides it."""
LOOPS = 4.0
"""CPU cycles a multiply-add of our loops: 3 for convolutions, 6 for a vector by a matrix."""
ROUNDED = 30
"""CPU cycles an element whose sum our loops round to int8, in 64 bits."""


@dataclass(frozen=True)
class Clocks:
    """Of a board, in Hz."""

    cpu: int
    fabric: int


def on_accelerator(calls: Sequence[Call], spec: AcceleratorSpec, clocks: Clocks) -> float:
    """Seconds: a start, and whole tiles through the array or over the busier stream."""
    cycles = START + sum(max(_array(call, spec), _stream(call, spec)) for call in calls)
    return cycles / clocks.fabric


def slower(driver: Driver, spec: AcceleratorSpec, clocks: Clocks) -> str | None:
    """Why what `driver` does is better left to the CPU, if it is."""
    ours = on_accelerator(driver.calls, spec, clocks)
    if "zero-copy" not in driver.passes:
        ours += sum(COPIED * sum(call.words) for call in driver.calls if call.lean) / clocks.fabric
    rounded = sum(arg.size for arg in driver.args if arg.kind == "out" and arg.dtype == "int8")
    cpu = on_cpu(sum(call.multiply_adds for call in driver.calls), clocks) + rounded * ROUNDED / clocks.cpu
    if ours <= cpu:
        return None
    return f"about {ours * 1e3:.3f} ms on {spec.name}, {cpu * 1e3:.3f} ms on the CPU"


def _array(call: Call, spec: AcceleratorSpec) -> float:
    sizes = list(call.sizes.values())
    own = sizes[len(sizes) - len(call.tile) :]
    tiles = prod(-(-size // tile) for size, tile in zip(own, call.tile, strict=True))
    batches = prod(sizes[: len(sizes) - len(call.tile)])
    return max(batches * tiles * prod(call.tile) / spec.macs, call.array_cycles(spec))


def _stream(call: Call, spec: AcceleratorSpec) -> float:
    return max(call.words) * WORD_BITS / spec.link.stream_width


def on_cpu(multiply_adds: int, clocks: Clocks) -> float:
    """Seconds of the same in loops."""
    return multiply_adds * LOOPS / clocks.cpu
