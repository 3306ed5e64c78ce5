"""What a match binds: sizes from shapes, attributes, names; and whether the conditions hold."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, TypeAlias

from axiloom.graph.graph import Type
from axiloom.selection.rules.expressions import Code, Unsaid, both, compiled, equal
from axiloom.selection.rules.rule import MOST_RANK, Expr, Parameter, Rule, enumerable, sizes_of, terms

Binder: TypeAlias = Callable[[Any, dict[str, Any]], Any]
"""Takes a value and what is bound, binds more, and says whether they agree (False, True, or a condition).
None: it must be asked again when more is bound."""
Guard: TypeAlias = Callable[[Any, Mapping[str, Any]], bool]


@dataclass(frozen=True)
class Matcher:
    """A rule's left side as code."""

    rule: Rule
    shapes: tuple[tuple[str, Binder], ...]
    attributes: tuple[tuple[tuple[str, Binder], ...], ...]
    """For each term of the left side, in the order of `terms`, by the names of attributes."""
    steps: tuple[tuple[str, Code], ...]
    guards: tuple[tuple[str, Guard], ...] = ()
    ranks: tuple[tuple[str, int], ...] = ()
    """Tensors whose shape is not written out to their most dimensions."""
    listed: tuple[tuple[str, Code], ...] = ()
    """Attributes whose values can be listed, where the left side does not say them."""

    def match(
        self, types: Mapping[str, Type], by_term: tuple[Mapping[str, Any], ...]
    ) -> Iterator[dict[str, Any]]:
        """What the names of the rule can be for operands of these types, and terms with these attributes:
        nothing where it does not apply, several where it has choices. All conditions are plain booleans."""
        # Proofs are about sizes of at least 1, and so many dimensions.
        if not self.suits(types) or not all(all(type_.shape) for type_ in types.values()):
            return
        if any(len(types[name].shape) > most for name, most in self.ranks):
            return
        env: dict[str, Any] = dict(types)
        open_: list[tuple[Binder, Any]] = []
        for binder, value in self.pairs(types, by_term):
            said = binder(value, env)
            if said is None:
                open_.append((binder, value))
            elif said is not True:
                return
        if not all(binder(value, env) is True for binder, value in open_):
            return
        if self.rule.bounded and not self._within(env, types):
            return
        free = [(name, values) for name, values in self.rule.choices if name not in env]
        try:
            free += [(name, code(env)) for name, code in self.listed if name not in env]
        except Unsaid:
            return
        for chosen in product(*(values for _, values in free)):
            bound = {**env, **dict(zip((name for name, _ in free), chosen, strict=True))}
            if self._holds(bound):
                yield bound

    def _within(self, env: Mapping[str, Any], types: Mapping[str, Type]) -> bool:
        """Whether all sizes are those that were proved."""
        unnamed = {name: types[name].shape for name in types if name not in dict(self.shapes)}
        for name, value in {**env, **unnamed}.items():
            sizes = value if isinstance(value, tuple) else (value,)
            allowed = sizes_of(self.rule, name)
            if any(type(size) is int and size not in allowed for size in sizes):
                return False
        return True

    def _holds(self, env: dict[str, Any]) -> bool:
        """Whether the conditions do; gives names their values."""
        try:
            if not all(guard(env[name], env) for name, guard in self.guards):
                return False
            for name, code in self.steps:
                value = code(env)
                if name:
                    env[name] = value
                elif value is not True:
                    return False
        except Unsaid:
            return False
        return True

    def pairs(
        self, types: Mapping[str, Any], by_term: tuple[Mapping[str, Any], ...]
    ) -> list[tuple[Binder, Any]]:
        """What is to be bound to what."""
        pairs: list[tuple[Binder, Any]] = [(binder, tuple(types[name].shape)) for name, binder in self.shapes]
        for binders, attributes in zip(self.attributes, by_term, strict=True):
            pairs += [(binder, attributes[name]) for name, binder in binders]
        return pairs

    def suits(self, types: Mapping[str, Any]) -> bool:
        """Rules for integers apply to integers, rules in real numbers to floats."""
        if self.rule.sense == "exact":
            return True
        kinds = {_kind(type_.number) for type_ in types.values()}
        return kinds <= ({"integer"} if self.rule.sense == "integers" else {"float"})


