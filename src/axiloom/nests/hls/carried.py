"""What isl proves of accesses in IR: which arrays carry nothing from one iteration of a loop to another, and
which are written and read in one order."""

from __future__ import annotations

import islpy as isl
from xdsl.dialects import affine
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)


def free_arrays(loop: affine.ForOp) -> set[SSAValue]:
    """Arrays that `loop` both reads and writes, no element of which two of its iterations touch while the
    loops around it stand still, one of them writing."""
    accesses: dict[SSAValue, list[affine.LoadOp | affine.StoreOp]] = {}
    for op in loop.walk():
        if isinstance(op, (affine.LoadOp, affine.StoreOp)):
            accesses.setdefault(op.memref, []).append(op)
    free = set()
    for memory, ops in accesses.items():
        writes = [op for op in ops if isinstance(op, affine.StoreOp)]
        if not writes or len(writes) == len(ops):
            continue
        if not any(_meet(loop, write, other) for write in writes for other in ops):
            free.add(memory)
    return free


def _meet(loop: affine.ForOp, operation: Operation, other: Operation) -> bool:
    first, second = _access(loop, operation), _access(loop, other)
    pairs = first.apply_range(second.reverse())
    depth = pairs.dim(isl.dim_type.in_)
    for i in range(depth - 1):
        pairs = pairs.equate(isl.dim_type.in_, i, isl.dim_type.out, i)
    space = pairs.get_space()
    last = depth - 1
    same = isl.Map.universe(space).equate(isl.dim_type.in_, last, isl.dim_type.out, last)
    return not pairs.subtract(same).is_empty()


def in_one_order(store: affine.StoreOp, load: affine.LoadOp) -> bool:
    """Whether each element that `load` reads is one that `store` writes, each of them once on both sides, in
    the same order."""
    writes, reads = _access(None, store), _access(None, load)
    if not writes.is_injective() or not reads.is_injective() or not writes.range().is_equal(reads.range()):
        return False
    partner = writes.apply_range(reads.reverse())
    later = isl.Map.lex_lt(writes.get_space().domain()).apply_domain(partner).apply_range(partner)
    return bool(later.is_subset(isl.Map.lex_lt(reads.get_space().domain())))


def _access(loop: affine.ForOp | None, op: Operation) -> isl.Map:
    """From the indices of the loops around, up to `loop` (None: of all), to the element."""
    around: list[Operation] = []
    parent = op.parent_op()
    while isinstance(parent, (affine.ForOp, affine.IfOp)):
        around.insert(0, parent)
        parent = parent.parent_op()
    names: dict[SSAValue, str] = {}
    conditions: list[str] = []
    kept = 0
    for outer in around:
        if isinstance(outer, affine.ForOp):
            index = outer.body.block.args[0]
            names[index] = name = f"x{len(names)}"
            lower = _texts(outer.lowerBoundMap.data, [names[v] for v in outer.lowerBoundOperands])
            upper = _texts(outer.upperBoundMap.data, [names[v] for v in outer.upperBoundOperands])
            conditions += [f"{name} >= {bound}" for bound in lower]
            conditions += [f"{name} < {bound}" for bound in upper]
            if outer is loop or loop is None:
                kept = len(names)
        elif isinstance(outer, affine.IfOp) and _is_in(op, outer):
            data = outer.condition.data
            at = [names[v] for v in outer.args]
            for constraint in data.constraints:
                sign = {"ge": ">=", "le": "<=", "eq": "="}[constraint.kind.name]
                conditions.append(f"{_text(constraint.lhs, at)} {sign} {_text(constraint.rhs, at)}")
    assert isinstance(op, (affine.LoadOp, affine.StoreOp))
    listed = list(names.values())
    # The element is named, since what is quantified may not stand in a tuple.
    element = _texts(op.map.data, [names[index] for index in op.indices])
    outs = [f"y{i}" for i in range(len(element))]
    equal = [f"{out} = {text}" for out, text in zip(outs, element, strict=True)]
    where = " and ".join([*equal, *conditions]) or "true"
    if listed[kept:]:
        where = f"exists ({', '.join(listed[kept:])} : {where})"
    return isl.Map(f"{{ [{', '.join(listed[:kept])}] -> [{', '.join(outs)}] : {where} }}")


def _is_in(op: Operation, branch: affine.IfOp) -> bool:
    """Whether `op` stands where the condition holds."""
    ancestor: Operation | None = op
    while ancestor is not None and ancestor.parent_op() is not branch:
        ancestor = ancestor.parent_op()
    return ancestor is not None and ancestor.parent_region() is branch.then_region


def _texts(values: AffineMap, names: list[str]) -> list[str]:
    return [_text(result, names) for result in values.results]


def _text(value: AffineExpr, names: list[str]) -> str:
    """isl's notation: ``floor(x / 2)``, ``x mod 2``."""
    if isinstance(value, AffineConstantExpr):
        return str(value.value)
    if isinstance(value, AffineDimExpr):
        return names[value.position]
    assert isinstance(value, AffineBinaryOpExpr)
    left, right = _text(value.lhs, names), _text(value.rhs, names)
    if value.kind is AffineBinaryOpKind.Mul:
        if isinstance(value.rhs, AffineConstantExpr):
            left, right = right, left
        return f"{left}*({right})"
    forms = {
        AffineBinaryOpKind.Add: f"({left} + {right})",
        AffineBinaryOpKind.Mod: f"(({left}) mod {right})",
        AffineBinaryOpKind.FloorDiv: f"floor(({left})/{right})",
        AffineBinaryOpKind.CeilDiv: f"ceil(({left})/{right})",
    }
    return forms[value.kind]
