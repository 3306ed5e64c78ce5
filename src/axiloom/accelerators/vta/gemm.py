"""VTA's GEMM: int8 by int8 on int32, then a shift to int8. Scales are powers of two, one for a tensor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from axiloom.accelerators.vta import numbers, on_rtl
from axiloom.accelerators.vta.blocks.matmul import lowered
from axiloom.accelerators.vta.replay import LANES, commands
from axiloom.application.units import rows
from axiloom.application.units.counts import Array, Places, in_units
from axiloom.application.units.unit import (
    Arrays,
    Call,
    Change,
    Knob,
    Operator,
    Ranges,
    Settings,
    checked,
    exponent,
    largest,
)  # fmt: skip
from axiloom.application.units.weights import prepared
from axiloom.device.rtl import DeviceRtl, device
from axiloom.graph.graph import Node
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import read

REPLAYED = 4
DRAM = 1 << 28
BLOCKS = 1024
"""Blocks of weights that the buffer holds; a row of them has all inputs of 16 outputs."""


@dataclass(frozen=True)
class Gemm:
    name: str = "vta.gemm"
    target: str = "vta"

    @property
    def knobs(self) -> Mapping[str, Knob]:
        return {
            "input_exponent": Knob(-24, 24, "of the input a unit is 2^-this", searched=True),
            "weight_exponent": Knob(-24, 24, "of the weights a unit is 2^-this", searched=True),
            "shift": Knob(0, 15, "to the right, of the sums", searched=True),
        }

    def cycles(self, operator: Operator) -> int:
        """Of its commands, foretold of the RTL."""
        m, n, k = rows.sizes(operator.inside[0])
        return _foretold(m, -(-n // LANES) * LANES, -(-k // LANES) * LANES)

    def take(self, node: Node, uses: Mapping[int, int]) -> Operator | str | None:
        match = rows.find(node, uses)
        if match is None or isinstance(match, str):
            return match
        inputs = rows.inputs(match.inside[0])
        if -(-inputs // LANES) > BLOCKS:
            return f"{inputs} inputs: the buffer has {BLOCKS} blocks of {LANES}"
        return Operator(self, node, match.inside, match.operands, node.place)

    def observe(self, operator: Operator, arrays: Arrays, result: Array) -> dict[str, float]:
        return {"input": largest(arrays[0]), "weights": largest(arrays[1]), "output": largest(result)}

    def published(self, operator: Operator, ranges: Ranges) -> Settings:
        """Nothing is published of scales: the largest number of each tensor is in range."""
        return self.chosen(operator, ranges)

    def chosen(self, operator: Operator, ranges: Ranges) -> Settings:
        of_input, of_weights = (exponent(ranges[place], numbers.LIMIT) for place in ("input", "weights"))
        shift = of_input + of_weights - exponent(ranges["output"], numbers.LIMIT)
        settings = {"input_exponent": of_input, "weight_exponent": of_weights, "shift": shift}
        return checked(self.knobs, settings)

    def wrong(self, settings: Settings) -> Iterator[str]:
        return iter(())

    def _prepared(
        self, operator: Operator, arrays: Arrays, settings: Settings, places: Places
    ) -> rows.Product:
        x = in_units(arrays[0], settings["input_exponent"], 8, places["input"])

        def make() -> tuple[rows.Product, Places]:
            seen = Places()
            tensors = [x, in_units(arrays[1], settings["weight_exponent"], 8, seen["weights"])]
            if len(arrays) > 2:
                scale = settings["input_exponent"] + settings["weight_exponent"]
                tensors.append(in_units(arrays[2], scale, 32, seen["added"]))
            product = rows.product(operator.inside, tensors)
            return rows.Product(product.x[:0], product.w, product.b), seen

        weights, seen = prepared(operator, (settings["input_exponent"], settings["weight_exponent"]), make)
        places.join(seen)
        return rows.Product(rows.product(operator.inside, [x, arrays[1]]).x, weights.w, weights.b)

    def mended(self, settings: Settings) -> Settings:
        return settings

    def run(self, operator: Operator, arrays: Arrays, settings: Settings, places: Places) -> Array:
        product = self._prepared(operator, arrays, settings, places)
        results = numbers.product(product.x, product.w, product.b, settings["shift"], places)
        scale = settings["input_exponent"] + settings["weight_exponent"] - settings["shift"]
        back = rows.back(operator.inside, np.ldexp(results.astype(np.float32), -scale))
        return np.ascontiguousarray(back, np.float32)

    def changes(self, settings: Settings, ranges: Ranges, places: Places) -> Iterator[Change]:
        return iter(())

    def replay(
        self, operator: Operator, arrays: Arrays, settings: Settings, rng: np.random.Generator
    ) -> Call:
        """Some rows, 16 outputs."""
        product = self._prepared(operator, arrays, settings, Places())
        chosen = np.sort(rng.choice(len(product.x), min(REPLAYED, len(product.x)), replace=False))
        first = int(rng.integers(-(-len(product.w) // LANES))) * LANES
        w, b = product.w[first : first + LANES], product.b[first : first + LANES]
        wanted = numbers.product(product.x[chosen], w, b, settings["shift"], Places())
        inputs = (
            rows.padded(product.x[chosen], LANES),
            rows.padded(w, LANES, LANES),
            rows.padded(b, LANES),
            settings["shift"],
        )

        def text() -> Array:
            return commands(*inputs)[:, : len(w)]

        def rtl() -> Array:
            return on_rtl.gemm(*inputs)[:, : len(w)]

        return Call(f"{len(chosen)} rows, outputs {first} to {first + len(w) - 1}", wanted, text, rtl)


@cache
def _foretold(m: int, n: int, k: int) -> int:
    rtl = _device()
    cycles = rtl.foretold(lowered(m, n, k, rtl.isa))
    assert cycles is not None
    return cycles


@cache
def _device() -> DeviceRtl:
    return device(read(targets()["vta"], {"DRAM": DRAM}))


GEMM = Gemm()
UNITS = (GEMM,)
