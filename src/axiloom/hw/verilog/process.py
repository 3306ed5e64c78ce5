"""Lays out the body of a process as one would write it by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass
class _If:
    condition: str
    then: list[_Statement] = field(default_factory=list)
    otherwise: list[_Statement] = field(default_factory=list)


@dataclass
class _Case:
    value: str
    arms: list[tuple[str, list[_Statement]]] = field(default_factory=list)


_Statement: TypeAlias = str | _If | _Case


def layout(process: str) -> str:
    """`process` (always or initial) with its statements simplified and indented."""
    head, _, body = process.partition("\n")
    if not head.endswith(" begin"):
        body = f"{body}\nend"
        head = f"{head} begin"
    statements = _block(iter(line.strip() for line in body.splitlines() if line.strip()), "end")
    statements = _simplified(statements)
    if len(statements) == 1 and isinstance(statements[0], str):
        return f"{head.removesuffix(' begin')} {statements[0]}"
    return "\n".join([head, *_print(statements, "  "), "end"])


def _block(lines: Iterator[str], *ends: str) -> list[_Statement]:
    """Statements up to a line that is one of `ends`."""
    statements: list[_Statement] = []
    for line in lines:
        if line in ends:
            break
        statements += _statement(line, lines)
    return statements


def _statement(line: str, lines: Iterator[str]) -> list[_Statement]:
    if line == ";":
        return []
    if line == "begin":
        return _block(lines, "end")
    if line.startswith("if (") and line.endswith(") begin"):
        return [_if(line[4:-7], lines)]
    if line.startswith(("case (", "casez (", "casex (")):
        case = _Case(line[line.index("(") + 1 : -1])
        for label in lines:
            if label == "endcase":
                break
            case.arms.append((label[:-1], _statement(next(lines), lines)))
        return [case]
    return [line]


def _if(condition: str, lines: Iterator[str]) -> _If:
    statement = _If(condition)
    for line in lines:
        if line == "end":
            break
        if line.startswith("end else"):
            rest = line.removeprefix("end else ")
            if rest == "begin":
                statement.otherwise = _block(lines, "end")
            else:
                statement.otherwise = _statement(rest, lines)
            break
        statement.then += _statement(line, lines)
    return statement


def _simplified(statements: list[_Statement]) -> list[_Statement]:
    """Without branches that do nothing."""
    result: list[_Statement] = []
    for statement in statements:
        if isinstance(statement, _If):
            condition = statement.condition
            then, otherwise = _simplified(statement.then), _simplified(statement.otherwise)
            if condition in ("1'h0", "1'h1"):
                result += then if condition == "1'h1" else otherwise
                continue
            if not then and otherwise:
                condition = f"!{condition}" if condition.isidentifier() else f"!({condition})"
                then, otherwise = otherwise, []
            if then:
                result.append(_If(condition, then, otherwise))
        elif isinstance(statement, _Case):
            arms = [(label, _simplified(body)) for label, body in statement.arms]
            default = [body for label, body in arms if label == "default"]
            # An empty arm only says that nothing is done: unless it keeps a later one from being taken.
            if not any(default) and not any("?" in label for label, _ in arms):
                arms = [(label, body) for label, body in arms if body]
            if any(body for _, body in arms):
                result.append(_Case(statement.value, arms))
        else:
            result.append(statement)
    return result


def _print(statements: list[_Statement], indent: str) -> Iterator[str]:
    for statement in statements:
        if isinstance(statement, _If):
            yield from _print_body(f"{indent}if ({statement.condition})", statement.then, indent)
            match statement.otherwise:
                case []:
                    pass
                case [_If()]:
                    first, *rest = _print(statement.otherwise, indent)
                    yield f"{indent}else {first.lstrip()}"
                    yield from rest
                case body:
                    yield from _print_body(f"{indent}else", body, indent)
        elif isinstance(statement, _Case):
            casez = any("?" in label for label, _ in statement.arms)
            yield f"{indent}{'casez' if casez else 'case'} ({statement.value})"
            for label, body in statement.arms:
                yield from _print_body(f"{indent}  {label}:", body, indent + "  ")
            # The value was assigned before the case.
            if all(label != "default" for label, _ in statement.arms):
                yield f"{indent}  default: ;"
            yield f"{indent}endcase"
        else:
            yield indent + statement


def _print_body(head: str, body: list[_Statement], indent: str) -> Iterator[str]:
    if not body:
        yield f"{head} ;"
    elif len(body) == 1 and isinstance(body[0], str):
        yield f"{head} {body[0]}"
    else:
        yield f"{head} begin"
        yield from _print(body, indent + "  ")
        yield f"{indent}end"