@cache
def _kind(number: str) -> str:
    from axiloom.graph.numbers import number as number_of

    return number_of(number).kind


@cache
def matcher_of(rule: Rule) -> Matcher:
    shapes = [(tensor.name, binder_of(tensor.form)) for tensor in rule.tensors if tensor.form is not None]
    attributes = [
        tuple((name, binder_of(expr)) for name, expr in term.attributes) for term in terms(rule.old)
    ]
    steps = [
        (step[0], compiled(step[1])) if isinstance(step, tuple) else ("", compiled(step))
        for step in rule.steps
    ]
    guards = [
        (attribute.name, guard_of(attribute.form))
        for attribute in rule.attributes
        if attribute.form is not None
    ]
    chosen = {name for name, _ in rule.choices}
    listed = [
        (attribute.name, compiled(attribute.form))
        for attribute in rule.attributes
        if attribute.form is not None and enumerable(attribute.form) and attribute.name not in chosen
    ]
    ranks = [(tensor.name, _most_rank(tensor)) for tensor in rule.tensors]
    return Matcher(
        rule, tuple(shapes), tuple(attributes), tuple(steps), tuple(guards), tuple(ranks), tuple(listed)
    )


def _most_rank(parameter: Parameter) -> int:
    """Dimensions of a tensor to which proofs go."""
    tree = parameter.form.tree if parameter.form is not None else None
    if not isinstance(tree, ast.Tuple) or any(isinstance(entry, ast.Starred) for entry in tree.elts):
        return MOST_RANK
    return len(tree.elts)


def guard_of(form: Expr) -> Guard:
    """Whether an attribute is of the values that its rule is about."""
    match form.tree:
        case ast.Name(id="numbers"):
            return lambda value, _: isinstance(value, str)
        case ast.Name(id=("natural" | "positive") as name):
            return lambda value, _: isinstance(value, int) and value >= (name == "positive")
        case ast.Call(func=ast.Name(id=("naturals" | "positives") as name), args=[count]):
            long = compiled(Expr(ast.unparse(count)))
            low = name == "positives"
            return lambda value, env: len(value) == long(env) and all(entry >= low for entry in value)
        case ast.Call(func=ast.Name(id="permutations"), args=[count]):
            wide = compiled(Expr(ast.unparse(count)))
            return lambda value, env: sorted(value) == list(range(wide(env)))
    values = compiled(form)
    return lambda value, env: any(equal(value, allowed) is True for allowed in values(env))


@cache
def binder_of(expr: Expr) -> Binder:
    """A name binds or compares; a tuple binds its names, one with a star; else values are compared."""
    tree = expr.tree
    if isinstance(tree, ast.Name):
        return _named(tree.id)
    if isinstance(tree, ast.Tuple):
        return _tuple(tree)
    return _computed(expr)


def _named(name: str) -> Binder:
    def bind(value: Any, env: dict[str, Any]) -> Any:
        if name not in env:
            env[name] = value
            return True
        return equal(env[name], value)

    return bind


def _computed(expr: Expr) -> Binder:
    code = compiled(expr)

    def bind(value: Any, env: dict[str, Any]) -> Any:
        try:
            return equal(code(env), value)
        except Unsaid:
            return None

    return bind


def _tuple(tree: ast.Tuple) -> Binder:
    stars = [i for i, elt in enumerate(tree.elts) if isinstance(elt, ast.Starred)]
    if len(stars) > 1:
        return _computed(Expr(ast.unparse(tree)))
    inner = [
        binder_of(Expr(ast.unparse(elt.value if isinstance(elt, ast.Starred) else elt))) for elt in tree.elts
    ]
    least = len(inner) - len(stars)
    whole = _computed(Expr(ast.unparse(tree)))

    def bind(value: Any, env: dict[str, Any]) -> Any:
        if not isinstance(value, tuple) or len(value) < least or (not stars and len(value) != least):
            # A star may stand for a computed tuple of any length; entries count only once it is known.
            return False
        parts: list[Any] = list(value)
        if stars:
            at, many = stars[0], len(value) - least
            parts = [*value[:at], value[at : at + many], *value[at + many :]]
        result: Any = True
        for binder, part in zip(inner, parts, strict=True):
            said = binder(part, env)
            if said is None:
                return whole(value, env) if result is not False else False
            result = both(result, said)
            if result is False:
                return False
        return result

    return bind
