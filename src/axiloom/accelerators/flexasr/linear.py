"""FlexASR's linear layer: products with weights, on AdaptivFloat<8,3> bytes with a bias for each tensor.

A host may scale operands by powers of two before it quantises them, and the result back: so numbers reach
the window of exponents that biases 0 to 7 allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from axiloom.accelerators.flexasr import host, numbers, on_rtl
from axiloom.application.units import rows
from axiloom.application.units.counts import Array, Counts, Places
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
    largest,
)  # fmt: skip
from axiloom.application.units.weights import prepared
from axiloom.graph.graph import Node
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import read
from axiloom.isa.instructions.simulator.simulate import Simulator
from axiloom.isa.numerics.adaptivfloat import FRACTION, bias_of, quantise, to_fixed

SIGN = {
    "saturated_sign": Knob(0, 1, "0: what is saturated loses its sign (before commit e4f60b5, 2022-04-11)")
}
LANES, ELEMENTS, VECTORS, TILES = 16, 4, 256, 512
"""Elements of a vector, processing elements, vectors of one's input buffer, and of its results."""
WORD = 16
"""Bytes of a word of the bus."""
MULTIPLIERS = 4 * 16 * 16
"""Multiply-adds a cycle: four processing elements, 16 vectors of 16."""
REPLAYED = 4
"""Rows of a call that is run again on the text."""


def tensor(values: Array, bias: int, counts: Counts) -> Array:
    """Bytes of real numbers, as a host quantises; what it cannot hold is counted."""
    size = np.abs(values)
    past = np.count_nonzero(size >= np.ldexp(2 - 1 / 32, bias - 3))
    low = np.count_nonzero((size < np.ldexp(17 / 32, bias - 10)) & (size > 0))
    counts.add(size.size, past, low)
    return quantise(values, bias)


def reals(raw: Array, bias: int, scale: int = 0) -> Array:
    """float32 of bytes that a host had scaled by 2^scale."""
    return np.ldexp(to_fixed(raw, bias).astype(np.float32), -FRACTION - scale)


def bias_knob(text: str, *, searched: bool = False) -> Knob:
    return Knob(0, 7, text, searched)


def version(settings: Settings) -> numbers.Version:
    return numbers.Version(settings.get("ac_math", numbers.NOW.ac_math), settings["saturated_sign"])


def device(settings: Settings) -> Simulator:
    of = version(settings)
    constants = {"AC_MATH": of.ac_math, "SATURATED_SIGN": of.saturated_sign}
    return Simulator(read(targets()["flexasr"], constants))


