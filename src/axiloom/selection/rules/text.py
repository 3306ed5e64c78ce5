"""Reads ``.rules``: texts in Python's grammar, which are never executed (docs/selection.md is the language).

::

    @exact
    def dot_is_dense(x: (*rows, k), w: (n, k), number):
        "A product with the transposed weight is a dense layer."
        old = dot_general(x, w, lhs_batch=(), rhs_batch=(), lhs_contracting=(rank(x) - 1,),
                          rhs_contracting=(1,), number=number)
        new = dense(x, w, number=number)

The decorator is the sense in which both sides are equal. Parameters are tensors with their shapes, and
attributes with their values. ``assert`` states a condition, ``name = expression`` names a value, ``name =
op(...)`` a part of a pattern.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from keyword import iskeyword
from pathlib import Path

from axiloom.base.wording.names import hint
from axiloom.graph.ops import OPS
from axiloom.isa.instructions.read import parsed, text_of
from axiloom.selection.rules.expressions import FUNCTIONS, NotAllowed, compiled, names_of
from axiloom.selection.rules.rule import (
    SENSES,
    Expr,
    Parameter,
    Pattern,
    Rule,
    RuleError,
    Term,
    Var,
    enumerable,
    terms,
    variables,
)

MOST_RULES = 1 << 10
Sizes = tuple[tuple[str, tuple[int, ...]], ...]
MOST_TERMS = 200
"""Of one pattern."""


def read(path: Path) -> tuple[Rule, ...]:
    """The rules of a file. Raises RuleError with file and line."""
    return parse(text_of(path), path.name)


def parse(text: str, place: str) -> tuple[Rule, ...]:
    """The rules of a text; `place` is for messages. Raises RuleError."""
    rules: dict[str, Rule] = {}
    for node in parsed(text, place).body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if not isinstance(node, ast.FunctionDef):
            raise RuleError([f"{place}:{node.lineno}: rules are functions, not {ast.unparse(node)[:40]}"])
        for rule in _Reader(place, node).rules():
            if rule.name in rules:
                raise RuleError([f"{place}:{node.lineno}: a second rule `{rule.name}`"])
            rules[rule.name] = rule
        if len(rules) > MOST_RULES:
            raise RuleError([f"{place}: more than {MOST_RULES} rules"])
    return tuple(rules.values())


def parse_patterns(text: str, place: str, side: str) -> tuple[Rule, ...]:
    """Functions whose pattern is named `side`, as rules of it to itself: they bind and bound what matches."""
    rules: list[Rule] = []
    for node in parsed(text, place).body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if not isinstance(node, ast.FunctionDef):
            raise RuleError([f"{place}:{node.lineno}: functions are needed, not {ast.unparse(node)[:40]}"])
        rules += _Reader(place, node, (side, side)).rules()
    return tuple(rules)


@dataclass
class _Reader:
    """Reads one rule."""

    place: str
    node: ast.FunctionDef
    sides: tuple[str, str] = ("old", "new")
    parts: dict[str, Pattern] = field(default_factory=dict)
    steps: list[tuple[str, Expr] | Expr] = field(default_factory=list)
    tensors: set[str] = field(default_factory=set)

    def fault(self, node: ast.AST, why: str) -> RuleError:
        return RuleError([f"{self.place}:{getattr(node, 'lineno', 1)}: {self.node.name}: {why}"])

    def rules(self) -> Iterator[Rule]:
        senses, twice, bounds, choices = self._decorators()
        parameters = self._parameters()
        used = {
            arg.id
            for node in ast.walk(self.node)
            if isinstance(node, ast.Call) and _operation(node)
            for arg in node.args
            if isinstance(arg, ast.Name)
        }
        self.tensors = used & set(parameters)
        text = ast.get_docstring(self.node) or ""
        for node in self.node.body:
            self._statement(node)
        for side in self.sides:
            if side not in self.parts:
                raise self.fault(self.node, f"no `{side} = ...`")
        for i, sense in enumerate(senses):
            name = f"{self.node.name}_{sense}" if i else self.node.name
            rule = Rule(
                name,
                sense,
                tuple(parameter for parameter in parameters.values() if parameter.name in self.tensors),
                tuple(parameter for parameter in parameters.values() if parameter.name not in self.tensors),
                tuple(self.steps),
                self.parts[self.sides[0]],
                self.parts[self.sides[1]],
                bounds,
                choices,
                text=text,
                place=f"{self.place}:{self.node.lineno}",
            )
            yield self._checked(rule)
            if twice:
                yield self._checked(replace(rule, name=f"{name}_back", old=rule.new, new=rule.old))

    def _decorators(self) -> tuple[list[str], bool, Sizes, Sizes]:
        """The senses, each a rule of its own; whether both ways, sizes to try in proofs, and choices."""
        senses: list[str] = []
        twice = False
        listed: dict[str, list[tuple[str, tuple[int, ...]]]] = {"sizes": [], "choose": []}
        for decorator in self.node.decorator_list:
            match decorator:
                case ast.Name(id=name) if name in SENSES and name not in senses:
                    senses.append(name)
                case ast.Name(id="both"):
                    twice = True
                case ast.Call(func=ast.Name(id=("sizes" | "choose") as name), args=[], keywords=keywords):
                    listed[name] += [(str(entry.arg), self._sizes(entry.value)) for entry in keywords]
                case _:
                    known = ", ".join([f"@{name}" for name in SENSES] + ["@both, @sizes(...), @choose(...)"])
                    raise self.fault(decorator, f"@{ast.unparse(decorator)[:40]}: there are {known}")
        if not senses and self.sides[0] == self.sides[1]:
            senses = ["exact"]
        if not senses:
            raise self.fault(self.node, f"in which sense? One of @{', @'.join(SENSES)}")
        return senses, twice, tuple(listed["sizes"]), tuple(listed["choose"])

    def _sizes(self, node: ast.expr) -> tuple[int, ...]:
        entries = node.elts if isinstance(node, ast.Tuple) else [node]
        values = [
            entry.value for entry in entries if isinstance(entry, ast.Constant) and type(entry.value) is int
        ]
        if len(values) != len(entries) or not all(0 <= value <= 1 << 16 for value in values):
            raise self.fault(node, "sizes to try are integers from 0 to 65536")
        return tuple(values)

    def _parameters(self) -> Mapping[str, Parameter]:
        arguments = self.node.args
        if (
            arguments.posonlyargs
            or arguments.kwonlyargs
            or arguments.vararg
            or arguments.kwarg
            or arguments.defaults
        ):
            raise self.fault(self.node, "parameters are plain names with a shape or with values")
        parameters = {}
        for arg in arguments.args:
            if arg.arg in self.sides or arg.arg in OPS:
                raise self.fault(arg, f"`{arg.arg}` has a meaning already")
            parameters[arg.arg] = Parameter(arg.arg, self._expr(arg.annotation) if arg.annotation else None)
        return parameters

    def _expr(self, node: ast.expr) -> Expr:
        expr = Expr(ast.unparse(node))
        try:
            compiled(expr)
        except NotAllowed as error:
            raise self.fault(node, str(error)) from None
        return expr

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                pass
            case ast.Assert(test=test):
                self.steps.append(self._expr(test))
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if name in self.parts or name in FUNCTIONS or name in OPS:
                    raise self.fault(node, f"`{name}` has a meaning already")
                if name in self.sides or (isinstance(value, ast.Call) and _operation(value)):
                    self.parts[name] = self._pattern(value)
                    if len(list(terms(self.parts[name]))) > MOST_TERMS:
                        raise self.fault(node, f"more than {MOST_TERMS} operations")
                else:
                    self.steps.append((name, self._expr(value)))
            case _:
                raise self.fault(node, f"`{ast.unparse(node)[:40]}`: a rule has assignments and asserts")

    def _pattern(self, node: ast.expr) -> Pattern:
        match node:
            case ast.Name(id=name) if name in self.parts:
                return self.parts[name]
            case ast.Name(id=name) if name in self.tensors:
                return Var(name)
            case ast.Name(id=name) if any(arg.arg == name for arg in self.node.args.args):
                self.tensors.add(name)
                return Var(name)
            case ast.Call(func=ast.Name(id=op), args=args, keywords=keywords):
                return self._term(node, op, args, keywords)
        raise self.fault(node, f"`{ast.unparse(node)[:40]}` is no tensor and no operation")

    def _term(self, node: ast.AST, op: str, args: list[ast.expr], keywords: list[ast.keyword]) -> Term:
        op = _spelled(op)
        known = OPS.get(op)
        if known is None:
            raise self.fault(node, f"unknown operation `{op}`{hint(op, OPS)}")
        wanted = known.operands
        if len(args) != wanted if wanted is not None else not args:
            raise self.fault(node, f"{op} takes {wanted or 'at least one'} operands, not {len(args)}")
        names = [str(keyword.arg) for keyword in keywords]
        if sorted(names) != sorted(known.attributes):
            raise self.fault(
                node, f"{op} takes the attributes {sorted(known.attributes)}, not {sorted(names)}"
            )
        attributes = sorted((str(keyword.arg), self._expr(keyword.value)) for keyword in keywords)
        return Term(op, tuple(map(self._pattern, args)), tuple(attributes))

    def _checked(self, rule: Rule) -> Rule:
        """All that the right side needs is bound."""
        if isinstance(rule.old, Var):
            raise self.fault(self.node, "the left side is any value: it would be matched everywhere")
        left = set(variables(rule.old))
        if missing := [variable for variable in variables(rule.new) if variable not in left]:
            raise self.fault(self.node, f"`{missing[0]}` of the right side does not occur on the left")
        known = bound_names(rule)
        for term in terms(rule.new):
            for _, expr in term.attributes:
                if missing := sorted(names_of(expr) - known):
                    raise self.fault(self.node, f"`{missing[0]}` has no value on the right side")
        return rule


def bound_names(rule: Rule) -> set[str]:
    """All that a match gives a value: tensors, sizes of their shapes, attributes of the left, names."""
    known = set(variables(rule.old))
    for parameter in (*rule.tensors, *rule.attributes):
        if parameter.form is not None and parameter in rule.tensors:
            known |= _plain_names(parameter.form)
    for term in terms(rule.old):
        for _, expr in term.attributes:
            known |= _plain_names(expr)
    known |= {name for name, _ in rule.choices}
    known |= {
        attribute.name
        for attribute in rule.attributes
        if attribute.form is not None and enumerable(attribute.form)
    }
    return known | {step[0] for step in rule.steps if isinstance(step, tuple)}


def _plain_names(expr: Expr) -> set[str]:
    """Names that a pattern of this form gives values."""
    tree = expr.tree
    entries = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    inner = [entry.value if isinstance(entry, ast.Starred) else entry for entry in entries]
    return {entry.id for entry in inner if isinstance(entry, ast.Name)}


def _spelled(op: str) -> str:
    """``or_`` is the operation ``or``, which is a word of Python's grammar."""
    return op[:-1] if op.endswith("_") and iskeyword(op[:-1]) else op


def _operation(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id not in FUNCTIONS and node.func.id != "sizes"
