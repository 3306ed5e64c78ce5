"""Weights that are constants of the graph are prepared once for each of their settings."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from axiloom.application.units.unit import Operator

T = TypeVar("T")
_KEPT: WeakKeyDictionary[Operator, dict[Hashable, Any]] = WeakKeyDictionary()


def kept(operator: Operator, key: Hashable, make: Callable[[], T]) -> T:
    """What `make` gives; of an operator with constant weights it is asked once for each `key`."""
    weights = [one for one in operator.operands[1:] if one.op != "constant"]
    if weights:
        return make()
    found = _KEPT.setdefault(operator, {})
    if key not in found:
        if len(found) > _MOST:
            found.clear()
        found[key] = make()
    made: T = found[key]
    return made


_MOST = 8
"""Settings of an operator that are kept at once."""
