"""HLSCNN's convolution: activations Q9.7, weights Q2.14 or, in bytes, Q2.6.

A host may scale images and kernels by powers of two before it brings them into fixed point, and the result
back: so they use the bits that the formats have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from axiloom.accelerators.hlscnn import numbers
from axiloom.accelerators.hlscnn.replay import commands
from axiloom.application.units import rows
from axiloom.application.units.counts import Array, Counts, Places, in_units
from axiloom.application.units.unit import (
    PORT,
    Arrays,
    Call,
    Change,
    Knob,
    Operator,
    Ranges,
    Settings,
    changed,
    checked,
    exponent,
    largest,
)  # fmt: skip
from axiloom.application.units.weights import prepared
from axiloom.graph.graph import Node
from axiloom.graph.ops.convolution import windows_of

DIMS = "bf01_oi01->bf01"
ACTIVATIONS, WEIGHTS = 7, 14
"""Bits of fraction."""
MOST_ACTIVATION, MOST_WEIGHT = 255.99, 1.99
CHANNELS = 8
"""Multiply-adds a cycle."""
STRIDE, KERNEL, SIZE = 7, 255, 1023
"""What the registers hold."""


@dataclass(frozen=True)
class Conv:
    name: str = "hlscnn.conv"
    target: str = "hlscnn"

    @property
    def knobs(self) -> Mapping[str, Knob]:
        return {
            "weight_bytes": Knob(1, 2, "bytes of a weight: 1 is Q2.6, 2 is Q2.14"),
            "input_exponent": Knob(-24, 24, "the host scales images by 2^this", searched=True),
            "weight_exponent": Knob(-24, 24, "the host scales kernels by 2^this", searched=True),
            "nearest": Knob(0, 1, "0: the host quantises downwards, 1: to the nearest"),
            "order": Knob(0, 1, "of channels: 0 as they are, 1: those with the smallest weights first"),
            "round": Knob(0, 1, "0: partial sums are cut, 1: rounded (the text's ROUND)"),
            "saturate": Knob(0, 1, "0: sums wrap, 1: saturate (the text's SATURATE)"),
        }

    def cycles(self, operator: Operator) -> int:
        m, n, k = rows.sizes(operator.inside[0])
        x, w = operator.operands[0].type.elements, operator.operands[1].type.elements
        return -(-2 * (x + w + m * n) // PORT) + -(-m * n * k // CHANNELS)

    def take(self, node: Node, uses: Mapping[int, int]) -> Operator | str | None:
        if node.op != "convolution":
            return None
        x, w = node.operands
        if node.attributes["dims"] != DIMS:
            return f"dims {node.attributes['dims']}: {DIMS} is taken"
        if x.type.number != "float32" or w.type.number != "float32":
            return f"numbers of {x.type.number} and {w.type.number}: float32 is taken"
        windows = windows_of(node.attributes, 2)
        pads = [sum(pair) for pair in zip(windows.low, windows.high, strict=True)]
        sizes = [size + pad for size, pad in zip(x.type.shape[2:], pads, strict=True)]
        large = max(windows.strides) > STRIDE or max(w.type.shape[2:]) > KERNEL or max(sizes) > SIZE
        if large:
            return f"strides {windows.strides}, kernel {w.type.shape[2:]}, image {sizes}: registers hold less"
        return rows.plain(node) or Operator(self, node, (node,), node.operands, node.place)

    def observe(self, operator: Operator, arrays: Arrays, result: Array) -> dict[str, float]:
        return {"input": largest(arrays[0]), "weights": largest(arrays[1]), "output": largest(result)}

    def published(self, operator: Operator, ranges: Ranges) -> Settings:
        return dict.fromkeys(self.knobs, 0) | {"weight_bytes": 1, "round": 1, "saturate": 1}

    def chosen(self, operator: Operator, ranges: Ranges) -> Settings:
        """16 bits of weights, and both scaled to what their formats hold; sums have a bit more room."""
        fixed_ = {"weight_bytes": 2, "nearest": 1, "order": 0, "round": 1, "saturate": 1}
        return {**fixed_, **self._scaled(ranges)}

    def _scaled(self, ranges: Ranges) -> dict[str, int]:
        room = MOST_ACTIVATION / 2
        of_weights = exponent(ranges["weights"], MOST_WEIGHT)
        of_output = exponent(ranges["output"], room)
        of_input = min(exponent(ranges["input"], room), of_output - of_weights)
        return checked(self.knobs, {"input_exponent": of_input, "weight_exponent": of_weights})

    def wrong(self, settings: Settings) -> Iterator[str]:
        return iter(())

    def _prepared(
        self, operator: Operator, arrays: Arrays, settings: Settings, places: Places
    ) -> tuple[Array, Array]:
        nearest, bits = bool(settings["nearest"]), 8 * settings["weight_bytes"]
        scaled = np.ldexp(arrays[0], settings["input_exponent"])
        x = in_units(scaled, ACTIVATIONS, 16, places["input"], least=-(1 << 15), nearest=nearest)

        def make() -> tuple[Array, Places]:
            seen, larger = Places(), np.ldexp(arrays[1], settings["weight_exponent"])
            fraction, least = WEIGHTS - 16 + bits, -(1 << bits - 1)
            raw = in_units(larger, fraction, bits, seen["weights"], least=least, nearest=nearest)
            return raw << 16 - bits, seen

        w, seen = prepared(operator, (settings["weight_exponent"], nearest, bits), make)
        places.join(seen)
        if settings["order"]:
            channels = np.argsort(np.abs(w).sum((0, 2, 3)), kind="stable")
            x, w = x[:, channels], w[:, channels]
        windows = windows_of(operator.node.attributes, 2)
        return np.pad(x, [(0, 0), (0, 0), *zip(windows.low, windows.high, strict=True)]), w

    def mended(self, settings: Settings) -> Settings:
        return settings

    def run(self, operator: Operator, arrays: Arrays, settings: Settings, places: Places) -> Array:
        x, w = self._prepared(operator, arrays, settings, places)
        sums = numbers.convolved(x, w, _strides(operator), places["sums"], version(settings))
        scale = settings["input_exponent"] + settings["weight_exponent"]
        return np.ldexp(sums.astype(np.float32), -ACTIVATIONS - scale)

    def changes(self, settings: Settings, ranges: Ranges, places: Places) -> Iterator[Change]:
        if settings["weight_bytes"] == 1:
            yield Change("weights of 16 bits (Q2.14)", changed(settings, weight_bytes=2))
        if places["sums"].saturated and not settings["order"]:
            yield Change("channels in another order: running sums saturate", changed(settings, order=1))
        if not settings["nearest"]:
            yield Change("the host quantises to the nearest", changed(settings, nearest=1))
        if settings["weight_exponent"] != (best := exponent(ranges["weights"], MOST_WEIGHT)):
            yield Change(
                "kernels scaled to their format", checked(self.knobs, changed(settings, weight_exponent=best))
            )
        both = self._scaled(ranges)
        if both.items() - settings.items():
            yield Change("images and kernels scaled to their formats", changed(settings, nearest=1, **both))

    def replay(
        self, operator: Operator, arrays: Arrays, settings: Settings, rng: np.random.Generator
    ) -> Call:
        """An image, some rows of results, up to four filters."""
        x, w = self._prepared(operator, arrays, settings, Places())
        image, first = int(rng.integers(len(x))), int(rng.integers(max(len(w) - 3, 1)))
        strides, kernels = _strides(operator), w[first : first + 4]
        wide = min(x.shape[3], kernels.shape[3] + 3 * strides[1])
        row = int(rng.integers(x.shape[2] - kernels.shape[2] + 1))
        part = x[image, :, row : row + kernels.shape[2], :wide]
        wanted = numbers.convolved(part[None], kernels, strides, Counts(), version(settings))[0]
        what = f"image {image}, rows from {row}, filters {first} to {first + len(kernels) - 1}"
        return Call(what, wanted, lambda: commands(part, kernels, strides, settings))


def version(settings: Settings) -> numbers.Version:
    return numbers.Version(settings["round"], settings["saturate"])


def _strides(operator: Operator) -> tuple[int, int]:
    a, b = windows_of(operator.node.attributes, 2).strides
    return a, b


CONV = Conv()
UNITS = (CONV,)
