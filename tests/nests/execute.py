"""A plain executor of programs for the front ends' tests: Python, one NumPy scalar at a time.

It knows float32 and integers, as C's are on a host: subnormals are kept, integers wrap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from axiloom.base.affine import Affine
from axiloom.isa.numerics.formats import format_of
from axiloom.nests.program import Expression, Index, Literal, Load, Op, Program, Statement

_BINARY = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>"}
_BINARY |= {"eq": "==", "ne": "!=", "lt": "<", "le": "<="}


def execute(program: Program, arrays: dict[str, Any]) -> dict[str, Any]:
    """All arrays after the run. What the caller does not give begins as 77: nobody may read it."""
    memory = {}
    for each in program.arrays:
        kind = format_of(each.number).numpy
        given = arrays.get(each.name)
        memory[each.name] = np.full(each.shape, 77, kind) if given is None else np.array(given, kind)
    instances = [(time, each, point) for each in program.statements for time, point in _instances(each)]
    depth = max((len(time) for time, _, _ in instances), default=0)
    instances.sort(key=lambda one: (*one[0], *[0] * (depth - len(one[0]))))
    code = {each.name: _compiled(each) for each in program.statements}
    with np.errstate(all="ignore"):
        for _, each, point in instances:
            code[each.name](memory, *point)
    return memory


def _instances(statement: Statement) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Times and points, found loop by loop: each form bounds the last of its iterators."""
    names = statement.iterators
    found: list[dict[str, int]] = [{}]
    for depth, name in enumerate(names):
        known = set(names[: depth + 1])
        forms = [each for each in statement.domain if name in each.names and set(each.names) <= known]
        step = []
        for at in found:
            low, high = -(10**6), 10**6
            for form in forms:
                factor = form.coefficient(name)
                rest = (form - Affine.name(name) * factor).value(at)
                if factor > 0:
                    low = max(low, -(rest // factor))
                else:
                    high = min(high, rest // -factor)
            step += [{**at, name: value} for value in range(low, high + 1)]
        found = step
    found = [at for at in found if all(form.value(at) >= 0 for form in statement.domain)]
    points = [tuple(at[name] for name in names) for at in found]
    times = []
    for point in points:
        time = [statement.place[0]]
        for value, static in zip(point, statement.place[1:], strict=True):
            time += [value, static]
        times.append(tuple(time))
    return list(zip(times, points, strict=True))


def _compiled(statement: Statement) -> Any:
    code = f"def run(memory, {', '.join(statement.iterators)}):\n"
    code += f"    memory[{statement.target.array!r}][{_key(statement.target)}] = {_text(statement.value)}\n"
    names: dict[str, Any] = {"np": np, "quotient": _quotient}
    exec(compile(code, statement.name, "exec"), names)
    return names["run"]


def _key(load: Load) -> str:
    return f"({''.join(f'{each}, ' for each in load.subscripts)})"


def _text(expression: Expression) -> str:
    if isinstance(expression, Load):
        return f"memory[{expression.array!r}][{_key(expression)}]"
    kind = "bool_" if expression.number == "bool" else expression.number
    if isinstance(expression, Index):
        return f"np.{kind}({expression.value})"
    if isinstance(expression, Literal):
        return (
            f"np.{kind}(float({str(expression.value)!r}))"
            if kind == "float32"
            else f"np.{kind}({expression.value})"
        )
    return _operator(expression, kind, [_text(each) for each in expression.operands])


def _operator(expression: Op, kind: str, operands: list[str]) -> str:
    name = expression.name
    if name in _BINARY:
        return f"({operands[0]} {_BINARY[name]} {operands[1]})"
    if name == "select":
        return f"({operands[1]} if {operands[0]} else {operands[2]})"
    if name == "convert":
        return f"np.asarray({operands[0]}).astype(np.{kind})[()]"
    if name in ("div", "rem") and kind != "float32":
        return f"np.{kind}(quotient({operands[0]}, {operands[1]}, {name == 'rem'}))"
    call = {
        "div": "divide",
        "max": "maximum",
        "min": "minimum",
        "neg": "negative",
        "abs": "abs",
        "exp": "exp",
    }
    if name == "not":
        return f"(not {operands[0]})" if kind == "bool_" else f"(~{operands[0]})"
    return f"np.{call.get(name, name)}({', '.join(operands)})"


def _quotient(a: Any, b: Any, rest: bool) -> int:
    a, b = int(a), int(b)
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return a - b * quotient if rest else quotient
