"""Forms by the content of the question, in the user's cache: an engine starts for a new product alone.

A form's graph is written as its nodes, operands before what reads them. What makes it again checks each node.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from axiloom.errors import AxiloomError, UsageError
from axiloom.files import code_hash, versions, write_whole
from axiloom.selection.ir.graph import Attribute, Graph, Node
from axiloom.selection.ir.ops import Builder
from axiloom.selection.rules.prove.kept import folder
from axiloom.selection.streams.forms import Form

_MAKING = tuple(
    f"selection/{room}" for room in ("accelerators", "compile", "egraph", "ir", "machine", "rules", "streams")
)
"""Rooms whose files say which forms there are."""
_ENDINGS = (".py", ".rules", ".kernels")

Make = Callable[[Graph, Sequence[str]], Mapping[str, Form]]


def forms(product: Graph, kernels: Sequence[str], make: Make) -> Mapping[str, Form]:
    """What `make` gives, or gave before to the same product."""
    said = json.dumps([_rows(product), sorted(set(kernels)), _sources()])
    file = folder().parent / "forms" / f"{hashlib.sha256(said.encode()).hexdigest()[:32]}.json"
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
        return {kernel: _form(product, one) for kernel, one in rows.items()}
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, AxiloomError):
        found = make(product, kernels)
    rows = {
        name: {"kernel": one.kernel, "rules": one.rules, "nodes": _rows(one.graph)}
        for name, one in found.items()
    }
    with suppress(UsageError):  # a cache that cannot be written is none
        write_whole(file, json.dumps(rows))
    return found


@cache
def _sources() -> str:
    return code_hash(*_MAKING, endings=_ENDINGS) + versions("egglog", "ortools", "z3-solver")


def _rows(graph: Graph) -> list[Any]:
    """Nodes, operands first; the last is the result."""
    (result,) = graph.results
    places: dict[Node, int] = {}
    rows = []
    for one in [*graph.parameters, *graph.nodes()]:
        if one not in places:
            places[one] = len(places)
            operands = [places[each] for each in one.operands]
            rows.append([one.op, operands, dict(one.attributes), list(one.type.shape), one.type.number])
    assert places[result] == len(rows) - 1
    return rows


def _form(product: Graph, row: Mapping[str, Any]) -> Form:
    builder, made = Builder(), list(product.parameters)
    for op, operands, attributes, shape, number in row["nodes"][len(made) :]:
        given = {name: _attribute(value) for name, value in attributes.items()}
        node = builder.op(op, *(made[place] for place in operands), place=product.name, **given)
        if (list(node.type.shape), node.type.number) != (shape, number):
            raise ValueError(f"{node}: not what was kept")
        made.append(node)
    graph = Graph(product.name, product.parameters, (made[-1],))
    return Form(str(row["kernel"]), tuple(map(str, row["rules"])), graph)


def _attribute(value: Any) -> Attribute:
    found: Attribute = tuple(value) if isinstance(value, list) else value
    return found
