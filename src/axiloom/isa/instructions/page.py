"""A page of documentation from an instruction set's text: what it holds, and what each instruction does.

Names, sizes and bits are the tree's; what is computed is quoted from the text.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Sequence

from axiloom.isa.instructions.tree import (
    Apply,
    Bits,
    Const,
    Expr,
    Instruction,
    InstructionSet,
    Name,
    Range,
    signed,
    unsigned,
)

_OWNERS = {True: "host", False: "device"}


def page(isa: InstructionSet, text: str) -> str:
    """Markdown. `text` is what `isa` was read from."""
    module = ast.parse(text)
    plain = [
        statement
        for statement in module.body
        if isinstance(statement, ast.Assign) and not _declares(statement)
    ]
    functions = {
        definition.name: definition for definition in module.body if isinstance(definition, ast.FunctionDef)
    }
    lines = [f"# {isa.name}", "", isa.text.strip(), ""]
    if plain:
        lines += ["## Constants", "", "```python", *map(ast.unparse, plain), "```", ""]
    lines += _state(isa)
    others = [function for name, function in functions.items() if name not in isa.instructions]
    if others:
        lines += ["## Functions", ""]
        for one in others:
            lines += _quoted(text, one, one)
    lines += ["## Instructions", ""]
    for name, instruction in isa.instructions.items():
        lines += _instruction(isa, instruction, functions[name], text)
    return "\n".join(lines).rstrip() + "\n"


def _declares(assign: ast.Assign) -> bool:
    """Whether it is an input, a register, a memory or a table."""
    called = assign.value.func if isinstance(assign.value, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in ("input", "register", "memory", "table")


def counts(isa: InstructionSet) -> str:
    """How much of what there is, in a line."""
    named = (
        ("memory", "memories", isa.memories),
        ("register", "registers", isa.registers),
        ("function", "functions", isa.functions),
        ("instruction", "instructions", isa.instructions),
    )
    return ", ".join(
        f"{len(there)} {singular if len(there) == 1 else many}" for singular, many, there in named
    )


def type_name(kind: Range) -> str:
    """``int8``; a range where no type is exactly that."""
    for stem, exact in (("int", signed(kind.bits)), ("uint", unsigned(kind.bits))):
        if kind == exact:
            return f"{stem}{kind.bits}"
    return str(kind)


def _state(isa: InstructionSet) -> Iterator[str]:
    rows: list[Sequence[str]] = [(f"`{input_.name}`", str(input_.bits)) for input_ in isa.inputs.values()]
    yield from _table("Inputs of a command", ("input", "bits"), rows)
    rows = [
        (f"`{memory.name}`", " x ".join(map(str, memory.shape)), type_name(memory.type), _OWNERS[memory.host])
        for memory in isa.memories.values()
    ]
    yield from _table("Memories", ("memory", "elements", "type", "whose"), rows)
    rows = [
        (
            f"`{register.name}`",
            type_name(register.type),
            "any" if register.init is None else str(register.init),
        )
        for register in isa.registers.values()
    ]
    yield from _table("Registers", ("register", "type", "after a reset"), rows)
    rows = [
        (f"`{table.name}`", str(len(table.values)), _shortened(table.values)) for table in isa.tables.values()
    ]
    yield from _table("Tables", ("table", "entries", "values"), rows)


def _instruction(
    isa: InstructionSet, instruction: Instruction, node: ast.FunctionDef, text: str
) -> Iterator[str]:
    yield from (f"### {instruction.name}", "", *_said(instruction.text))
    when = next(decorator.args[0] for decorator in node.decorator_list if isinstance(decorator, ast.Call))
    yield from (f"Comes when `{ast.unparse(when)}`.", "")
    places = {let.name: _place(let.value) for let in instruction.fields}
    bound = {
        target.id: ast.unparse(statement.value)
        for statement in node.body
        if isinstance(statement, ast.Assign) and isinstance(target := statement.targets[0], ast.Name)
    }
    rows = [
        (f"`{let.name}`", places[let.name] or f"`{bound.get(let.name, '')}`", str(let.value.range))
        for let in instruction.fields
    ]
    if rows:
        yield from ("| field | bits | values |", "|---|---|---|")
        yield from (f"| {' | '.join(row)} |" for row in map(_escaped, rows))
        yield ""
    if instruction.legal:
        yield "Legal if all of these hold; else the device stops:"
        yield ""
        yield from (f"- `{part.text}`" for part in instruction.legal)
        yield ""
    body = [statement for statement in node.body if statement.lineno > _head_end(instruction, node)]
    if body:
        yield from _quoted(text, body[0], body[-1])


def _head_end(instruction: Instruction, node: ast.FunctionDef) -> int:
    """The last line of the docstring, the fields and the requirements."""
    lines = [
        node.lineno,
        *(let.line for let in instruction.fields),
        *(part.line for part in instruction.legal),
    ]
    ends = [statement.end_lineno or statement.lineno for statement in node.body if statement.lineno in lines]
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        ends.append(first.end_lineno or first.lineno)
    return max(ends, default=node.lineno)


def _place(value: Expr) -> str:
    """``word[4:13]`` where a field is bits of an input, or such a comparison."""
    match value:
        case Bits(value=Name(name=name), low=Const(value=low), width=1):
            return f"`{name}[{low}]`"
        case Bits(value=Name(name=name), low=Const(value=low), width=width):
            return f"`{name}[{low}:{low + width}]`"
        case Apply(operation="cat", arguments=parts) if all(map(_place, parts)):
            return ", ".join(map(_place, parts))
    return ""


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows:
        return
    yield from (f"## {title}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|")
    yield from (f"| {' | '.join(row)} |" for row in map(_escaped, rows))
    yield ""


def _escaped(row: Sequence[str]) -> list[str]:
    return [cell.replace("|", "\\|") for cell in row]


def _shortened(values: Sequence[int]) -> str:
    said = [str(value) for value in values[:8]]
    return ", ".join(said) + (", ..." if len(values) > 8 else "")


def _said(text: str | None) -> list[str]:
    return [text.strip(), ""] if text else []


def _quoted(text: str, first: ast.stmt, last: ast.stmt) -> Iterator[str]:
    start = min(
        (decorator.lineno for decorator in getattr(first, "decorator_list", [])), default=first.lineno
    )
    lines = text.splitlines()[start - 1 : last.end_lineno]
    yield from ("```python", textwrap.dedent("\n".join(lines)), "```", "")
