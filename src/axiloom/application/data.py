"""Data of an application: an array for each input, and labels.

An array has one dimension more than the input (calls first), or as many (then its first dimension is cut into
calls of the input's first).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from axiloom.application.units.counts import Array
from axiloom.base.errors import UsageError
from axiloom.base.files import read_arrays
from axiloom.graph.graph import Graph, Node
from axiloom.graph.numbers import number

LABELS = "labels"
ACCEPTED = "FILE.npz, or FILE.py:FUNCTION that returns a dict of arrays"


@dataclass(frozen=True)
class Data:
    """`calls` have an array for each parameter of the graph; `labels` one for each call, or none."""

    calls: tuple[Mapping[str, Array], ...]
    labels: tuple[Array, ...] | None
    source: str
    """What the user wrote."""

    @property
    def data(self) -> int:
        """How many: labelled results where every result has a label, else what the batches hold."""
        return len(self.calls) * self.each

    each: int = 1
    """Data of a call."""

    def first(self, calls: int) -> Data:
        labels = None if self.labels is None else self.labels[:calls]
        return replace(self, calls=self.calls[:calls], labels=labels)


def load(text: str, graph: Graph, *, batch: int | None = None) -> Data:
    """What --data says, for `graph`. Raises UsageError."""
    return of_arrays(_arrays(text), graph, text, batch=batch)


def of_arrays(arrays: Mapping[str, Array], graph: Graph, source: str, *, batch: int | None = None) -> Data:
    """`batch`: the dimension of inputs that data lie along, if it is not 0."""
    inputs = {name: np.asarray(array) for name, array in arrays.items()}
    labels = inputs.pop(LABELS, None)
    names = [str(parameter.attributes["name"]) for parameter in graph.parameters]
    if {*inputs} != {*names}:
        if len(inputs) != len(names):
            raise UsageError(f"{source}: arrays {', '.join(inputs) or 'none'}; needed are {', '.join(names)}")
        inputs = dict(zip(names, inputs.values(), strict=True))  # in their order
    parts = {
        name: _calls(inputs[name], node, source, name)
        for name, node in zip(names, graph.parameters, strict=True)
    }
    counts = {name: len(part) for name, part in parts.items()}
    count = min(counts.values(), default=0)
    if count == 0 or len({*counts.values()}) != 1:
        raise UsageError(f"{source}: calls of the inputs differ or are none: {counts}")
    calls = tuple({name: part[i] for name, part in parts.items()} for i in range(count))
    result = graph.results[0].type
    told = None if labels is None else _labels(labels, result.shape[:-1], count, source)
    first = graph.parameters[0].type.shape
    axis = batch if batch is not None else (1 if told is not None and len(result.shape) == 3 else 0)
    return Data(calls, told, source, first[axis] if first else 1)


def _arrays(text: str) -> Mapping[str, Array]:
    file, _, function = text.rpartition(":")
    if file.endswith(".py"):
        from axiloom.base.python_file import call

        returned = call(Path(file), function)
        if not isinstance(returned, Mapping) or not all(isinstance(name, str) for name in returned):
            raise UsageError(f"{text}: returned {type(returned).__name__}, not a dict of arrays by name")
        return {name: np.asarray(array) for name, array in returned.items()}
    if text.endswith(".npz") and Path(text).is_file():
        return dict(read_arrays(Path(text)))
    raise UsageError(f"--data {text[:80]}: expected is {ACCEPTED}")


def _calls(array: Array, node: Node, source: str, name: str) -> Array:
    shape, host = node.type.shape, number(node.type.number).host
    if array.dtype.kind != host.kind and not (array.dtype.kind in "iu" and host.kind in "iu"):
        raise UsageError(f"{source}: {name} is of {array.dtype}; needed is {host}")
    if array.shape[1:] == shape:
        return array.astype(host)
    if shape and array.shape[1:] == shape[1:]:
        whole = len(array) // shape[0]
        if whole == 0:
            raise UsageError(f"{source}: {name} has {len(array)} rows, fewer than the {shape[0]} of a call")
        return array[: whole * shape[0]].reshape(whole, *shape).astype(host)
    many, cut = ", ".join(map(str, shape)), ", ".join(map(str, shape[1:]))
    raise UsageError(f"{source}: {name} is {list(array.shape)}; needed is [calls, {many}] or [n, {cut}]")


def _labels(labels: Array, shape: Sequence[int], count: int, source: str) -> tuple[Array, ...]:
    if labels.dtype.kind not in "iu":
        raise UsageError(f"{source}: {LABELS} are {labels.dtype}, not integers")
    size = int(np.prod(shape, dtype=np.int64))
    flat = labels.reshape(-1)
    if len(flat) < count * size:
        raise UsageError(f"{source}: {len(flat)} {LABELS} for {count} calls of {size} results")
    return tuple(flat[: count * size].reshape(count, *shape).astype(np.int64))


Anything = Any
