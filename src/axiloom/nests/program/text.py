"""Programs as people read them: loops with their bounds, and statements in them."""

from __future__ import annotations

from axiloom.base.affine import Affine
from axiloom.nests.program.expressions import Expression, Index, Literal, Load, Op
from axiloom.nests.program.program import Program, Statement

_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "rem": "%",
    "shl": "<<",
    "shr": ">>",
    "and": "&",
    "or": "|",
    "xor": "^",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}


def text(expression: Expression, inside: bool = False) -> str:
    """``C[i][j] + alpha * A[i][k]``. `inside` of another operator it stands in parentheses."""
    if isinstance(expression, Literal):
        return f"{expression.value:g}" if isinstance(expression.value, float) else str(expression.value)
    if isinstance(expression, Index):
        return f"({expression.value})" if inside else str(expression.value)
    if isinstance(expression, Load):
        return element(expression)
    operands = expression.operands
    if expression.name in _SIGNS:
        joined = f" {_SIGNS[expression.name]} ".join(text(operand, inside=True) for operand in operands)
        return f"({joined})" if inside else joined
    if expression.name == "convert":
        return f"{expression.number}({text(operands[0])})"
    return f"{expression.name}({', '.join(text(operand) for operand in operands)})"


def element(load: Load) -> str:
    return load.array + "".join(f"[{subscript}]" for subscript in load.subscripts)


def assignment(statement: Statement) -> str:
    return f"{element(statement.target)} = {text(statement.value)}"


def loops(program: Program) -> list[str]:
    """The program, one line each loop and statement, two spaces each level. A loop has the bounds that all
    its statements share; what else a statement demands stands behind it."""
    shared: dict[tuple[tuple[int, ...], str], set[Affine]] = {}
    for statement in program.statements:
        for depth, name in enumerate(statement.iterators):
            key = statement.place[: depth + 1], name
            shared[key] = shared.get(key, set(statement.domain)) & set(statement.domain)
    lines: list[str] = []
    open_: list[tuple[tuple[int, ...], str]] = []
    shown: list[Affine] = []
    for current in program.statements:
        path = [(current.place[: depth + 1], name) for depth, name in enumerate(current.iterators)]
        same = 0
        while same < min(len(path), len(open_)) and path[same] == open_[same]:
            same += 1
        shown = [form for form in shown if set(form.names) <= set(current.iterators[:same])]
        for depth, (_, name) in enumerate(path[same:], same):
            known = set(current.iterators[: depth + 1])
            mine = [form for form in current.domain if name in form.names and set(form.names) <= known]
            mine = _both_ends(name, [form for form in mine if form in shared[path[depth]]]) or mine
            mine = [form for form in mine if abs(form.coefficient(name)) == 1] or mine
            shown += mine
            lines.append(f"{'  ' * depth}for {name} {_range(name, mine)}")
        open_ = path
        rest = [form for form in current.domain if form not in shown]
        guard = f"  if {' and '.join(f'{form} >= 0' for form in rest)}" if rest else ""
        lines.append(f"{'  ' * len(path)}{current.name}: {assignment(current)}{guard}")
    return lines


def _both_ends(name: str, forms: list[Affine]) -> list[Affine]:
    """The forms, if they bound the name from below and above."""
    signs = {form.coefficient(name) for form in forms}
    return forms if {1, -1} <= signs else []


def _range(name: str, forms: list[Affine]) -> str:
    """``0 .. 199``, or with ``max(...)`` and ``min(...)`` of several bounds; both ends are in it."""
    lows = list(dict.fromkeys(_end(name, form) for form in forms if form.coefficient(name) > 0))
    highs = list(dict.fromkeys(_end(name, form) for form in forms if form.coefficient(name) < 0))
    low = lows[0] if len(lows) == 1 else f"max({', '.join(lows)})"
    high = highs[0] if len(highs) == 1 else f"min({', '.join(highs)})"
    return f"{low} .. {high}"


def _end(name: str, form: Affine) -> str:
    """Where the form begins or ceases to be at least 0."""
    factor = form.coefficient(name)
    rest = form - Affine.name(name) * factor
    if factor > 0:
        return str(-rest) if factor == 1 else f"ceil(({-rest})/{factor})"
    return str(rest) if factor == -1 else f"floor(({rest})/{-factor})"


def operators(expression: Expression) -> list[str]:
    """Names of the operators in it, each as often as it is there: ``mul float32``."""
    if not isinstance(expression, Op):
        return []
    mine = f"{expression.name} {expression.operands[0].number}"
    return [mine, *(name for operand in expression.operands for name in operators(operand))]
