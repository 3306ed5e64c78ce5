"""`Engine`: an egglog e-graph with rules, which takes graph after graph.

Egglog matches what is new and merges what is equal; for each match the rule's conditions are evaluated and
its right side is made with types, here. So a size may be computed in any way, and a limit is looked at
between iterations. A popped e-graph is as it was declared.

Near rules first. All rules that could lead from an application to a machine take ten times as long as
those about nothing but the operations that both have. So these are tried first, then all, then those for
real numbers. "The cheapest" is said of the forms that were made; how many and by which rules stands
beside it.
"""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from egglog import bindings

from axiloom.base import processes
from axiloom.graph.graph import Attribute, Graph, GraphError, Type
from axiloom.selection.egraph import declare
from axiloom.selection.egraph.saturated import ENode, Limits, Saturated, SaturationError
from axiloom.selection.rules.expressions import Unsaid
from axiloom.selection.rules.make import build, type_of
from axiloom.selection.rules.match import Matcher, matcher_of
from axiloom.selection.rules.rule import Rule

Attributes = tuple[tuple[str, Attribute], ...]
Key = tuple[str, tuple[int, ...], Attributes]
LEAVES = ("parameter", "constant")
MEMORY = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
"""Where egglog's inputs are written: a disk takes longer than saturation. None: where the system says."""


