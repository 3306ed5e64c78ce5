"""About how long the NEON kernels by hand (``sw/baselines``) take on a Cortex-A9.

What their loops do is counted from the sizes; ``neon_costs.json`` has the CPU cycles of each, of products and
of convolutions of int8 and int32. ``python -m benchmarks neon_fit`` writes it, and prints how far off it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

COSTS_FILE = Path(__file__).with_name("neon_costs.json")
FITTED_TO = "cortex_a9"
"""The host whose cycles they are."""
L1, WIDTH, LINE = 32 << 10, 32, 32
"""Bytes of L1, columns of a block, bytes of a line: as in the kernels."""
ROWS, COLS = 4, 8
"""Sums that stay in registers."""
START, LINES = "start", "lines"
"""What the first call pays besides: its code, and lines of its arrays from memory."""


def kind(sizes: Mapping[str, int], bits: int) -> str:
    """Which costs are for these sizes, macros of a program by hand: ``product_int8`` and so on."""
    return f"{_name(sizes)}_int{bits}"


def counts(sizes: Mapping[str, int], bits: int) -> dict[str, float]:
    """What a call does, by name."""
    return KERNELS[_name(sizes)].counts(sizes, bits)


def lines(sizes: Mapping[str, int], bits: int) -> float:
    """Cache lines of all its arrays."""
    operands, sums = KERNELS[_name(sizes)].elements(sizes)
    return (operands * bits / 8 + sums * 4) / LINE


@cache
def costs() -> dict[str, dict[str, float]]:
    """CPU cycles by `kind` and by name of what is counted."""
    loaded: dict[str, dict[str, Any]] = json.loads(COSTS_FILE.read_text(encoding="utf-8"))
    return {name: measured["costs"] for name, measured in loaded.items()}


def cpu_cycles(sizes: Mapping[str, int], bits: int, *, first: bool) -> float:
    """Of a call: the first one of a program, or one that finds code and arrays in the caches."""
    own = costs()[kind(sizes, bits)]
    later = sum(own.get(name, 0.0) * count for name, count in counts(sizes, bits).items())
    beside = own.get(START, 0.0) + own.get(LINES, 0.0) * lines(sizes, bits)
    return later + (beside if first else 0.0)


def _depth(bits: int) -> int:
    """Rows of a block, whose elements are words, or halves of int8."""
    return L1 // 4 // (WIDTH * (4 if bits == 32 else 2))


def _product_elements(sizes: Mapping[str, int]) -> tuple[int, int]:
    M, N, K = (sizes[name] for name in "MNK")
    return M * K + K * N, M * N


def _convolution_elements(sizes: Mapping[str, int]) -> tuple[int, int]:
    taps = sizes["IC"] * sizes["FH"] * sizes["FW"]
    operands = sizes["IC"] * sizes["IH"] * sizes["IW"] + sizes["OC"] * taps
    return operands, sizes["OC"] * _out(sizes, "H") * _out(sizes, "W")


def _of_product(sizes: Mapping[str, int], bits: int) -> dict[str, float]:
    M, N, K = (sizes[name] for name in "MNK")
    step = 2 if bits == 32 else 4
    m, n, k = M // ROWS * ROWS, N // COLS * COLS, K // step * step
    in_place = bits == 32 and K * N * 4 <= L1 // 2
    return {
        "whole": m * n * k,
        "edges": M * N * K - m * n * k,
        "packed": 0 if in_place else n * k,
        "widened": m * k * -(-n // WIDTH) if bits == 8 else 0,
        "tiles": (m // ROWS) * (n // COLS) * -(-k // _depth(bits)),
    }


def _of_convolution(sizes: Mapping[str, int], bits: int) -> dict[str, float]:
    height, width, stride = _out(sizes, "H"), _out(sizes, "W"), sizes["SW"]
    pixels, taps = height * width, sizes["IC"] * sizes["FH"] * sizes["FW"]
    panels, channels = -(-pixels // COLS), -(-sizes["OC"] // ROWS)
    # Eight pixels of one row are one load; of others each is one.
    together = sum(
        stride == 1 and first % width + COLS <= width and first + COLS <= pixels
        for first in range(0, pixels, COLS)
    )
    return {
        "whole": panels * COLS * channels * ROWS * taps,
        "together": together * taps,
        "apart": (panels - together) * taps,
        "turned": channels * ROWS * taps,
        "tiles": panels * channels * -(-taps // _depth(bits)),
    }


def _out(sizes: Mapping[str, int], along: str) -> int:
    return (sizes[f"I{along}"] - sizes[f"F{along}"]) // sizes[f"S{along}"] + 1


class Kernel(NamedTuple):
    """`counts` of a call by sizes and bits, and `elements` of operands and of results by sizes."""

    counts: Callable[[Mapping[str, int], int], dict[str, float]]
    elements: Callable[[Mapping[str, int]], tuple[int, int]]


KERNELS = {
    "product": Kernel(_of_product, _product_elements),
    "convolution": Kernel(_of_convolution, _convolution_elements),
}


def _name(sizes: Mapping[str, int]) -> str:
    return "product" if "K" in sizes else "convolution"
