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
from pathlib import Path

import islpy as isl

from axiloom.errors import CompileError, UsageError
from axiloom.files import read_text
from axiloom.isa.affine import Affine
from axiloom.nests.poly import sets
from axiloom.nests.poly.liveness import with_roles
from axiloom.nests.program import Load, Role, loads
from axiloom.nests.program.c_function import CFunction, CVariable
from axiloom.nests.program.expressions import Expression
from axiloom.nests.program.loaded import Loaded
from axiloom.nests.program.names import fresh
from axiloom.nests.program.typed import apply
from axiloom.nests.read import c_values as values
from axiloom.nests.read import clang
from axiloom.nests.read.c_declarations import Declarations, Held, SizeNeeded, Variable, initialiser
from axiloom.nests.read.c_effects import Effects, arguments, assigns, returns
from axiloom.nests.read.c_expressions import Expressions, Pieces
from axiloom.nests.read.c_forms import Forms
from axiloom.nests.read.c_loops import Loops
from axiloom.nests.read.c_places import Count, Guard, Narrowing, Place, filled
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
    given = dict(defines or {})
    # A size that is a parameter, `int n`, is no macro: it is known by its name inside the function.
    sizes = {name: given[name] for name in _PARAMETER.findall(text) if name in given}
    while True:
        macros = {name: value for name, value in given.items() if name not in sizes}
        unit = clang.parse(text, file, folder, macros, includes)
        chosen = _chosen(unit, function)
        parameters = {each.name for each in chosen.children if each.kind == "PARM_DECL"}
        if sizes.keys() <= parameters:
            break
        sizes = {name: value for name, value in sizes.items() if name in parameters}
    unit.check(chosen)
    known = {name: _integer(name, value) for name, value in sizes.items()}
    flags = (
        *(f"-D{name}={value}" for name, value in macros.items()),
        *(f"-I{each.absolute()}" for each in includes),
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
    names = [each for each in functions if each == function or (not function and each.startswith("kernel_"))]
    if len(names) != 1 and not function:
        own = [
            each for each in functions if each != "main" and functions[each].where.startswith(f"{unit.file}:")
        ]
        names = own if len(own) == 1 else []
    if len(names) == 1:
        return functions[names[0]]
    if unit.errors:  # it may be why there is none
        raise CompileError(unit.errors[0][1])
    if not functions:
        raise CompileError(f"{unit.file}: no function; loops stand in one")
    why = f"no function `{function}`;" if function else "which function?"
    raise CompileError(f"{unit.file}: {why} there are {', '.join(functions)}: write {unit.file}:NAME")


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
    taken: set[str] = field(default_factory=set)
    """Names of loops of this nest."""
    parts: dict[int, int] = field(default_factory=dict)
    """Statements that one assignment of the source has become, by the id of its node."""
    branches: int = 0

    def __post_init__(self) -> None:
        self.effects = Effects(self.unit)
        self.declarations = Declarations(self.sizes, self.effects(self.node))
        self.declarations.called = self.effects.constants(self.node)
        self.narrowing = Narrowing(lambda name: fresh(name, self.taken))
        self.forms = Forms(self.declarations, self.narrowing)
        self.declarations.form = lambda node: self.forms(node, Place())
        self.loops = Loops(self.declarations, self.forms, self.narrowing, self.effects)
        self.value = Expressions(self.declarations, self.forms, self.narrowing, self.effect)

    def loaded(self) -> Loaded:
        place, count, body = Place(), Count(), self.node.children[-1]
        written = self.effects(body)
        for each in self.node.children:
            if each.kind != "PARM_DECL":
                continue
            outer = self.declarations.parameter(each)
            if outer is not None and each.key in written and each.number is not None:
                own = self.declarations.array(outer.array, (), outer.number, Role.LOCAL)
                self.write(
                    each, self._scalar(own), values.loaded(self._scalar(outer), own.number), place, count
                )
                self.declarations.names[each.key] = own
        kind = self.node.cursor.result_type
        if kind.kind.name == "VOID":
            self.block(body, place, count)
        else:
            if (number := clang.number_of(kind)) is None:
                raise self.node.fault(f"`{self.node.name}` returns `{kind.spelling}`; return a number")
            for at, value in self.returned(body.children, place, count, self.node):
                # As the last array, so that the caller's have the places of C's parameters.
                result = self.declarations.names.get(0) or self.declarations.array(
                    "result", (), number, Role.INOUT
                )
                self.declarations.names[0] = result
                self.declarations.free.add(result.array)
                self.write(self.node, self._scalar(result), value, at, count)
        if not self.writes:
            raise self.node.fault(f"`{self.node.name}` writes nothing")
        program = program_of(self.node, self.writes, self.declarations)
        if not program.statements or not {each.target.array for each in program.statements} - set(
            self.declarations.born
        ):
            raise self.node.fault(f"`{self.node.name}` writes nothing")
        kept = {each.name for each in program.arrays}
        contents = {name: each for name, each in self.declarations.contents.items() if name in kept}
        return Loaded(with_roles(program, self.declarations.free & kept), contents)

    def original(self, flags: tuple[str, ...]) -> CFunction:
        """The function as its text declares it."""

        def variable(node: Node) -> CVariable:
            known = self.declarations.declared.get(node.key)
            size = self.declarations.sizes.get(node.name, 0)
            if known is None:
                return CVariable(node.name, clang.element_text(node), (), "", size)
            return CVariable(node.name, clang.element_text(node), known.shape, known.array)

        parameters = tuple(variable(each) for each in self.node.children if each.kind == "PARM_DECL")
        variables = tuple(variable(each) for each in self.declarations.outside_nodes)
        result, kind = self.declarations.names.get(0), self.node.cursor.result_type
        returned = (kind.spelling, result.array) if isinstance(result, Variable) else ("void", "")
        return CFunction(Path(self.unit.file), self.node.name, parameters, variables, flags, *returned)

    # --- statements ---------------------------------------------------------------------------------------

    def block(self, node: Node, place: Place, count: Count) -> None:
        for each in node.children if node.kind == "COMPOUND_STMT" else [node]:
            self.statement(each, place, count)

    def statement(self, node: Node, place: Place, count: Count, label: str = "") -> None:
        kind = node.kind
        if kind == "COMPOUND_STMT":
            self.block(node, place, count)
        elif kind == "DECL_STMT":
            for each in node.children:
                self.declare(each, place, count)
        elif kind == "FOR_STMT":
            self.loop(node, place, count)
        elif kind == "IF_STMT":
            self.branch(node, place, count)
        elif kind == "LABEL_STMT":
            self.statement(node.children[-1], place, count, node.name)
        elif kind in (*clang.CASTS, "UNEXPOSED_STMT"):
            if node.children:
                self.statement(node.children[-1], place, count, label)
        elif node.op == ",":
            for each in node.children:
                self.statement(each, place, count)
        elif assigns(node):
            self.assignment(node, place, count, label)
        elif kind == "CALL_EXPR":
            self.call(node, place, count, alone=True)
        elif kind == "RETURN_STMT":
            if node.children or place.statics or place.guards:
                raise node.fault("`return` before the end; write `if` and `else` around what follows")
        elif kind in ("WHILE_STMT", "DO_STMT"):
            raise node.fault("`while` is no loop of static control; write `for` with affine bounds")
        elif kind != "NULL_STMT" and not node.is_expression:
            raise node.fault(f"`{kind.removesuffix('_STMT').lower()}` is not supported")

    def declare(self, node: Node, place: Place, count: Count) -> None:
        if node.kind != "VAR_DECL":
            return  # types and constants: clang has resolved them
        declarations, initial = self.declarations, initialiser(node)
        storage = node.cursor.storage_class.name
        written = node.key in declarations.written
        if storage == "EXTERN":
            declarations.outside(node)
        elif storage == "STATIC" and written:
            raise node.fault(declarations.kept(node.name))
        elif not written and (form := self.constant_of(node, initial, place)) is not None:
            declarations.names[node.key] = form
        elif storage == "STATIC" or (
            initial is not None and initial.kind == "INIT_LIST_EXPR" and not written
        ):
            declarations.names[node.key] = declarations.with_contents(node, initial)
        else:
            made = declarations.variable(node, Role.LOCAL, born=place.loops)
            declarations.names[node.key] = made
            if initial is None:
                return
            if made.shape:
                self.listed(node, initial, made, place, count)
                return
            for at, value in self.value(initial, place, count, alone=True):
                self.write(node, self._scalar(made), value, at, count)
            self.remember(node.key, initial, place)

    def constant_of(self, node: Node, initial: Node | None, place: Place) -> isl.PwAff | None:
        """``const int n = 2 * i``: the form itself."""
        kind = node.number
        constant = node.cursor.type.is_const_qualified() or node.cursor.storage_class.name == "STATIC"
        if initial is None or kind is None or values.is_float(kind) or not constant:
            return None
        form = self.forms(initial, place)
        return None if form is None else self.forms.fit(form, kind, place)

    def listed(self, node: Node, initial: Node, made: Variable, place: Place, count: Count) -> None:
        """``int z[8] = {1, 2}`` of an array that is written later: zeros in a loop, then the others."""
        entries = self.declarations.flat(node, initial, made.shape, made.number)
        number = self.declarations.arrays[made.array].number
        inside = place
        counters = [self.narrowing.fresh(f"{node.name}{n}") for n in range(len(made.shape))]
        for name, size in zip(counters, made.shape, strict=True):
            forms = (Affine.name(name), size - 1 - Affine.name(name))
            inside = replace(
                inside,
                loops=(*inside.loops, name),
                domain=inside.domain & isl.Set(f"[{name}] -> {{ [] : {sets.conjunction(forms)} }}"),
                parts=tuple((*each, *forms) for each in inside.parts),
            )
        target = Load(made.array, tuple(map(Affine.name, counters)), number)
        self.write(node, target, values.number(0, made.number), inside, count)
        for at, value in enumerate(entries):
            if value:
                subscripts: list[Affine] = []
                for size in reversed(made.shape):
                    subscripts.insert(0, Affine.of(at % size))
                    at //= size
                target = Load(made.array, tuple(subscripts), number)
                self.write(node, target, values.number(value, made.number), place, count)

    def loop(self, node: Node, place: Place, count: Count) -> None:
        if not place.loops:
            self.taken.clear()
        before = dict(self.declarations.names)
        found = self.loops(node, place)
        changed = self.effects(node)
        if not found.place.is_empty:
            inside = replace(found.place, statics=(*filled(place), count.next()))
            self.block(found.body, inside, Count())
        known = before.get(found.key)
        if isinstance(known, Variable):
            self.declarations.names[found.key] = known
            self.declarations.forget(changed)
            if found.last is not None:
                kept = Held(found.last, place.loops, place.domain)
                self.declarations.names[found.key] = replace(known, held=kept, counter=True)
                for at, (value,) in self.narrowing.pieces(place, [found.last]):
                    self.write(
                        node,
                        self._scalar(known),
                        values.counted(value, known.number),
                        at,
                        count,
                        dropped=True,
                    )
            return
        self.declarations.names.pop(found.key, None)
        self.declarations.forget(changed)

    def branch(self, node: Node, place: Place, count: Count) -> None:
        condition, yes, *no = node.children
        otherwise = no[0] if no else None
        holds = self.forms.condition(condition, place)
        if holds is not None:
            for part, branch in ((holds, yes), (holds.complement(), otherwise)):
                if branch is not None:
                    self.inside(branch, place, self.narrowing.where(place, part), count)
            return
        for at, value in self.value(condition, place, count):
            truth = values.truth(value)
            decided = getattr(truth, "value", None)
            if isinstance(decided, int):
                branch = yes if decided else otherwise
                if branch is not None:
                    self.inside(branch, place, at, count)
                continue
            self.guarded(node, yes, otherwise, truth, at, count)
        self.declarations.forget(self.effects(yes, otherwise))

    def inside(self, node: Node, outer: Place, place: Place, count: Count) -> None:
        """A block under a condition; loops of its own, where the condition has divisions."""
        if place.is_empty:
            return
        if len(place.loops) > len(outer.loops):
            place, count = replace(place, statics=(*filled(outer), count.next())), Count()
        self.block(node, place, count)

    def guarded(
        self, node: Node, yes: Node, no: Node | None, truth: Expression, place: Place, count: Count
    ) -> None:
        """``if`` on data: what stands under it is written where the condition holds. The condition is kept
        where what it reads is written."""
        names = self.declarations.names
        changed = {
            known.array for key in self.effects(yes, no) if isinstance(known := names.get(key), Variable)
        }
        if changed & {each.array for each in loads(truth)}:
            flag = self.declarations.array("condition", (), "bool", Role.LOCAL, place.loops)
            self.write(node, self._scalar(flag), Value(truth, "bool"), place, count)
            truth = values.truth(values.loaded(self._scalar(flag), "bool"))
        self.branches += 1
        guard = Guard(self.branches, True, truth, place.loops)
        opposite = replace(guard, holds=False, condition=apply("not", truth))
        self.inside(yes, place, replace(place, guards=(*place.guards, guard)), count)
        if no is not None:
            self.inside(no, place, replace(place, guards=(*place.guards, opposite)), count)

    # --- assignments --------------------------------------------------------------------------------------

    def assignment(self, node: Node, place: Place, count: Count, label: str = "") -> None:
        left = node.children[0]
        key, kind = left.bare.key, left.number
        if kind is None:
            raise left.fault(f"`{left.type_text}` is no number of programs")
        for at, target in self.value.element(left, place):
            if target.array in self.declarations.constants:
                raise node.fault(f"`{target.array}` is const")
            if node.op == "=":
                pieces = self.value(node.children[1], at, count, alone=True)
            else:
                pieces = self.value.compound(node, target, kind, at, count)
            for inner, value in pieces:
                self.write(node, target, values.cast(value, kind), inner, count, label)
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
                form = self.forms.fit(form, known.number, place)
                kept = Held(form, place.loops, place.domain)
                self.declarations.names[key] = replace(known, held=kept, counter=False)

    def write(
        self,
        node: Node,
        target: Load,
        value: Value,
        place: Place,
        count: Count,
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
        statics = (*filled(place), 0)
        for forms in place.parts:
            if sets.domain(place.loops, forms).is_empty():
                continue
            order = list(statics)
            order[len(place.statics)] = count.next()
            self.writes.append(
                Write(
                    label,
                    place.loops,
                    forms,
                    target,
                    expression,
                    tuple(order),
                    node.where,
                    place.guards,
                    dropped,
                )
            )

    @staticmethod
    def _scalar(variable: Variable) -> Load:
        return Load(variable.array, (), values.STORED_BOOL if variable.number == "bool" else variable.number)

    # --- calls --------------------------------------------------------------------------------------------

    def effect(self, node: Node, place: Place, count: Count, alone: bool) -> Pieces:
        """An assignment or a call that stands in an expression."""
        if node.kind == "CALL_EXPR":
            return self.call(node, place, count, alone)
        if not alone or node.op != "=":
            raise node.fault(f"`{node.op}` within an expression; make it a statement of its own")
        self.assignment(node, place, count)
        left, kind = node.children[0], node.number or ""
        return [(at, values.loaded(load, kind)) for at, load in self.value.element(left, place)]

    def call(self, node: Node, place: Place, count: Count, alone: bool) -> Pieces:
        name, given = node.name, arguments(node)
        callee = self.unit.functions.get(name)
        if callee is None and name in values.FUNCTIONS:
            found: list[tuple[Place, list[Value]]] = [(place, [])]
            for each in given:
                found = [
                    (at, [*before, value])
                    for here, before in found
                    for at, value in self.value(each, here, count)
                ]
            return [(at, values.call(name, operands)) for at, operands in found]
        if callee is None:
            known = ", ".join(values.FUNCTIONS)
            raise node.fault(f"call of `{name}`, which is not here; there are {known}")
        if name in place.calls:
            raise node.fault(f"`{name}` calls itself")
        parameters = [each for each in callee.children if each.kind == "PARM_DECL"]
        body, changed = callee.children[-1], self.effects(node)
        names = self.declarations.names
        if not alone and any(isinstance(names.get(key), Variable) for key in changed):
            raise node.fault(f"`{name}` writes what is not its own: make the call a statement of its own")
        written = self.effects(body)
        bound = {}
        for argument, parameter in zip(given, parameters, strict=True):
            bound[parameter.key] = self.argument(argument, parameter, parameter.key in written, place, count)
        names.update(bound)
        self.declarations.forget(changed)
        within = replace(place, calls=(*place.calls, name))
        if callee.cursor.result_type.kind.name == "VOID":
            self.block(body, within, count)
            pieces: Pieces = []
        else:
            pieces = self.returned(body.children, within, count, node)
            if (kind := node.number) is None:
                raise node.fault(f"`{name}` returns `{node.type_text}`; return a number")
            pieces = [(replace(at, calls=place.calls), values.cast(each, kind)) for at, each in pieces]
        for key in bound:
            names.pop(key, None)
        return pieces

    def argument(
        self, node: Node, parameter: Node, written: bool, place: Place, count: Count
    ) -> Variable | isl.PwAff:
        """What a parameter stands for in the body."""
        if parameter.number is None:
            known, before = self.value.reference(node, place)
            shape = known.shape[len(before) :]
            inner, kind = self.pointed(parameter)
            if not shape or (inner is not None and inner != shape[1:]) or kind != known.number:
                raise node.fault(f"`{parameter.name}` is another type than `{known.array}` that it is given")
            return replace(known, before=before, held=None)
        form = None if written else self.forms.shallow(node, place)
        if form is not None and not values.is_float(parameter.number):
            return self.forms.fit(form, parameter.number, place)
        own = self.declarations.array(parameter.name, (), parameter.number, Role.LOCAL, place.loops)
        for at, value in self.value(node, place, count):
            self.write(node, self._scalar(own), values.cast(value, parameter.number), at, count)
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

    def returned(self, items: Sequence[Node], place: Place, count: Count, node: Node) -> Pieces:
        """What a body returns: `return` at its end, or in the branches of an `if` that write nothing."""
        for position, each in enumerate(items):
            rest = items[position + 1 :]
            if each.kind == "COMPOUND_STMT" and returns(each):
                return self.returned([*each.children, *rest], place, count, node)
            if each.kind == "RETURN_STMT":
                return self.value(each.children[0], place, count, alone=True)
            if each.kind == "IF_STMT" and returns(each):
                return self.choice(each, rest, place, count, node)
            if returns(each):
                raise each.fault("`return` within a loop; set a local, and return it at the end")
            self.statement(each, place, count)
        raise node.fault(f"`{node.name}` ends without `return`")

    def choice(self, node: Node, rest: Sequence[Node], place: Place, count: Count, of: Node) -> Pieces:
        condition, yes, *no = node.children
        if self.effects(yes, *no, *rest):
            raise node.fault(
                "`return` before the end, with other writes; write `if` and `else` around what follows"
            )
        branches = [[yes, *rest], [*no, *rest]]
        holds = self.forms.condition(condition, place)
        if holds is not None:
            found: Pieces = []
            for part, items in zip((holds, holds.complement()), branches, strict=True):
                inside = self.narrowing.where(place, part)
                if not inside.is_empty:
                    found += self.returned(items, inside, count, of)
            return found
        kinds = self.node.cursor.result_type if of is self.node else of.cursor.type
        kind = clang.number_of(kinds) or ""
        return [
            (last, values.chosen(values.truth(value), a, b, kind))
            for at, value in self.value(condition, place, count)
            for here, a in self.returned(branches[0], at, count, of)
            for last, b in self.returned(branches[1], here, count, of)
        ]
