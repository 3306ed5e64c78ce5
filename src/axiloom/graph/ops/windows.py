"""`Windows`: how positions of results and windows meet positions of what they slide over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from axiloom.graph.ops.checks import ints, need, per_dimension
from axiloom.graph.ops.op import Algebra, Attributes, Index


@dataclass(frozen=True)
class Windows:
    """How positions of results and kernels meet positions of images, for each spatial dimension."""

    strides: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    base: tuple[int, ...]
    """Dilation of the image: elements apart."""
    dilation: tuple[int, ...]
    """Dilation of the window."""

    def counts(self, sizes: Sequence[int], window: Sequence[int]) -> tuple[int, ...]:
        """How many windows there are. Raises GraphError if there is none."""
        counts = []
        for d, (size, reach) in enumerate(zip(sizes, window, strict=True)):
            padded = self.low[d] + self.high[d] + ((size - 1) * self.base[d] + 1 if size else 0)
            room = padded - ((reach - 1) * self.dilation[d] + 1)
            need(room >= 0, f"a window of {reach} in {size} with padding {self.low[d]}, {self.high[d]}")
            counts.append(room // self.strides[d] + 1)
        return tuple(counts)

    def meeting(self, d: int, size: int, count: int, k: int) -> tuple[slice, slice] | None:
        """Which results (first) meet which elements (second) at position k of the window."""
        stride, base, offset = self.strides[d], self.base[d], k * self.dilation[d] - self.low[d]
        period = base // gcd(stride, base)
        begin = max(0, -(offset // stride))
        end = min(count, ((size - 1) * base - offset) // stride + 1)
        hits = (o for o in range(begin, begin + period) if (o * stride + offset) % base == 0)
        outputs = range(next(hits, end), end, period)
        if not outputs:
            return None
        first, advance = (outputs[0] * stride + offset) // base, period * stride // base
        last = first + advance * (len(outputs) - 1)
        return slice(outputs[0], outputs[-1] + 1, period), slice(first, last + 1, advance)

    def inside(
        self,
        algebra: Algebra,
        at: Sequence[tuple[Any, Any]],
        sizes: Sequence[Any],
        yes: Callable[[Index], Any],
        no: Callable[[], Any],
    ) -> Any:
        """What `yes` gives where (result's, window's) positions meet, or what `no` gives in the padding."""

        def over(done: list[Any]) -> Any:
            d = len(done)
            if d == len(at):
                return yes(done)
            here = at[d][0] * self.strides[d] + at[d][1] * self.dilation[d] - self.low[d]
            if not self.low[d] and not self.high[d] and self.base[d] == 1:
                return over([*done, here])
            step, last = self.base[d], (sizes[d] - 1) * self.base[d]
            hit = (lambda: over([*done, here])) if step == 1 else (
                lambda: algebra.choose(here % step == 0, lambda: over([*done, here // step]), no)
            )  # fmt: skip
            return algebra.choose(here >= 0, lambda: algebra.choose(here <= last, hit, no), no)

        return over([])


def windows_of(
    attributes: Attributes, rank: int, base: Sequence[int] | None = None, dilation: str = "dilation"
) -> Windows:
    """By an op's attributes, `dilation` one of them. Raises GraphError where there are not `rank` of each."""
    padding = ints(attributes, "padding")
    need(len(padding) == 2 * rank, f"padding has {len(padding)} entries, not {2 * rank}")
    return Windows(
        per_dimension(ints(attributes, "strides"), rank, "strides", 1),
        padding[::2],
        padding[1::2],
        (1,) * rank if base is None else per_dimension(base, rank, "lhs_dilation", 1),
        per_dimension(ints(attributes, dilation), rank, dilation, 1),
    )
