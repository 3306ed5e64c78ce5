"""Is this `linalg.generic` a matmul, and which of its loops and operands is which?

Names, order of the loops, order of the inputs and transposed operands do not matter: what matters is that
the body multiplies the two inputs and adds to the output, and that the indexing maps pair the loops up as
in C[m, n] += A[m, k] B[k, n].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, ShapedType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineDimExpr

MATMUL: Mapping[str, tuple[str, ...]] = {"A": ("m", "k"), "B": ("k", "n"), "C": ("m", "n")}
"""Operands and their dims, C[m, n] += A[m, k] B[k, n]; the last is the output."""
NAMES = ("m", "n", "k")


@dataclass(frozen=True)
class Match:
    """`dims[i]` names loop i of the op, `operands[j]` its operand j; `axes[j]` the dims of its memref."""

    dims: tuple[str, ...]
    operands: tuple[str, ...]
    axes: tuple[tuple[str, ...], ...]


class NoMatchError(Exception):
    """Why an op is not a matmul, for the end of a sentence."""


def _positions(op: linalg.GenericOp) -> list[tuple[int, ...]]:
    """For each operand, the loop that runs over each of its dims."""
    positions = []
    for index, attr in enumerate(op.get_indexing_maps()):
        loops = operand_loops(op, index)
        if len(loops) != len(attr.data.results):
            raise NoMatchError(f"operand {index} is not indexed by plain loops ({attr.data})")
        positions.append(loops)
    return positions


def _factor(value: SSAValue) -> SSAValue:
    """`value` without a sign extension around it."""
    if isinstance(value.owner, arith.ExtSIOp):
        return value.owner.input
    return value


def check_body(op: linalg.GenericOp) -> None:
    """The body must yield c + a * b (in any order), a and b perhaps sign-extended, and nothing else."""
    block = op.body.block
    if len(block.args) != 3:
        raise NoMatchError(f"it has {len(block.args)} operands, a matmul has 3")
    a, b, c = block.args
    result = block.last_op
    total = result.operands[0].owner if result is not None and len(result.operands) == 1 else None
    if not isinstance(total, arith.AddiOp):
        raise NoMatchError("its body does not yield an integer sum (arith.addi) of output and product")
    terms = [total.lhs, total.rhs]
    if c not in terms:
        raise NoMatchError("its body does not add to the output")
    product = terms[1 - terms.index(c)].owner
    factors = [_factor(x) for x in product.operands] if isinstance(product, arith.MuliOp) else []
    if not all(isinstance(f, BlockArgument) for f in factors) or set(factors) != {a, b}:
        raise NoMatchError("its body does not add the product (arith.muli) of the two inputs")


def match(op: linalg.GenericOp) -> Match:
    """Names for loops and operands of `op`; raises NoMatchError.

    m is the loop over the rows of C, n the one over its columns, A the input with m. So A and B may come
    out transposed, C does not.
    """
    check_body(op)
    positions = _positions(op)
    kinds = [attr.data for attr in op.get_iterator_types()]
    if len(kinds) != len(NAMES):
        raise NoMatchError(f"it has {len(kinds)} loops, a matmul has {len(NAMES)}")
    for dims in permutations(NAMES):
        axes = tuple(tuple(dims[loop] for loop in loops) for loops in positions)
        operands = tuple(_operand(found) for found in axes)
        if axes[-1] != MATMUL["C"] or sorted(operands) != sorted(MATMUL):
            continue
        for name, kind in zip(dims, kinds, strict=True):
            wanted = IteratorType.PARALLEL if name in MATMUL["C"] else IteratorType.REDUCTION
            if kind != wanted:
                raise NoMatchError(f"its loop over {name} is {kind.value}, a matmul's is {wanted.value}")
        return Match(dims, operands, axes)
    raise NoMatchError("its indexing maps are not those of C[m, n] += A[m, k] B[k, n]")


def _operand(axes: tuple[str, ...]) -> str:
    """The operand with these dims in any order."""
    return next((name for name, dims in MATMUL.items() if sorted(dims) == sorted(axes)), "")


def element(value: SSAValue) -> str:
    """Element type of a tensor or memref as in specifications (``int8``); raises NoMatchError for others."""
    kind = value.type
    assert isinstance(kind, ShapedType)
    inner = getattr(kind, "element_type", None)
    if isinstance(inner, IntegerType) and inner.width.data in (8, 16, 32):
        return f"int{inner.width.data}"
    raise NoMatchError(f"elements of {inner} are not supported; accepted are i8, i16 and i32")


def sizes(op: linalg.GenericOp) -> tuple[int, ...]:
    """Number of iterations of each loop."""
    return tuple(op.get_static_loop_ranges())


def operand_loops(op: linalg.GenericOp, operand: int) -> tuple[int, ...]:
    """The loop that runs over each dim of an operand whose indexing map has plain loops only."""
    results = op.indexing_maps.data[operand].data.results
    return tuple(e.position for e in results if isinstance(e, AffineDimExpr))
