"""linalg in MLIR to a program: one nest for each op on tensors or memrefs.

`from_module` takes a module in which named ops have become `linalg.generic`. Tensors are values: an op writes
a new array, or adds to the one it starts from where nothing else needs that (``linalg_nests.py``).
Transposes, slices and reshapes that only rename elements are no nests but other subscripts
(``linalg_views.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects import arith, func, memref, tensor
from xdsl.dialects.builtin import (
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation, SSAValue

from axiloom.base.attributes import WEIGHT
from axiloom.base.errors import CompileError
from axiloom.isa.numerics.formats import format_of
from axiloom.nests.poly.liveness import with_roles
from axiloom.nests.program import Load, Program, Role
from axiloom.nests.program.loaded import Loaded
from axiloom.nests.read import linalg_ops
from axiloom.nests.read.linalg_body import number
from axiloom.nests.read.linalg_nests import Nests
from axiloom.nests.read.linalg_views import View, whole


def from_module(
    module: ModuleOp,
    function: str = "",
    weights: Mapping[str, npt.NDArray[Any]] | None = None,
    file: str = "",
) -> Loaded:
    """The program of a function of the module, by default its only one. `weights` are contents by the name in
    `axiloom.weight`. Raises CompileError with the op's place."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp)}
    chosen = functions.get(function) if function else next(iter(functions.values()), None)
    if chosen is None or (not function and len(functions) > 1):
        raise CompileError(f"{file}: which function? there are {', '.join(functions) or 'none'}")
    return _Reader(file, weights or {}).function(chosen)


class _Reader:
    def __init__(self, file: str, weights: Mapping[str, npt.NDArray[Any]]) -> None:
        self.nests, self.weights = Nests(file), weights

    def function(self, node: func.FuncOp) -> Loaded:
        attributes = node.arg_attrs.data if node.arg_attrs is not None else ()
        for place, argument in enumerate(node.body.block.args):
            attrs = attributes[place].data if place < len(attributes) else {}
            weight = attrs.get(WEIGHT)
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
        program = Program(node.sym_name.data, tuple(self.nests.arrays.values()), tuple(self.nests.statements))
        return Loaded(with_roles(program, self.nests.free), self.nests.contents)

    def fault(self, op: Operation, why: str) -> CompileError:
        return CompileError(f"{self.nests.where(op) or self.nests.file}: {why}")

    def _argument(self, value: SSAValue, name: str, is_weight: bool) -> None:
        if not isinstance(value.type, (TensorType, MemRefType)):
            array = self.nests.array(name, (), number(value.type), Role.IN)
            self.nests.known[value] = Load(array.name, (), array.number)
            return
        array = self.nests.array(name, *self.nests.type_of(value), Role.IN)
        if isinstance(value.type, MemRefType):
            self.nests.free.add(array.name)
        if is_weight and name in self.weights:
            data = np.asarray(self.weights[name])
            self.nests.contents[array.name] = data.astype(format_of(array.number).numpy).reshape(array.shape)
        self.nests.known[value] = whole(array)

    def _op(self, op: Operation) -> None:
        if isinstance(op, arith.ConstantOp):
            linalg_ops.constant(self.nests, op)
        elif isinstance(op, tensor.EmptyOp):
            self.nests.known[op.results[0]] = View(self.nests.type_of(op.results[0])[0], "", ())
        elif isinstance(op, memref.AllocOp):
            self.nests.known[op.results[0]] = whole(self.nests.new(op.results[0]))
        elif isinstance(op, linalg.GenericOp):
            linalg_ops.generic(self.nests, op)
        elif isinstance(op, linalg.FillOp):
            linalg_ops.fill(self.nests, op)
        elif op.name == "tensor.pad":
            linalg_ops.pad(self.nests, op)
        elif isinstance(op, (tensor.CollapseShapeOp, tensor.ExpandShapeOp)):
            linalg_ops.reshape(self.nests, op)
        elif op.name == "tensor.extract_slice":
            linalg_ops.slice_(self.nests, op)
        elif op.name == "tensor.cast":
            self.nests.known[op.results[0]] = self.nests.view(op.operands[0])
        elif op.name == "memref.copy":
            self.nests.copy(op, self.nests.view(op.operands[0]), self.nests.memory(op.operands[1]))
        elif isinstance(op, func.ReturnOp):
            linalg_ops.return_(self.nests, op)
        elif op.name != "memref.dealloc":
            raise ValueError("not known; accepted are linalg, tensor.pad, reshapes, slices and constants")
