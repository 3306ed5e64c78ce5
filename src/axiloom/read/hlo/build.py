"""Functions of statements to a graph; functions that are called stand where they are called."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

from axiloom.graph.graph import Graph, Node, Type
from axiloom.read.context import Context
from axiloom.read.hlo import folds, products, rules
from axiloom.read.hlo.call import Call, Rule
from axiloom.read.hlo.program import Function, Module, Statement

RULES: dict[str, Rule] = {**rules.RULES, **products.RULES, **folds.RULES}
_CALLS = ("call", "fusion")
_DEEPEST = 32
MOST_STATEMENTS = 200_000
"""Of a graph, called functions counted each time."""


def build(module: Module, name: str) -> Graph:
    """Raises ReadError."""
    return _Building(module, Context(name)).graph()


@dataclass
class _Building:
    module: Module
    context: Context
    made: int = 0

    def graph(self) -> Graph:
        entry = self.module.functions[self.module.entry]
        self.context.place = f"line {entry.line}"
        parameters = tuple(
            self.context.parameter(name.lstrip("%"), type_) for name, type_ in entry.parameters
        )
        results = self._function(entry, parameters, 0)
        return self.context.graph(parameters, results, entry.name)

    def _function(self, function: Function, nodes: tuple[Node, ...], depth: int) -> tuple[Node, ...]:
        if depth > _DEEPEST:
            raise self.context.error(f"calls more than {_DEEPEST} deep")
        types = [type_ for _, type_ in function.parameters]
        if types != [node.type for node in nodes]:
            raise self.context.error(f"{function.name} takes {_listed(types)}")
        names = [name for name, _ in function.parameters]
        values: dict[str, tuple[Node, ...]] = {name: (node,) for name, node in zip(names, nodes, strict=True)}
        for statement in function.statements:
            self.context.place = f"line {statement.line}"
            if statement.result in values and statement.result:
                raise self.context.error(f"{statement.result} twice")
            values[statement.result] = self._statement(statement, values, depth)
        self.context.place = f"line {function.line}"
        return tuple(node for name in function.results for node in self._several(name, values))

    def _several(self, name: str, values: dict[str, tuple[Node, ...]]) -> tuple[Node, ...]:
        base, _, at = name.partition("#")
        value = values.get(base)
        if value is None or (at and int(at) >= len(value)):
            raise self.context.error(f"{name or 'a result'} is not known here")
        return (value[int(at)],) if at else value

    def _one(self, name: str, values: dict[str, tuple[Node, ...]]) -> Node:
        nodes = self._several(name, values)
        if len(nodes) != 1:
            raise self.context.error(f"{name} is a tuple of {len(nodes)} where a tensor is needed")
        return nodes[0]

    def _statement(
        self, statement: Statement, values: dict[str, tuple[Node, ...]], depth: int
    ) -> tuple[Node, ...]:
        self.made += 1
        if self.made > MOST_STATEMENTS:
            raise self.context.error(f"more than {MOST_STATEMENTS} operations")
        if statement.op == "tuple":
            return tuple(self._one(operand, values) for operand in statement.operands)
        if statement.op == "get_tuple_element":
            return self._element(statement, values)
        operands = tuple(self._one(operand, values) for operand in statement.operands)
        if statement.given is not None and [operand.type for operand in operands] != list(statement.given):
            actual = _listed([operand.type for operand in operands])
            raise self.context.error(f"{statement.op} is given {actual}, not {_listed(statement.given)}")
        results = (
            self._called(statement, operands, depth)
            if statement.op in _CALLS
            else self._made(statement, operands)
        )
        if [node.type for node in results] != list(statement.types):
            actual = _listed([node.type for node in results])
            raise self.context.error(f"{statement.op} gives {actual}, not {_listed(statement.types)}")
        return results

    def _element(self, statement: Statement, values: dict[str, tuple[Node, ...]]) -> tuple[Node, ...]:
        (name,), index = statement.operands, statement.attributes.get("index")
        nodes = self._several(name, values)
        if type(index) is not int or not 0 <= index < len(nodes):
            raise self.context.error(f"element {index} of a tuple of {len(nodes)}")
        return (nodes[index],)

    def _called(self, statement: Statement, operands: tuple[Node, ...], depth: int) -> tuple[Node, ...]:
        attributes = dict(statement.attributes)
        attributes.pop("kind", None)  # how XLA emits a fusion
        named = [attributes.pop(name) for name in ("to_apply", "calls", "symbol") if name in attributes]
        if attributes or len(named) != 1:
            raise self.context.error(
                f"{statement.op}: the attributes {', '.join(attributes) or 'none'} are not read"
            )
        name = str(named[0]).removeprefix("@").strip('"')
        function = self.module.functions.get(name)
        if function is None:
            raise self.context.error(f"no function {name}")
        return self._function(function, operands, depth + 1)

    def _made(self, statement: Statement, operands: tuple[Node, ...]) -> tuple[Node, ...]:
        rule = RULES.get(statement.op)
        if rule is None:
            raise self.context.error(f"{statement.op} is not read; known are {', '.join(sorted(RULES))}")
        left = copy(statement)
        left.attributes = dict(statement.attributes)
        call = Call(self.context, left, operands, self.module.functions)
        node = rule(call)
        if left.attributes:
            unread = ", ".join(f"{name}={str(value)[:40]}" for name, value in left.attributes.items())
            raise self.context.error(f"{statement.op}: {unread} is not read")
        return (node,)


def _listed(types: list[Type] | tuple[Type, ...]) -> str:
    return ", ".join(map(str, types)) or "nothing"
