"""Lines fetched ahead of a loop that runs through memory: without it the CPU waits for each of them.

A Cortex-A9 begins the next load only when it comes to it, so a loop that reads new lines waits 90 cycles for
every 32 bytes; PLD lets up to four lines come meanwhile (A9 TRM, 7.1). It never faults, so nothing has to be
done at the end of an array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap

from axiloom.drivergen.c.names import c_type
from axiloom.drivergen.dialects.accel import PreloadOp

LINE = 32
"""Bytes of a cache line."""
AHEAD = 256
"""Bytes that a line is fetched ahead of its use: about as long as it takes to come."""
BLOCK = 128
"""Bytes of the widest operand between which lines are fetched: as many as can be on their way."""
LONGEST = 1024
"""Bytes of new rows for a window up to which they are fetched: a loop has to have the time for it."""
LEAST = 4096
"""Bytes of an operand from which on it is worth it: less is near."""


@dataclass(frozen=True)
class Stream:
    """An operand that a loop runs through once."""

    number: int
    lines: int
    """To fetch, each time that the loop (or a block of it) begins."""
    ahead: int = AHEAD
    """Bytes from the element that the loop begins with."""


@dataclass(frozen=True)
class Plan:
    """How an innermost loop is cut, and what is fetched in front of each piece."""

    block: int
    streams: tuple[Stream, ...]


def bytes_of(kind: Attribute) -> int:
    """Bytes of an element; 0 if C has no type for it."""
    sizes = {"int8_t": 1, "bool": 1, "int16_t": 2, "int32_t": 4, "float": 4, "int64_t": 8, "double": 8}
    return sizes.get((c_type(kind) or "").removeprefix("u"), 0)


def plan(
    operands: Sequence[SSAValue],
    maps: Sequence[AffineMap],
    sizes: Sequence[int],
    order: Sequence[int],
    window: Sequence[int] = (),
) -> Plan | None:
    """For the loops in this order, `window` inside of them; None if nothing is read in long pieces."""
    if not order:
        return None
    inner = order[-1]
    widest = max(
        (bytes_of(v.type.element_type) for v in operands if isinstance(v.type, MemRefType)), default=1
    )
    block = _block(sizes[inner], BLOCK // max(widest, 1))
    if block == sizes[inner] and len(order) == 1:
        return None
    streams = []
    for number, (value, m) in enumerate(zip(operands, maps, strict=True)):
        kind = value.type
        if not isinstance(kind, MemRefType) or not m.results:
            continue
        size = bytes_of(kind.element_type)
        used = {dim for e in m.results for dim in e.used_dims()}
        if not used.issuperset(order) or prod(kind.get_shape()) * size < LEAST:
            continue
        if _step(m, kind, inner) == 1 and not used & set(window):
            streams.append(Stream(number, -(-block * size // LINE)))
        elif window and len(order) > 1:
            # Rows that the next windows have beyond these.
            further = _step(m, kind, order[-2]) * size
            now = sum((sizes[loop] - 1) * _step(m, kind, loop) for loop in window) * size
            if 0 < further <= LONGEST:
                streams.append(Stream(number, -(-further // LINE), max(now, AHEAD)))
    return Plan(block, tuple(streams)) if streams else None


def _block(size: int, most: int) -> int:
    """The largest part of a loop up to `most` that divides it, whole vectors first; else all of it."""
    if size <= most:
        return size
    parts = [n for n in range(most, most // 4, -1) if size % n == 0]
    return next((n for n in parts if n % 16 == 0), parts[0] if parts else size)


def _step(m: AffineMap, kind: MemRefType[Attribute], loop: int) -> int:
    """How many elements further one iteration of `loop` goes."""
    zero = [0] * m.num_dims
    unit = [int(dim == loop) for dim in range(m.num_dims)]
    strides = kind.get_strides() or []
    return sum(
        (b - a) * (stride or 0)
        for a, b, stride in zip(m.eval(zero, []), m.eval(unit, []), strides, strict=False)
    )


def fetch(builder: Builder, value: SSAValue, indices: Sequence[SSAValue], stream: Stream) -> None:
    """The lines of `stream` behind the element of `value` at `indices`."""
    kind = value.type
    assert isinstance(kind, MemRefType)
    distance = IntegerAttr(stream.ahead // bytes_of(kind.element_type), IndexType())
    ahead = builder.insert(arith.ConstantOp(distance)).result
    last = builder.insert(arith.AddiOp(indices[-1], ahead)).result
    builder.insert(PreloadOp(value, [*indices[:-1], last], stream.lines))
