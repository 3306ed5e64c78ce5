"""Is this `linalg.generic` a matmul, and which of its loops and operands is which?

Names, order of the loops, order of the inputs and transposed operands do not matter: what matters is that
the body multiplies the two inputs and adds to the output, and that the indexing maps pair the loops up as
in C[m, n] += A[m, k] B[k, n]. Further loops, over batches of matrices, are loops of the host.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type, IntegerType, ShapedType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from axiloom.drivergen.dialects.product import multiplied, requantises
from axiloom.isa.kernels.forms import CHANNELS
from axiloom.isa.numerics import FLOAT32

MATMUL: Mapping[str, tuple[str, ...]] = {"A": ("m", "k"), "B": ("k", "n"), "C": ("m", "n")}
"""Operands and their dims, C[m, n] += A[m, k] B[k, n]; the last is the output."""
MATMUL_DIMS = ("m", "n", "k")
HOST = "b"
"""What loops of the host are called, for the batches that they run over: b, b1, b2."""


@dataclass(frozen=True)
class Match:
    """`dims[i]` names loop i of the op, `operands[j]` its operand j.

    A dim that no operand of the accelerator has (a batch: ``b``, ``b1``) is a loop of the host.
    """

    dims: tuple[str, ...]
    operands: tuple[str, ...]
    settings: Mapping[str, int] = field(default_factory=dict)
    """What the device must know besides sizes: stride, dilation, padding."""

    device: tuple[str, ...] = ()
    """Dims of the device, which may be called as the host's are: a kernel's batch."""

    @property
    def host(self) -> tuple[str, ...]:
        """The loops of the host, around all others."""
        named = (dim for dim in self.dims if dim not in self.device)
        return tuple(dim for dim in named if dim.rstrip("0123456789") == HOST)


class NoMatchError(Exception):
    """Why an op is not a matmul, for the end of a sentence."""


def operand_positions(op: linalg.GenericOp) -> list[tuple[int, ...]]:
    """For the inputs that are multiplied and the output, the loop that runs over each dim."""
    positions = []
    for index in multiplied(op):
        loops, indexing = operand_loops(op, index), op.indexing_maps.data[index].data
        if len(loops) != len(indexing.results):
            raise NoMatchError(f"operand {index} is not indexed by plain loops ({indexing})")
        positions.append(loops)
    return positions


def _factor(value: SSAValue) -> SSAValue:
    """`value` without an extension around it."""
    if isinstance(value.owner, arith.ExtSIOp | arith.ExtUIOp):
        return value.owner.input
    return value


def extension(op: linalg.GenericOp) -> str | None:
    """The op that widens the inputs in its body, ``arith.extsi``; None where they are as wide as the sums.

    Raises NoMatchError where the two are widened in different ways.
    """
    block = op.body.block
    extensions = {
        use.operation.name
        for argument in block.args
        for use in argument.uses
        if isinstance(use.operation, arith.ExtSIOp | arith.ExtUIOp)
    }
    if len(extensions) > 1:
        raise NoMatchError("its body extends one input with its sign (arith.extsi), another without")
    return extensions.pop() if extensions else None


def check_body(op: linalg.GenericOp, what: str = "a matmul") -> None:
    """The body must yield c + a * b (in any order) of integers, a and b perhaps extended, or of floats."""
    if requantises(op) is not None:
        return  # it was checked when the epilogue became a part of the op
    block = op.body.block
    if len(block.args) != 3:
        raise NoMatchError(f"it has {len(block.args)} operands, {what} has 3")
    a, b, c = block.args
    result = block.last_op
    total = result.operands[0].owner if result is not None and len(result.operands) == 1 else None
    if not isinstance(total, arith.AddiOp | arith.AddfOp):
        raise NoMatchError("its body does not yield a sum (arith.addi, arith.addf) of output and product")
    terms = [total.lhs, total.rhs]
    if c not in terms:
        raise NoMatchError("its body does not add to the output")
    product = terms[1 - terms.index(c)].owner
    times = arith.MuliOp if isinstance(total, arith.AddiOp) else arith.MulfOp
    factors = [_factor(x) for x in product.operands] if isinstance(product, times) else []
    if not all(isinstance(f, BlockArgument) for f in factors) or set(factors) != {a, b}:
        raise NoMatchError(f"its body does not add the product ({times.name}) of the two inputs")


ONLY_A_VECTOR = "it multiplies a matrix by a vector, which has no dim for the rows or the columns of a tile"
NOT_A_MATMUL = "its indexing maps are not those of C[m, n] += A[m, k] B[k, n]"


def match(op: linalg.GenericOp) -> Match:
    """Names for loops and operands of `op`; raises NoMatchError.

    m is the loop over the rows of C, n the one over its columns, A the input with m. So A and B may come
    out transposed, C does not. Where there are more loops than three, n is the last of C's that only one
    input has, m the last that only the other has, and k the last that both have and C has not.
    """
    check_body(op)
    positions = operand_positions(op)
    if any(len(set(loops)) != len(loops) for loops in positions):
        raise NoMatchError(NOT_A_MATMUL)
    first, second, output = positions
    alone = [loop for loop in output if (loop in first) != (loop in second)]
    columns = alone[-1] if alone else None
    a, b = (second, first) if columns in first else (first, second)
    rows = next((loop for loop in reversed(alone) if loop in a), None)
    inner = next((loop for loop in reversed(a) if loop in b and loop not in output), None)
    if inner is not None and (rows is None) != (columns is None):
        raise NoMatchError(ONLY_A_VECTOR)
    if columns is None or rows is None or inner is None:
        raise NoMatchError(NOT_A_MATMUL)
    named = {rows: "m", columns: "n", inner: "k"}
    kinds = [attr.data for attr in op.get_iterator_types()]
    for loop in range(len(kinds)):
        named.setdefault(loop, host_dim(list(named.values())))
    dims = tuple(named[loop] for loop in range(len(kinds)))
    for loop, (name, kind) in enumerate(zip(dims, kinds, strict=True)):
        wanted = IteratorType.PARALLEL if loop in output else IteratorType.REDUCTION
        if kind != wanted:
            raise NoMatchError(f"its loop over {name} is {kind.value}, a matmul's is {wanted.value}")
        if loop not in output and not (loop in a and loop in b):
            raise NoMatchError(NOT_A_MATMUL)
    return Match(dims, operands_of(op, ("B", "A", "C") if a is second else ("A", "B", "C")))


def operands_of(op: linalg.GenericOp, names: tuple[str, str, str]) -> tuple[str, ...]:
    """The names of all operands of `op`, with P for post-processing where it has that."""
    first, second, output = names
    return names if requantises(op) is None else (first, second, CHANNELS, output)


def host_dim(taken: list[str]) -> str:
    """A name for one more loop of the host: b, b1, b2 and so on."""
    names = (HOST, *(f"{HOST}{number}" for number in range(1, len(taken) + 1)))
    return next(name for name in names if name not in taken)


def element(value: SSAValue) -> str:
    """Element type of a tensor or memref as in specifications (``int8``); raises NoMatchError for others."""
    kind = value.type
    assert isinstance(kind, ShapedType)
    inner = getattr(kind, "element_type", None)
    if isinstance(inner, IntegerType) and inner.width.data in (8, 16, 32):
        return f"int{inner.width.data}"
    if isinstance(inner, Float32Type):
        return FLOAT32.name
    raise NoMatchError(f"elements of {inner} are not supported; accepted are i8, i16, i32 and f32")


def sizes(op: linalg.GenericOp) -> tuple[int, ...]:
    """Number of iterations of each loop."""
    return tuple(op.get_static_loop_ranges())


def operand_loops(op: linalg.GenericOp, operand: int) -> tuple[int, ...]:
    """The loop that runs over each dim of an operand whose indexing map has plain loops only."""
    results = op.indexing_maps.data[operand].data.results
    return tuple(e.position for e in results if isinstance(e, AffineDimExpr))


def terms(expression: AffineExpr) -> dict[int, int]:
    """Loop to its factor in an index like ``oh * 2 + fh``; raises NoMatchError for other forms."""
    if isinstance(expression, AffineConstantExpr) and expression.value == 0:
        return {}
    if isinstance(expression, AffineDimExpr):
        return {expression.position: 1}
    if isinstance(expression, AffineBinaryOpExpr):
        left, right = expression.lhs, expression.rhs
        if expression.kind == AffineBinaryOpKind.Add:
            sides = terms(left), terms(right)
            if not sides[0].keys() & sides[1].keys():
                return sides[0] | sides[1]
        if expression.kind == AffineBinaryOpKind.Mul:
            factor, other = (left, right) if isinstance(left, AffineConstantExpr) else (right, left)
            if isinstance(factor, AffineConstantExpr) and factor.value > 0:
                return {loop: times * factor.value for loop, times in terms(other).items()}
    raise NoMatchError(f"an operand is indexed by {expression}, which is no sum of loops times constants")
