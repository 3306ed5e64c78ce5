"""What generated NumPy code calls: axes, elements by computed index, sums of products."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from axiloom.isa.instructions.simulator.state import Array

LIMIT = 1 << 22
"""Elements of a temporary."""


SMALL = 1 << 15
"""Products below which floats do not pay."""
MOST_EXACT = 1 << 20
"""Products of numbers of 16 bits whose sum a float64 holds."""


class OutsideError(Exception):
    """An index outside of its memory: memory, dim, index, size and line."""

    def __init__(self, memory: str, dim: int, index: int, size: int, line: int) -> None:
        self.line = line
        super().__init__(f"index {dim} of {memory} is {index}: it has 0 to {size - 1} there")


def outside(memory: str, dim: int, low: int, high: int, size: int, line: int) -> None:
    """Indices from `low` to `high`, of which some lie outside."""
    raise OutsideError(memory, dim, int(low if low < 0 else high), size, line)


@lru_cache(256)
def axis(count: int, position: int) -> Array:
    """0, 1, ... along the axis that is `position` from the end, counted from 1."""
    numbers = np.arange(count, dtype=np.int64).reshape(count, *(1,) * (position - 1))
    numbers.flags.writeable = False
    return numbers


def _checked(memory: Array, name: str, line: int, index: Sequence[Any]) -> None:
    for dim, (at, size) in enumerate(zip(index, memory.shape, strict=True)):
        low, high = (at.min(), at.max()) if isinstance(at, np.ndarray) else (at, at)
        if low < 0 or high >= size:
            outside(name, dim, low, high, size, line)


def gather(memory: Array, name: str, line: int, index: Sequence[Any], mask: Any = None) -> Array:
    """The elements at `index`; where `mask` does not hold, any."""
    if len(index) == 1 and isinstance(index[0], np.ndarray) and index[0].size:
        (at,) = index
        if mask is None or (at.min() >= 0 and at.max() < memory.size):
            _checked(memory, name, line, index)
            return np.asarray(memory.take(at))
    if mask is not None:
        index = [np.where(mask, at, 0) for at in index]
    index = [part if isinstance(part, np.ndarray) else int(part) for part in index]
    _checked(memory, name, line, index)
    elements: Array = memory[tuple(index)]
    return elements


def chosen(condition: Array, yes: Array, no: Any) -> Array:
    """As ``np.where``; a new array that is chosen everywhere is not copied."""
    whole = condition.size * 8 <= yes.size and condition.all()
    if whole and np.broadcast_shapes(condition.shape, np.shape(no), yes.shape) == yes.shape:
        return yes
    return np.where(condition, yes, no)


def element(memory: Array, name: str, line: int, index: Sequence[Any], mask: Any = None) -> int:
    """One element; where `mask` holds nowhere, any number."""
    index = [int(part) for part in index]
    if mask is not None and not np.any(mask):
        return 0
    _checked(memory, name, line, index)
    return int(memory[tuple(index)])


def scatter(memory: Array, name: str, line: int, index: Sequence[Any], value: Any) -> None:
    """Writes in the order of the axes: where two write one element, the last one stays."""
    *places, values = np.broadcast_arrays(*index, value)
    _checked(memory, name, line, places)
    flat = np.ravel_multi_index([place.astype(np.intp) for place in places], memory.shape).ravel()
    memory.reshape(-1)[flat] = values.ravel()


def scalar_bits(value: int, low: Array, width: int) -> Array:
    """`width` bits of one integer from each bit of `low` on."""
    mask = (1 << width) - 1
    fields = [value >> shift & mask for shift in low.ravel().tolist()]
    return np.array(fields, np.int64 if width <= 63 else object).reshape(low.shape)


def scalar_fields(value: int, first: int, count: int, width: int, position: int) -> Array:
    """`count` fields of 8, 16 or 32 bits of one integer, side by side from bit `first` on."""
    taken = value >> first & ((1 << count * width) - 1)
    kind = {8: "<u1", 16: "<u2", 32: "<u4"}[width]
    fields = np.frombuffer(taken.to_bytes(count * width // 8, "little"), kind).astype(np.int64)
    return fields.reshape(count, *(1,) * (position - 1))


def distinct(*steps: tuple[int, int]) -> bool:
    """Whether sums of `step * i` with i from 0 to before `count` are all different, as it shows at once."""
    reach = 0
    for step, count in sorted((abs(step), count) for step, count in steps if count > 1):
        if step <= reach:
            return False
        reach += step * (count - 1)
    return True


def external(python: Callable[..., Array], low: int, high: int, bits: int, *arguments: Any) -> Any:
    """A function on arrays of bit patterns; its result's low bits, as a number from `low` to `high`."""
    arrays = np.broadcast_arrays(*(np.asarray(argument, np.int64) for argument in arguments))
    shape = arrays[0].shape
    result = np.asarray(python(*(array.reshape(-1) for array in arrays)), np.int64).reshape(shape)
    result = result & ((1 << bits) - 1)
    if low < 0:
        result = np.where(result > high, result - (1 << bits), result)
    return int(result) if not shape else result


