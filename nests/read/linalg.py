"""linalg in MLIR to a program: one nest for each op on tensors or memrefs.

`from_module` takes a module in which named ops have become `linalg.generic`. Tensors are values: an op writes
a new array, or adds to the one it starts from where nothing else needs that. Transposes, slices and reshapes
that only rename elements are no nests but other subscripts (`View`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects import arith, func, memref, tensor
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    MemRefType,
    ModuleOp,
    NameLoc,
    StringAttr,
    TensorType,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from axiloom.errors import CompileError
from axiloom.isa.affine import Affine
from axiloom.isa.numerics.formats import format_of
from axiloom.nests.poly.liveness import with_roles
from axiloom.nests.program import Array, Expression, Load, Program, Role, Statement
from axiloom.nests.program.loaded import Loaded
from axiloom.nests.program.names import fresh
from axiloom.nests.program.rewrite import load_substituted, substituted, with_loads
from axiloom.nests.program.text import element
from axiloom.nests.read.linalg_body import constant, number, scalar

WEIGHT = "axiloom.weight"
"""The attribute that gives a function's argument the name of its contents."""


@dataclass(frozen=True)
class View:
    """A tensor: element d of it is element `subscripts`(d) of an array; or the same number everywhere. `dims`
    are the names that subscripts are written with."""

    shape: tuple[int, ...]
    array: str
    subscripts: tuple[Affine, ...]
    value: Expression | None = None

    def at(self, place: Sequence[Affine], number: str) -> Expression:
        if self.value is not None:
            return self.value
        values = {f"d{n}": each for n, each in enumerate(place)}
        return Load(self.array, tuple(each.substitute(values) for each in self.subscripts), number)


def moved(source: View, shape: tuple[int, ...], place: Sequence[Affine]) -> View:
    """A tensor of `shape` whose element d is the one at `place`(d) of another."""
    if source.value is not None:
        return View(shape, "", (), source.value)
    values = {f"d{n}": each for n, each in enumerate(place)}
    return View(shape, source.array, tuple(each.substitute(values) for each in source.subscripts))


def dims(shape: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"d{n}" for n in range(len(shape)))


def whole(array: Array) -> View:
    return View(array.shape, array.name, tuple(Affine.name(each) for each in dims(array.shape)))


def box(shape: Sequence[int]) -> tuple[Affine, ...]:
    forms = []
    for name, size in zip(dims(shape), shape, strict=True):
        forms += [Affine.name(name), Affine.sum({name: -1}, size - 1)]
    return tuple(forms)


def from_module(
    module: ModuleOp,
    function: str = "",
    weights: Mapping[str, npt.NDArray[Any]] | None = None,
    file: str = "",
) -> Loaded:
    """The program of a function of the module, by default its only one. `weights` are contents by the name in
    `axiloom.weight`. Raises CompileError with the op's place."""
    functions = {each.sym_name.data: each for each in module.ops if isinstance(each, func.FuncOp)}
    chosen = functions.get(function) if function else next(iter(functions.values()), None)
    if chosen is None or (not function and len(functions) > 1):
        raise CompileError(f"{file}: which function? there are {', '.join(functions) or 'none'}")
    return _Reader(file, weights or {}).function(chosen)


