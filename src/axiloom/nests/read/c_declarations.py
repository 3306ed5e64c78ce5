"""Declarations of C: arrays, scalars, constants, and what names stand for at a place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import islpy as isl
import numpy as np
import numpy.typing as npt

from axiloom.isa.numerics.formats import format_of
from axiloom.nests.program import Array, Role
from axiloom.nests.program.expressions import Literal
from axiloom.nests.program.names import fresh
from axiloom.nests.read.c_places import constant, fixed
from axiloom.nests.read.c_values import STORED_BOOL, number, stored
from axiloom.nests.read.clang import ARRAYS, Node, number_of

NUMBERS = "numbers are float, double, bool, char, short, int, long and those of <stdint.h>"
MOST_ELEMENTS = 1 << 28


@dataclass(frozen=True)
class Held:
    """The form that a scalar was last given: by the instances of `domain`, in these loops."""

    form: isl.PwAff
    loops: tuple[str, ...]
    domain: isl.Set


@dataclass(frozen=True)
class Variable:
    """`number`: C's type. `before`: subscripts that come before those of an expression: the row that an
    argument is. `counter`: it is read as `held` says, where that is known."""

    array: str
    shape: tuple[int, ...]
    number: str
    before: tuple[isl.PwAff, ...] = ()
    held: Held | None = None
    counter: bool = False


class SizeNeeded(Exception):  # noqa: N818 (no error: the reader begins again, with the size)
    """A parameter stands in a bound or a size, and all calls in the file give it this value."""

    def __init__(self, name: str, value: int) -> None:
        super().__init__(name)
        self.name, self.value = name, value


@dataclass
class Declarations:
    """`names`: by the key of a declaration, a form or a variable."""

    sizes: Mapping[str, int]
    """Parameters that the command line gives."""
    written: Collection[int]
    """Keys of what the function writes, with what it calls."""
    form: Callable[[Node], isl.PwAff | None] = field(default=lambda node: None, init=False)
    """Of an expression of constants."""
    called: dict[int, tuple[str, int]] = field(default_factory=dict, init=False)
    """Parameters that all calls in the file give one value: name and value, by key."""
    names: dict[int, Any] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    outer: list[tuple[int, str]] = field(default_factory=list)
    """Arrays of the file: where they are declared, and their names."""
    declared: dict[int, Variable] = field(default_factory=dict)
    """Parameters and variables of the file, as the caller knows them."""
    outside_nodes: list[Node] = field(default_factory=list)
    """Variables of the file that the caller may see change."""
    free: set[str] = field(default_factory=set)
    """Arrays whose role follows from the program."""
    contents: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    born: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The loops that a local is declared in."""
    constants: set[str] = field(default_factory=set)
    substituted: set[str] = field(default_factory=set)
    """Scalars whose form was taken in place of what they hold."""

    # --- types --------------------------------------------------------------------------------------------

    def shape(self, node: Node) -> tuple[tuple[int, ...], str]:
        """Of a declaration. Raises CompileError."""
        kind = node.cursor.type.get_canonical()
        sizes: list[int] = []
        if node.cursor.type.kind.name in ARRAYS:
            kind = node.cursor.type
        while kind.kind.name in ARRAYS:
            size = kind.element_count if kind.kind.name == "CONSTANTARRAY" else self._size(node, len(sizes))
            if size < 1:
                raise node.fault(f"`{node.name}` has the size {size}")
            sizes.append(size)
            kind = kind.element_type
            if kind.kind.name not in ARRAYS:
                kind = kind.get_canonical()
        if kind.kind.name == "POINTER":
            raise node.fault(f"`{node.name}` is a pointer; write an array with its size: `{node.name}[N]`")
        if (number := number_of(kind)) is None:
            raise node.fault(f"`{node.name}` is `{kind.spelling}`; {NUMBERS}")
        if int(np.prod(sizes, dtype=object)) > MOST_ELEMENTS:
            raise node.fault(f"`{node.name}` has more than {MOST_ELEMENTS} elements")
        return tuple(sizes), number

    def _size(self, node: Node, dimension: int) -> int:
        """Of an array whose size is an expression: ``float A[n]``."""
        sizes = [part for part in node.children if part.is_expression and part.kind != "INIT_LIST_EXPR"]
        if dimension >= len(sizes):
            raise node.fault(f"`{node.name}` has no size; write `{node.name}[N]`")
        form = self.form(sizes[dimension])
        size = None if form is None else fixed(form)
        if size is None:
            options = ", ".join(
                f"-D {part.name}=VALUE" for part in sizes[dimension].walk() if part.kind == "DECL_REF_EXPR"
            )
            hint = f" (give it by {options})" if options else ""
            raise node.fault(f"the size of `{node.name}` is no constant{hint}")
        return size

    def variable(self, node: Node, role: Role, name: str = "", born: tuple[str, ...] = ()) -> Variable:
        shape, kind = self.shape(node)
        return self.array(name or node.name, shape, kind, role, born)

    def array(
        self, name: str, shape: tuple[int, ...], kind: str, role: Role, born: tuple[str, ...] = ()
    ) -> Variable:
        name = fresh(name, set(self.arrays))
        self.arrays[name] = Array(name, shape, STORED_BOOL if kind == "bool" else kind, role)
        if born:
            self.born[name] = born
        return Variable(name, shape, kind)

    # --- where they stand ---------------------------------------------------------------------------------

    def parameter(self, node: Node) -> Variable | None:
        """Of the function that is read; None for a size that the command line gives."""
        if not node.name:
            raise node.fault("a parameter without a name")
        if node.name in self.sizes:
            self.names[node.key] = constant(self.sizes[node.name])
            return None
        variable = self.variable(node, Role.INOUT)
        self.free.add(variable.array)
        self.names[node.key] = self.declared[node.key] = variable
        return variable

    def known(self, node: Node) -> Any:
        """What a name stands for: a form or a variable. Those of the file are taken in when they are used."""
        if node.key not in self.names:
            declared = node.declared
            if declared is None or declared.kind != "VAR_DECL":
                raise node.fault(f"`{node.name}` is no variable")
            self.outside(declared)
        return self.names[node.key]

    def outside(self, node: Node) -> None:
        """A variable of the file: the caller's, unless it is static, or initialised and never written."""
        initial, written = initialiser(node), node.key in self.written
        static = node.cursor.storage_class.name == "STATIC"
        value = initial.value if initial is not None and static else None
        if not written and node.number is not None and isinstance(value, int):
            self.names[node.key] = constant(value)
            return
        if static or (initial is not None and not written):
            variable = self.with_contents(node, initial)
        else:
            variable = self.variable(node, Role.INOUT)
            self.free.add(variable.array)
        if variable.array not in self.constants:
            self.declared[node.key] = variable
            self.outside_nodes.append(node)
        self.names[node.key] = variable
        self.outer.append((node.cursor.location.offset, variable.array))

    def with_contents(self, node: Node, initial: Node | None) -> Variable:
        """An array whose contents are known before the first call: a table, or what C keeps between calls."""
        written = node.key in self.written
        variable = self.variable(node, Role.INOUT if written else Role.IN)
        values = self.flat(node, initial, variable.shape, variable.number)
        kind = format_of(self.arrays[variable.array].number).numpy
        self.contents[variable.array] = np.array(values, kind).reshape(variable.shape)
        if not written:
            self.constants.add(variable.array)
        return variable

    def flat(self, node: Node, initial: Node | None, shape: tuple[int, ...], kind: str) -> list[int | float]:
        """The elements of a list of constants; what it leaves out is 0."""
        total = int(np.prod(shape))
        values: list[int | float] = [0] * total
        if initial is None:
            return values
        if not shape:
            values[0] = self._constant(initial, kind)
            return values
        if initial.kind != "INIT_LIST_EXPR":
            raise node.fault(f"`{node.name}` is not initialised by a list in braces")
        self._fill(initial, shape, kind, values, 0)
        return values

    def _fill(
        self, entries: Node, shape: tuple[int, ...], kind: str, values: list[int | float], start: int
    ) -> None:
        step = int(np.prod(shape[1:]))
        at = start
        for item in entries.children:
            entry, within = item, shape[1:]
            if item.kind == "UNEXPOSED_EXPR" and item.cursor.type.kind.name == "VOID":  # [3] = 7, [1][2] = 7
                *designators, entry = item.children
                if any(token.spelling == "..." for token in item.cursor.get_tokens()):
                    raise item.fault("a range of designators; write an entry for each place")
                at, within = start, shape
                for index in designators:
                    if not within or not isinstance(index.value, int):
                        raise item.fault("a designator is no constant subscript")
                    within = within[1:]
                    at += int(index.value) * int(np.prod(within))
            if entry.kind == "INIT_LIST_EXPR":
                if not within:
                    inner = entry.children
                    entry = inner[0] if len(inner) == 1 else entry
                else:
                    self._fill(entry, within, kind, values, at)
                    at = start + ((at - start) // step + 1) * step
                    continue
            if at >= start + step * shape[0]:
                raise item.fault("the list has more entries than the array has elements")
            values[at] = self._constant(entry, kind)
            at += 1

    def _constant(self, node: Node, kind: str) -> int | float:
        value = node.value
        if value is None or node.number is None:
            raise node.fault("an initialiser is no constant")
        expression = stored(number(value, node.number), kind)
        if not isinstance(expression, Literal):
            raise node.fault(f"an initialiser is no constant of {kind}")
        return expression.value

    # --- what scalars hold --------------------------------------------------------------------------------

    def forget(self, keys: Collection[int]) -> None:
        for key in keys:
            known = self.names.get(key)
            if isinstance(known, Variable) and known.held is not None:
                self.names[key] = replace(known, held=None, counter=False)

    def used(self, names: Collection[str]) -> tuple[Array, ...]:
        """Those of the file first, then parameters, which are kept anyway, and locals; each as declared."""
        outer = [name for _, name in sorted(self.outer)]
        order: Sequence[str] = [*outer, *(name for name in self.arrays if name not in outer)]
        return tuple(self.arrays[name] for name in order if name in names or name in self.free)


def initialiser(node: Node) -> Node | None:
    """What a variable is declared to be."""
    parts = [part for part in node.children if part.is_expression]
    if node.cursor.type.get_canonical().kind.name in ARRAYS:
        parts = [part for part in parts[-1:] if part.kind in ("INIT_LIST_EXPR", "STRING_LITERAL")]
    return parts[-1] if parts else None
