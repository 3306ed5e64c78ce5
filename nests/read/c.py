"""C to a program: ``FILE.c[:FUNCTION]``.

Accepted: one function of static control. ``for`` loops with affine bounds and a constant step, ``if`` with
affine conditions, arrays of constant sizes and scalars, as parameters or locals, and assignments. A scalar is
an array without dimensions. Loops are normalised: they start where C's do and count up by 1, except that one
with another step counts its iterations from 0. Loops of the same name beside each other in one nest get names
of their own: ``j``, ``j1``.

Sizes are macros or parameters (``int n``); ``-D`` gives either. A parameter that is only read is ``in``, one
completely written before it is read is ``out``, others are ``inout``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pycparser import c_ast, c_parser

from axiloom.errors import CompileError, UsageError
from axiloom.files import read_text
from axiloom.isa.affine import Affine
from axiloom.nests.poly.liveness import with_roles
from axiloom.nests.program import Program, Statement
from axiloom.nests.program.c_function import CFunction, CVariable
from axiloom.nests.program.loaded import Loaded
from axiloom.nests.program.names import fresh
from axiloom.nests.read.c_affine import ALWAYS, Condition, both, condition, negation
from axiloom.nests.read.c_declarations import Declarations
from axiloom.nests.read.c_expressions import Names, Translator, Value, Variable, affine_ternary, binary, to
from axiloom.nests.read.c_loops import Loop, loop
from axiloom.nests.read.c_preprocessor import Preprocessor
from axiloom.nests.read.c_types import INT, TYPEDEFS


def read(path: Path, function: str = "", defines: Mapping[str, str] | None = None) -> Loaded:
    """The program of a function of a file. `function` may be left out where the file has one only. `defines`:
    sizes and other macros, as ``-D`` gives them. Raises CompileError with line and reason."""
    loaded = parse(read_text(path), path.name, function, defines)
    assert loaded.function is not None
    return replace(loaded, function=replace(loaded.function, path=path))


def parse(text: str, file: str, function: str = "", defines: Mapping[str, str] | None = None) -> Loaded:
    """As :func:`read`, of text."""
    given = dict(defines or {})
    # A size that is a parameter, `int n`, is no macro: it is known by its name inside the function.
    sizes = {name: _integer(name, given.pop(name)) for name in _PARAMETER.findall(text) if name in given}
    expanded = Preprocessor(file, given).run(text)
    try:
        tree = c_parser.CParser().parse(f'{TYPEDEFS}\n# 1 "{file}"\n{expanded}', filename=file)
    except c_parser.ParseError as error:
        raise CompileError(f"{error} (C as the parser of pycparser reads it)") from None
    functions = {each.decl.name: each for each in tree.ext if isinstance(each, c_ast.FuncDef)}
    if not functions:
        raise CompileError(f"{file}: no function; loops stand in one")
    names = [each for each in functions if each == function or (not function and each.startswith("kernel_"))]
    if len(names) != 1:
        names = [] if function or len(functions) > 1 else list(functions)
    if not names:
        why = f"no function `{function}`;" if function else "which function?"
        raise CompileError(f"{file}: {why} there are {', '.join(functions)}: write {file}:NAME")
    reader = _Reader(file, Declarations(file, sizes=sizes))
    for each in tree.ext:
        reader.declarations.top(each)
    loaded = reader.function(functions[names[0]])
    flags = tuple(f"-D{name}={value}" for name, value in given.items())
    return replace(loaded, function=reader.original(functions[names[0]], flags))


MOST_PARTS = 32
"""Statements that an assignment may become: disjoint cases of its conditions."""
_PARAMETER = re.compile(r"\b(?:int|unsigned|short|u?int\d+_t|size_t)\s+(?:const\s+)?(\w+)\s*(?=[,)])")


def _integer(name: str, value: str) -> int:
    try:
        return int(value, 0)
    except ValueError:
        raise UsageError(f"-D {name}={value}: {name} is a parameter, and takes an integer") from None


@dataclass(frozen=True)
class _Place:
    """Where the walk is: loops around, what holds there, the statics so far, names and their meaning."""

    loops: tuple[str, ...] = ()
    holds: Condition = ALWAYS
    statics: tuple[int, ...] = ()
    iterators: Mapping[str, Affine] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, Variable] = field(default_factory=dict)


@dataclass
class _Counter:
    """The next static number at one level."""

    value: int = 0

    def next(self) -> int:
        self.value += 1
        return self.value - 1


@dataclass
class _Reader:
    file: str
    declarations: Declarations
    statements: list[Statement] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    """Names of loops of this nest."""
    labels: set[str] = field(default_factory=set)
    parts: dict[int, int] = field(default_factory=dict)
    """Statements that one assignment of the source has become, by the id of its node."""

    def function(self, node: Any) -> Loaded:
        result = node.decl.type.type
        if getattr(getattr(result, "type", None), "names", None) != ["void"]:
            raise self.fault(node, f"`{node.decl.name}` returns a value; results are arrays: return void")
        variables = self.declarations.parameters(node)
        known = self.declarations.known_sizes
        self.block(
            node.body,
            _Place(iterators=known, types=dict.fromkeys(known, INT), variables=variables),
            _Counter(),
        )
        used = {each.target.array for each in self.statements}
        arrays = self.declarations.arrays(self.statements)
        if not used:
            raise self.fault(node, f"`{node.decl.name}` writes nothing")
        program = Program(node.decl.name, arrays, tuple(self.statements))
        kept = {each.name for each in arrays}
        contents = {name: value for name, value in self.declarations.contents.items() if name in kept}
        return Loaded(with_roles(program, self.declarations.free), contents)

    def original(self, node: Any, flags: tuple[str, ...]) -> CFunction:
        def variable(declared: Any, name: str) -> CVariable:
            kind = declared.type
            while isinstance(kind, c_ast.ArrayDecl):
                kind = kind.type
            array = self.declarations.known.get(name)
            size = self.declarations.sizes.get(name, 0)
            shape = array.shape if array else ()
            return CVariable(declared.name, " ".join(kind.type.names), shape, name if array else "", size)

        given = node.decl.type.args.params if node.decl.type.args else []
        parameters = tuple(variable(each, each.name) for each in given if isinstance(each, c_ast.Decl))
        outer = self.declarations.tops
        free = {each.array for each in self.declarations.outer.values() if not each.constant}
        variables = tuple(variable(each, each.name) for each in outer if each.name in free)
        return CFunction(Path(self.file), node.decl.name, parameters, variables, flags)

    def fault(self, node: Any, why: str) -> CompileError:
        return CompileError(f"{self.declarations.where(node)}: {why}")

    # --- statements -------------------------------------------------------------------------------------

    def block(self, node: Any, place: _Place, counter: _Counter) -> None:
        """A block, or one statement. Declarations in it are known to its end."""
        items = (node.block_items or []) if isinstance(node, c_ast.Compound) else [node]
        for each in items:
            if isinstance(each, c_ast.Decl):
                place = self.declaration(each, place, counter)
            else:
                self.statement(each, place, counter)

    def statement(self, node: Any, place: _Place, counter: _Counter, label: str = "") -> None:
        if isinstance(node, c_ast.Compound):
            self.block(node, place, counter)
        elif isinstance(node, c_ast.For):
            self.loop(node, place, counter)
        elif isinstance(node, c_ast.If):
            self.branch(node, place, counter)
        elif isinstance(node, c_ast.Label):
            self.statement(node.stmt, place, counter, node.name)
        elif isinstance(node, c_ast.Assignment):
            op = node.op.removesuffix("=")
            self.assignment(node, node.lvalue, op, node.rvalue, place, counter, label)
        elif isinstance(node, c_ast.UnaryOp) and node.op in ("p++", "++", "p--", "--"):
            one = c_ast.Constant("int", "1", node.coord)
            self.assignment(node, node.expr, node.op[-1], one, place, counter, label)
        elif isinstance(node, c_ast.ExprList):
            for each in node.exprs:
                self.statement(each, place, counter)
        elif isinstance(node, c_ast.Return) and node.expr is None and not place.statics:
            raise self.fault(node, "`return` before the end; leave it out")
        elif isinstance(node, (c_ast.While, c_ast.DoWhile)):
            raise self.fault(node, "`while` is no loop of static control; write `for` with affine bounds")
        elif isinstance(node, c_ast.FuncCall):
            raise self.fault(node, f"a call of `{getattr(node.name, 'name', '?')}`; write its loops here")
        elif not isinstance(node, (c_ast.EmptyStatement, c_ast.Pragma)):
            raise self.fault(node, f"`{type(node).__name__}` is not supported")

    def declaration(self, node: Any, place: _Place, counter: _Counter) -> _Place:
        variable = self.declarations.local(node)
        place = replace(place, variables={**place.variables, node.name: variable})
        place = _without_iterator(place, node.name)
        if node.init is not None and not variable.constant:
            if isinstance(node.init, c_ast.InitList):
                raise self.fault(
                    node, f"`{node.name}` is initialised by a list; make it const, or write a loop"
                )
            target = c_ast.ID(node.name, node.coord)
            self.assignment(node, target, "", node.init, place, counter, "")
        return place

    def loop(self, node: Any, place: _Place, counter: _Counter) -> None:
        try:
            found: Loop = loop(node, place.iterators, self.declarations)
        except ValueError as error:
            raise self.fault(node, str(error)) from None
        if found.name in self.declarations.known_sizes:
            raise self.fault(node, f"`{found.name}` is a size; give the iterator another name")
        if found.name in place.iterators:
            raise self.fault(
                node,
                f"`{found.name}` is the iterator of a loop around this one already; give it another name",
            )
        if not place.loops:
            self.taken = set()
        name = fresh(found.name, self.taken)
        value = found.value.substitute({found.name: Affine.name(name)})
        renamed = tuple(
            tuple(each.substitute({found.name: Affine.name(name)}) for each in forms) for forms in found.holds
        )
        variables = {key: each for key, each in place.variables.items() if key != found.name}
        inside = _Place(
            (*place.loops, name),
            both(place.holds, renamed),
            (*place.statics, counter.next()),
            {**place.iterators, found.name: value},
            {**place.types, found.name: found.type},
            variables,
        )
        self.block(node.stmt, inside, _Counter())

    def branch(self, node: Any, place: _Place, counter: _Counter) -> None:
        try:
            here = condition(node.cond, place.iterators)
        except ValueError as error:
            raise self.fault(
                node, f"`if` of what is not affine in the iterators: {error}; write `x = condition ? a : b`"
            ) from None
        self.block(node.iftrue, replace(place, holds=both(place.holds, here)), counter)
        if node.iffalse is not None:
            otherwise = both(place.holds, negation(here))
            self.block(node.iffalse, replace(place, holds=otherwise), counter)

    def assignment(
        self,
        node: Any,
        lvalue: Any,
        op: str,
        rvalue: Any,
        place: _Place,
        counter: _Counter,
        label: str,
        choices: Mapping[int, bool] | None = None,
    ) -> None:
        """One statement for each part of what holds here; a ternary with an affine condition makes two."""
        choices = choices or {}
        names = Names(place.iterators, place.types, place.variables, self.declarations.typedefs)
        found = affine_ternary(rvalue, names, choices)
        if found is not None:
            ternary, here = found
            for answer, part in ((True, here), (False, negation(here))):
                holds = both(place.holds, part)
                if holds:
                    chosen = {**choices, id(ternary): answer}
                    inside = replace(place, holds=holds)
                    self.assignment(node, lvalue, op, rvalue, inside, counter, label, chosen)
            return
        translate = Translator(names, choices)
        try:
            target = translate.load(lvalue)
            value = translate(rvalue)
            if op:
                value = binary(op, Value(target, target.number), value)
            result = to(value, target.number)
            self.declarations.check_written(target.array, node is not lvalue and isinstance(node, c_ast.Decl))
        except ValueError as error:
            raise self.fault(node, str(error)) from None
        self.parts[id(node)] = self.parts.get(id(node), 0) + len(place.holds)
        if self.parts[id(node)] > MOST_PARTS:
            raise self.fault(
                node,
                f"the conditions here make more than {MOST_PARTS} cases; write fewer `||`, `!=` and `?:`",
            )
        for forms in place.holds:
            self.statements.append(
                Statement(
                    fresh(label or f"S{len(self.statements)}", self.labels),
                    place.loops,
                    forms,
                    target,
                    result,
                    (*place.statics, counter.next()),
                    self.declarations.where(node),
                )
            )


def _without_iterator(place: _Place, name: str) -> _Place:
    """A declaration hides an iterator of the same name."""
    return replace(place, iterators={key: each for key, each in place.iterators.items() if key != name})
