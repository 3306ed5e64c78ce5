"""What all handlers of ATen ops share: their type, and how arguments of a node are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from axiloom.graph import Node
from axiloom.quantise.lower.lowering import Lowering

Array = np.ndarray[Any, Any]
Lowered = tuple[Node, Any]
Handler = Callable[[Lowering, Any], Lowered]


def arguments(node: Any, *names: str, **defaults: Any) -> list[Any]:
    """The arguments of an ATen node by the names of its schema, wherever they stand."""
    values = []
    for number, name in enumerate(names):
        if number < len(node.args):
            values.append(node.args[number])
        else:
            values.append(node.kwargs.get(name, defaults.get(name)))
    return values


def shape_of(node: Any) -> tuple[int, ...]:
    """Of the value of an ATen node."""
    return tuple(int(size) for size in node.meta["val"].shape)


def pair(value: Any) -> tuple[int, int]:
    """Rows and columns, where ATen takes one number for both as well."""
    values = [value] if isinstance(value, int) else list(value)
    return (int(values[0]), int(values[-1]))
