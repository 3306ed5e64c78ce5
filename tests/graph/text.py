"""A graph as text, one node a line, operands first. The same graph gives the same text."""

from __future__ import annotations

from axiloom.graph.graph import Attribute, Graph, Node


def text_of(graph: Graph) -> str:
    """For people and for comparing; values are numbered in the graph's own order."""
    names: dict[int, str] = {}
    lines: list[str] = []
    for node in graph.nodes():
        names[id(node)] = _name(node, len(lines))
        lines.append(f"  {names[id(node)]} = {_line(node, names)}")
    results = ", ".join(names[id(result)] for result in graph.results)
    unused = [parameter for parameter in graph.parameters if id(parameter) not in names]
    taken = [f"  (unused) %{parameter.attributes['name']} : {parameter.type}" for parameter in unused]
    return "\n".join([f"graph {graph.name} {{", *taken, *lines, f"  return {results}", "}"]) + "\n"


def _name(node: Node, number: int) -> str:
    return f"%{node.attributes['name']}" if node.op in ("parameter", "constant") else f"%{number}"


def _line(node: Node, names: dict[int, str]) -> str:
    if node.op in ("parameter", "constant"):
        return f"{node.op} : {node.type}"
    operands = ", ".join(names[id(operand)] for operand in node.operands)
    attributes = ", ".join(f"{name}={_attribute(node.attributes[name])}" for name in sorted(node.attributes))
    return f"{node.op}({operands}){' {' + attributes + '}' if attributes else ''} : {node.type}"


def _attribute(value: Attribute) -> str:
    if isinstance(value, tuple):
        return "[" + ",".join(map(str, value)) + "]"
    return str(value)
