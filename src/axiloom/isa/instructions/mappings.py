"""Mappings: a kernel, and the commands that are said to compute it on an instruction set.

A text in the same language (docs/instructions.md): ``target("NAME")``, sizes, tensors, and three functions:
``kernel`` says what is wanted, ``program`` has the commands and what the host puts into its own memory
(``memory(..., host=True)``), ``result`` where the result lies then.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from axiloom.base.errors import SpecError
from axiloom.base.wording.names import hint
from axiloom.isa.instructions.expressions import Scope
from axiloom.isa.instructions.read import Reader, docstring_of, first_line, parsed, text_of, without_text
from axiloom.isa.instructions.text import text_of as text_of_expr
from axiloom.isa.instructions.tree import (
    OPERATIONS,
    Apply,
    Expr,
    InstructionSet,
    Let,
    Memory,
    Name,
    Range,
    Read,
    Statement,
)  # fmt: skip
from axiloom.isa.instructions.walk import blocks, exprs, parts, writes

MOST_BITS = 4096
"""Of what is computed with here: words are put together."""
PARTS = ("kernel", "program", "result")
PLACES = "where"
_PREPARED: Mapping[str, int] = {"mul": 1, "Fold": 0}
"""What program() may do with so many elements at once: the host's arithmetic is not the accelerator's."""
_LAID_OUT: Mapping[str, int] = {
    **dict.fromkeys(set(OPERATIONS) - {"cat", "bitor", "bitand", "shl", "shr"}, 1),
    "Choice": 1,
    "Fold": 0,
    "Call": 0,
}
"""And result(), which puts together the bits of what it reads."""
Targets: TypeAlias = "Callable[[str], InstructionSet]"


@dataclass(frozen=True)
class Command:
    """A command with its inputs; those that are left out are 0."""

    inputs: Mapping[str, Expr]
    line: int = 0


@dataclass(frozen=True)
class Size:
    """`least` to `most` in steps of `multiple`; `value` where none is given."""

    name: str
    value: int
    least: int
    most: int
    multiple: int

    @property
    def range(self) -> Range:
        return Range(self.least, self.most)


@dataclass(frozen=True)
class Place:
    """Where an element of a tensor lies in the target, and in which turn of the loops it gets there.

    `names` are those of the tensor's index in `index` and `turn`.
    """

    names: tuple[str, ...]
    memory: Memory
    index: tuple[Expr, ...]
    turn: Mapping[str, Expr]
    line: int = 0


@dataclass(frozen=True)
class Mapped:
    """A mapping, read for given sizes. `kernel` and `result` write the same tensors."""

    name: str
    text: str
    place: str
    target: InstructionSet
    sizes: Mapping[str, Size]
    chosen: Mapping[str, int]
    """Each size as it was read for."""
    tensors: Mapping[str, Memory]
    parts: Mapping[str, Sequence[Statement | Command]] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
    scratch: frozenset[str] = frozenset()
    """Tensors in which `kernel` keeps what is no result."""

    @property
    def results(self) -> list[str]:
        """The tensors that `kernel` makes."""
        return sorted({write.memory.name for write in writes(self.parts["kernel"])} - self.scratch)


def read(
    path: Path, targets: Targets, sizes: Mapping[str, int] | None = None, *, any_size: bool = False
) -> Mapped:
    """The mapping of a file. `targets` gives an instruction set by its name. Raises SpecError."""
    return parse(text_of(path), path.name, path.stem, targets, sizes or {}, any_size=any_size)


def parse(
    text: str, place: str, name: str, targets: Targets, sizes: Mapping[str, int], *, any_size: bool = False
) -> Mapped:
    """The mapping of a text, at the sizes given; with `any_size` its sizes stay names. Raises SpecError."""
    return _MappingReader(place, name, parsed(text, place), targets, sizes, any_size).mapped()


class _MappingReader(Reader):
    def __init__(
        self,
        place: str,
        name: str,
        module: ast.Module,
        targets: Targets,
        sizes: Mapping[str, int],
        any_size: bool,
    ) -> None:
        super().__init__(place, name, module, {})
        self.targets, self.chosen, self.any_size = targets, sizes, any_size
        self.places: dict[str, Place] = {}
        self.sizes: dict[str, Size] = {}
        self.tensors: dict[str, Memory] = {}
        self.parts: dict[str, tuple[Statement, ...]] = {}
        self.part = ""
        self.scratch: set[str] = set()
        self.declarations = {"size": self._size, "tensor": self._tensor, "scratch": self._scratch}
        self.target: InstructionSet | None = None

    def mapped(self) -> Mapped:
        for node in self.module.body:
            match node:
                case ast.Expr(value=ast.Constant(value=str())):
                    pass
                case ast.Expr(
                    value=ast.Call(func=ast.Name(id="target"), args=[ast.Constant(value=str(name))])
                ):
                    self._target(name)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._declared(node, name, value)
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                    self._several(node, names, values)
                case ast.FunctionDef(name=name) if name in PARTS and not node.args.args:
                    self._part(node)
                case ast.FunctionDef(name=name) if name == PLACES and not node.args.args:
                    self._where(node)
                case ast.FunctionDef():
                    self._definition(node)
                case _:
                    raise self.fault(
                        node, f"`{first_line(node)}`: a mapping has target, sizes, tensors and functions"
                    )
        if self.target is None:
            raise self.fault(self.module, 'target("NAME") says which instruction set')
        if missing := [part for part in PARTS if part not in self.parts]:
            raise self.fault(self.module, f"there is no {missing[0]}(): a mapping has {', '.join(PARTS)}")
        if unknown := set(self.chosen) - set(self.sizes):
            there = ", ".join(self.sizes) or "none"
            raise self.fault(self.module, f"no size is called {min(unknown)}; there are {there}")
        chosen = {name: self.constants[name] for name in self.sizes if name in self.constants}
        mapping = Mapped(
            self.known.name,
            docstring_of(self.module),
            self.known.place,
            self.target,
            self.sizes,
            chosen,
            self.tensors,
            self.parts,
            self.places,
            frozenset(self.scratch),
        )
        if not mapping.results:
            raise self.fault(self.module, "kernel writes no tensor: there is nothing to prove")
        return mapping

    def _target(self, name: str) -> None:
        self.target = target = self.targets(name)
        old = self.known
        self.known = InstructionSet(
            old.name, old.text, old.place, {}, {**target.memories}, {**target.registers}, {**target.tables},
            {**target.functions}, {},
        )  # fmt: skip
        self.scope = Scope(old.place, self.known, self.constants, most=MOST_BITS)

    def _size(self, name: str, call: ast.Call) -> None:
        keywords = {keyword.arg: self.scope.constant(keyword.value, "a size") for keyword in call.keywords}
        if len(call.args) != 1 or set(keywords) - {"least", "most", "multiple"}:
            raise self.fault(call, f"{name} = size(VALUE, least=1, most=64, multiple=1)")
        value = self.scope.constant(call.args[0], "a size")
        multiple = keywords.get("multiple", 1)
        size = Size(name, value, keywords.get("least", multiple), keywords.get("most", value), multiple)
        value = self.chosen.get(name, value)
        if multiple < 1 or not max(1, size.least) <= value <= size.most or value % multiple:
            raise self.fault(
                call, f"{name} = {value}: it is {size.least} to {size.most}, a multiple of {multiple}"
            )
        self.sizes[name] = size
        if self.any_size:
            self.scope.locals[name] = size.range
        else:
            self.constants[name] = value

    def _tensor(self, name: str, call: ast.Call) -> None:
        self._memory(name, call)
        self.tensors[name] = self.known.memories[name]

    def _scratch(self, name: str, call: ast.Call) -> None:
        self._tensor(name, call)
        self.scratch.add(name)

    def _part(self, node: ast.FunctionDef) -> None:
        if self.target is None:
            raise self.fault(node, 'target("NAME") comes first')
        self.part = node.name
        scope = replace(self.scope, locals=dict(self.scope.locals))
        self.parts[node.name] = tuple(self._statements(scope, without_text(node.body)))
        self.part = ""
        if node.name != "kernel":
            self._host_computes(self.parts[node.name], node.name, frozenset())
        for write in writes(self.parts[node.name]):
            name = write.memory.name
            if name in self.tensors or (node.name == "program" and write.memory.host):
                if name in self.scratch and node.name != "kernel":
                    raise self.fault(node, f"{node.name} writes {name}: scratch is kernel's")
                continue
            there = "only commands change the target"
            if write.memory.host:
                there = "program() gives the host's memory its data"
            raise self.fault(node, f"{node.name} writes {name}: {there}")

    def _host_computes(self, block: Sequence[Statement | Command], part: str, data: frozenset[str]) -> None:
        """Raises SpecError where the host computes what the device is said to: `data` are names of what
        depends on tensors or memories."""
        for statement in block:
            computed = (*statement.inputs.values(),) if isinstance(statement, Command) else exprs(statement)
            for expr in computed:
                self._moved(expr, part, data, statement.line)
            if isinstance(statement, Let) and _reads(statement.value, data):
                data |= {statement.name}
            for inner in () if isinstance(statement, Command) else blocks(statement):
                self._host_computes(inner, part, data)

    def _moved(self, expr: Expr, part: str, data: frozenset[str], line: int) -> None:
        tensors = [read.memory.name for read in parts(expr) if isinstance(read, Read)]
        if part == "result" and (own := sorted({*tensors} & self.tensors.keys())):
            why = f"result() reads the tensor {own[0]}: it reads memories of the target alone"
            raise SpecError([f"{self.known.place}:{line}: {why}"])
        for inner in parts(expr):
            most = (_LAID_OUT if part == "result" else _PREPARED).get(_operation(inner))
            if most is not None and _reads(inner, data) > most:
                what = f"`{text_of_expr(inner)}` is computed by {part}(), on the host"
                raise SpecError([f"{self.known.place}:{line}: {what}: commands compute, {part}() moves bits"])

    def _where(self, node: ast.FunctionDef) -> None:
        form = "place(TENSOR[i, j], MEMORY[...], LOOP=..., ...)"
        for statement in without_text(node.body):
            match statement:
                case ast.Expr(
                    value=ast.Call(
                        func=ast.Name(id="place"),
                        args=[
                            ast.Subscript(value=ast.Name(id=tensor), slice=index),
                            ast.Subscript(value=ast.Name(id=name), slice=at),
                        ],
                        keywords=turn,
                    )
                ) if tensor in self.tensors and name in self.known.memories and name not in self.tensors:
                    self._placed(statement, tensor, index, name, at, turn)
                case _:
                    raise self.fault(statement, f"`{first_line(statement)}`: where() has {form}")

    def _placed(
        self,
        node: ast.stmt,
        tensor: str,
        index: ast.expr,
        name: str,
        at: ast.expr,
        turn: Sequence[ast.keyword],
    ) -> None:
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        shape = self.tensors[tensor].shape
        if len(names) != len(parts) or len(names) != len(shape):
            raise self.fault(node, f"{tensor} has {len(shape)} dims: place({tensor}[i, j], ...) with names")
        scope = self.scope.within(
            {iterator: Range(0, size - 1) for iterator, size in zip(names, shape, strict=True)}
        )
        memory = self.known.memories[name]
        turns = {keyword.arg or "**": scope.expr(keyword.value) for keyword in turn}
        where = scope.index(node, memory, at)
        self.places[tensor] = Place(tuple(names), memory, where, turns, node.lineno)

    def _statement(self, scope: Scope, node: ast.stmt) -> Iterator[Statement]:
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id="command"), args=[], keywords=keywords) as call):
                if self.part not in ("program", ""):  # empty: of a procedure, which program() may call
                    raise self.fault(node, f"{self.part} has no commands: program has them")
                yield self._command(scope, call, keywords)  # type: ignore[misc]
            case _:
                yield from super()._statement(scope, node)

    def _command(self, scope: Scope, call: ast.Call, keywords: Sequence[ast.keyword]) -> Command:
        assert self.target is not None
        inputs: dict[str, Expr] = {}
        for keyword in keywords:
            known = self.target.inputs
            name = keyword.arg or "**"
            if name not in known:
                there = f"{hint(name, known)}; there are {', '.join(known)}"
                raise self.fault(call, f"{self.target.name} has no input {name}{there}")
            inputs[name] = scope.fitting(keyword.value, known[name].type, f"input {name}")
        return Command(inputs, call.lineno)


def _operation(expr: Expr) -> str:
    return expr.operation if isinstance(expr, Apply) else type(expr).__name__


def _reads(expr: Expr, data: frozenset[str]) -> int:
    """Elements of tensors and memories that an expression is made of."""
    return sum(
        isinstance(part, Read) or (isinstance(part, Name) and part.name in data) for part in parts(expr)
    )
