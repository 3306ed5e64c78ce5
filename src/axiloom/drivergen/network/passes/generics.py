"""Questions about `linalg.generic` ops, and making new ones: what the passes on networks share."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IntegerType, StringAttr, TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter


def maps_of(op: linalg.GenericOp) -> list[AffineMap]:
    """The indexing map of each operand."""
    return [attr.data for attr in op.indexing_maps]


def is_parallel(op: linalg.GenericOp) -> bool:
    """No loop reduces."""
    return all(kind.data == IteratorType.PARALLEL for kind in op.iterator_types)


def yielded(op: linalg.GenericOp) -> Sequence[SSAValue]:
    """What the body gives for each output."""
    last = op.body.block.last_op
    return last.operands if isinstance(last, linalg.YieldOp) else ()


def plain_dims(m: AffineMap) -> list[int] | None:
    """The loops that a map consists of, None if it has other expressions."""
    dims = [e.position for e in m.results if isinstance(e, AffineDimExpr)]
    return dims if len(dims) == len(m.results) else None


def is_permutation(m: AffineMap) -> bool:
    """Each loop once, and nothing else."""
    dims = plain_dims(m)
    return dims is not None and sorted(dims) == list(range(m.num_dims))


def is_map(op: Operation) -> bool:
    """An element of the one result for each point, from its operands there: no sum, no old contents."""
    if not isinstance(op, linalg.GenericOp) or len(op.results) != 1 or not is_parallel(op):
        return False
    unread = all(arg.first_use is None for arg in outputs_of(op))
    return unread and is_permutation(maps_of(op)[-1])


def outputs_of(op: linalg.GenericOp) -> list[BlockArgument[Attribute]]:
    """Arguments of the body that stand for outputs."""
    return list(op.body.block.args[len(op.inputs) :])


def moves_only(op: Operation) -> bool:
    """A transposition, a broadcast or a copy: its result is its one input's elements in other places."""
    if not is_map(op):
        return False
    assert isinstance(op, linalg.GenericOp)
    return len(op.inputs) == 1 and yielded(op)[0] is op.body.block.args[0] and _is_tensor(op.inputs[0])


def widens(op: Operation) -> bool:
    """A sign extension of each element of its one input, and nothing else."""
    if not is_map(op):
        return False
    assert isinstance(op, linalg.GenericOp)
    value = yielded(op)[0].owner
    return (
        len(op.inputs) == 1
        and isinstance(value, arith.ExtSIOp)
        and value.input is op.body.block.args[0]
        and _is_tensor(op.inputs[0])
    )


def is_contraction(op: Operation) -> bool:
    """A sum of products of two inputs: a matrix product, a convolution."""
    if not isinstance(op, linalg.GenericOp) or is_parallel(op) or len(op.operands) != 3:
        return False
    total = yielded(op)[0].owner
    if not isinstance(total, arith.AddiOp | arith.AddfOp) or op.body.block.args[-1] not in total.operands:
        return False
    factor = total.rhs if total.lhs is op.body.block.args[-1] else total.lhs
    if not isinstance(factor.owner, arith.MuliOp | arith.MulfOp):
        return False
    args = [v.owner.input if isinstance(v.owner, arith.ExtSIOp) else v for v in factor.owner.operands]
    return sorted(map(id, args)) == sorted(map(id, op.body.block.args[:2]))


def _is_tensor(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType)


def element(value: SSAValue) -> Attribute:
    """Type of the elements of a tensor, or of a scalar."""
    attribute: Attribute = value.type.element_type if isinstance(value.type, TensorType) else value.type
    return attribute


def width(kind: Attribute) -> int:
    """Bits of an integer type, 0 for others."""
    return kind.width.data if isinstance(kind, IntegerType) else 0


def substitute(m: AffineMap, into: Sequence[AffineExpr], loops: int) -> AffineMap:
    """`m` with its dim i replaced by `into[i]`, over `loops` loops."""
    return AffineMap(loops, 0, tuple(e.replace_dims_and_symbols(list(into), []) for e in m.results))


def through(producer: linalg.GenericOp, at: AffineMap) -> list[AffineExpr]:
    """For each loop of a producer its position, where a consumer reads its result at `at`."""
    dims = plain_dims(maps_of(producer)[-1])
    assert dims is not None
    positions: list[AffineExpr] = [AffineDimExpr(0)] * len(dims)
    for axis, loop in enumerate(dims):
        positions[loop] = at.results[axis]
    return positions


def rebuild(
    op: linalg.GenericOp,
    inputs: Sequence[SSAValue],
    outputs: Sequence[SSAValue],
    body: Region,
    maps: Sequence[AffineMap],
) -> linalg.GenericOp:
    """The same op with other operands, put in front of it; its loops, name and place stay."""
    new = linalg.GenericOp(
        inputs,
        outputs,
        body,
        ArrayAttr([AffineMapAttr(m) for m in maps]),
        op.iterator_types,
        [v.type for v in outputs if isinstance(v.type, TensorType)],
        op.doc,
        op.library_call,
    )
    new.location = op.location
    new.attributes |= op.attributes
    for result, old in zip(new.results, op.results, strict=True):
        result.name_hint = old.name_hint
    Rewriter.insert_op(new, InsertPoint.before(op))
    return new


def replace(op: linalg.GenericOp, new: linalg.GenericOp) -> None:
    """`new`, which is in place already, takes over the uses of `op`."""
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    Rewriter.erase_op(op)


def empty(before: Operation, kind: TensorType[Attribute]) -> SSAValue:
    """A new tensor without contents."""
    op = tensor.EmptyOp([], kind)
    op.location = before.location
    Rewriter.insert_op(op, InsertPoint.before(before))
    return op.tensor


def map_over(
    before: Operation, value: SSAValue, kind: Attribute, compute: type[arith.ExtSIOp] | None
) -> linalg.GenericOp:
    """A generic in front of `before` with `compute` (None: nothing) of each element, of type `kind`."""
    assert isinstance(value.type, TensorType)
    result = TensorType(kind, value.type.get_shape())
    block = Block(arg_types=[value.type.element_type, kind])
    element: SSAValue = block.args[0]
    if compute is not None:
        assert isinstance(kind, IntegerType)
        block.add_op(op := compute(element, kind))
        element = op.result
    block.add_op(linalg.YieldOp(element))
    loops = len(result.get_shape())
    identity = AffineMapAttr(AffineMap.identity(loops))
    new = linalg.GenericOp(
        [value],
        [empty(before, result)],
        Region(block),
        ArrayAttr([identity, identity]),
        ArrayAttr([IteratorTypeAttr.parallel()] * loops),
        [result],
        StringAttr("linalg.copy") if compute is None else None,
    )
    new.location = before.location
    Rewriter.insert_op(new, InsertPoint.before(before))
    return new


def drop_unused(block: Block) -> None:
    """Erase what nothing uses any more, from the end."""
    for op in reversed(list(block.ops)):
        if op.results and all(result.first_use is None for result in op.results) and not _has_effect(op):
            Rewriter.erase_op(op)


def _has_effect(op: Operation) -> bool:
    return not op.name.startswith(("linalg.", "tensor.", "arith.", "math."))
