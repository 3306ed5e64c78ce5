"""Tensors become memrefs: results are written where the caller says.

A fill belongs to an array, not to a name. The compiler may drop the zeros in front of a product. To
decide, it looks at the array behind reshapes. If anything touches that array in between, the zeros stay.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith, func, memref, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects.mlir import fail
from axiloom.drivergen.nest.packed import CONSTANT, SOURCES
from axiloom.drivergen.passes.frontend.bufferise_tensor import RULES, VIEWS, Buffers

KEPT = (CONSTANT, SOURCES)
"""Attributes of arguments that stay."""
RETURNS = "functions may return only ranked tensors"


def _buffer_type(kind: Attribute) -> Attribute:
    return MemRefType(kind.element_type, kind.get_shape()) if isinstance(kind, TensorType) else kind


def _init(value: SSAValue) -> SSAValue | None:
    """The `outs` operand whose contents the linalg op that defines `value` updates."""
    op = value.owner
    if isinstance(op, linalg.GenericOp | linalg.FillOp):
        return op.outputs[op.results.index(value)]
    return None


def _exclusive(value: SSAValue) -> bool:
    """Whether what reads `value` is the only one that sees its memory, through whatever view."""
    if not value.has_one_use():
        return False
    if isinstance(value.owner, VIEWS):
        source = value.owner.operands[0]
        return isinstance(source.owner, Operation) and _exclusive(source)
    return not isinstance(value.owner, arith.ConstantOp)


def _root(value: SSAValue) -> SSAValue:
    """Where the contents of `value` start, as far as nobody else reads what lies between."""
    while (before := _init(value)) is not None and before.has_one_use():
        value = before
    return value


@dataclass
class _Function(Buffers):
    """One function on its way from tensors to memrefs."""

    function: func.FuncOp
    module: ModuleOp
    buffers: dict[SSAValue, SSAValue] = field(default_factory=dict)
    wanted: dict[SSAValue, SSAValue] = field(default_factory=dict)
    """Result tensor to the argument it is to be written to."""

    def convert(self) -> list[SSAValue]:
        """Returns the argument that each result ends up in."""
        block = self.function.body.block
        last = block.last_op
        if not isinstance(last, func.ReturnOp):
            fail(self.function, "its last operation must be func.return")
        for arg in block.args:
            if isinstance(arg.type, TensorType):
                # The tensor stays as the key of `buffers` until nothing uses it any more.
                new = block.insert_arg(_buffer_type(arg.type), arg.index)
                new.name_hint = arg.name_hint
                self.buffers[arg] = new
        old_args = [arg for arg in block.args if isinstance(arg.type, TensorType)]
        outs = [self._destination(number, value) for number, value in enumerate(last.arguments)]
        for op in list(block.ops):
            self._operation(op)
        results = []
        for value, out in zip(last.arguments, outs, strict=True):
            contents = self._input(last, value)
            if out is not None and contents is not out:
                Rewriter.insert_op(memref.CopyOp(contents, out), InsertPoint.before(last))
            results.append(contents if out is None else out)
        Rewriter.replace_op(last, func.ReturnOp())
        for op in reversed(list(block.ops)):
            if any(isinstance(r.type, TensorType) for r in op.results):
                Rewriter.erase_op(op)
        for arg in old_args:
            block.erase_arg(arg)
        self.function.function_type = FunctionType.from_lists(block.arg_types, [])
        return results

    def _destination(self, number: int, value: SSAValue) -> SSAValue | None:
        """A new argument for result `number`, or None where it is updated in place in an argument."""
        if not isinstance(value.type, TensorType):
            fail(self.function, f"it returns {value.type}; {RETURNS}")
        root = _root(value)
        block = self.function.body.block
        if root is not value and root in block.args and root.has_one_use():
            return None
        out = block.insert_arg(_buffer_type(value.type), len(block.args))
        out.name_hint = value.name_hint or "out"
        at = value
        if type(at.owner) in RULES and not isinstance(at.owner, VIEWS):
            self.wanted[at] = out
        while (before := _init(at)) is not None:
            self.wanted[at] = out
            if at is root:
                break  # others read what it starts from
            at = before
        return out

    def _operation(self, op: Operation) -> None:
        if isinstance(op, linalg.GenericOp | linalg.FillOp):
            self._linalg(op)
        elif type(op) in RULES:
            RULES[type(op)](self, op)
        elif isinstance(op, tensor.EmptyOp | arith.ConstantOp | func.ReturnOp):
            pass  # they get memory where they are used
        elif _uses_tensors(op):
            fail(op, "no way to offload it or to give its tensors memory")

    def _constant(self, op: arith.ConstantOp) -> SSAValue:
        """The memory of a dense constant: a read-only global."""
        assert isinstance(op.value, DenseIntOrFPElementsAttr)
        number = sum(isinstance(o, memref.GlobalOp) for o in self.module.ops)
        name, kind = f"constant_{number}", _buffer_type(op.result.type)
        self.module.body.block.insert_op_before(
            memref.GlobalOp.get(StringAttr(name), kind, op.value, constant=UnitAttr()), self.function
        )
        get = memref.GetGlobalOp(name, kind)
        Rewriter.insert_op(get, InsertPoint.before(op))
        self.buffers[op.result] = get.memref
        return get.memref

    def _linalg(self, op: linalg.GenericOp | linalg.FillOp) -> None:
        if not op.results:
            return
        inputs = [self._input(op, v) for v in op.inputs]
        outputs = [self._output(op, v, r) for v, r in zip(op.outputs, op.results, strict=True)]
        bare = type(op).create(
            operands=[*inputs, *outputs],
            properties=op.properties,
            attributes=op.attributes,
            regions=[op.body.clone()],
            location=op.location,
        )
        Rewriter.insert_op(bare, InsertPoint.before(op))
        for inner in list(bare.walk()):
            if isinstance(inner, tensor.ExtractOp):  # from a table outside of the body
                load = memref.LoadOp.get(self._input(op, inner.tensor), list(inner.indices))
                Rewriter.replace_op(inner, load)
        for result, buffer in zip(op.results, outputs, strict=True):
            self.buffers[result] = buffer

    def _input(self, op: Operation, value: SSAValue) -> SSAValue:
        if isinstance(value.owner, tensor.EmptyOp):
            if _reads(op, value):
                fail(op, "it reads a tensor.empty, which has no contents")
            return self._allocate(op, value)  # only its sizes matter: a window of pooling
        if not isinstance(value.type, TensorType):
            return value
        return self._contents(value)

    def _contents(self, value: SSAValue) -> SSAValue:
        if value not in self.buffers and isinstance(value.owner, arith.ConstantOp):
            return self._constant(value.owner)
        return self.buffers[value]

    def _output(self, op: Operation, value: SSAValue, result: SSAValue) -> SSAValue:
        """The buffer that `op` updates: its init's own where nobody else reads that, else a fresh one."""
        wanted = self.wanted.get(result)
        if isinstance(value.owner, arith.ConstantOp | tensor.EmptyOp):
            target = self._allocate(op, result) if wanted is None else wanted
            if isinstance(value.owner, arith.ConstantOp):
                self._initialise(op, value.owner, target)
            return target
        current = self.buffers[value]
        if _exclusive(value) and wanted in (None, current):
            return current
        target = self._allocate(op, result) if wanted is None else wanted
        if not isinstance(op, linalg.FillOp):
            Rewriter.insert_op(memref.CopyOp(current, target), InsertPoint.before(op))
        return target

    def target(self, op: Operation, result: SSAValue) -> SSAValue:
        """Memory for a result that starts from nothing."""
        wanted = self.wanted.get(result)
        return self._allocate(op, result) if wanted is None else wanted

    def update(self, op: Operation, value: SSAValue, result: SSAValue) -> SSAValue:
        """Memory for a result that is `value` with a part of it changed."""
        return self._output(op, value, result)

    def contents(self, op: Operation, value: SSAValue) -> SSAValue:
        return self._input(op, value)

    def _initialise(self, op: Operation, constant: arith.ConstantOp, target: SSAValue) -> None:
        splat = _splat(constant)
        if splat is None:
            Rewriter.insert_op(memref.CopyOp(self._contents(constant.result), target), InsertPoint.before(op))
        else:
            Rewriter.insert_op([splat, linalg.FillOp([splat.result], [target], [])], InsertPoint.before(op))

    def _allocate(self, op: Operation, result: SSAValue) -> SSAValue:
        kind = _buffer_type(result.type)
        alloc = memref.AllocOp([], [], kind)
        alloc.memref.name_hint = result.name_hint
        Rewriter.insert_op(alloc, InsertPoint.before(op))
        return alloc.memref


