"""Declarations of C: arrays, scalars, constants, typedefs; and names that nothing else has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from pycparser import c_ast

from axiloom.errors import CompileError
from axiloom.isa.affine import Affine
from axiloom.isa.numerics.formats import format_of
from axiloom.nests.program import Array, Role, Statement, loads
from axiloom.nests.program.expressions import Literal
from axiloom.nests.program.names import fresh
from axiloom.nests.read.c_affine import form
from axiloom.nests.read.c_expressions import Names, Translator, Variable, to
from axiloom.nests.read.c_types import DOUBLE
from axiloom.nests.read.c_types import number as number_of


@dataclass
class Declarations:
    """`free`: arrays whose role follows from the program; `contents`: of constant arrays."""

    file: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Parameters that the command line gives."""
    typedefs: dict[str, str] = field(default_factory=dict)
    known: dict[str, Array] = field(default_factory=dict)
    free: set[str] = field(default_factory=set)
    contents: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    outer: dict[str, Variable] = field(default_factory=dict)
    """Variables of the file."""
    values: set[str] = field(default_factory=set)
    """Scalars that are passed by value."""
    constants: set[str] = field(default_factory=set)
    tops: list[Any] = field(default_factory=list)

    def where(self, node: Any) -> str:
        return f"{self.file}:{node.coord.line}" if getattr(node, "coord", None) else self.file

    def fault(self, node: Any, why: str) -> CompileError:
        return CompileError(f"{self.where(node)}: {why}")

    @property
    def known_sizes(self) -> dict[str, Affine]:
        return {name: Affine((), value) for name, value in self.sizes.items()}

    # --- types ----------------------------------------------------------------------------------------

    def number(self, node: Any) -> str:
        """Raises ValueError."""
        if not isinstance(node, c_ast.TypeDecl) or not isinstance(node.type, c_ast.IdentifierType):
            raise ValueError("no type of a number; accepted are float, int, (u)int8_t to (u)int64_t")
        return number_of(node.type.names, self.typedefs)

    def _shape(self, declared: Any) -> tuple[tuple[int, ...], str]:
        node, shape = declared.type, []
        while isinstance(node, c_ast.ArrayDecl):
            if node.dim is None:
                raise ValueError(f"`{declared.name}` has no size; write `{declared.name}[N]`")
            size = form(node.dim, self.known_sizes)
            if not size.is_constant:
                raise ValueError(f"`{declared.name}` has the size {size}; sizes are constant")
            if size.constant < 1:
                raise ValueError(f"`{declared.name}` has the size {size}")
            shape.append(size.constant)
            node = node.type
        if isinstance(node, c_ast.PtrDecl):
            raise ValueError(
                f"`{declared.name}` is a pointer; write an array with its size: `{declared.name}[N]`"
            )
        number = self.number(node)
        if number == DOUBLE:
            raise ValueError(f"`{declared.name}` is double; numbers of programs are float and integers")
        return tuple(shape), number

    def _variable(self, node: Any, role: Role) -> Variable:
        try:
            shape, number = self._shape(node)
        except ValueError as error:
            raise self.fault(node, str(error)) from None
        name = fresh(node.name, set(self.known))
        self.known[name] = Array(name, shape, number, role)
        return Variable(name, shape, number)

    # --- where they stand -----------------------------------------------------------------------------

    def top(self, node: Any) -> None:
        """A declaration outside of functions."""
        if isinstance(node, c_ast.Typedef):
            if isinstance(node.type, c_ast.TypeDecl) and isinstance(node.type.type, c_ast.IdentifierType):
                try:
                    # Those in front of the file are for the parser only: their numbers are known.
                    theirs = node.name.endswith("_t") and getattr(node.coord, "file", "") != self.file
                    if not theirs:
                        self.typedefs[node.name] = self.number(node.type)
                except ValueError as error:
                    raise self.fault(node, str(error)) from None
        elif isinstance(node, c_ast.Decl) and not isinstance(node.type, c_ast.FuncDecl):
            self.tops.append(node)
            constant = self._constant(node)
            if constant is None:
                constant = self._variable(node, Role.INOUT)
                self.free.add(constant.array)
            self.outer[node.name] = constant

    def parameters(self, function: Any) -> dict[str, Variable]:
        found = dict(self.outer)
        parameters = function.decl.type.args
        for each in parameters.params if parameters else ():
            if isinstance(each, (c_ast.Typename, c_ast.EllipsisParam)):
                if isinstance(each, c_ast.Typename) and len(parameters.params) == 1:
                    continue  # (void)
                raise self.fault(function, "a parameter without a name")
            if each.name in self.sizes:
                continue
            variable = self._variable(each, Role.INOUT)
            if not variable.shape:
                self.values.add(variable.array)
            self.free.add(variable.array)
            found[each.name] = variable
        return found

    def local(self, node: Any) -> Variable:
        return self._constant(node) or self._variable(node, Role.LOCAL)

    def _constant(self, node: Any) -> Variable | None:
        """``const float k[3] = {1, 2, 1};``: an array with contents."""
        if "const" not in node.quals or not isinstance(node.init, c_ast.InitList):
            return None
        variable = self._variable(node, Role.IN)
        values: list[int | float] = []
        try:
            self._flatten(node.init, variable, variable.shape, values)
        except ValueError as error:
            raise self.fault(node, str(error)) from None
        kind = format_of(variable.number).numpy
        self.contents[variable.array] = np.array(values, kind).reshape(variable.shape)
        self.constants.add(variable.array)
        return Variable(variable.array, variable.shape, variable.number, constant=True)

    def _flatten(
        self, node: Any, variable: Variable, shape: tuple[int, ...], values: list[int | float]
    ) -> None:
        if not shape:
            value = to(Translator(Names({}, {}, {}, self.typedefs), {})(node), variable.number)
            if not isinstance(value, Literal):
                raise ValueError("an initialiser is no constant")
            values.append(value.value)
            return
        if not isinstance(node, c_ast.InitList) or len(node.exprs) != shape[0]:
            raise ValueError(f"its list does not have {shape[0]} entries; write all of them")
        for each in node.exprs:
            self._flatten(each, variable, shape[1:], values)

    # --- afterwards -----------------------------------------------------------------------------------

    def check_written(self, array: str, declared: bool) -> None:
        """Raises ValueError for what C cannot write, or nobody would see."""
        if array in self.values:
            raise ValueError(f"`{array}` is passed by value: what is written to it is lost; use a local")
        if array in self.constants and not declared:
            raise ValueError(f"`{array}` is const")

    def arrays(self, statements: list[Statement]) -> tuple[Array, ...]:
        """Those that are used, in the order of their declarations; parameters are kept anyway."""
        used = {each.target.array for each in statements}
        used |= {load.array for each in statements for load in loads(each.value)}
        return tuple(each for each in self.known.values() if each.name in used or each.name in self.free)
