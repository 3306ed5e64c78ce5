"""Models of applications."""

from __future__ import annotations

from dataclasses import replace

from axiloom.graph.graph import Graph
from axiloom.read import models


def load(text: str) -> Graph:
    """The graph of the first result: what nothing of it needs is left out. Raises AxiloomError."""
    graph = models.graph(text)
    return replace(graph, results=graph.results[:1])
