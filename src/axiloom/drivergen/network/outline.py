"""Cutting a network into layers: each becomes a function, the network calls them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, TensorType, i64
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.c.names import identifier
from axiloom.drivergen.dialects.mlir import fail, where
from axiloom.drivergen.network import constants, cpu
from axiloom.drivergen.network.cpu.group import groups
from axiloom.drivergen.network.layers import (
    VIEWS,
    Layer,
    Place,
    candidates,
    multiply_adds,
    operands_of,
    title,
    with_inits,
)
from axiloom.drivergen.network.memory import ALIGNMENT
from axiloom.drivergen.network.offers import Plan
from axiloom.drivergen.network.passes import generics
from axiloom.drivergen.network.passes.own_inits import is_init

Accepts = Callable[[func.FuncOp, str], int | str]
"""Which accelerator executes a function (named so): its number, or the reason why none does."""

PLACE, DEVICE = "axiloom.place", "axiloom.device"
"""Attributes of a layer's function: ``cpu`` or ``accelerator``, and the number of the accelerator."""

LETTERS = ("x", "y", "z")
MOVERS = (tensor.PadOp, tensor.ExtractSliceOp, tensor.InsertSliceOp, tensor.ConcatOp, tensor.SplatOp)


@dataclass
class _Cut:
    """One network while it is cut."""

    function: func.FuncOp
    accepts: Accepts | None
    post: bool
    least: int = 0
    """Multiply-adds from which on a product is offered to the accelerator."""
    plan: Plan | None = None
    """What was chosen for each product; without, the first that `accepts` says yes to."""
    layers: dict[func.CallOp, Layer] = field(default_factory=dict)
    functions: dict[str, tuple[func.FuncOp, str | None]] = field(default_factory=dict)
    """Text of a layer to its function, and why it is on the CPU."""
    taken: set[str] = field(default_factory=set)
    numbers: dict[Operation, int] = field(default_factory=dict)
    """Of each op, before the cut."""

    def run(self) -> None:
        self.numbers = {op: number for number, op in enumerate(self.function.body.block.ops)}
        done: set[Operation] = set()
        by_hand = groups(self.function.body.block, cpu.FORMS, lambda ops: _function(ops, "layer")[0])
        for op in list(self.function.body.block.ops):
            if op in done or isinstance(op, func.ReturnOp) or is_free(op):
                continue
            if op in by_hand:
                group = by_hand[op]
                if op is group.ops[-1]:
                    self._layer(group.ops, op, None, word=group.form.word)
                continue
            if isinstance(op, tensor.PadOp) and self._goes_with_product(op):
                continue  # with the product behind it, or when that has turned out not to take it
            if is_init(op):
                if self._is_read(op):
                    self._layer([op], op, None)
                continue
            if not isinstance(op, (linalg.GenericOp, *MOVERS)):
                fail(op, "networks cannot have it; accepted are linalg, arith, math and tensor operations")
            if isinstance(op, linalg.GenericOp) and generics.is_contraction(op):
                done |= set(self._product(op))
            else:
                self._layer([op], op, None)
        generics.drop_unused(self.function.body.block)

    def _goes_with_product(self, op: tensor.PadOp) -> bool:
        users = [use.operation for use in op.result.uses]
        products = [u for u in users if isinstance(u, linalg.GenericOp) and generics.is_contraction(u)]
        return self.accepts is not None and len(users) == 1 and len(products) == 1

    def _is_read(self, op: Operation) -> bool:
        """Somebody needs it in memory: it is returned, or an op that is no layer of its own reads it."""
        users = [use.operation for result in op.results for use in result.uses]
        filled = isinstance(op, linalg.FillOp) or (
            isinstance(op, arith.ConstantOp) and isinstance(op.result.type, TensorType)
        )
        return filled and any(isinstance(user, (func.ReturnOp, *VIEWS)) for user in users)

    def _product(self, op: linalg.GenericOp) -> list[Operation]:
        """The group around a product that was chosen or, without a plan, the largest that the accelerator
        takes; else the product on the CPU."""
        if self.plan is not None:
            return self._planned(op, self.plan)
        reason: str | None = None
        chosen: list[Operation] = [op]
        device: int | None = None
        count = multiply_adds(op)
        if self.accepts is not None and count < self.least:
            reason = f"{count:,} multiply-adds are fewer than --offload-from {self.least:,}"
        offered = self.accepts is not None and reason is None
        for group in candidates(op, post=self.post) if offered else ():
            assert self.accepts is not None
            answer = self.accepts(as_layer(group, self.function), title(op))
            reason = answer if isinstance(answer, str) else None
            if isinstance(answer, int):
                chosen, device = group, answer
                break
        return self._cut_out(op, chosen, reason, device)

    def _planned(self, op: linalg.GenericOp, plan: Plan) -> list[Operation]:
        chosen = plan[self.numbers[op]]
        ops = {number: member for member, number in self.numbers.items() if number in chosen.ops}
        return self._cut_out(op, [ops[number] for number in chosen.ops], chosen.reason, chosen.device)

    def _cut_out(
        self, op: linalg.GenericOp, chosen: list[Operation], reason: str | None, device: int | None
    ) -> list[Operation]:
        """The layer of a product; a padding that does not go with it is one of its own."""
        for value in op.inputs:
            pad = value.owner
            if isinstance(pad, tensor.PadOp) and self._goes_with_product(pad) and pad not in chosen:
                self._layer([pad], pad, None)
        self._layer(chosen, op, reason, device)
        return chosen

    def _layer(
        self,
        group: Sequence[Operation],
        main: Operation,
        reason: str | None,
        device: int | None = None,
        word: str | None = None,
    ) -> None:
        function, outside = _function(group, "layer")
        place: Place = "cpu" if device is None else "accelerator"
        if device is not None:
            constants.mark(function, outside, self.function)
        key = f"{device} {function}"
        if key not in self.functions:
            function.sym_name = StringAttr(self._name(identifier(title(main, word))))
            function.attributes[PLACE] = StringAttr(place)
            if device is not None:
                function.attributes[DEVICE] = IntegerAttr(device, i64)
            self.functions[key] = (function, reason)
        callee, _ = self.functions[key]
        last = group[-1]
        call = func.CallOp(callee.sym_name.data, outside, [result.type for result in last.results])
        call.location = main.location
        Rewriter.insert_op(call, InsertPoint.before(last))
        for old, new in zip(last.results, call.res, strict=True):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        for op in reversed(group):
            if all(result.first_use is None for result in op.results):
                Rewriter.erase_op(op)
        count = sum(multiply_adds(op) for op in callee.body.block.ops)
        ops = tuple(self.numbers[op] for op in group)
        self.layers[call] = Layer(0, callee.sym_name.data, place, where(call), reason, count, device, ops)

    def _name(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self.taken:
            number += 1
            name = f"{wanted}_{number}"
        self.taken.add(name)
        return name


def device_of(function: func.FuncOp) -> int:
    """Number of the accelerator of a layer's function."""
    number = function.attributes[DEVICE]
    assert isinstance(number, IntegerAttr)
    return int(number.value.data)


def is_free(op: Operation) -> bool:
    """Reshapes, and slices that are whole cache lines in one piece."""
    if isinstance(op, VIEWS):
        return True
    return isinstance(op, tensor.ExtractSliceOp) and slice_offset(op) is not None


def slice_offset(op: tensor.ExtractSliceOp) -> int | None:
    """Where a slice without gaps begins, in bytes; None if it has gaps or begins inside of a cache line."""
    source = op.source.type
    assert isinstance(source, TensorType)
    shape = source.get_shape()
    offsets, sizes = op.static_offsets.get_values(), op.static_sizes.get_values()
    if set(op.static_strides.get_values()) != {1}:
        return None
    inner = len(shape)
    while inner > 0 and sizes[inner - 1] == shape[inner - 1]:
        inner -= 1
    if any(size != 1 for size in sizes[: max(inner - 1, 0)]):
        return None
    at = 0
    for size, offset in zip(shape, offsets, strict=True):
        at = at * size + offset
    begin = at * max(generics.width(source.element_type) // 8, 1)
    if not generics.width(source.element_type):
        begin = at * (8 if str(source.element_type) == "f64" else 4)
    return begin if begin % ALIGNMENT == 0 else None


def as_layer(group: Sequence[Operation], network: func.FuncOp) -> func.FuncOp:
    """A group of ops as a layer that is offered to an accelerator: what it reads of weights is marked."""
    layer, outside = _function(group, "layer")
    constants.mark(layer, outside, network)
    return layer


def _function(group: Sequence[Operation], name: str) -> tuple[func.FuncOp, list[SSAValue]]:
    """A function that does what `group` does, and the values it is to be called with."""
    ops = with_inits(group)
    inside = {result for op in ops for result in op.results}
    outside = list(dict.fromkeys(v for op in ops for v in operands_of(op) if v not in inside))
    results = list(group[-1].results)
    function = func.FuncOp(name, ([v.type for v in outside], [v.type for v in results]))
    function.location = group[-1].location
    block = function.body.block
    values: dict[SSAValue, SSAValue] = {}
    for number, (value, arg) in enumerate(zip(outside, block.args, strict=True)):
        arg.name_hint = LETTERS[number] if number < len(LETTERS) else f"in{number}"
        values[value] = arg
    for op in ops:
        copy = op.clone(values)
        for old, new in zip(op.walk(), copy.walk(), strict=True):
            new.location = old.location
            for result in new.results:
                result.name_hint = None
            for region in new.regions:
                for inner in region.blocks:
                    for arg in inner.args:
                        arg.name_hint = None
        block.add_op(copy)
    returned = [values[v] for v in results]
    for value in returned:
        value.name_hint = "out"
    block.add_op(func.ReturnOp(*returned))
    return function, outside


def outline(
    module: ModuleOp,
    accepts: Accepts | None = None,
    *,
    post: bool = False,
    least: int = 0,
    plan: Plan | None = None,
) -> list[Layer]:
    """Move each layer of the one function of `module` into a function of its own, equal ones into one.

    `accepts` says what an accelerator takes (None: there is none), `post` whether it may take the
    element-wise op behind a product too; products of fewer than `least` multiply-adds are not offered. With a
    `plan` nobody is asked: it says where each product goes.
    Raises CompileError for an op that no layer can be made of.
    """
    (function,) = [op for op in module.ops if isinstance(op, func.FuncOp) and not op.is_declaration]
    cut = _Cut(function, accepts, post, least, plan, taken={identifier(function.sym_name.data)})
    cut.run()
    for layer, _ in cut.functions.values():
        module.body.block.insert_op_before(layer, function)
    calls = [op for op in function.body.block.ops if isinstance(op, func.CallOp)]
    return [replace(cut.layers[call], number=number) for number, call in enumerate(calls)]


@dataclass(frozen=True)
class Outline(ModulePass):
    """Cut a network into layers, all for the CPU.

    ::

        func.func @net(%x : tensor<4x8xf32>, %w : tensor<8x8xf32>) -> tensor<4x8xf32> {
          %0 = linalg.fill ...
          %1 = linalg.generic {doc = "linalg.matmul", ...} ins(%x, %w : ...) outs(%0 : ...)
          %2 = linalg.generic ... ins(%1 : ...) outs(...) {maximumf}
          func.return %2
        }

        func.func @matmul_4x8x8(%x : ..., %y : ...) -> tensor<4x8xf32> {...}
        func.func @relu_4x8(%x : tensor<4x8xf32>) -> tensor<4x8xf32> {...}
        func.func @net(%x : tensor<4x8xf32>, %w : tensor<8x8xf32>) -> tensor<4x8xf32> {
          %1 = func.call @matmul_4x8x8(%x, %w)
          %2 = func.call @relu_4x8(%1)
          func.return %2
        }
    """

    name = "accel-outline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        outline(op)
