"""FlexASR's LSTM: the four products of a step, and the program of the activation unit, step after step.

The cell's state and the result are written with one bias. The result is read back by a manager with a bias of
its own. The host may let the program double the result before it emits it (`output_exponent`), so that small
elements are not flushed under a bias that suits the cell's state; then the manager's bias is as much lower.

FlexASR's result is enlarged, not its cell's state made small. Both are written with one bias. The state
reaches 4 and more, the result stays below 1, so under the state's bias small results are flushed: 2.0 %
error after the first step, and 6.0 % after ten at size 128. Two ways lead out in the host's program of
the activation unit. The state can be kept halved, which needs a constant of a half (six instructions) and
loses bits of the state. Or the result is added to itself before it is emitted, and the manager reads it
back with a lower bias: an instruction for each factor of two, and nothing is lost. The second one is
chosen: 1.4 and 5.2 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from axiloom.accelerators.flexasr import host, numbers, on_rtl
from axiloom.accelerators.flexasr.linear import (
    LANES,
    MULTIPLIERS,
    SIGN,
    TILES,
    VECTORS,
    WORD,
    bias_knob,
    bytes_of,
    device,
    reals,
    tensor,
    version,
)  # fmt: skip
from axiloom.application.units import rows
from axiloom.application.units.counts import Array, Places
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
    largest,
)  # fmt: skip
from axiloom.application.units.weights import prepared
from axiloom.base.errors import UsageError
from axiloom.graph.graph import Node
from axiloom.graph.ops.registry import OPS
from axiloom.isa.numerics.adaptivfloat import bias_of

GATES = 0, 2, 1, 3
"""PyTorch's input, forget, cell, output in the order of the program: input, cell, forget, output."""
GATE = 28
"""Cycles of the activation unit's program for a vector of a step: 24, and four at most that enlarge it."""
LARGEST = 4
"""A result is at most 1, and registers hold less than 32."""


