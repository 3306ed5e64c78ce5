"""What a form takes, written as MLIR with holes: constants that may have any value, sizes that may be any.

A pattern is a function. Its ops are compared with a layer's in their order. Constants, and what ops start
from, are looked at where they are used; the name of a constant in the pattern is the name of the hole.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, Operation, SSAValue

from axiloom.drivergen.dialects.mlir import only_function, parse
from axiloom.drivergen.network.passes import generics

Holes = dict[str, int | float]
_STARTS = (arith.ConstantOp, tensor.EmptyOp, linalg.FillOp)


def read(text: str) -> func.FuncOp:
    """A pattern of its text."""
    return only_function(parse(text, "pattern"), "pattern")


def generic(
    result: str,
    reads: Sequence[tuple[str, str, str]],
    writes: tuple[str, str, str],
    body: Sequence[str],
    rank: int,
) -> str:
    """One `linalg.generic` of `rank` loops; `reads` and `writes`: value, type and what its map gives.

    The loops that the result's map has not are reductions. The body's arguments are %a0, %a1, ... and %o; it
    yields what its last line makes.
    """
    loops = ", ".join(f"d{number}" for number in range(rank))
    operands = [*reads, writes]
    maps = ", ".join(f"affine_map<({loops}) -> ({places})>" for _, _, places in operands)
    kept = writes[2].split(", ")
    kinds = ", ".join(f'"{"parallel" if f"d{n}" in kept else "reduction"}"' for n in range(rank))
    names = [*(f"%a{number}" for number in range(len(reads))), "%o"]
    elements = [kind.split("x")[-1].rstrip(">") for _, kind, _ in operands]
    arguments = ", ".join(f"{name} : {kind}" for name, kind in zip(names, elements, strict=True))
    ins = f"{', '.join(value for value, _, _ in reads)} : {', '.join(kind for _, kind, _ in reads)}"
    last = body[-1].split(" = ")[0]
    lines = "\n".join(f"    {line}" for line in (*body, f"linalg.yield {last} : {elements[-1]}"))
    return (
        f"  {result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
        f"ins({ins}) outs({writes[0]} : {writes[1]}) {{\n  ^bb0({arguments}):\n{lines}\n  }} -> {writes[1]}"
    )


def unify(pattern: func.FuncOp, function: func.FuncOp) -> Holes | None:
    """The values of the holes where `function` is of the form `pattern`, else None."""
    unifier = _Unifier()
    return unifier.holes if unifier.blocks(pattern.body.block, function.body.block) else None


class _Unifier:
    def __init__(self) -> None:
        self.holes: Holes = {}
        self.same: dict[SSAValue, SSAValue] = {}

    def blocks(self, pattern: Block, block: Block) -> bool:
        if len(pattern.args) != len(block.args):
            return False
        for wanted, got in zip(pattern.args, block.args, strict=True):
            if not _alike(wanted, got):
                return False
            self.same[wanted] = got
        ours = [op for op in pattern.ops if not isinstance(op, _STARTS)]
        theirs = [op for op in block.ops if not isinstance(op, _STARTS)]
        return len(ours) == len(theirs) and all(map(self.ops, ours, theirs))

    def ops(self, pattern: Operation, operation: Operation) -> bool:
        if type(pattern) is not type(operation) or len(pattern.operands) != len(operation.operands):
            return False
        if isinstance(pattern, linalg.GenericOp):
            assert isinstance(operation, linalg.GenericOp)
            if generics.maps_of(pattern) != generics.maps_of(operation):
                return False
            if list(pattern.iterator_types) != list(operation.iterator_types):
                return False
        elif pattern.properties != operation.properties:
            return False
        if not all(map(self.values, pattern.operands, operation.operands)):
            return False
        for wanted, got in zip(pattern.results, operation.results, strict=True):
            if not _alike(wanted, got):
                return False
            self.same[wanted] = got
        return all(
            self.blocks(region.block, other.block)
            for region, other in zip(pattern.regions, operation.regions, strict=True)
        )

    def values(self, pattern: SSAValue, value: SSAValue) -> bool:
        wanted, got = pattern.owner, value.owner
        if not isinstance(wanted, _STARTS):
            return self.same.get(pattern) is value
        if type(wanted) is not type(got) or not _alike(pattern, value):
            return False
        if isinstance(wanted, linalg.FillOp):
            assert isinstance(got, linalg.FillOp)
            return self.values(wanted.inputs[0], got.inputs[0])
        if isinstance(wanted, arith.ConstantOp):
            assert isinstance(got, arith.ConstantOp)
            return self._constant(pattern.name_hint, wanted, got)
        return True

    def _constant(self, hole: str | None, wanted: arith.ConstantOp, got: arith.ConstantOp) -> bool:
        if hole is None:
            return wanted.value == got.value
        if not isinstance(got.value, IntegerAttr | FloatAttr):
            return False
        number = got.value.value.data
        return self.holes.setdefault(hole, number) == number


def _alike(value: SSAValue, other: SSAValue) -> bool:
    """The same elements in as many dims."""
    if isinstance(value.type, TensorType) and isinstance(other.type, TensorType):
        return value.type.get_num_dims() == other.type.get_num_dims() and (
            value.type.element_type == other.type.element_type
        )
    return bool(value.type == other.type)
