"""What an operator costs on a unit, and an operation on the host, in cycles of one clock.

VTA's are of its commands, foretold of its RTL. Those of FlexASR and HLSCNN are counted from what their texts
say, not from RTL: words of the bus over a port as wide as VTA's stream, then steps of the array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import prod

from axiloom.application.units import rows
from axiloom.application.units.unit import Operator
from axiloom.device.rtl import DeviceRtl, device
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import read
from axiloom.selection.blocks.matmul import lowered
from axiloom.selection.ir.graph import Attribute, Type
from axiloom.selection.ir.ops.convolution import dims_of

BLOCK = 16
DRAM = 1 << 28
WORD, PORT = 16, 8
"""Bytes of a word of FlexASR's and HLSCNN's bus; of a cycle of the host's port, as VTA's stream has."""
FLEXASR = 4 * 16 * 16
"""Multiply-adds a cycle: four processing elements, 16 vectors of 16."""
HLSCNN = 8
"""... of eight channels."""
GATE = 28
"""Cycles of the activation unit's program for a vector of an LSTM's step: 24, and up to four that enlarge its
result."""
CONVERTED = 1
"""... in which the host brings an element into a unit's numbers, or back."""
MULTIPLY_ADD = 1
"""... of one on the host, in float32."""
STARTED = 50
"""... of an operation on the host."""
FREE = ("parameter", "constant", "splat", "iota", "reshape")


def of_operator(operator: Operator) -> int:
    """Of one call, the host's conversions included; weights are converted once, not in each call."""
    moved = operator.operands[0].type.elements + operator.node.type.elements
    return CONVERTED * moved + _UNITS[operator.unit.name](operator)


def on_host(op: str, attributes: Mapping[str, Attribute], types: Sequence[Type], result: Type) -> int:
    """Of an operation in float32."""
    if op in FREE:
        return 0
    work = _WORK.get(op)
    done = work(attributes, types, result) if work else sum(one.elements for one in types) + result.elements
    return STARTED + MULTIPLY_ADD * done


def _matrix(operator: Operator) -> tuple[int, int, int]:
    """Rows, outputs, inputs of a product."""
    inner = operator.inside[0]
    inputs, w = rows.inputs(inner), inner.operands[1].type
    outputs = w.elements // inputs
    return inner.type.elements // outputs, outputs, inputs


def _vta(operator: Operator) -> int:
    m, n, k = _matrix(operator)
    return _gemm(m, -(-n // BLOCK) * BLOCK, -(-k // BLOCK) * BLOCK)


@cache
def _gemm(m: int, n: int, k: int) -> int:
    made = _device()
    found = made.foretold(lowered(m, n, k, made.isa))
    assert found is not None
    return found


@cache
def _device() -> DeviceRtl:
    return device(read(targets()["vta"], {"DRAM": DRAM}))


def _flexasr_linear(operator: Operator) -> int:
    m, n, k = _matrix(operator)
    words = -(-n * k // WORD) + m * (-(-k // WORD) + -(-n // WORD))
    return words * WORD // PORT + -(-m * n * k // FLEXASR)


def _flexasr_lstm(operator: Operator) -> int:
    xs, h = operator.operands[0].type, operator.operands[1].type
    steps, batch, inputs = xs.shape
    hidden = h.shape[1]
    weights = -(-4 * hidden * (inputs + hidden) // WORD)
    step = -(-4 * hidden * (inputs + hidden) // FLEXASR) + GATE * -(-hidden // WORD)
    moved = -(-inputs // WORD) + -(-hidden // WORD)
    return (weights + steps * batch * moved) * WORD // PORT + steps * batch * step


def _hlscnn_conv(operator: Operator) -> int:
    m, n, k = _matrix(operator)
    x, w = operator.operands[0].type.elements, operator.operands[1].type.elements
    return -(-2 * (x + w + m * n) // PORT) + -(-m * n * k // HLSCNN)


_UNITS: Mapping[str, Callable[[Operator], int]] = {
    "vta.gemm": _vta,
    "flexasr.linear": _flexasr_linear,
    "flexasr.lstm": _flexasr_lstm,
    "hlscnn.conv": _hlscnn_conv,
}


def _dense(_: Mapping[str, Attribute], types: Sequence[Type], result: Type) -> int:
    return result.elements * types[0].shape[-1]


def _contracted(given: Mapping[str, Attribute], types: Sequence[Type], result: Type) -> int:
    dimensions = given["lhs_contracting"]
    assert isinstance(dimensions, tuple)
    return result.elements * prod(types[0].shape[int(one)] for one in dimensions)


def _convolved(given: Mapping[str, Attribute], types: Sequence[Type], result: Type) -> int:
    dims = dims_of(str(given["dims"]))
    return result.elements * types[1].elements // types[1].shape[dims.kernel_out]


def _cells(_: Mapping[str, Attribute], types: Sequence[Type], result: Type) -> int:
    return 4 * result.elements * sum(one.shape[-1] for one in types[-3:-1])


_WORK: Mapping[str, Callable[[Mapping[str, Attribute], Sequence[Type], Type], int]] = {
    "dense": _dense,
    "dot_general": _contracted,
    "convolution": _convolved,
    **dict.fromkeys(("lstm", "lstm_cells", "lstm_h", "lstm_c"), _cells),
}
"""Multiply-adds of operations with products."""
