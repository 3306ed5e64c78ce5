"""The syntax tree that isl's AstBuild makes of a schedule: one loop a level, guards where domains need
them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl
from xdsl.ir.affine import AffineExpr

from axiloom.base.affine import Affine
from axiloom.nests.affine.cases import Cases, Choice, Condition, Guard, both, combined, flattened
from axiloom.nests.poly.sets import domain
from axiloom.nests.schedule import Placed

Op: Any = isl.ast_expr_op_type
Kind: Any = isl.ast_expr_type
Node: Any = isl.ast_node_type
"""islpy's stubs have neither their values (``and_``) nor that its functions return ints."""
Values = Mapping[str, AffineExpr]
"""isl's iterators, as forms of the dimensions of the IR around them."""


def iterator(level: int) -> str:
    """Of a loop, by its position in the vector of times."""
    return f"t{level}"


def tree(statements: Sequence[Placed]) -> isl.AstNode:
    """User nodes call ``S<n>``, n the position in `statements`, with the values of its loops."""
    length = max(len(placed.order) for placed in statements)
    maps = isl.UnionMap("{ }")
    for number, statement in enumerate(statements):
        names = {name: Affine.name(f"x{i}") for i, name in enumerate(statement.loops)}
        loops = ", ".join(f"x{i}" for i in range(len(names)))
        times = [str(names[time]) if isinstance(time, str) else str(time) for time in statement.order]
        times += ["0"] * (length - len(times))
        where = " and ".join(f"{form.substitute(names)} >= 0" for form in statement.domain) or "true"
        maps = maps.union(isl.UnionMap(f"{{ S{number}[{loops}] -> [{', '.join(times)}] : {where} }}"))
    every = ", ".join(iterator(level) for level in range(length))
    options = isl.UnionMap(
        f"{{ [{every}] -> separate[x] : x mod 2 = 0; [{every}] -> atomic[x] : x mod 2 = 1 }}"
    )
    ids = isl.IdList.alloc(isl.DEFAULT_CONTEXT, length)
    for level in range(length):
        ids = ids.add(isl.Id(iterator(level)))
    build = isl.AstBuild.from_context(isl.Set("{ : }")).set_options(options).set_iterators(ids)
    return build.node_from_schedule_map(maps)


@dataclass(frozen=True)
class Bounds:
    """`lower`: the largest of them; `upper`: below the least of them, not included."""

    lower: tuple[AffineExpr, ...]
    upper: tuple[AffineExpr, ...]
    step: int


def bounds(node: isl.AstNode, values: Values) -> Cases[Bounds]:
    lower = _flat(node.for_get_init(), Op.max)
    condition = node.for_get_cond()
    exclusive = 0 if condition.get_op_type() == Op.lt else 1
    upper = _flat(condition.get_op_arg(1), Op.min)
    step = node.for_get_inc().get_val().to_python()

    def limits(forms: Sequence[AffineExpr]) -> Bounds:
        ends = [form + exclusive for form in forms[len(lower) :]]
        return Bounds(tuple(forms[: len(lower)]), tuple(ends), step)

    return combined(limits, [form(bound, values) for bound in (*lower, *upper)])


def lanes(limits: Bounds, place: AffineExpr, last: Sequence[int]) -> tuple[Bounds, list[Guard]]:
    """Bounds of an unrolled loop, at dimension `place`: from 0 to a constant, and what guards its body."""
    guard = [Guard(place + bound * -1, False) for bound in limits.lower if not _is_constant(bound)]
    guard += [Guard(bound + place * -1 + -1, False) for bound in limits.upper if not _is_constant(bound)]
    if not guard:
        return limits, []
    zero, end = AffineExpr.constant(0), AffineExpr.constant(max(last) + 1)
    kept = [*(bound for bound in limits.lower if _is_constant(bound)), zero]
    return Bounds((kept[0],), (end,), limits.step), guard


