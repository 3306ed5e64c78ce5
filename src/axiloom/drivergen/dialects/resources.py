"""Constants whose data stand at the end of the text: ``dense_resource<name>`` becomes ``dense<...>``."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    Builtin,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    IntegerType,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Dialect, Operation

ALIGNMENT_BYTES = 4
"""In front of the data: their alignment."""


def builtin_dialect() -> Dialect:
    """xDSL's, with resources of its own: those of xDSL are those of all texts that were ever parsed."""
    return Dialect("builtin", list(Builtin.operations), list(Builtin.attributes), [OpAsmDialectInterface()])


def dense(op: Operation, ctx: Context) -> str | None:
    """Give a constant its data from the resources that `ctx` has read; what is wrong, if it cannot."""
    if not isinstance(op, arith.ConstantOp) or not isinstance(op.value, DenseResourceAttr):
        return None
    name, kind = op.value.resource_handle.data, op.value.type
    storage = ctx.get_dialect("builtin").get_interface(OpAsmDialectInterface)
    blob = storage.lookup(name) if storage is not None else None
    if not blob:
        return f"there are no data for the resource {name}"
    if not isinstance(kind, TensorType) or kind.element_type == IntegerType(1):
        return f"resources of {kind} are not supported; accepted are tensors of i8 to i64, f32 and f64"
    data = bytes.fromhex(blob.removeprefix("0x"))[ALIGNMENT_BYTES:]
    wanted = kind.element_type.compile_time_size
    for size in kind.get_shape():
        wanted *= size
    if len(data) != wanted:
        return f"the resource {name} has {len(data)} bytes, {kind} has {wanted}"
    op.properties["value"] = DenseIntOrFPElementsAttr(kind, BytesAttr(data))
    return None


def resolve(module: ModuleOp, ctx: Context) -> tuple[Operation, str] | None:
    """All constants of `module`; the first that has no data, and why."""
    for op in module.walk():
        if (fault := dense(op, ctx)) is not None:
            return op, fault
    return None
