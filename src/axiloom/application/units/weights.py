"""Weights that are constants of the graph are prepared once for each of their settings."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from axiloom.application.units.unit import Operator

T = TypeVar("T")
_PREPARED: WeakKeyDictionary[Operator, dict[Hashable, Any]] = WeakKeyDictionary()


def prepared(operator: Operator, key: Hashable, make: Callable[[], T]) -> T:
    """What `make` gives; of an operator with constant weights it is asked once for each `key`."""
    if any(weights.op != "constant" for weights in operator.operands[1:]):
        return make()
    known = _PREPARED.setdefault(operator, {})
    if key not in known:
        if len(known) > _MOST:
            known.clear()
        known[key] = make()
    value: T = known[key]
    return value


_MOST = 8
"""Settings of an operator that are remembered at once."""