def joined(
    function: Callable[..., Any],
    accumulate: Callable[..., Any] | None,
    before: Any,
    terms: Any,
    counts: Sequence[int],
    places: int,
) -> Any:
    """`before`, joined with the terms of `counts` turns one after the other; these are the first axes, and
    `places` axes come below them. `accumulate` does so at once."""
    many, terms = len(counts), np.asarray(terms)
    terms = terms.reshape((1,) * (many + places - terms.ndim) + terms.shape)
    rest = terms.shape[many:]
    if terms.shape[:many] != counts:
        terms = np.broadcast_to(terms, (*counts, *rest))
    turns = terms.reshape(-1, *rest)
    if accumulate:
        return accumulate(before, turns)
    for term in turns:
        before = function(before, term)
    return before


def product(a: Array, b: Array) -> Array:
    """A matrix product modulo 1 << 32 of numbers of up to 32 bits, as int32."""
    if a.shape[-2] * a.shape[-1] * b.shape[-1] < SMALL or a.shape[-1] > MOST_EXACT:
        return np.asarray(np.matmul(a.astype(np.int32, copy=False), b.astype(np.int32, copy=False)))
    # NumPy multiplies floats ten times as fast: halves of 16 bits, whose sums of products are exact.
    low_a, low_b = ((side & 0xFFFF).astype(np.float64) for side in (a, b))
    high_a, high_b = ((side >> 16).astype(np.float64) for side in (a, b))
    high = np.matmul(high_a, low_b) + np.matmul(low_a, high_b)
    whole = np.matmul(low_a, low_b).astype(np.int64) + (high.astype(np.int64) << 16)
    return np.asarray(whole.astype(np.int32))


def few(*counts: int) -> bool:
    """Whether there are points, and not too many to look at each."""
    return all(count > 0 for count in counts) and math.prod(counts) <= LIMIT


def unique(values: Any, points: int) -> bool:
    """Whether the values at so many points all differ."""
    return bool(np.unique(values).size == points)


def apart(a: Any, b: Any) -> bool:
    """Whether both are the same at each point, or no value of one is a value of the other."""
    a, b = np.broadcast_arrays(a, b)
    return bool(np.array_equal(a, b)) or np.intersect1d(a, b).size == 0


def rows(index: Array, name: str, dim: int, size: int, line: int) -> Array:
    """An index that was computed, all of it within `size`."""
    if index.size and (index.min() < 0 or index.max() >= size):
        outside(name, dim, int(index.min()), int(index.max()), size, line)
    return index


def chunk(*counts: int) -> int:
    """Turns of an outermost loop at once, so that no temporary is too large."""
    return max(1, LIMIT // max(1, math.prod(counts)))