def _reads(op: Operation, value: SSAValue) -> bool:
    """Whether a linalg op looks at the elements of an operand."""
    if not isinstance(op, linalg.GenericOp):
        return True
    pairs = zip(op.operands, op.body.block.args, strict=True)
    return any(operand is value and arg.first_use is not None for operand, arg in pairs)


def _splat(constant: arith.ConstantOp) -> arith.ConstantOp | None:
    """The one value that all elements of a dense constant have, as a scalar constant."""
    dense = constant.value
    assert isinstance(dense, DenseIntOrFPElementsAttr)
    kind = dense.get_element_type()
    if not dense.is_splat():
        return None
    if isinstance(kind, Float32Type | Float64Type):
        return arith.ConstantOp(FloatAttr(float(dense.get_values()[0]), kind))
    return (
        arith.ConstantOp(IntegerAttr(int(dense.get_values()[0]), kind))
        if isinstance(kind, IntegerType)
        else None
    )


def _mark_arguments(function: func.FuncOp, results: list[SSAValue]) -> None:
    """Say of each argument whether the function reads it (in), writes it (out), or both (inout).

    One that takes a result of the function on tensors also gets the number of that result.
    """
    marks: list[dict[str, Attribute]] = []
    before = [attributes.data for attributes in function.arg_attrs or ()]
    for arg in function.body.block.args:
        if not isinstance(arg.type, MemRefType):
            fail(function, f"argument {arg.index} is {arg.type}, not a ranked tensor or memref")
        touched = _touched(function, arg)
        if "w" not in "".join(touched):
            kind = "in"
        else:
            kind = "out" if touched[0] == "w" else "inout"
        marks.append({"accel.kind": StringAttr(kind)})
        if arg in results:
            marks[-1]["accel.result"] = IntegerAttr(results.index(arg), i64)
        if arg.index < len(before):
            kept = {name: before[arg.index][name] for name in KEPT if name in before[arg.index]}
            marks[-1] |= kept
    function.arg_attrs = ArrayAttr(map(DictionaryAttr, marks))


