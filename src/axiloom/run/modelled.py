"""The product that the cost model is asked about, for one in a layer of a network."""

from __future__ import annotations

from functools import lru_cache

from xdsl.dialects.builtin import TensorType

from axiloom.drivergen.c.driver import Call
from axiloom.drivergen.dialects.mlir import only_function, parse
from axiloom.drivergen.nest.packed import CONSTANT, argument_attributes
from axiloom.drivergen.problems.matmul import Problem
from axiloom.isa import AcceleratorSpec

_BEAT_BYTES = 16
"""Of the widest stream."""


def product(call: Call, text: str, spec: AcceleratorSpec, name: str = "input.mlir") -> Problem:
    """`call` of the layer `text`. Rows of a matrix that is a weight are as long as whole beats: it is packed
    before anything runs, and the model copies what is no whole beats each time."""
    M, N, K = call.M, call.N, call.K
    weights = _weights(text, name)
    if (K, N) in weights:
        N = _whole_beats(N, spec)
    elif (M, K) in weights:
        K = _whole_beats(K, spec)
    return Problem(M, N, K, spec.data_type.value, call.results)


@lru_cache(maxsize=256)
def _weights(text: str, name: str) -> frozenset[tuple[int, ...]]:
    """The last two sizes of arguments that are constant."""
    function = only_function(parse(text, name), name)
    pairs = zip(function.args, argument_attributes(function), strict=True)
    return frozenset(
        tuple(arg.type.get_shape()[-2:])
        for arg, attributes in pairs
        if CONSTANT in attributes and isinstance(arg.type, TensorType)
    )


def _whole_beats(size: int, spec: AcceleratorSpec) -> int:
    elements = _BEAT_BYTES * 8 // spec.data_type.bits
    return -(-size // elements) * elements