class Engine:
    """`rules` in the order in which they are tried. Not for two threads."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self.egglog = bindings.EGraph()
        self.known = dict.fromkeys(declare.operations(rules))
        self.lefts: list[tuple[declare.Left, tuple[Matcher, ...]]] = []
        text = [declare.HEAD, *(declare.of_operation(*operation) for operation in self.known)]
        for number, rule in enumerate(self.rules):
            left, said = declare.of_left(number, rule)
            self.lefts.append((left, (matcher_of(rule),)))
            text.append(said)
        self.run("\n".join(text))

    def run(self, text: str) -> None:
        self.egglog.run_program(*self.egglog.parse_program(text))

    def saturate(self, graph: Graph, limits: Limits) -> Saturated:
        """Raises SaturationError where rules contradict each other."""
        self.declare((node.op, len(node.operands)) for node in graph.nodes() if node.op not in LEAVES)
        self.run("(push)")
        with processes.scratch(place=MEMORY) as folder:
            run = _Run(self, Path(folder), limits)
            try:
                return run.whole(graph)
            except bindings.EggSmolError as error:
                raise SaturationError(f"egglog: {str(error).splitlines()[0]}") from None
            finally:
                self.run("(pop)")
                self.declare(run.declared)

    def declare(self, operations: Iterable[tuple[str, int]]) -> None:
        """For this graph and those to come."""
        new = sorted(set(operations) - set(self.known))
        self.known.update(dict.fromkeys(new))
        if new:
            self.run("\n".join(declare.of_operation(*operation) for operation in new))


@dataclass
class _Run:
    """One graph."""

    engine: Engine
    folder: Path
    limits: Limits
    types: list[Type] = field(default_factory=list)
    made: dict[Key, int] = field(default_factory=dict)
    """Nodes to their first number."""
    brought: dict[Key, tuple[str, str]] = field(default_factory=dict)
    attributes: dict[Attributes, int] = field(default_factory=dict)
    listed: list[Attributes] = field(default_factory=list)
    kinds: dict[Type, int] = field(default_factory=dict)
    pending: dict[str, list[tuple[int, ...]]] = field(default_factory=lambda: defaultdict(list))
    seen: set[tuple[int, tuple[int, ...]]] = field(default_factory=set)
    applied: Counter[str] = field(default_factory=Counter)
    declared: set[tuple[str, int]] = field(default_factory=set)
    rule: str = ""
    place: str = ""
    until: float = 0.0

    def whole(self, graph: Graph) -> Saturated:
        begun = time.perf_counter()
        self.until = begun + self.limits.seconds
        number: dict[int, int] = {}
        for node in graph.nodes():
            operands = tuple(number[id(operand)] for operand in node.operands)
            self.place = node.place
            number[id(node)] = self.node(node.op, operands, _sorted(node.attributes), node.type)
        roots = [number[id(result)] for result in graph.results]
        self.flush()
        stopped, turns = "", 0
        while not stopped:
            if turns == self.limits.iterations:
                stopped = f"{turns} iterations"
            elif time.perf_counter() > self.until:
                stopped = f"{self.limits.seconds:g} seconds"
            else:
                turns += 1
                stopped = self.turn()
        return self.taken(roots, stopped, turns, begun)

    def turn(self) -> str:
        """One iteration; what stopped it, or nothing."""
        self.engine.run("(run match 1)")
        tables = self.engine.egglog.freeze().functions  # each look at it makes all of them anew
        for i, (left, matchers) in enumerate(self.engine.lefts):
            for row in self.rows(tables[left.table]):
                if (i, row) in self.seen:
                    continue
                self.seen.add((i, row))
                for matcher in matchers:
                    self.apply(matcher, left, row)
                if len(self.made) > self.limits.nodes:
                    self.flush()
                    return f"{self.limits.nodes} nodes"
                if time.perf_counter() > self.until:
                    self.flush()
                    return f"{self.limits.seconds:g} seconds"
        return "" if self.flush() else "saturated"

    def rows(self, table: Any) -> list[tuple[int, ...]]:
        value = self.engine.egglog.value_to_i64
        return sorted(tuple(map(value, row.inputs)) for row in table.rows)

    def apply(self, matcher: Matcher, left: declare.Left, row: tuple[int, ...]) -> None:
        """What one match brings."""
        root, count = row[0], len(left.tensors)
        classes = dict(zip(left.tensors, row[1 : 1 + count], strict=True))
        attributes = tuple(dict(self.listed[number]) for number in row[1 + count :])
        for env in matcher.match({name: self.types[eclass] for name, eclass in classes.items()}, attributes):
            self.bring(matcher.rule, root, classes, env)

    def bring(self, rule: Rule, root: int, classes: Mapping[str, int], env: Mapping[str, Any]) -> None:
        """The right side beside the left."""
        self.rule = rule.name
        try:
            new = build(rule.new, env, classes, self.make)
        except (Unsaid, GraphError) as error:
            raise SaturationError(f"rule {rule.name} ({rule.place}) makes nothing: {error}") from None
        if self.types[new] != self.types[root]:
            raise SaturationError(
                f"rule {rule.name} ({rule.place}) joins {self.types[root]} and {self.types[new]}"
            )
        if new != root:
            self.pending["u"].append((root, new))
            self.applied[rule.name] += 1

    def make(self, op: str, operands: Sequence[int], attributes: Mapping[str, Any]) -> int:
        return self.node(op, tuple(operands), _sorted(attributes), None)

    def node(self, op: str, operands: tuple[int, ...], attributes: Attributes, type_: Type | None) -> int:
        """Its number. Raises GraphError."""
        key = (op, operands, attributes)
        if (known := self.made.get(key)) is not None:
            return known
        if type_ is None:
            type_ = type_of(op, [self.types[operand] for operand in operands], dict(attributes))
        number = self.made[key] = len(self.types)
        self.brought[key] = (self.rule, "" if self.rule else self.place)
        self.types.append(type_)
        if attributes not in self.attributes:
            self.attributes[attributes] = len(self.listed)
            self.listed.append(attributes)
        kind = self.kinds.setdefault(type_, len(self.kinds))
        if op in LEAVES:
            self.pending["leaf"].append((number, kind))
        else:
            self.declare(op, len(operands))
            row = (number, kind, self.attributes[attributes], *operands)
            self.pending[f"p_{declare.constructor(op, len(operands))}"].append(row)
        return number

    def declare(self, op: str, arity: int) -> None:
        """An operation that only right sides have is declared when it first comes; a pop forgets it."""
        if (op, arity) not in self.engine.known and (op, arity) not in self.declared:
            self.declared.add((op, arity))
            self.engine.run(declare.of_operation(op, arity))

    def flush(self) -> bool:
        """Hands over what is pending: whether there was any."""
        if not self.pending:
            return False
        text = []
        for table, rows in self.pending.items():
            file = self.folder / f"{table}.tsv"
            file.write_text("\n".join("\t".join(map(str, row)) for row in rows) + "\n", encoding="ascii")
            text.append(f'(input {table} "{file}")')
        # Nodes first, so that every class has its number before classes are joined.
        self.engine.run("\n".join([*text, "(run insert 1)"]))
        self.pending.clear()
        return True

    def taken(self, roots: Sequence[int], stopped: str, turns: int, begun: float) -> Saturated:
        """The e-graph as plain data; classes numbered by the least number of theirs."""
        functions = self.engine.egglog.freeze().functions
        value = self.engine.egglog.value_to_i64
        least = {row.inputs[0]: value(row.output) for row in functions["id"].rows}
        of = {value(row.inputs[0]): least[row.output] for row in functions["V"].rows}
        order = {eclass: i for i, eclass in enumerate(sorted(set(of.values())))}
        classes: list[dict[Key, tuple[str, str]]] = [{} for _ in order]
        for (op, operands, attributes), number in self.made.items():
            key = (op, tuple(order[of[operand]] for operand in operands), attributes)
            classes[order[of[number]]].setdefault(key, self.brought[op, operands, attributes])
        for eclass, place in order.items():
            joined = self.types[eclass]
            assert all(self.types[n] == joined for n, least_ in of.items() if least_ == eclass), place
        return Saturated(
            tuple(self.types[eclass] for eclass in order),
            tuple(
                tuple(ENode(*key, *whence) for key, whence in sorted(nodes.items(), key=_order))
                for nodes in classes
            ),
            tuple(order[of[root]] for root in roots),
            stopped,
            turns,
            dict(sorted(self.applied.items())),
            time.perf_counter() - begun,
        )


def _sorted(attributes: Mapping[str, Attribute]) -> Attributes:
    return tuple(sorted(attributes.items()))


def _order(entry: tuple[Key, object]) -> tuple[str, tuple[int, ...], str]:
    op, operands, attributes = entry[0]
    return op, operands, repr(attributes)
