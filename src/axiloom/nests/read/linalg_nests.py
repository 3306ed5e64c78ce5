"""`Nests`: arrays and statements of the program that a module of linalg becomes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy.typing as npt
from xdsl.dialects.builtin import (
    FileLineColLoc,
    MemRefType,
    NameLoc,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from axiloom.base.affine import Affine
from axiloom.nests.program import Array, Expression, Load, Role, Statement
from axiloom.nests.program.expressions import BOOL
from axiloom.nests.program.names import fresh
from axiloom.nests.program.rewrite import load_substituted, substituted, with_loads
from axiloom.nests.program.text import element
from axiloom.nests.program.typed import convert
from axiloom.nests.read.linalg_body import number
from axiloom.nests.read.linalg_views import STORED_BOOL, View, box, dims, whole


class Nests:
    """A program in the making: arrays, statements, and what each value of the module is."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.arrays: dict[str, Array] = {}
        self.contents: dict[str, npt.NDArray[Any]] = {}
        self.statements: list[Statement] = []
        self.free: set[str] = set()
        self.known: dict[SSAValue, View | Expression] = {}
        self.own: set[SSAValue] = set()
        """Tensors that are all of an array of their own. Others rename elements of some array."""
        self.nest = 0

    def where(self, op: Operation) -> str:
        place: Attribute = op.location
        if isinstance(place, NameLoc):
            place = place.location
        return f"{place.filename.data}:{place.line.data}" if isinstance(place, FileLineColLoc) else ""

    def type_of(self, value: SSAValue) -> tuple[tuple[int, ...], str]:
        assert isinstance(value.type, (TensorType, MemRefType))
        shape = tuple(value.type.get_shape())
        if any(size < 0 for size in shape):
            raise ValueError("a size is not known; shapes are constant")
        kind = number(value.type.element_type)
        return shape, STORED_BOOL if kind == BOOL else kind

    def array(self, name: str, shape: tuple[int, ...], kind: str, role: Role) -> Array:
        # `0.bias`, of torch's Sequential, becomes p0_bias: names in C do not begin with a digit.
        unique = fresh(re.sub(r"^(?=\d)", "p", re.sub(r"\W", "_", name)), set(self.arrays))
        self.arrays[unique] = Array(unique, shape, kind, role)
        return self.arrays[unique]

    def new(self, value: SSAValue) -> Array:
        return self.array(value.name_hint or f"t{len(self.arrays)}", *self.type_of(value), Role.LOCAL)

    def assign(self, op: Operation, extents: Sequence[int], target: Load, value: Expression, *,
                last: int = 0, forms: tuple[Affine, ...] | None = None) -> None:  # fmt: skip
        """A statement in nest `self.nest`, in loops d0, d1, ... of these extents."""
        if value.number == BOOL and target.number == STORED_BOOL:
            value = convert(value, STORED_BOOL)
        if value.number != target.number:
            raise ValueError(f"{value.number} is stored in {element(target)} of {target.number}")
        # Loops that go round once are none.
        loops = [name for name, size in zip(dims(extents), extents, strict=True) if size > 1]
        gone = {name: 0 for name in dims(extents) if name not in loops}
        domain = [form.substitute(gone) for form in (box(extents) if forms is None else forms)]
        self.statements.append(
            Statement(
                f"S{len(self.statements)}",
                tuple(loops),
                tuple(form for form in dict.fromkeys(domain) if not form.is_constant or form.constant < 0),
                load_substituted(target, gone),
                substituted(value, gone),
                (self.nest, *[0] * (len(loops) - 1), last) if loops else (self.nest + last,),
                self.where(op),
            )
        )
        if not loops:
            self.nest += last

    def copy(self, op: Operation, source: View, array: Array) -> None:
        target = whole(array).at([Affine.name(dim) for dim in dims(array.shape)], array.number)
        assert isinstance(target, Load)
        place = [Affine.name(dim) for dim in dims(array.shape)]
        self.assign(op, array.shape, target, source.at(place, array.number))
        self.nest += 1

    def view(self, value: SSAValue) -> View:
        view = self.known[value]
        if not isinstance(view, View):
            raise ValueError("an operand is no tensor")
        return view

    def start(self, op: Operation, init: SSAValue, result: SSAValue | None, keeps: bool) -> Array:
        """The array that an op writes: the one of `init` for memrefs, and where a tensor that nothing else
        needs is added to; else a new one, with the contents of `init` if the op `keeps` any."""
        if result is None:
            return self.memory(init)
        before = self.known.get(init)
        if keeps and isinstance(before, View) and init in self.own and len(list(init.uses)) == 1:
            return self.arrays[before.array]
        array = self.new(result)
        if keeps:
            if not isinstance(before, View):
                raise ValueError("it adds to a tensor without contents; fill it first")
            self.copy(op, before, array)
        return array

    def memory(self, value: SSAValue) -> Array:
        view = self.view(value)
        array = self.arrays[view.array]
        if view != whole(array):
            raise ValueError("it writes a part of a memref; write all of it")
        return array

    def rename(self, array: Array, name: str) -> None:
        """A local array becomes a result."""
        unique = fresh(name, set(self.arrays))
        renamed = {other.name: other for other in self.arrays.values() if other.name != array.name}
        renamed[unique] = Array(unique, array.shape, array.number, Role.OUT)
        self.arrays = renamed
        self.statements = [_renamed_in(statement, array.name, unique) for statement in self.statements]
        self.known = {
            value: View(view.shape, unique, view.subscripts, view.value)
            if isinstance(view, View) and view.array == array.name
            else view
            for value, view in self.known.items()
        }


def _renamed_in(statement: Statement, old: str, new: str) -> Statement:
    def change(load: Load) -> Load:
        return replace(load, array=new) if load.array == old else load

    return replace(statement, target=change(statement.target), value=with_loads(statement.value, change))
