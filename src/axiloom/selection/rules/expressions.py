"""Sizes, attributes and conditions of rules: a small part of Python's expressions, compiled to closures.

Values are integers (or what stands for any integer in a proof), texts, tuples, booleans, and tensors, of
which only the type is known. Nothing of Python can be reached but what this file names.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import permutations
from math import prod
from typing import Any, TypeAlias

from axiloom.graph.graph import GraphError
from axiloom.graph.numbers import accumulator
from axiloom.graph.numbers import number as _number
from axiloom.selection.rules.rule import Expr

Env: TypeAlias = Mapping[str, Any]
Code: TypeAlias = Callable[[Env], Any]

MOST_DEEP = 60
MOST_PERMUTED = 6
MOST_LONG = 4096
"""Entries of a tuple."""


class Unsaid(Exception):  # noqa: N818 - where a rule does not apply, not a fault
    """An expression without a value here: an index outside, a name without value, a type that does not go."""


class NotAllowed(Exception):  # noqa: N818 - the reader makes a RuleError of it
    """A form of expression that rules do not have; with the node."""

    def __init__(self, node: ast.AST, why: str) -> None:
        self.node = node
        super().__init__(why)


def both(a: Any, b: Any) -> Any:
    """``and``, of what may not be decided yet."""
    if isinstance(a, bool):
        return b if a else False
    return a if b is True else (False if b is False else a.both(b))


def either(a: Any, b: Any) -> Any:
    if isinstance(a, bool):
        return True if a else b
    return a if b is False else (True if b is True else a.either(b))


def opposite(a: Any) -> Any:
    return not a if isinstance(a, bool) else a.opposite()


def equal(a: Any, b: Any) -> Any:
    """Of tuples entry by entry."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) != len(b):
            return False
        result: Any = True
        for x, y in zip(a, b, strict=True):
            result = both(result, equal(x, y))
        return result
    if isinstance(a, str) != isinstance(b, str) or isinstance(a, tuple) != isinstance(b, tuple):
        return False
    return a == b


def _all(values: Iterable[Any]) -> Any:
    result: Any = True
    for value in values:
        result = both(result, value)
    return result


def _any(values: Iterable[Any]) -> Any:
    result: Any = False
    for value in values:
        result = either(result, value)
    return result


def _range(*ends: int) -> tuple[int, ...]:
    values = range(*ends)
    if len(values) > MOST_LONG:
        raise Unsaid(f"a range of {len(values)}")
    return tuple(values)


def _position(values: tuple[Any, ...], value: Any) -> int:
    return values.index(value)


def _numeral(number: str, value: Any) -> str:
    """The text of an integer in a number, as ``splat`` takes it."""
    return _number(number).text(value)


def _holds(wide: str, narrow: str) -> bool:
    """Whether every number of the one is one of the other."""
    a, b = _number(wide), _number(narrow)
    if a.kind != b.kind:
        fits = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}.get(wide, 0)
        return a.kind == "float" and b.kind in ("integer", "bool") and b.bits - b.signed <= fits
    if a.kind == "float":
        exponent = {"bfloat16": 8, "float16": 5, "float32": 8, "float64": 11}
        digits = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}
        return digits[wide] >= digits[narrow] and exponent[wide] >= exponent[narrow]
    return a.bits - a.signed >= b.bits - b.signed and (a.signed or not b.signed)


def _permutations(count: int) -> tuple[tuple[int, ...], ...]:
    if count > MOST_PERMUTED:
        raise Unsaid(f"permutations of {count} dimensions")
    return tuple(permutations(range(count)))


def _form(_: Any) -> Any:
    raise Unsaid("only a parameter can be any of these")


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "rank": lambda tensor: len(tensor.shape),
    "shape": lambda tensor: tuple(tensor.shape),
    "number_of": lambda tensor: tensor.number,
    "elements": lambda tensor: prod(tensor.shape),
    "kind_of": lambda name: _number(name).kind,
    "bits": lambda name: _number(name).bits,
    "signed": lambda name: _number(name).signed,
    "holds": _holds,
    "accumulator": lambda name: accumulator(_number(name)).name,
    "numeral": _numeral,
    "integer": int,
    "len": len,
    "sum": sum,
    "prod": prod,
    "min": min,
    "max": max,
    "sorted": lambda values: tuple(sorted(values)),
    "reversed": lambda values: tuple(reversed(values)),
    "range": _range,
    "all": _all,
    "any": _any,
    "tuple": tuple,
    "position": _position,
    "zip": lambda *values: tuple(zip(*values, strict=True)),
    "permutations": _permutations,
    "naturals": _form,
    "positives": _form,
    "ones": lambda count: (1,) * count,
    "zeros": lambda count: (0,) * count,
}

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: equal,
    ast.NotEq: lambda a, b: opposite(equal(a, b)),
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.In: lambda a, b: _any(equal(a, member) for member in b),
    ast.NotIn: lambda a, b: opposite(_any(equal(a, member) for member in b)),
}


@cache
def compiled(expr: Expr) -> Code:
    """The closure of an expression. It raises Unsaid where there is no value; `NotAllowed` comes first."""
    inner = _code(expr.tree, 0)

    def run(env: Env) -> Any:
        try:
            return inner(env)
        except (KeyError, IndexError, TypeError, ValueError, ZeroDivisionError, AttributeError) as error:
            raise Unsaid(f"{expr.text}: {type(error).__name__} {error}") from None
        except GraphError as error:
            raise Unsaid(str(error)) from None

    return run