def _touched(function: func.FuncOp, value: SSAValue) -> list[str]:
    """How each op touches a memref or a view of it, in order."""
    accesses: list[tuple[int, str]] = []
    order = {op: number for number, op in enumerate(function.walk())}
    seen = [value]
    for view in seen:
        for use in view.uses:
            op = use.operation
            if isinstance(op, memref.SubviewOp | memref.ExpandShapeOp | memref.CollapseShapeOp):
                seen.append(op.results[0])
            else:
                access = _access(op, view)
                partial = view is not value and access == "w" and not _covers(view, value)
                accesses.append((order[op], "rw" if partial else access))
    return [access for _, access in sorted(accesses)]


def _covers(view: SSAValue, value: SSAValue) -> bool:
    """Whether writing all of `view` writes all of `value`."""
    sizes = [array.type.element_count() for array in (view, value) if isinstance(array.type, MemRefType)]
    return len(sizes) == 2 and sizes[0] == sizes[1]


def _access(op: Operation, value: SSAValue) -> str:
    """How `op` touches a memref: r, w or rw."""
    if isinstance(op, memref.CopyOp):
        return ("r" if op.source is value else "") + ("w" if op.destination is value else "")
    if isinstance(op, memref.LoadOp):
        return "r"
    if not isinstance(op, linalg.GenericOp | linalg.FillOp):
        return "rw"
    used = [arg.first_use is not None for arg in op.body.block.args]
    reads = any(v is value and read for v, read in zip(op.operands, used, strict=True))
    return ("r" if reads else "") + ("w" if value in op.outputs else "")


@dataclass(frozen=True)
class Bufferise(ModulePass):
    """A function on tensors becomes one on memrefs, which writes its results to arguments.

    ::

        func.func @f(%A : tensor<4x8xi32>, %B : tensor<8x4xi32>) -> tensor<4x4xi32> {
          %zero = arith.constant 0 : i32
          %empty = tensor.empty() : tensor<4x4xi32>
          %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<4x4xi32>) -> tensor<4x4xi32>
          %C = linalg.generic {...} ins(%A, %B : ...) outs(%init : tensor<4x4xi32>) {...} -> tensor<4x4xi32>
          func.return %C : tensor<4x4xi32>
        }

        func.func @f(%A : memref<4x8xi32> {accel.kind = "in"}, %B : memref<8x4xi32> {accel.kind = "in"},
                     %C : memref<4x4xi32> {accel.kind = "out", accel.result = 0}) {
          %zero = arith.constant 0 : i32
          linalg.fill ins(%zero : i32) outs(%C : memref<4x4xi32>)
          linalg.generic {...} ins(%A, %B : ...) outs(%C : memref<4x4xi32>) {...}
          func.return
        }

    A result whose contents start in an argument that nothing else reads is updated in place there; any
    other gets a new argument behind the others. Results in between get memory of their own
    (`memref.alloc`, static in C). Reshapes are views; padding, slices and concatenation are copies
    (:mod:`~axiloom.drivergen.passes.frontend.bufferise_tensor`). Functions on memrefs pass through.
    Arguments are
    marked as in, out or inout (updated).
    """

    name = "accel-bufferise"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [o for o in op.ops if isinstance(o, func.FuncOp) and not o.is_declaration]:
            if len(function.body.blocks) != 1:
                fail(function, "control flow between blocks is not supported")
            results = _Function(function, op).convert() if _has_tensors(function) else []
            if function.function_type.outputs.data:
                fail(function, f"it returns {function.function_type.outputs.data[0]}; {RETURNS}")
            _mark_arguments(function, results)


def _has_tensors(function: func.FuncOp) -> bool:
    return _uses_tensors(function) or any(isinstance(a.type, TensorType) for a in function.body.block.args)


def _uses_tensors(op: Operation) -> bool:
    """`op` or one inside it works on tensors."""
    return any(isinstance(v.type, TensorType) for o in op.walk() for v in (*o.operands, *o.results))
