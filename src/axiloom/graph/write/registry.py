"""Names of operations to who writes them. A family is a file, and calls `register`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from axiloom.graph.graph import Node
from axiloom.graph.write.text import Text

Writer: TypeAlias = Callable[[Text, Node], str]
"""Appends the lines of an operation whose operands have been written; returns its result's name. Raises
GraphError for what linalg, or our C of it, does not have."""

WRITERS: dict[str, Writer] = {}


def register(name: str, writer: Writer) -> None:
    assert name not in WRITERS, name
    WRITERS[name] = writer