class _Reader:
    def __init__(self, file: str, weights: Mapping[str, npt.NDArray[Any]]) -> None:
        self.file, self.weights = file, weights
        self.arrays: dict[str, Array] = {}
        self.contents: dict[str, npt.NDArray[Any]] = {}
        self.statements: list[Statement] = []
        self.free: set[str] = set()
        self.known: dict[SSAValue, View | Expression] = {}
        self.own: set[SSAValue] = set()
        """Tensors that are all of an array of their own. Others rename elements of some array."""
        self.nest = 0

    # --- the whole ------------------------------------------------------------------------------------

    def function(self, node: func.FuncOp) -> Loaded:
        attributes = node.arg_attrs.data if node.arg_attrs is not None else ()
        for place, argument in enumerate(node.body.block.args):
            given = attributes[place].data if place < len(attributes) else {}
            weight = given.get(WEIGHT)
            name = weight.data if isinstance(weight, StringAttr) else f"arg{place}"
            try:
                self._argument(argument, name, weight is not None)
            except ValueError as error:
                raise self.fault(node, f"argument {place}: {error}") from None
        for op in node.body.block.ops:
            try:
                self._op(op)
            except (ValueError, KeyError) as error:
                why = str(error) if isinstance(error, ValueError) else "takes a value that is not known here"
                raise self.fault(op, f"{op.name}: {why}") from None
        program = Program(node.sym_name.data, tuple(self.arrays.values()), tuple(self.statements))
        return Loaded(with_roles(program, self.free), self.contents)

    def fault(self, op: Operation, why: str) -> CompileError:
        return CompileError(f"{self._where(op) or self.file}: {why}")

    def _where(self, op: Operation) -> str:
        place: Attribute = op.location
        if isinstance(place, NameLoc):
            place = place.location
        return f"{place.filename.data}:{place.line.data}" if isinstance(place, FileLineColLoc) else ""

    def _argument(self, value: SSAValue, name: str, is_weight: bool) -> None:
        if not isinstance(value.type, (TensorType, MemRefType)):
            array = self._array(name, (), number(value.type), Role.IN)
            self.known[value] = Load(array.name, (), array.number)
            return
        array = self._array(name, *self._type(value), Role.IN)
        if isinstance(value.type, MemRefType):
            self.free.add(array.name)
        if is_weight and name in self.weights:
            data = np.asarray(self.weights[name])
            self.contents[array.name] = data.astype(format_of(array.number).numpy).reshape(array.shape)
        self.known[value] = whole(array)

    # --- arrays and statements ------------------------------------------------------------------------

    def _type(self, value: SSAValue) -> tuple[tuple[int, ...], str]:
        assert isinstance(value.type, (TensorType, MemRefType))
        shape = tuple(value.type.get_shape())
        if any(size < 0 for size in shape):
            raise ValueError("a size is not known; shapes are constant")
        kind = number(value.type.element_type)
        return shape, "uint1" if kind == "bool" else kind

    def _array(self, name: str, shape: tuple[int, ...], kind: str, role: Role) -> Array:
        unique = fresh(re.sub(r"\W", "_", name), set(self.arrays))
        self.arrays[unique] = Array(unique, shape, kind, role)
        return self.arrays[unique]

    def _new(self, value: SSAValue) -> Array:
        return self._array(value.name_hint or f"t{len(self.arrays)}", *self._type(value), Role.LOCAL)

    def _assign(self, op: Operation, extents: Sequence[int], target: Load, value: Expression, *,
                last: int = 0, forms: tuple[Affine, ...] | None = None) -> None:  # fmt: skip
        """A statement in nest `self.nest`, in loops d0, d1, ... of these extents."""
        if value.number != target.number:
            raise ValueError(f"{value.number} is stored in {element(target)} of {target.number}")
        # Loops that go round once are none.
        loops = [name for name, size in zip(dims(extents), extents, strict=True) if size > 1]
        gone = {name: 0 for name in dims(extents) if name not in loops}
        domain = [each.substitute(gone) for each in (box(extents) if forms is None else forms)]
        self.statements.append(
            Statement(
                f"S{len(self.statements)}",
                tuple(loops),
                tuple(each for each in dict.fromkeys(domain) if not each.is_constant or each.constant < 0),
                load_substituted(target, gone),
                substituted(value, gone),
                (self.nest, *[0] * (len(loops) - 1), last) if loops else (self.nest + last,),
                self._where(op),
            )
        )
        if not loops:
            self.nest += last

    def _copy(self, op: Operation, source: View, array: Array) -> None:
        target = whole(array).at([Affine.name(each) for each in dims(array.shape)], array.number)
        assert isinstance(target, Load)
        place = [Affine.name(each) for each in dims(array.shape)]
        self._assign(op, array.shape, target, source.at(place, array.number))
        self.nest += 1

    def _view(self, value: SSAValue) -> View:
        found = self.known[value]
        if not isinstance(found, View):
            raise ValueError("an operand is no tensor")
        return found

    def _start(self, op: Operation, init: SSAValue, result: SSAValue | None, keeps: bool) -> Array:
        """The array that an op writes: the one of `init` for memrefs, and where a tensor that nothing else
        needs is added to; else a new one, with the contents of `init` if the op `keeps` any."""
        if result is None:
            return self._memory(init)
        before = self.known.get(init)
        if keeps and isinstance(before, View) and init in self.own and len(list(init.uses)) == 1:
            return self.arrays[before.array]
        array = self._new(result)
        if keeps:
            if not isinstance(before, View):
                raise ValueError("it adds to a tensor without contents; fill it first")
            self._copy(op, before, array)
        return array

    def _memory(self, value: SSAValue) -> Array:
        view = self._view(value)
        array = self.arrays[view.array]
        if view != whole(array):
            raise ValueError("it writes a part of a memref; write all of it")
        return array

    # --- ops ------------------------------------------------------------------------------------------

    def _op(self, op: Operation) -> None:
        if isinstance(op, arith.ConstantOp):
            self._constant(op)
        elif isinstance(op, tensor.EmptyOp):
            self.known[op.results[0]] = View(self._type(op.results[0])[0], "", ())
        elif isinstance(op, memref.AllocOp):
            self.known[op.results[0]] = whole(self._new(op.results[0]))
        elif isinstance(op, linalg.GenericOp):
            self._generic(op)
        elif isinstance(op, linalg.FillOp):
            self._fill(op)
        elif op.name == "tensor.pad":
            self._pad(op)
        elif isinstance(op, (tensor.CollapseShapeOp, tensor.ExpandShapeOp)):
            self._reshape(op)
        elif op.name == "tensor.extract_slice":
            self._slice(op)
        elif op.name == "tensor.cast":
            self.known[op.results[0]] = self._view(op.operands[0])
        elif op.name == "memref.copy":
            self._copy(op, self._view(op.operands[0]), self._memory(op.operands[1]))
        elif isinstance(op, func.ReturnOp):
            self._return(op)
        elif op.name != "memref.dealloc":
            raise ValueError("not known; accepted are linalg, tensor.pad, reshapes, slices and constants")

    def _constant(self, op: arith.ConstantOp) -> None:
        if not isinstance(op.result.type, TensorType):
            self.known[op.result] = constant(op)
            return
        if not isinstance(op.value, DenseIntOrFPElementsAttr):
            raise ValueError("a constant of an unknown form")
        shape, kind = self._type(op.result)
        data = np.array(op.value.get_values(), format_of(kind).numpy)
        array = self._array(op.result.name_hint or "constant", shape, kind, Role.IN)
        self.contents[array.name] = np.broadcast_to(
            data if data.size == 1 else data.reshape(shape), shape
        ).copy()
        self.known[op.result] = whole(array)

    def _fill(self, op: linalg.FillOp) -> None:
        """A tensor of one number is a view; what adds to it begins with a nest that fills."""
        value = self.known[op.inputs[0]]
        if isinstance(value, View):
            raise ValueError("the value is a tensor")
        if op.results:
            self.known[op.results[0]] = View(self._type(op.results[0])[0], "", (), value)
            return
        array = self._memory(op.outputs[0])
        self._copy(op, View(array.shape, "", (), value), array)

    def _generic(self, op: linalg.GenericOp) -> None:
        maps = [each.data for each in op.indexing_maps.data]
        block = op.body.block
        count = len(op.inputs)
        accesses = [tuple(_form(each) for each in one.results) for one in maps]
        extents = self._extents(op, accesses)
        if view := self._renamed(op, accesses, extents):
            self.known[op.results[0]] = view
            return
        yielded = block.last_op
        assert yielded is not None
        outs = []
        for number_, init in enumerate(op.outputs):
            result = op.results[number_] if op.results else None
            keeps = bool(list(block.args[count + number_].uses))
            outs.append(self._start(op, init, result, keeps))
        known: dict[SSAValue, Expression] = {
            value: each for value, each in self.known.items() if not isinstance(each, View)
        }
        for place, argument in enumerate(block.args):
            if place < count:
                kind = number(argument.type)
                source = self.known[op.inputs[place]]
                given = source.at(accesses[place], kind) if isinstance(source, View) else source
            else:
                array = outs[place - count]
                given = Load(array.name, accesses[place], array.number)
            known[argument] = given
        for each in block.ops:
            if each is not yielded:
                known[each.results[0]] = scalar(each, known, dims(extents))
        for number_, array in enumerate(outs):
            target = Load(array.name, accesses[count + number_], array.number)
            self._assign(op, extents, target, known[yielded.operands[number_]], last=number_)
            if op.results:
                self.known[op.results[number_]] = whole(array)
                self.own.add(op.results[number_])
        self.nest += 1

    def _extents(self, op: linalg.GenericOp, accesses: list[tuple[Affine, ...]]) -> tuple[int, ...]:
        """Of each loop, from the operand that it indexes alone."""
        found: dict[str, int] = {}
        for access, operand in zip(accesses, (*op.inputs, *op.outputs), strict=True):
            if isinstance(operand.type, (TensorType, MemRefType)):
                for form, size in zip(access, operand.type.get_shape(), strict=True):
                    if form == Affine.name("".join(form.names)):
                        found.setdefault(form.names[0], size)
        names = [f"d{n}" for n in range(op.indexing_maps.data[0].data.num_dims)]
        missing = [each for each in names if each not in found]
        if missing:
            raise ValueError(f"how far {missing[0]} goes is not known: no operand is indexed by it alone")
        return tuple(found[each] for each in names)

    def _renamed(
        self, op: linalg.GenericOp, accesses: list[tuple[Affine, ...]], extents: tuple[int, ...]
    ) -> View | None:
        """A tensor that only holds elements of another at other places: a transpose, a broadcast."""
        block = op.body.block
        if len(op.inputs) != 1 or len(op.results) != 1 or len(list(block.ops)) != 1:
            return None
        assert block.last_op is not None
        source = self.known.get(op.inputs[0])
        if block.last_op.operands[0] != block.args[0] or source is None:
            return None
        names = dims(extents)
        out = [form.names[0] for form in accesses[1] if form == Affine.name("".join(form.names))]
        if sorted(out) != sorted(names) or len(out) != len(accesses[1]):
            return None
        shape = tuple(extents[names.index(each)] for each in out)
        if not isinstance(source, View):
            return View(shape, "", (), source)
        # Loop out[n] is dimension n of the result.
        place = {name: Affine.name(f"d{out.index(name)}") for name in names}
        return moved(source, shape, [form.substitute(place) for form in accesses[0]])

    def _pad(self, op: Operation) -> None:
        """One nest over the padded tensor: the inside is copied, and each side of the border is filled."""
        source, result = self._view(op.operands[0]), op.results[0]
        if len(op.operands) != 1:
            raise ValueError("sizes are not constant")
        low = op.properties["static_low"].get_values()  # type: ignore[attr-defined]
        block = op.regions[0].blocks[0]
        inside_value = block.last_op
        assert inside_value is not None
        known = {value: each for value, each in self.known.items() if not isinstance(each, View)}
        for each in block.ops:
            if each is not inside_value:
                known[each.results[0]] = scalar(each, known, ())
        filler = known[inside_value.operands[0]]
        array = self._new(result)
        names = [Affine.name(each) for each in dims(array.shape)]
        target = Load(array.name, tuple(names), array.number)
        inside: tuple[Affine, ...] = ()
        last = 0
        for name, before, size, padded in zip(names, low, source.shape, array.shape, strict=True):
            for side in (
                ([before - 1 - name] if before else []),
                ([name - before - size] if padded > before + size else []),
            ):
                if side:
                    self._assign(
                        op, array.shape, target, filler, last=last, forms=(*box(array.shape), *inside, *side)
                    )
                    last += 1
            inside = (*inside, name - before, before + size - 1 - name)
        place = [name - before for name, before in zip(names, low, strict=True)]
        value = source.at(place, array.number)
        self._assign(op, array.shape, target, value, last=last, forms=(*box(array.shape), *inside))
        self.nest += 1
        self.known[result] = whole(array)

    def _reshape(self, op: tensor.CollapseShapeOp | tensor.ExpandShapeOp) -> None:
        source, result = self._view(op.operands[0]), op.results[0]
        shape, kind = self._type(result)
        groups = [[index.value.data for index in group.data] for group in op.reassociation.data]
        collapses = isinstance(op, tensor.CollapseShapeOp)
        wide = source.shape if collapses else shape
        linear = []
        for group in groups:
            total = Affine()
            for dim in group:
                total = total * wide[dim] + (Affine.name(f"d{dim}") if wide[dim] > 1 else Affine())
            linear.append(total)
        if not collapses:
            self.known[result] = moved(source, shape, linear)
            return
        place = [Affine() for _ in wide]
        simple = True
        for number_, group in enumerate(groups):
            large = [dim for dim in group if wide[dim] > 1]
            simple = simple and len(large) <= 1
            for dim in large:
                place[dim] = Affine.name(f"d{number_}")
        if simple or source.value is not None:
            self.known[result] = moved(source, shape, place)
            return
        array = self._new(result)
        here = source.at([Affine.name(each) for each in dims(wide)], kind)
        self._assign(op, wide, Load(array.name, tuple(linear), kind), here)
        self.nest += 1
        self.known[result] = whole(array)

    def _slice(self, op: Operation) -> None:
        source, result = self._view(op.operands[0]), op.results[0]
        if len(op.operands) != 1:
            raise ValueError("offsets are not constant")
        offsets, strides = (op.properties[f"static_{each}"].get_values() for each in ("offsets", "strides"))  # type: ignore[attr-defined]
        shape, _ = self._type(result)
        if len(shape) != len(source.shape):
            raise ValueError("it drops dimensions")
        place = [
            Affine.name(f"d{n}") * stride + offset
            for n, (offset, stride) in enumerate(zip(offsets, strides, strict=True))
        ]
        self.known[result] = moved(source, shape, place)

    def _return(self, op: func.ReturnOp) -> None:
        for place, value in enumerate(op.operands):
            view = self._view(value)
            name = "result" if len(op.operands) == 1 else f"result{place}"
            array = self.arrays.get(view.array)
            if array is None or array.role is not Role.LOCAL or view != whole(array):
                array = self._array(name, *self._type(value), Role.OUT)
                self._copy(op, view, array)
                continue
            self._rename(array, name)

    def _rename(self, array: Array, name: str) -> None:
        """A local array becomes a result."""
        unique = fresh(name, set(self.arrays))
        renamed = {each.name: each for each in self.arrays.values() if each.name != array.name}
        renamed[unique] = Array(unique, array.shape, array.number, Role.OUT)
        self.arrays = renamed
        self.statements = [_renamed_in(each, array.name, unique) for each in self.statements]
        self.known = {
            value: View(each.shape, unique, each.subscripts, each.value)
            if isinstance(each, View) and each.array == array.name
            else each
            for value, each in self.known.items()
        }


def _renamed_in(statement: Statement, old: str, new: str) -> Statement:
    def change(load: Load) -> Load:
        return replace(load, array=new) if load.array == old else load

    return replace(statement, target=change(statement.target), value=with_loads(statement.value, change))


def _form(expression: AffineExpr) -> Affine:
    """Raises ValueError for what has divisions."""
    if isinstance(expression, AffineDimExpr):
        return Affine.name(f"d{expression.position}")
    if isinstance(expression, AffineConstantExpr):
        return Affine((), expression.value)
    if isinstance(expression, AffineBinaryOpExpr):
        left, right = _form(expression.lhs), _form(expression.rhs)
        if expression.kind is AffineBinaryOpKind.Add:
            return left + right
        if expression.kind is AffineBinaryOpKind.Mul and left.is_constant:
            return right * left.constant
        if expression.kind is AffineBinaryOpKind.Mul and right.is_constant:
            return left * right.constant
    raise ValueError(f"an indexing map with {expression} is not affine in the loops")