@cache
def names_of(expr: Expr) -> frozenset[str]:
    """Free names, without functions."""
    nodes = list(ast.walk(expr.tree))
    inside = {
        target.id
        for node in nodes
        if isinstance(node, ast.comprehension)
        for target in ast.walk(node.target)
        if isinstance(target, ast.Name)
    }
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    names = (node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in called)
    return frozenset(names) - inside


def _code(node: ast.expr, deep: int) -> Code:
    if deep > MOST_DEEP:
        raise NotAllowed(node, f"nested deeper than {MOST_DEEP}")
    make = _FORMS.get(type(node))
    if make is None:
        raise NotAllowed(node, f"no {type(node).__name__.lower()} in a rule's expression")
    return make(node, deep + 1)


def _constant(node: Any, _: int) -> Code:
    value = node.value
    if not isinstance(value, (int, str, bool)):
        raise NotAllowed(node, f"`{value!r}`: integers, texts and booleans only")
    return lambda env: value


def _name(node: Any, _: int) -> Code:
    name = node.id
    return lambda env: env[name]


def _tuple(node: Any, deep: int) -> Code:
    parts = [
        (True, _code(elt.value, deep)) if isinstance(elt, ast.Starred) else (False, _code(elt, deep))
        for elt in node.elts
    ]

    def run(env: Env) -> Any:
        values: list[Any] = []
        for many, code in parts:
            values.extend(code(env)) if many else values.append(code(env))
        return tuple(values)

    return run


def _binary(node: Any, deep: int) -> Code:
    rule = _BINARY.get(type(node.op))
    if rule is None:
        raise NotAllowed(node, f"no {type(node.op).__name__} in a rule's expression")
    a, b = _code(node.left, deep), _code(node.right, deep)

    def run(env: Env) -> Any:
        x, y = a(env), b(env)
        if isinstance(x, tuple | str) and isinstance(y, int) and len(x) * max(y, 0) > MOST_LONG:
            raise Unsaid("a tuple too long")
        return rule(x, y)

    return run


def _unary(node: Any, deep: int) -> Code:
    inner = _code(node.operand, deep)
    if isinstance(node.op, ast.USub):
        return lambda env: -inner(env)
    if isinstance(node.op, ast.Not):
        return lambda env: opposite(inner(env))
    raise NotAllowed(node, f"no {type(node.op).__name__} in a rule's expression")


def _boolean(node: Any, deep: int) -> Code:
    parts = [_code(value, deep) for value in node.values]
    stop = not isinstance(node.op, ast.And)
    join = either if stop else both

    def run(env: Env) -> Any:
        result: Any = parts[0](env)
        for part in parts[1:]:
            if result is stop:
                return result
            result = join(result, part(env))
        return result

    return run


def _compare(node: Any, deep: int) -> Code:
    values = [_code(value, deep) for value in (node.left, *node.comparators)]
    rules = []
    for operator in node.ops:
        if type(operator) not in _COMPARE:
            raise NotAllowed(node, f"no {type(operator).__name__} in a rule's expression")
        rules.append(_COMPARE[type(operator)])

    def run(env: Env) -> Any:
        operands = [value(env) for value in values]
        return _all(rule(a, b) for rule, a, b in zip(rules, operands, operands[1:], strict=False))

    return run


def _call(node: Any, deep: int) -> Code:
    if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS or node.keywords:
        raise NotAllowed(node, f"`{ast.unparse(node.func)}`: functions are {', '.join(sorted(FUNCTIONS))}")
    rule, arguments = FUNCTIONS[node.func.id], [_code(arg, deep) for arg in node.args]
    return lambda env: rule(*(argument(env) for argument in arguments))


def _index(node: Any, deep: int) -> Code:
    value = _code(node.value, deep)
    if isinstance(node.slice, ast.Slice):
        if node.slice.step is not None:
            raise NotAllowed(node, "no steps in slices")
        ends = [
            _code(end, deep) if end else (lambda env: None) for end in (node.slice.lower, node.slice.upper)
        ]
        return lambda env: value(env)[ends[0](env) : ends[1](env)]
    at = _code(node.slice, deep)
    return lambda env: value(env)[at(env)]


def _condition(node: Any, deep: int) -> Code:
    test, yes, no = (_code(part, deep) for part in (node.test, node.body, node.orelse))
    return lambda env: yes(env) if test(env) else no(env)


def _each(node: Any, deep: int) -> Code:
    if len(node.generators) != 1:
        raise NotAllowed(node, "one `for` only")
    loop = node.generators[0]
    names = [target.id for target in ast.walk(loop.target) if isinstance(target, ast.Name)]
    single = isinstance(loop.target, ast.Name)
    body, over = _code(node.elt, deep), _code(loop.iter, deep)
    tests = [_code(test, deep) for test in loop.ifs]

    def run(env: Env) -> Any:
        inner, results = dict(env), []
        for value in over(env):
            inner.update(zip(names, (value,) if single else value, strict=True))
            if all(test(inner) for test in tests):
                results.append(body(inner))
        return tuple(results)

    return run


_FORMS: Mapping[type[ast.AST], Callable[[Any, int], Code]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Tuple: _tuple,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.Call: _call,
    ast.Subscript: _index,
    ast.IfExp: _condition,
    ast.GeneratorExp: _each,
    ast.ListComp: _each,
}
