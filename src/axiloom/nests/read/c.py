"""C to a program: ``FILE.c[:FUNCTION]``.

Accepted: one function of static control, and what it calls. ``for`` loops with affine bounds and a constant
step, ``if``, arrays of constant sizes and scalars, as parameters or locals, and assignments. A scalar is an
array without dimensions; what a function returns is the scalar ``result``. Loops are normalised: they start
where C's do and count up by 1, except that one with another step counts its iterations from 0. Loops of the
same name beside each other in one nest get names of their own: ``j``, ``j1``.

Sizes are macros, constants or parameters (``int n``); ``-D`` gives macros and parameters. A parameter that
is only read is ``in``, one completely written before it is read is ``out``, others are ``inout``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import islpy as isl
import numpy as np

from axiloom.base.affine import Affine
from axiloom.base.errors import CompileError, UsageError
from axiloom.base.files import read_text
from axiloom.nests.poly import sets
from axiloom.nests.poly.liveness import with_roles
from axiloom.nests.program import Load, Role, loads
from axiloom.nests.program.c_function import CFunction, CVariable
from axiloom.nests.program.expressions import Expression, Literal
from axiloom.nests.program.loaded import Loaded
from axiloom.nests.program.names import fresh
from axiloom.nests.program.typed import apply
from axiloom.nests.read import c_values as values
from axiloom.nests.read import clang
from axiloom.nests.read.c_declarations import Declarations, Held, SizeNeeded, Variable, initialiser
from axiloom.nests.read.c_effects import Effects, arguments, assigns, parameters, returns
from axiloom.nests.read.c_expressions import Expressions, Pieces
from axiloom.nests.read.c_forms import Forms
from axiloom.nests.read.c_loops import Loops
from axiloom.nests.read.c_places import Guard, Place, holding
from axiloom.nests.read.c_values import Value
from axiloom.nests.read.c_writes import Write, program_of
from axiloom.nests.read.clang import Node

MOST_PARTS = 32
"""Statements that an assignment may become: disjoint cases of its conditions."""
_PARAMETER = re.compile(
    r"\b(?:int|unsigned|short|char|long|u?int\d+_t|size_t)\s+(?:const\s+)?(\w+)\s*(?=[,)])"
)


def read(
    path: Path, function: str = "", defines: Mapping[str, str] | None = None, includes: Sequence[Path] = ()
) -> Loaded:
    """The program of a function of a file. `function` may be left out where the file has one only. `defines`:
    sizes and other macros, as ``-D`` gives them; `includes`: folders of headers. Raises CompileError with
    line and reason."""
    loaded = parse(read_text(path), path.name, function, defines, includes, path.absolute().parent)
    assert loaded.function is not None
    return replace(loaded, function=replace(loaded.function, path=path))


def parse(
    text: str,
    file: str,
    function: str = "",
    defines: Mapping[str, str] | None = None,
    includes: Sequence[Path] = (),
    folder: Path = Path(),
) -> Loaded:
    """As :func:`read`, of text."""
    defines = defines or {}
    # A size that is a parameter, `int n`, is no macro: it is known by its name inside the function.
    sizes = {name: defines[name] for name in _PARAMETER.findall(text) if name in defines}
    while True:
        macros = {name: value for name, value in defines.items() if name not in sizes}
        unit = clang.parse(text, file, folder, macros, includes)
        chosen = _chosen(unit, function)
        names = {parameter.name for parameter in parameters(chosen)}
        if sizes.keys() <= names:
            break
        sizes = {name: value for name, value in sizes.items() if name in names}
    unit.check(chosen)
    known = {name: _integer(name, value) for name, value in sizes.items()}
    flags = (
        *(f"-D{name}={value}" for name, value in macros.items()),
        *(f"-I{folder.absolute()}" for folder in includes),
        *("-idirafter", str(clang.OWN_HEADERS.absolute())),
    )
    try:
        while True:
            reader = _Reader(unit, chosen, known)
            try:
                loaded = reader.loaded()
                return replace(loaded, function=reader.original(flags))
            except SizeNeeded as needed:
                known = {**known, needed.name: needed.value}
    except RecursionError:
        raise chosen.fault(f"`{chosen.name}` nests too deep; use locals for parts of it") from None


def _chosen(unit: clang.Unit, function: str) -> Node:
    functions = unit.functions
    names = [name for name in functions if name == function or (not function and name.startswith("kernel_"))]
    if len(names) != 1 and not function:
        own = [
            node
            for node in functions.values()
            if node.name != "main" and node.where.startswith(f"{unit.file}:")
        ]
        names = [node.name for node in own] if len(own) == 1 else _callers(own)
    if len(names) == 1:
        return functions[names[0]]
    if unit.errors:  # it may be why there is none
        raise CompileError(unit.errors[0][1])
    if not functions:
        raise CompileError(f"{unit.file}: no function; loops stand in one")
    why = f"no function `{function}`;" if function else "which function?"
    raise CompileError(f"{unit.file}: {why} there are {', '.join(functions)}: write {unit.file}:NAME")


def _callers(functions: Sequence[Node]) -> list[str]:
    """The only one that none of the others calls: they are its helpers. Empty where there is no such."""
    try:
        called = {
            call.name
            for function in functions
            for call in function.walk()
            if call.kind == "CALL_EXPR" and call.name != function.name
        }
    except RecursionError:  # whoever is named says so
        return []
    names = [function.name for function in functions if function.name not in called]
    return names if len(names) == 1 else []


def _integer(name: str, value: str) -> int:
    try:
        return int(value, 0)
    except ValueError:
        raise UsageError(f"-D {name}={value}: {name} is a parameter, and takes an integer") from None


@dataclass
class _Reader:
    unit: clang.Unit
    node: Node
    sizes: Mapping[str, int]
    writes: list[Write] = field(default_factory=list)
    parts: dict[int, int] = field(default_factory=dict)
    """Statements that one assignment of the source has become, by the id of its node."""
    numbers: count[int] = field(default_factory=count)
    """Static numbers: what stands later in the text has a larger one."""
    branches: int = 0

    def __post_init__(self) -> None:
        self.effects = Effects(self.unit)
        self.declarations = Declarations(self.sizes, self.effects(self.node))
        self.declarations.called = self.effects.constants(self.node)
        self.forms = Forms(self.declarations)
        self.declarations.form = lambda node: self.forms(node, Place())
        self.loops = Loops(self.declarations, self.forms, self.effects)
        self.value = Expressions(self.declarations, self.forms, self.effect)

    def loaded(self) -> Loaded:
        place, body, declarations = Place(), self.node.children[-1], self.declarations
        written = self.effects(body)
        for parameter in parameters(self.node):
            outer = declarations.parameter(parameter)
            if outer is not None and parameter.key in written and parameter.number is not None:
                own = declarations.array(outer.array, (), outer.number, Role.LOCAL)
                value = values.loaded(self._scalar(outer), own.number)
                self.write(parameter, self._scalar(own), value, place)
                declarations.names[parameter.key] = own
        returned = self.node.cursor.result_type
        if returned.kind.name == "VOID":
            self.block(body, place)
        else:
            if (number := clang.number_of(returned)) is None:
                raise self.node.fault(f"`{self.node.name}` returns `{returned.spelling}`; return a number")
            for at, value in self.returned(body.children, place, self.node):
                # As the last array, so that the caller's have the places of C's parameters.
                result = declarations.names.get(0) or declarations.array("result", (), number, Role.INOUT)
                declarations.names[0] = result
                declarations.free.add(result.array)
                self.write(self.node, self._scalar(result), value, at)
        program = program_of(self.node, self.writes, declarations)
        if not {statement.target.array for statement in program.statements} - set(declarations.born):
            raise self.node.fault(f"`{self.node.name}` writes nothing")
        names = {array.name for array in program.arrays}
        contents = {name: values for name, values in declarations.contents.items() if name in names}
        return Loaded(with_roles(program, declarations.free & names), contents)

    def original(self, flags: tuple[str, ...]) -> CFunction:
        """The function as its text declares it."""

        def variable(node: Node) -> CVariable:
            known = self.declarations.declared.get(node.key)
            size = self.declarations.sizes.get(node.name, 0)
            if known is None:
                return CVariable(node.name, clang.element_text(node), (), "", size)
            return CVariable(node.name, clang.element_text(node), known.shape, known.array)

        own = tuple(map(variable, parameters(self.node)))
        variables = tuple(map(variable, self.declarations.outside_nodes))
        result, kind = self.declarations.names.get(0), self.node.cursor.result_type
        returned = (kind.spelling, result.array) if isinstance(result, Variable) else ("void", "")
        return CFunction(Path(self.unit.file), self.node.name, own, variables, flags, *returned)

    # --- statements ---------------------------------------------------------------------------------------

    def block(self, node: Node, place: Place) -> None:
        """What stands under a loop or a condition."""
        place = place.entered(next(self.numbers))
        if not place.is_empty:
            self.statement(node, place)

    def statement(self, node: Node, place: Place, label: str = "") -> None:
        kind = node.kind
        if kind == "COMPOUND_STMT":
            for inner in node.children:
                self.statement(inner, place)
        elif kind == "DECL_STMT":
            for declared in node.children:
                self.declare(declared, place)
        elif kind == "FOR_STMT":
            self.loop(node, place)
        elif kind == "IF_STMT":
            self.branch(node, place)
        elif kind == "LABEL_STMT":
            self.statement(node.children[-1], place, node.name)
        elif kind in (*clang.CASTS, "UNEXPOSED_STMT"):
            if node.children:
                self.statement(node.children[-1], place, label)
        elif node.op == ",":
            for operand in node.children:
                self.statement(operand, place)
        elif assigns(node):
            self.assignment(node, place, label)
        elif kind == "CALL_EXPR":
            self.call(node, place, alone=True)
        elif kind == "RETURN_STMT":
            if node.children or place.statics or place.guards:
                raise node.fault("`return` before the end; write `if` and `else` around what follows")
        elif kind in ("WHILE_STMT", "DO_STMT"):
            raise node.fault("`while` is no loop of static control; write `for` with affine bounds")
        elif kind != "NULL_STMT" and not node.is_expression:
            raise node.fault(f"`{kind.removesuffix('_STMT').lower()}` is not supported")

    def declare(self, node: Node, place: Place) -> None:
        if node.kind != "VAR_DECL":
            return  # types and constants: clang has resolved them
        declarations, initial = self.declarations, initialiser(node)
        storage = node.cursor.storage_class.name
        written = node.key in declarations.written
        if storage == "EXTERN":
            declarations.outside(node)
        elif not written and (form := self.constant_of(node, initial, place)) is not None:
            declarations.names[node.key] = form
        elif storage == "STATIC" or (
            initial is not None and initial.kind == "INIT_LIST_EXPR" and not written
        ):
            if node.key not in declarations.names:  # there is one for all calls
                declarations.names[node.key] = declarations.with_contents(node, initial)
        else:
            variable = declarations.variable(node, Role.LOCAL, born=place.loops)
            declarations.names[node.key] = variable
            if initial is None:
                return
            if variable.shape:
                self.listed(node, initial, variable, place)
                return
            for at, value in self.value(initial, place, alone=True):
                self.write(node, self._scalar(variable), value, at)
            self.remember(node.key, initial, place)

    def constant_of(self, node: Node, initial: Node | None, place: Place) -> isl.PwAff | None:
        """``const int n = 2 * i``: the form itself."""
        kind = node.number
        constant = node.cursor.type.is_const_qualified() or node.cursor.storage_class.name == "STATIC"
        if initial is None or kind is None or values.is_float(kind) or not constant:
            return None
        form = self.forms(initial, place)
        return None if form is None else self.forms.fit(form, kind, place)

    def listed(self, node: Node, initial: Node, variable: Variable, place: Place) -> None:
        """``int z[8] = {1, 2}`` of an array that is written later: zeros in a loop, then the others."""
        entries = self.declarations.flat(node, initial, variable.shape, variable.number)
        number = self.declarations.arrays[variable.array].number
        names: list[str] = []
        for n in range(len(variable.shape)):
            names.append(fresh(f"{node.name}{n}", {*place.loops, *names}))
        counters = tuple(map(Affine.name, names))
        box = [
            form
            for name, size in zip(counters, variable.shape, strict=True)
            for form in (name, size - 1 - name)
        ]
        inside = replace(place, loops=(*place.loops, *names)).where(holding(tuple(box)), exact=True)
        self.write(node, Load(variable.array, counters, number), values.number(0, variable.number), inside)
        for at, value in enumerate(entries):
            if value:
                subscripts = tuple(Affine.of(int(n)) for n in np.unravel_index(at, variable.shape))
                target = Load(variable.array, subscripts, number)
                self.write(node, target, values.number(value, variable.number), place)

    def loop(self, node: Node, place: Place) -> None:
        names, changed = self.declarations.names, self.effects(node)
        init = node.for_parts()[0]
        for part in init.walk() if init else ():
            if part.kind == "DECL_REF_EXPR" and part.key in changed:
                self.declarations.known(part)  # of the file: it has its last value behind the loop
        before = dict(names)
        loop = self.loops(node, place)
        self.block(loop.body, loop.place)
        names.pop(loop.key, None)
        counter = before.get(loop.key)
        if isinstance(counter, Variable):
            names[loop.key] = counter
        self.declarations.forget(changed)
        if not isinstance(counter, Variable) or loop.last is None:
            return
        names[loop.key] = replace(counter, held=Held(loop.last, place.loops, place.domain), counter=True)
        for at, (value,) in place.pieces([loop.last]):
            last = values.counted(value, counter.number)
            self.write(node, self._scalar(counter), last, at, dropped=True)

    def branch(self, node: Node, place: Place) -> None:
        condition, yes, *no = node.children
        holds = self.forms.condition(condition, place)
        if holds is not None:
            self.block(yes, place.where(holds))
            for otherwise in no:
                self.block(otherwise, place.where(holds.complement()))
            return
        for at, value in self.value(condition, place):
            truth = values.truth(value)
            if isinstance(truth, Literal):
                for taken in [yes] if truth.value else no:
                    self.block(taken, at)
            else:
                self.guarded(node, truth, at.entered(next(self.numbers)))
        self.declarations.forget(self.effects(yes, *no))

    def guarded(self, node: Node, truth: Expression, place: Place) -> None:
        """``if`` on data: what stands under it is written where the condition holds. The condition is kept
        where what it reads is written."""
        _, yes, *no = node.children
        names = self.declarations.names
        changed = {
            known.array for key in self.effects(yes, *no) if isinstance(known := names.get(key), Variable)
        }
        if changed & {load.array for load in loads(truth)}:
            flag = self.declarations.array("condition", (), "bool", Role.LOCAL, place.loops)
            self.write(node, self._scalar(flag), Value(truth, "bool"), place)
            truth = values.truth(values.loaded(self._scalar(flag), "bool"))
        self.branches += 1
        guard = Guard(self.branches, True, truth, place.loops)
        self.block(yes, replace(place, guards=(*place.guards, guard)))
        for otherwise in no:
            guard = replace(guard, holds=False, condition=apply("not", truth))
            self.block(otherwise, replace(place, guards=(*place.guards, guard)))

    # --- assignments --------------------------------------------------------------------------------------

    def assignment(self, node: Node, place: Place, label: str = "") -> None:
        left = node.children[0]
        key, kind = left.bare.key, left.number
        if kind is None:
            raise left.fault(f"`{left.type_text}` is no number of programs")
        for at, target in self.value.element(left, place):
            if target.array in self.declarations.constants:
                raise node.fault(f"`{target.array}` is const")
            if node.op == "=":
                pieces = self.value(node.children[1], at, alone=True)
            else:
                pieces = self.value.compound(node, target, kind, at)
            for inner, value in pieces:
                self.write(node, target, values.cast(value, kind), inner, label)
        if left.bare.kind == "DECL_REF_EXPR":
            self.declarations.forget([key])
            if node.op == "=":
                self.remember(key, node.children[1], place)

    def remember(self, key: int, value: Node, place: Place) -> None:
        """A local scalar that is a form of counters here."""
        known = self.declarations.names.get(key)
        if isinstance(known, Variable) and known.number not in ("float32", "float64", "bool"):
            form = self.forms(value, place)
            if form is not None:
                held = Held(self.forms.fit(form, known.number, place), place.loops, place.domain)
                self.declarations.names[key] = replace(known, held=held, counter=False)

    def write(
        self,
        node: Node,
        target: Load,
        value: Value,
        place: Place,
        label: str = "",
        dropped: bool = False,
    ) -> None:
        """`dropped`: where nothing loads the target."""
        kind = "bool" if target.number == values.STORED_BOOL else target.number
        self.parts[id(node)] = self.parts.get(id(node), 0) + len(place.parts)
        if self.parts[id(node)] > MOST_PARTS and not place.calls:
            raise node.fault(
                f"the conditions here make more than {MOST_PARTS} cases; write fewer `||`, `!=` and `?:`"
            )
        expression = values.stored(value, kind)
        for forms in place.parts:
            if sets.domain(place.loops, forms).is_empty():
                continue
            order = place.order(next(self.numbers))
            self.writes.append(
                Write(label, place.loops, forms, target, expression, order, node.where, place.guards, dropped)
            )

    @staticmethod
    def _scalar(variable: Variable) -> Load:
        return Load(variable.array, (), values.STORED_BOOL if variable.number == "bool" else variable.number)

    # --- calls --------------------------------------------------------------------------------------------

    def effect(self, node: Node, place: Place, alone: bool) -> Pieces:
        """An assignment or a call that stands in an expression."""
        if node.kind == "CALL_EXPR":
            return self.call(node, place, alone)
        if not alone or node.op != "=":
            raise node.fault(f"`{node.op}` within an expression; make it a statement of its own")
        self.assignment(node, place)
        left, kind = node.children[0], node.number or ""
        return [(at, values.loaded(load, kind)) for at, load in self.value.element(left, place)]

    def call(self, node: Node, place: Place, alone: bool) -> Pieces:
        name = node.name
        callee = self.unit.functions.get(name)
        if callee is None and name in values.FUNCTIONS:
            operands: list[tuple[Place, list[Value]]] = [(place, [])]
            for argument in arguments(node):
                operands = [
                    (at, [*before, value])
                    for here, before in operands
                    for at, value in self.value(argument, here)
                ]
            return [(at, values.call(name, operand)) for at, operand in operands]
        if callee is None:
            known = ", ".join(values.FUNCTIONS)
            raise node.fault(f"call of `{name}`, which is not here; there are {known}")
        if name in place.calls:
            raise node.fault(f"`{name}` calls itself")
        body, changed = callee.children[-1], self.effects(node)
        names = self.declarations.names
        if not alone and any(isinstance(names.get(key), Variable) for key in changed):
            raise node.fault(f"`{name}` writes what is not its own: make the call a statement of its own")
        written = self.effects(body)
        bound = {
            parameter.key: self.argument(argument, parameter, parameter.key in written, place)
            for argument, parameter in zip(arguments(node), parameters(callee), strict=True)
        }
        names.update(bound)
        self.declarations.forget(changed)
        within = replace(place, calls=(*place.calls, name))
        pieces: Pieces = []
        if callee.cursor.result_type.kind.name == "VOID":
            self.block(body, within)
        else:
            pieces = self.returned(body.children, within, node)
            if (kind := node.number) is None:
                raise node.fault(f"`{name}` returns `{node.type_text}`; return a number")
            pieces = [(replace(at, calls=place.calls), values.cast(value, kind)) for at, value in pieces]
        for key in bound:
            names.pop(key, None)
        return pieces

    def argument(self, node: Node, parameter: Node, written: bool, place: Place) -> Variable | isl.PwAff:
        """What a parameter stands for in the body."""
        if parameter.number is None:
            known, before = self.value.reference(node, place)
            shape = known.shape[len(before) :]
            inner, kind = self.pointed(parameter)
            if not shape or (inner is not None and inner != shape[1:]) or kind != known.number:
                raise node.fault(f"`{parameter.name}` is another type than `{known.array}` that it gets")
            return replace(known, before=before, held=None)
        form = None if written else self.forms.shallow(node, place)
        if form is not None and not values.is_float(parameter.number):
            return self.forms.fit(form, parameter.number, place)
        own = self.declarations.array(parameter.name, (), parameter.number, Role.LOCAL, place.loops)
        for at, value in self.value(node, place):
            self.write(node, self._scalar(own), values.cast(value, parameter.number), at)
        return own

    def pointed(self, node: Node) -> tuple[tuple[int, ...] | None, str | None]:
        """The inner sizes and the number of an array parameter; no sizes where they are expressions."""
        kind = node.cursor.type.get_canonical()
        kind = kind.element_type if kind.kind.name in clang.ARRAYS else kind.get_pointee()
        sizes: list[int] | None = []
        kind = kind.get_canonical()
        while kind.kind.name in clang.ARRAYS:
            if kind.kind.name != "CONSTANTARRAY":
                sizes = None
            elif sizes is not None:
                sizes.append(kind.element_count)
            kind = kind.element_type.get_canonical()
        return None if sizes is None else tuple(sizes), clang.number_of(kind)

    def returned(self, items: Sequence[Node], place: Place, node: Node) -> Pieces:
        """What a body returns: `return` at its end, or in the branches of an `if` that write nothing."""
        place = place.entered(next(self.numbers))
        for position, item in enumerate(items):
            rest = items[position + 1 :]
            if item.kind == "COMPOUND_STMT" and returns(item):
                return self.returned([*item.children, *rest], place, node)
            if item.kind == "RETURN_STMT":
                return self.value(item.children[0], place, alone=True)
            if item.kind == "IF_STMT" and returns(item):
                return self.choice(item, rest, place, node)
            if returns(item):
                raise item.fault("`return` within a loop; set a local, and return it at the end")
            self.statement(item, place)
        raise node.fault(f"`{node.name}` ends without `return`")

    def choice(self, node: Node, rest: Sequence[Node], place: Place, of: Node) -> Pieces:
        condition, yes, *no = node.children
        if self.effects(yes, *no, *rest):
            raise node.fault(
                "`return` before the end, with other writes; write `if` and `else` around what follows"
            )
        branches = [[yes, *rest], [*no, *rest]]
        holds = self.forms.condition(condition, place)
        if holds is not None:
            pieces: Pieces = []
            for part, items in zip((holds, holds.complement()), branches, strict=True):
                inside = place.where(part)
                if not inside.is_empty:
                    pieces += self.returned(items, inside, of)
            return pieces
        kind = self.node.cursor.result_type if of is self.node else of.cursor.type
        return [
            (last, values.chosen(values.truth(value), a, b, clang.number_of(kind) or ""))
            for at, value in self.value(condition, place)
            for here, a in self.returned(branches[0], at, of)
            for last, b in self.returned(branches[1], here, of)
        ]