@dataclass(frozen=True)
class Linear:
    name: str = "flexasr.linear"
    target: str = "flexasr"

    @property
    def knobs(self) -> Mapping[str, Knob]:
        return {
            "input_bias": bias_knob("of the input's exponents", searched=True),
            "weight_bias": bias_knob("of the weights' exponents", searched=True),
            "added_bias": bias_knob("of the exponents of what is added"),
            "output_bias": bias_knob("of the result's exponents", searched=True),
            "input_exponent": Knob(-24, 24, "the host scales the input by 2^this", searched=True),
            "weight_exponent": Knob(-24, 24, "the host scales the weights by 2^this", searched=True),
            **SIGN,
        }

    def cycles(self, operator: Operator) -> int:
        m, n, k = rows.sizes(operator.inside[0])
        words = -(-n * k // WORD) + m * (-(-k // WORD) + -(-n // WORD))
        return words * WORD // PORT + -(-m * n * k // MULTIPLIERS)

    def take(self, node: Node, uses: Mapping[int, int]) -> Operator | str | None:
        match = rows.find(node, uses)
        if match is None or isinstance(match, str):
            return match
        inputs = rows.inputs(match.inside[0])
        vectors = -(-inputs // LANES) + 1
        if vectors > VECTORS:
            return f"{inputs} inputs: the input buffer has {VECTORS - 1} vectors of {LANES}"
        return Operator(self, node, match.inside, match.operands, node.place)

    def observe(self, operator: Operator, arrays: Arrays, result: Array) -> dict[str, float]:
        added = largest(arrays[2]) if len(arrays) > 2 else 0.0
        return {
            "input": largest(arrays[0]), "weights": largest(arrays[1]), "added": added,
            "output": largest(result),
        }  # fmt: skip

    def published(self, operator: Operator, ranges: Ranges) -> Settings:
        """A bias for the largest number of each tensor; the header that loses signs."""
        biases = {f"{place}_bias": bias_of(ranges[_RANGE[place]]) for place in _RANGE}
        return {**biases, "input_exponent": 0, "weight_exponent": 0, "saturated_sign": 0}

    def chosen(self, operator: Operator, ranges: Ranges) -> Settings:
        """Scaled so that the result's largest number is in 8 to 16, of 32 that the registers hold."""
        most = max(ranges["output"], ranges["added"])
        whole = 4 - _above(most) if most else 0
        of_input = 2 - _above(ranges["input"])
        return checked(
            self.knobs,
            {
                "input_bias": bias_of(ranges["input"] * 2.0**of_input),
                "weight_bias": bias_of(ranges["weights"] * 2.0 ** (whole - of_input)),
                "added_bias": bias_of(ranges["added"] * 2.0**whole),
                "output_bias": bias_of(ranges["output"] * 2.0**whole),
                "input_exponent": of_input,
                "weight_exponent": whole - of_input,
                "saturated_sign": 1,
            },
        )

    def wrong(self, settings: Settings) -> Iterator[str]:
        return iter(())

    def mended(self, settings: Settings) -> Settings:
        return settings

    def run(self, operator: Operator, arrays: Arrays, settings: Settings, places: Places) -> Array:
        x, weights = self._prepared(operator, arrays, settings, places)
        raw = numbers.linear(
            x, weights, settings["input_bias"], settings["output_bias"], places, version(settings)
        )
        scale = settings["input_exponent"] + settings["weight_exponent"]
        result = rows.back(operator.inside, reals(raw, settings["output_bias"], scale))
        return np.ascontiguousarray(result, np.float32)

    def _prepared(
        self, operator: Operator, arrays: Arrays, settings: Settings, places: Places
    ) -> tuple[Array, numbers.Weights]:
        of_input, of_weights = settings["input_exponent"], settings["weight_exponent"]
        x = tensor(np.ldexp(arrays[0], of_input), settings["input_bias"], places["input"])

        def make() -> tuple[numbers.Weights, Places]:
            seen = Places()
            w = tensor(np.ldexp(arrays[1], of_weights), settings["weight_bias"], seen["weights"])
            tensors = [x, w]
            if len(arrays) > 2:
                scaled = np.ldexp(arrays[2], of_input + of_weights)
                tensors.append(tensor(scaled, settings["added_bias"], seen["added"]))
            packed = rows.product(operator.inside, tensors)
            return numbers.Weights.of(
                packed.w[None], packed.b[None], settings["weight_bias"], settings["added_bias"]
            ), seen

        key = tuple(
            settings[name] for name in ("weight_bias", "added_bias", "input_exponent", "weight_exponent")
        )
        weights, seen = prepared(operator, key, make)
        places.join(seen)
        return rows.product(operator.inside, [x, arrays[1]]).x, weights

    def changes(self, settings: Settings, ranges: Ranges, places: Places) -> Iterator[Change]:
        if not settings["saturated_sign"] and places["output"].saturated:
            yield Change(
                "what is saturated keeps its sign (as since 2022)", changed(settings, saturated_sign=1)
            )
        if places["output"].saturated:
            higher = min(settings["output_bias"] + 1, 7)
            yield Change("a larger output bias: results saturate", changed(settings, output_bias=higher))

    def replay(
        self, operator: Operator, arrays: Arrays, settings: Settings, rng: np.random.Generator
    ) -> Call:
        """Some rows, 64 outputs."""
        x, weights = self._prepared(operator, arrays, settings, Places())
        chosen = np.sort(rng.choice(len(x), min(REPLAYED, len(x)), replace=False))
        first = int(rng.integers(-(-weights.added.shape[1] // 64))) * 64
        w, b = weights.values[:, first : first + 64], weights.added[:, first : first + 64]
        part = numbers.Weights(w, b, weights.weight_bias, weights.added_bias)
        biases = settings["input_bias"], settings["output_bias"]
        wanted = numbers.linear(x[chosen], part, *biases, Places(), version(settings))
        raw = bytes_of(w)
        product = host.Product(
            rows.padded(raw, 64, LANES), rows.padded(b, 64), weights.weight_bias, weights.added_bias,
            settings["input_bias"],
        )  # fmt: skip
        chosen_x = rows.padded(x[chosen], LANES)

        def text() -> Array:
            program = host.layer(chosen_x, [product], host.LINEAR, settings["output_bias"])
            return program.run(device(settings))[:, : wanted.shape[1]]

        def rtl() -> Array:
            result = on_rtl.on_linear(chosen_x, product, settings["output_bias"], version(settings))
            return result[:, : wanted.shape[1]]

        return Call(f"{len(chosen)} rows, outputs {first} to {first + w.shape[1] - 1}", wanted, text, rtl)


_RANGE = {"input": "input", "weight": "weights", "added": "added", "output": "output"}


def _above(most: float) -> int:
    """The power of two that is above `most` or is it."""
    return int(np.ceil(np.log2(most))) if most > 0 else 0


def bytes_of(values: Array) -> Array:
    """Bytes of values, which to_fixed(bytes, 0) gave."""
    everything = np.arange(256, dtype=np.uint8)
    of = to_fixed(everything, 0)
    order = np.argsort(of, kind="stable")
    return np.asarray(everything[order][np.searchsorted(of[order], values.astype(np.int64))])


LINEAR = Linear()
