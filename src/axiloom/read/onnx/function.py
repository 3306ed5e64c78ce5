"""What the functions of ONNX ops share: how they refuse a node, and how they take attributes for each
other."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


class NodeError(Exception):
    """A use of an op that has no reading; the text says which, and what would have one."""


def passing_on(other: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let ``**how`` of a function be, in its signature, the parameters of `other` that have to be named."""
    more = [p for p in inspect.signature(other).parameters.values() if p.kind is p.KEYWORD_ONLY]

    def with_signature(function: Callable[..., Any]) -> Callable[..., Any]:
        own = inspect.signature(function)
        parameters = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
        function.__signature__ = own.replace(parameters=[*parameters, *more])  # type: ignore[attr-defined]
        return function

    return with_signature
