"""Arguments whose elements have no sign become what they are in C."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, IntegerType, MemRefType, ModuleOp, Signedness
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import BlockArgument
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from axiloom.drivergen.match.matmul import extension
from axiloom.drivergen.match.trait import is_annotated
from axiloom.isa.numerics import UINT8


@dataclass(frozen=True)
class UnsignedArguments(ModulePass):
    """An argument of i8 that only an accelerator reads, which takes uint8, becomes ui8.

    ::

        func.func @f(%A : memref<4x8xi8>, ...) {
          linalg.generic ... ins(%A, %B : memref<4x8xi8>, ...) {
          ^bb0(%a : i8, ...):
            %wide = arith.extui %a : i8 to i32

        func.func @f(%A : memref<4x8xui8>, ...) {
          linalg.generic ... ins(%A, %B : memref<4x8xui8>, ...) {
          ^bb0(%a : ui8, ...):
            %wide = arith.extui %a : ui8 to i32

    MLIR's integers have no sign, and MLIR's `arith` takes no others. In C, an array of them is ``uint8_t`` or
    ``int8_t``; here it is known which. The body is not executed on the CPU, so nothing else reads the type.
    What something else reads stays as it is: the bits are the same. Comes behind accel-annotate.
    """

    name = "accel-unsigned-arguments"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [o for o in op.ops if isinstance(o, func.FuncOp) and not o.is_declaration]:
            for arg in list(function.body.block.args):
                _rewrite(arg)
            types = [arg.type for arg in function.body.block.args]
            function.function_type = FunctionType.from_lists(types, function.function_type.outputs.data)


def _rewrite(arg: BlockArgument) -> None:
    kind = arg.type
    if not isinstance(kind, MemRefType) or str(kind.element_type) != UINT8.mlir or not arg.uses:
        return
    uses = [(use.operation, use.index) for use in arg.uses]
    for op, _ in uses:
        if not isinstance(op, linalg.GenericOp) or not is_annotated(op) or extension(op) != UINT8.extend:
            return
    element = IntegerType(UINT8.bits, Signedness.UNSIGNED)
    array = MemRefType(element, kind.get_shape(), kind.layout, kind.memory_space)
    Rewriter.replace_value_with_new_type(arg, array)
    for op, number in uses:
        Rewriter.replace_value_with_new_type(op.regions[0].block.args[number], element)
