"""All forms of a product that rules make, and which of them an accelerator's kernel is.

A kernel may be the product itself, or lie behind reshapes and transposes: these are other addresses, or what
drivergen's passes do in front of and behind an accelerator. Forms are in the user's cache by the content of
the product, so that an engine starts for a new product alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from axiloom.base.cache import content_hash, remembered
from axiloom.base.files import code_hash, versions
from axiloom.graph.graph import Attribute, Graph, Node
from axiloom.graph.ops import Builder
from axiloom.selection.accelerators.offers import matches
from axiloom.selection.compile.relevant import near, only
from axiloom.selection.egraph.saturated import ENode, Limits, Saturated
from axiloom.selection.egraph.saturation import saturate
from axiloom.selection.partition.kernels import kernels_of
from axiloom.selection.rules.library import every as all_rules

LIMITS = Limits(nodes=2_000, iterations=8, seconds=60.0)
MACHINE = ("dense", "dot_general", "convolution", "windows", "reshape", "transpose", "slice")
"""Operations that kernels are, and that drivergen's passes put around them."""
AROUND = ("reshape", "transpose", "slice")
"""What may lie between a product and a kernel."""
DEEPEST = 6
KIND = "forms"
_MAKING = (
    "graph",
    *(f"selection/{room}" for room in ("accelerators", "compile", "egraph", "machine", "partition", "rules")),
)
"""Rooms whose files say which forms there are."""
_ENDINGS = (".py", ".rules", ".kernels")


@dataclass(frozen=True)
class Form:
    """A product as `graph`, in which `kernel` is what the accelerator does; `rules` made it."""

    kernel: str
    rules: tuple[str, ...]
    graph: Graph

    def __str__(self) -> str:
        return f"{self.kernel} by {', '.join(self.rules)}" if self.rules else f"{self.kernel} as it stands"


def saturated_forms(product: Graph, kernels: Sequence[str]) -> Mapping[str, Form]:
    """By the kernel of a specification: the form with the fewest rules, for those that have one."""
    texts = near(only(all_rules(), lambda rule: rule.sense in ("exact", "integers")), _ops(product), MACHINE)
    saturated = saturate(product, texts, LIMITS)
    by_kernel = {}
    for name in dict.fromkeys(kernels):
        every = list(_found(saturated, product, name))
        if every:
            by_kernel[name] = min(every, key=lambda form: (len(form.rules), form.graph.name, str(form)))
    return by_kernel


def forms(
    product: Graph,
    kernels: Sequence[str],
    make: Callable[[Graph, Sequence[str]], Mapping[str, Form]] = saturated_forms,
) -> Mapping[str, Form]:
    """What `make` gives, or gave before to the same product."""

    def rows() -> dict[str, Any]:
        return {
            name: {"kernel": form.kernel, "rules": form.rules, "nodes": _rows(form.graph)}
            for name, form in make(product, kernels).items()
        }

    by_kernel, _ = remembered(KIND, content_hash([_rows(product), sorted(set(kernels)), _sources()]), rows)
    return {kernel: _read(product, row) for kernel, row in by_kernel.items()}


def _ops(graph: Graph) -> set[str]:
    return {node.op for node in graph.nodes()}


def _found(saturated: Saturated, product: Graph, name: str) -> Iterator[Form]:
    accelerator = kernels_of(name)
    if accelerator is None:
        return
    for path, eclass in _behind(saturated, saturated.roots[0]):
        for matcher in accelerator.matchers:
            op = matcher.rule.old.op  # type: ignore[union-attr]
            for operands in matches(saturated, matcher, eclass):
                node = next(
                    (n for n in saturated.classes[eclass] if n.op == op and n.operands == operands), None
                )
                if node is not None:
                    yield _form(saturated, product, (*path, node), f"{name} {matcher.rule.name}")
                break


def _behind(saturated: Saturated, root: int) -> Iterator[tuple[tuple[ENode, ...], int]]:
    """Classes that the product is but for its order, nearest first, with the nodes on the way."""
    seen = {root}
    level: list[tuple[tuple[ENode, ...], int]] = [((), root)]
    for _ in range(DEEPEST):
        yield from level
        following = []
        for path, eclass in level:
            for node in saturated.classes[eclass]:
                if node.op in AROUND and node.operands[0] not in seen:
                    seen.add(node.operands[0])
                    following.append(((*path, node), node.operands[0]))
        level = following


def _form(saturated: Saturated, product: Graph, path: Sequence[ENode], kernel: str) -> Form:
    """The nodes of `path`, with the simplest ways to make what they need."""
    ways = _simplest(saturated)
    nodes: dict[int, Node] = {}
    rules: dict[str, None] = {}

    def node(eclass: int, way: ENode) -> Node:
        if way.rule:
            rules[way.rule] = None
        operands = tuple(nodes.get(need) or node(need, ways[need]) for need in way.operands)
        nodes[eclass] = Node(way.op, operands, dict(way.attributes), saturated.types[eclass], way.place)
        return nodes[eclass]

    classes = [saturated.roots[0], *(enode.operands[0] for enode in path[:-1])]
    for eclass, way in reversed(list(zip(classes, path, strict=True))):
        node(eclass, way)
    root = nodes[saturated.roots[0]]
    names = {str(node.attributes["name"]): node for node in nodes.values() if node.op == "parameter"}
    parameters = tuple(
        names.get(str(parameter.attributes["name"]), parameter) for parameter in product.parameters
    )
    return Form(kernel, tuple(sorted(rules)), Graph(product.name, parameters, (root,)))


def _simplest(saturated: Saturated) -> dict[int, ENode]:
    """For each class the way of fewest nodes, as a tree."""
    size: dict[int, int] = {}
    enodes: dict[int, ENode] = {}
    changed = True
    while changed:
        changed = False
        for eclass, nodes in enumerate(saturated.classes):
            for node in nodes:
                if all(need in size for need in node.operands):
                    total = 1 + sum(size[need] for need in node.operands)
                    if total < size.get(eclass, 1 << 60):
                        size[eclass], enodes[eclass] = total, node
                        changed = True
    return enodes


# --- as rows of JSON: nodes, operands before what reads them


@cache
def _sources() -> str:
    return code_hash(*_MAKING, endings=_ENDINGS) + versions("egglog", "ortools", "z3-solver")


def _rows(graph: Graph) -> list[Any]:
    """The last is the result."""
    (result,) = graph.results
    places: dict[Node, int] = {}
    rows = []
    for node in [*graph.parameters, *graph.nodes()]:
        if node not in places:
            places[node] = len(places)
            operands = [places[operand] for operand in node.operands]
            rows.append([node.op, operands, dict(node.attributes), list(node.type.shape), node.type.number])
    assert places[result] == len(rows) - 1
    return rows


def _read(product: Graph, row: Mapping[str, Any]) -> Form:
    """Made again, which checks each node."""
    builder, nodes = Builder(), list(product.parameters)
    for op, operands, attributes, shape, number in row["nodes"][len(nodes) :]:
        values = {name: _attribute(value) for name, value in attributes.items()}
        node = builder.op(op, *(nodes[place] for place in operands), place=product.name, **values)
        assert (list(node.type.shape), node.type.number) == (shape, number)
        nodes.append(node)
    return Form(row["kernel"], tuple(row["rules"]), Graph(product.name, product.parameters, (nodes[-1],)))


def _attribute(value: Any) -> Attribute:
    attribute: Attribute = tuple(value) if isinstance(value, list) else value
    return attribute
