"""Reading the IR of a scheduled program: its arrays, and the number format of each value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects import affine, arith, func, memref
from xdsl.dialects.builtin import DictionaryAttr, MemRefType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from axiloom.base.errors import CompileError
from axiloom.nests.affine import attributes as at
from axiloom.nests.affine.operations import Meaning, meaning
from axiloom.nests.program import Role


@dataclass(frozen=True)
class Memory:
    """An array of the IR: an argument, or an allocation. `attributes` are all that is said of it."""

    name: str
    shape: tuple[int, ...]
    number: str
    role: Role
    attributes: Mapping[str, Attribute] = field(default_factory=dict, compare=False)

    @property
    def given_as(self) -> str:
        """The array of the caller that it holds."""
        return at.read_text(self.attributes, at.COPY) or self.name


@dataclass
class Function:
    """The one function of a module. `memories` is in the order of arguments, then of allocations."""

    op: func.FuncOp
    memories: dict[SSAValue, Memory] = field(default_factory=dict)
    numbers: dict[SSAValue, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.op.sym_name.data

    def meaning(self, op: Operation) -> Meaning | None:
        """What an operator's operation computes; None for any other operation."""
        if not op.operands or op.operands[-1] not in self.numbers:
            return None
        return meaning(op, [self.numbers[operand] for operand in op.operands])


def function(module: ModuleOp) -> Function:
    """Raises CompileError for IR that is not of a scheduled program, with the operation."""
    functions = [op for op in module.body.block.ops if isinstance(op, func.FuncOp)]
    if len(functions) != 1:
        raise CompileError(f"a scheduled program is one function, not {len(functions)}")
    source = Function(functions[0])
    attributes = source.op.arg_attrs.data if source.op.arg_attrs is not None else ()
    arguments = source.op.args
    if len(attributes) != len(arguments):
        raise CompileError(f"@{source.name}: arguments have no {at.NAME}, {at.NUMBER} and {at.ROLE}")
    for value, attribute in zip(arguments, attributes, strict=True):
        source.memories[value] = _memory(value, attribute, source.name)
    for op in source.op.body.walk():
        if isinstance(op, memref.AllocOp):
            source.memories[op.memref] = _memory(op.memref, DictionaryAttr(op.attributes), source.name)
        elif isinstance(op, affine.LoadOp):
            source.numbers[op.result] = source.memories[op.memref].number
        elif isinstance(op, (arith.ConstantOp, arith.IndexCastOp)):
            number = at.read_text(op.attributes, at.NUMBER)
            if number is None:
                raise CompileError(f"@{source.name}: `{op}` has no {at.NUMBER}")
            source.numbers[op.results[0]] = number
        elif (known := source.meaning(op)) is not None:
            source.numbers[op.results[0]] = known.number
        elif not isinstance(
            op, (affine.ForOp, affine.IfOp, affine.YieldOp, affine.StoreOp, affine.ApplyOp, func.ReturnOp)
        ):
            raise CompileError(f"@{source.name}: `{op.name}` is no operation of a scheduled program")
    return source


def _memory(value: SSAValue, attributes: DictionaryAttr, where: str) -> Memory:
    data = attributes.data
    name, number = at.read_text(data, at.NAME), at.read_text(data, at.NUMBER)
    role = at.read_text(data, at.ROLE)
    if name is None or number is None or role is None or not isinstance(value.type, MemRefType):
        raise CompileError(f"@{where}: an array lacks {at.NAME}, {at.NUMBER} or {at.ROLE}: {attributes}")
    return Memory(name, tuple(value.type.get_shape()), number, Role(role), data)
