"""The application as a graph of operations on tensors.

- ``graph.py``: `Type`, `Node`, `Graph`
- ``numbers.py``: what numbers of tensors are, on the host and as values
- ``ops/``: what each operation is: shapes, attributes, NumPy, elements; a family a file
- ``evaluate/``: a graph on NumPy arrays; ``write/``: as functions of linalg ops
"""

from axiloom.graph.graph import Attribute, Graph, GraphError, Node, Type

__all__ = ["Attribute", "Graph", "GraphError", "Node", "Type"]
