"""The application as a graph of operations on tensors.

- ``graph.py``: `Type`, `Node`, `Graph`
- ``ops/``: what each operation is: shapes, attributes, NumPy, elements; a family a file
"""

from axiloom.selection.ir.graph import Attribute, Graph, GraphError, Node, Type

__all__ = ["Attribute", "Graph", "GraphError", "Node", "Type"]
