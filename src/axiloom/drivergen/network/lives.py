"""Where each tensor of a cut network lies: in an argument's array, a weight's, or a part of the arena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from axiloom.drivergen.c.driver import Arg
from axiloom.drivergen.c.names import c_type, numpy_type
from axiloom.drivergen.dialects.mlir import fail
from axiloom.drivergen.network.layers import VIEWS
from axiloom.drivergen.network.memory import Buffer, MemoryPlan, plan
from axiloom.drivergen.network.outline import slice_offset

ELEMENT_BYTES = {"bool": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "float32": 4, "float64": 8}


@dataclass(frozen=True)
class Tensor:
    """A tensor in memory: `base` is a C array, or "" for the arena; `offset` in bytes from there."""

    base: str
    offset: int
    dtype: str
    buffer: int | None = None
    """Number of the buffer in the plan, of what is in the arena."""


@dataclass(frozen=True)
class Step:
    """One call: for each argument of the C function the tensor that is passed."""

    function: str
    arguments: tuple[Tensor, ...]
    results: tuple[Tensor, ...] = ()
    """Where the values lie that the call of the cut network returns, in their order."""


@dataclass
class Lives:
    """What :func:`assign` finds: the calls, copies at the end, and the plan of the arena."""

    steps: list[Step] = field(default_factory=list)
    copies: list[tuple[Arg, Tensor]] = field(default_factory=list)
    """Results that lie elsewhere, and where."""
    plan: MemoryPlan = field(default_factory=MemoryPlan)

    def address(self, one: Tensor) -> tuple[str, int]:
        """Array and byte offset; the arena's is ``axl_arena``."""
        if one.buffer is None:
            return one.base, one.offset
        return "axl_arena", self.plan.places[one.buffer].offset + one.offset


def dtype_of(op: Operation, value: SSAValue) -> str:
    """NumPy's name of a tensor's element type; CompileError where C has none."""
    kind = value.type
    assert isinstance(kind, TensorType)
    element = c_type(kind.element_type)
    if element is None:
        fail(op, f"{kind} has elements that C has no type for; accepted are i1 to i64, f32 and f64")
    return numpy_type(element)


def size_of(value: SSAValue, dtype: str) -> int:
    """Bytes of a tensor."""
    assert isinstance(value.type, TensorType)
    return prod(value.type.get_shape()) * ELEMENT_BYTES[dtype]


@dataclass
class _Assignment:
    function: func.FuncOp
    arguments: Sequence[Arg]
    """Of the network: one for each argument of `function`, then one for each result."""
    callees: Mapping[str, Sequence[Arg]]
    """Arguments of each layer's C function."""
    where: dict[SSAValue, Tensor] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)

    def run(self) -> Lives:
        lives = Lives()
        for value, arg in zip(self.function.args, self.arguments, strict=False):
            self.where[value] = Tensor(arg.symbol, 0, arg.dtype)
        wanted = self._wanted()
        number = 0
        for op in self.function.body.block.ops:
            if isinstance(op, func.CallOp):
                lives.steps.append(self._call(op, number, wanted))
                number += 1
            elif isinstance(op, VIEWS):
                self.where[op.results[0]] = self.where[op.operands[0]]
            elif isinstance(op, tensor.ExtractSliceOp):
                source = self.where[op.source]
                more = slice_offset(op) or 0
                self.where[op.result] = Tensor(source.base, source.offset + more, source.dtype, source.buffer)
            elif isinstance(op, func.ReturnOp):
                lives.copies = self._results(op, number)
        buffers = [
            Buffer(name, size, *span)
            for name, size, span in zip(self.names, self.sizes, self.spans, strict=True)
        ]
        lives.plan = plan(buffers)
        return lives

    def _wanted(self) -> dict[SSAValue, Tensor]:
        """Values that are written straight to the network's results: those that are returned whole, once."""
        last = self.function.body.block.last_op
        assert isinstance(last, func.ReturnOp)
        tensors: dict[SSAValue, Tensor] = {}
        for value, arg in zip(last.arguments, self.arguments[len(self.function.args) :], strict=True):
            at = value
            while isinstance(at.owner, VIEWS):
                at = at.owner.operands[0]
            if isinstance(at.owner, func.CallOp) and at not in tensors:
                tensors[at] = Tensor(arg.symbol, 0, arg.dtype)
        return tensors

    def _results(self, op: func.ReturnOp, number: int) -> list[tuple[Arg, Tensor]]:
        copies = []
        for value, arg in zip(op.arguments, self.arguments[len(self.function.args) :], strict=True):
            place = self.where[value]
            if (place.base, place.offset) != (arg.symbol, 0):
                copies.append((arg, place))
                self._read(place, number)
        return copies

    def _read(self, one: Tensor, number: int) -> None:
        if one.buffer is not None:
            first, last = self.spans[one.buffer]
            self.spans[one.buffer] = first, max(last, number)

    def _call(self, op: func.CallOp, number: int, wanted: Mapping[SSAValue, Tensor]) -> Step:
        name = op.callee.root_reference.data
        passed: list[Tensor] = []
        for position, arg in enumerate(self.callees[name]):
            if position < len(op.arguments):
                tensor = self.where[op.arguments[position]]
                self._read(tensor, number)
                passed.append(tensor)
                if arg.result is not None:  # updated in place
                    self.where[op.res[arg.result]] = tensor
                elif arg.kind != "in":
                    fail(op, f"layer {name} changes its argument {position}")
                continue
            assert arg.result is not None, "arguments behind those of the call are results"
            result = op.res[arg.result]
            place = wanted.get(result) or self._allocate(op, result, number)
            self.where[result] = place
            passed.append(place)
        return Step(name, tuple(passed), tuple(self.where[result] for result in op.res))

    def _allocate(self, op: func.CallOp, value: SSAValue, number: int) -> Tensor:
        dtype = dtype_of(op, value)
        self.names.append(f"{number}:{op.callee.root_reference.data}")
        self.sizes.append(size_of(value, dtype))
        self.spans.append((number, number))
        return Tensor("", 0, dtype, len(self.names) - 1)


def assign(function: func.FuncOp, arguments: Sequence[Arg], callees: Mapping[str, Sequence[Arg]]) -> Lives:
    """The calls of a cut network with the memory of their arguments.

    `arguments`: one for each argument of `function`, then one for each result; `callees`: the arguments of
    each layer's C function.
    """
    return _Assignment(function, arguments, callees).run()