@dataclass(frozen=True)
class Lstm:
    name: str = "flexasr.lstm"
    target: str = "flexasr"

    @property
    def knobs(self) -> Mapping[str, Knob]:
        return {
            "input_bias": bias_knob("of the input's exponents", searched=True),
            "weight_bias": bias_knob("of the exponents of the input's weights", searched=True),
            "hidden_weight_bias": bias_knob("of the exponents of the result's weights", searched=True),
            "added_bias": bias_knob("of the exponents of what is added"),
            "activation_bias": bias_knob("under which cell and result are written", searched=True),
            "hidden_bias": bias_knob("under which the result before is read"),
            "output_exponent": Knob(
                0, LARGEST, "the program emits the result 2^this times as large", searched=True
            ),
            "ac_math": Knob(
                321, 340, "version of the library of sigmoid and tanh (321: up to 3.2.1; 340: since)"
            ),
            **SIGN,
        }

    def cycles(self, operator: Operator) -> int:
        xs, h = operator.operands[0].type, operator.operands[1].type
        steps, batch, inputs = xs.shape
        hidden = h.shape[1]
        weights = -(-4 * hidden * (inputs + hidden) // WORD)
        step = -(-4 * hidden * (inputs + hidden) // MULTIPLIERS) + GATE * -(-hidden // WORD)
        moved = -(-inputs // WORD) + -(-hidden // WORD)
        return (weights + steps * batch * moved) * WORD // PORT + steps * batch * step

    def take(self, node: Node, uses: Mapping[int, int]) -> Operator | str | None:
        if node.op != "lstm":
            return None
        xs, h, *_ = node.operands
        if any(operand.type.number != "float32" for operand in node.operands):
            return "numbers other than float32"
        inputs, hidden = xs.type.shape[2], h.type.shape[1]
        tiles = 4 * -(-hidden // (host.ELEMENTS * LANES))
        vectors = -(-inputs // LANES) + -(-hidden // LANES) + 2 * tiles
        if vectors > VECTORS or 2 * tiles > TILES:
            return f"{inputs} inputs and {hidden} results: {vectors} vectors, of {VECTORS} in a buffer"
        return Operator(self, node, (node,), node.operands, node.place)

    def observe(self, operator: Operator, arrays: Arrays, result: Array) -> dict[str, float]:
        types = [operand.type for operand in operator.operands]
        cells = OPS["lstm_cells"].evaluate(arrays, types, {})
        xs, _, _, w_x, w_h, b = arrays
        return {
            "input": largest(xs), "weights": largest(w_x), "hidden_weights": largest(w_h),
            "added": largest(b), "cell": largest(cells), "output": largest(result),
        }  # fmt: skip

    def published(self, operator: Operator, ranges: Ranges) -> Settings:
        """The cell's state has the bias of the result, which is read with the input's; signs are lost."""
        biases = self._biases(ranges)
        read_back = {"activation_bias": bias_of(ranges["output"]), "hidden_bias": biases["input_bias"]}
        return {**biases, **read_back, "output_exponent": 0, "ac_math": 321, "saturated_sign": 0}

    def chosen(self, operator: Operator, ranges: Ranges) -> Settings:
        """The cell's state and the result have the bias of the larger of them; the result is enlarged."""
        return {**self._biases(ranges), **_wide(ranges), "ac_math": 321, "saturated_sign": 1}

    def _biases(self, ranges: Ranges) -> dict[str, int]:
        of = {"input": "input", "weight": "weights", "hidden_weight": "hidden_weights", "added": "added"}
        return {f"{name}_bias": bias_of(ranges[place]) for name, place in of.items()}

    def wrong(self, settings: Settings) -> Iterator[str]:
        written, read_, more = (
            settings[name] for name in ("activation_bias", "hidden_bias", "output_exponent")
        )
        if written - more != read_:
            enlarged = f", {2**more} times as large," if more else ""
            factor = 2.0 ** (read_ - written + more)
            yield (
                f"the result is written with bias {written}{enlarged} and read back with {read_}: "
                f"{factor:g} times as large"
            )

    def mended(self, settings: Settings) -> Settings:
        written = settings["activation_bias"]
        more = min(settings["output_exponent"], written)
        return changed(settings, hidden_bias=written - more, output_exponent=more)

    def run(self, operator: Operator, arrays: Arrays, settings: Settings, places: Places) -> Array:
        x, pair, hidden = self._prepared(operator, arrays, settings, places)
        more = settings["output_exponent"]
        hidden_bytes = numbers.recurrent(
            x, pair, _biases_of(settings), host.enlarged(more), places, version(settings)
        )
        return np.ascontiguousarray(reals(hidden_bytes[:, :, :hidden], settings["activation_bias"], more))

    def _prepared(
        self, operator: Operator, arrays: Arrays, settings: Settings, places: Places
    ) -> tuple[Array, tuple[numbers.Weights, numbers.Weights], int]:
        xs, h, c, w_x, w_h, b = arrays
        if np.any(h) or np.any(c):
            raise UsageError(f"{operator.name}: {self.name} starts from zeros; the data has other states")
        hidden = w_h.shape[1]
        x = rows.padded(tensor(xs, settings["input_bias"], places["input"]), LANES)

        def gates(array: Array) -> Array:
            return array.reshape(4, hidden, *array.shape[1:])[list(GATES)]

        def make() -> tuple[tuple[numbers.Weights, numbers.Weights], Places]:
            seen, outputs = Places(), host.ELEMENTS * LANES
            of_x = rows.padded(gates(tensor(w_x, settings["weight_bias"], seen["weights"])), outputs, LANES)
            # The result goes back with all its vectors: so the weights have columns for them.
            of_h = rows.padded(
                gates(tensor(w_h, settings["hidden_weight_bias"], seen["weights"])), outputs, outputs
            )
            added = rows.padded(gates(tensor(b, settings["added_bias"], seen["added"])), outputs)
            pair = (
                numbers.Weights.of(of_x, added, settings["weight_bias"], settings["added_bias"]),
                numbers.Weights.of(of_h, np.zeros_like(added), settings["hidden_weight_bias"], 0),
            )
            return pair, seen

        key = tuple(settings[name] for name in ("weight_bias", "hidden_weight_bias", "added_bias"))
        pair, seen = prepared(operator, key, make)
        places.join(seen)
        return x, pair, hidden

    def changes(self, settings: Settings, ranges: Ranges, places: Places) -> Iterator[Change]:
        written = settings["activation_bias"]
        if not settings["saturated_sign"] and places["cell"].saturated + places["output"].saturated:
            yield Change(
                "what is saturated keeps its sign (as since 2022)", changed(settings, saturated_sign=1)
            )
        if [*self.wrong(settings)]:
            yield Change("the result is read back as it was written", self.mended(settings))
        wide = _wide(ranges)
        if wide["activation_bias"] != written:
            most = 2.0 ** (written - 3) * 1.9375
            why = f"the cell's state reaches {ranges['cell']:.3g}, and saturates at {most:.3g}"
            yield Change(why, self.mended(changed(settings, activation_bias=wide["activation_bias"])))
        if settings["output_exponent"] < wide["output_exponent"]:
            by = 2 ** wide["output_exponent"]
            why = f"the result is emitted {by} times as large: it shares the bias of the cell's state"
            yield Change(why, changed(settings, **wide))

    def replay(
        self, operator: Operator, arrays: Arrays, settings: Settings, rng: np.random.Generator
    ) -> Call:
        """One sequence, all steps."""
        x, pair, _ = self._prepared(operator, arrays, settings, Places())
        row = int(rng.integers(x.shape[1]))
        biases = _biases_of(settings)
        program = host.enlarged(settings["output_exponent"])
        wanted = numbers.recurrent(x[:, row : row + 1], pair, biases, program, Places(), version(settings))
        products = [
            host.Product(
                bytes_of(weights.values), weights.added, weights.weight_bias, weights.added_bias, bias
            )
            for weights, bias in zip(pair, biases[:2], strict=True)
        ]

        def text() -> Array:
            return host.layer(x[:, row], products, program, biases[2]).run(device(settings))

        def rtl() -> Array:
            return on_rtl.on_lstm(x[:, row], products, program, biases[2], version(settings))

        return Call(f"sequence {row}, {len(x)} steps", wanted[:, 0], text, rtl)


def _wide(ranges: Ranges) -> dict[str, int]:
    """Cell and result under the bias of the larger of them, and the result as large as that bias allows."""
    both = bias_of(max(ranges["cell"], ranges["output"]))
    own = bias_of(ranges["output"])
    more = min(both - own, LARGEST)
    return {"activation_bias": both, "hidden_bias": both - more, "output_exponent": more}


def _biases_of(settings: Settings) -> tuple[int, int, int]:
    return settings["input_bias"], settings["hidden_bias"], settings["activation_bias"]


LSTM = Lstm()