def last_lane(placed: Placed, loop: str) -> int:
    """The largest value of an unrolled loop."""
    points = domain(placed.loops, placed.domain)
    return int(points.dim_max_val(placed.loops.index(loop)).to_python())


def _flat(expression: isl.AstExpr, kind: int) -> list[isl.AstExpr]:
    if expression.get_type() != Kind.op or expression.get_op_type() != kind:
        return [expression]
    return [operand for argument in arguments(expression) for operand in _flat(argument, kind)]


def arguments(expression: isl.AstExpr) -> list[isl.AstExpr]:
    return [expression.get_op_arg(i) for i in range(expression.get_op_n_arg())]


def form(expression: isl.AstExpr, values: Values) -> Cases[AffineExpr]:
    """Raises ValueError for what is not affine, in no case."""
    kind = expression.get_type()
    if kind == Kind.int:
        return AffineExpr.constant(expression.get_val().to_python())
    if kind == Kind.id:
        return values[expression.get_id().get_name()]
    operator = expression.get_op_type()
    if operator in (Op.cond, Op.select):
        condition, *sides = arguments(expression)
        then, other = (form(side, values) for side in sides)
        return Choice(guards(condition, values), then, other)
    operands = [form(argument, values) for argument in arguments(expression)]
    if operator == Op.minus:
        return combined(lambda parts: parts[0] * -1, operands)
    if operator in (Op.max, Op.min):
        return combined(lambda parts: _extreme(parts, operator == Op.max), operands)
    if operator not in _BINARY:
        raise ValueError(f"isl's syntax tree has what is no affine form: {expression.to_C_str()}")
    return combined(lambda parts: _BINARY[operator](*parts), operands)


def _extreme(parts: Sequence[AffineExpr], largest: bool) -> Cases[AffineExpr]:
    first, *rest = parts
    if not rest:
        return first
    second, *others = rest
    difference = (first + second * -1) if largest else (second + first * -1)
    return Choice(
        [[Guard(difference, False)]],
        _extreme([first, *others], largest),
        _extreme([second, *others], largest),
    )


_BINARY: dict[int, Callable[[AffineExpr, AffineExpr], AffineExpr]] = {
    Op.add: lambda a, b: a + b,
    Op.sub: lambda a, b: a + b * -1,
    Op.mul: lambda a, b: b * a if _is_constant(a) else a * b,
    Op.div: lambda a, b: a // b,  # exact
    Op.fdiv_q: lambda a, b: a // b,
    Op.pdiv_q: lambda a, b: a // b,  # neither is negative
    Op.pdiv_r: lambda a, b: a % b,
    Op.zdiv_r: lambda a, b: a % b,  # only compared with zero
}


def _is_constant(value: AffineExpr) -> bool:
    return not list(value.used_dims())


def guards(condition: isl.AstExpr, values: Values) -> Condition:
    operator = condition.get_op_type()
    if operator in (Op.and_, Op.and_then):
        left, right = (guards(argument, values) for argument in arguments(condition))
        return both(left, right)
    if operator in (Op.or_, Op.or_else):
        return [guard for side in arguments(condition) for guard in guards(side, values)]

    def compared(parts: Sequence[AffineExpr]) -> Condition:
        left, right = parts
        difference = left + right * -1
        if operator == Op.eq:
            return [[Guard(difference, True)]]
        above = {Op.ge: difference, Op.gt: difference + -1, Op.le: difference * -1}
        above[Op.lt] = difference * -1 + -1
        if operator not in above:
            raise ValueError(f"isl's syntax tree has what is no affine condition: {condition.to_C_str()}")
        return [[Guard(above[operator], False)]]

    return flattened(combined(compared, [form(argument, values) for argument in arguments(condition)]))


def affine(value: Affine, values: Values) -> AffineExpr:
    """A form of loops, over what `values` gives for each."""
    total = AffineExpr.constant(value.constant)
    for name, factor in value.terms:
        total = total + values[name] * factor
    return total
