"""Words of channels of constant bias, multiplier and shift are an argument instead of being put together."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import FunctionType, ModuleOp, UnitAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import BlockArgument
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from axiloom.drivergen.nest.packed import (
    CONSTANT,
    SOURCES,
    argument_attributes,
    set_attributes,
    source_numbers,
)
from axiloom.drivergen.passes.frontend.fuse_epilogue import PACKING


def _parts(function: func.FuncOp, op: linalg.GenericOp) -> list[BlockArgument] | None:
    """Bias, multiplier and shift, where all three are constant arguments that nothing else needs."""
    attributes = argument_attributes(function)
    arguments: list[BlockArgument] = []
    for value in op.inputs:
        if not isinstance(value, BlockArgument) or value.block is not function.body.block:
            return None
        if CONSTANT not in attributes[value.index] or any(use.operation is not op for use in value.uses):
            return None
        arguments.append(value)
    return arguments


def _prepare(function: func.FuncOp, op: linalg.GenericOp) -> None:
    parts = _parts(function, op)
    if parts is None:
        return
    block, attributes = function.body.block, argument_attributes(function)
    for number, attrs in enumerate(attributes):
        attrs.setdefault(SOURCES, source_numbers([number]))
    numbers = [n for part in parts for n in attributes[part.index][SOURCES].get_values()]  # type: ignore[attr-defined]
    channels = block.insert_arg(op.results[0].type, parts[0].index)
    channels.name_hint = "P"
    attributes.insert(channels.index, {CONSTANT: UnitAttr(), SOURCES: source_numbers(numbers)})
    op.results[0].replace_all_uses_with(channels)
    empty = op.outputs[0].owner
    Rewriter.erase_op(op)
    if isinstance(empty, tensor.EmptyOp) and empty.tensor.first_use is None:
        Rewriter.erase_op(empty)
    for part in dict.fromkeys(parts):
        attributes.pop(part.index)
        block.erase_arg(part)
    function.function_type = FunctionType.from_lists(block.arg_types, function.function_type.outputs.data)
    set_attributes(function, attributes)


@dataclass(frozen=True)
class PrepareChannels(ModulePass):
    """Take what constant bias, multiplier and shift make together as an argument.

    ::

        func.func @f(%A : ..., %bias : tensor<8xi32> {accel.constant},
                     %multiplier : tensor<8xi32> {accel.constant}, %shift : ...) -> ... {
          %P = linalg.generic {..., doc = "accel.channels"} ins(%bias, %multiplier, %shift : ...)
              outs(%EP : tensor<8x2xi32>) {...}

        func.func @f(%A : ... {accel.sources = array<i64: 0>},
                     %P : tensor<8x2xi32> {accel.constant, accel.sources = array<i64: 1, 2, 3>}) -> ... {

    It is for who calls the function to put them together, once
    (:func:`axiloom.drivergen.nest.packed.made_of`).
    Comes behind accel-fuse-epilogue.
    """

    name = "accel-prepare-channels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [o for o in op.ops if isinstance(o, func.FuncOp) and not o.is_declaration]:
            for generic in [o for o in function.walk() if isinstance(o, linalg.GenericOp)]:
                if generic.doc is not None and generic.doc.data == PACKING:
                    _prepare(function, generic)
