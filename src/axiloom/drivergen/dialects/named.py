"""Named ops of linalg that xDSL has not: matrix products with batches, transposed or of vectors.

They are those of MLIR's ``linalg`` dialect, of today and of the versions whose files are still about. Each is
the sum over k of the products of its two inputs; narrower inputs are sign-extended.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IntegerType
from xdsl.dialects.linalg import Linalg
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import NamedOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import BlockArgument, Dialect, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.irdl import irdl_op_definition, opt_prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from axiloom.drivergen.dialects.depthwise import DEPTHWISE
from axiloom.drivergen.dialects.pooling import POOLING


def multiply_add(
    a: SSAValue, b: SSAValue, c: SSAValue, *, extend: type[arith.ExtSIOp | arith.ExtUIOp] = arith.ExtSIOp
) -> SSAValue:
    """c + a * b in the type of c; narrower integers a and b are extended. Call it under a builder."""
    wide = c.type
    if not isinstance(wide, IntegerType):
        return arith.AddfOp(c, arith.MulfOp(a, b)).result
    if a.type == b.type == wide:
        return arith.AddiOp(arith.MuliOp(a, b), c).result
    a, b = (x if x.type == wide else extend(x, wide).result for x in (a, b))
    return arith.AddiOp(c, arith.MuliOp(a, b)).result


class Contraction(NamedOperation, ABC):
    """Base. `FORM`: the loops of the two inputs and of the output, by letters; k is summed up, innermost.

    The output of a dot product has none: ``k k`` and a space behind.
    """

    FORM: ClassVar[str]
    PRINT_ATTRS_IN_FRONT: ClassVar[bool] = True

    indexing_maps = opt_prop_def(ArrayAttr[AffineMapAttr])
    """Where they are not those of the op's name: ``linalg.batch_matmul indexing_maps = [...] ins(...)``."""

    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        if (len(inputs), len(outputs)) != (2, 1):
            raise ValueError("a product has two inputs and one output")  # the parser says where

        @Builder.implicit_region(cls.body_arg_types((*inputs, *outputs)))
        def body(args: tuple[BlockArgument, ...]) -> None:
            linalg.YieldOp(multiply_add(*args))

        return body

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        if self.indexing_maps is not None:
            return [attr.data for attr in self.indexing_maps]
        dims = {letter: AffineDimExpr(number) for number, letter in enumerate(self._loops())}
        return [AffineMap(len(dims), 0, tuple(dims[d] for d in operand)) for operand in self.FORM.split(" ")]

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        return ArrayAttr(
            IteratorTypeAttr.reduction() if letter == "k" else IteratorTypeAttr.parallel()
            for letter in self._loops()
        )

    @classmethod
    def _loops(cls) -> str:
        return cls.FORM.split(" ")[-1] + "k"

    @classmethod
    def parse(cls, parser: Parser) -> Contraction:
        maps = None
        if parser.parse_optional_keyword("indexing_maps"):
            parser.parse_punctuation("=")
            maps = parser.parse_attribute()
        op = super().parse(parser)
        assert isinstance(op, Contraction)
        if maps is not None:
            op.properties["indexing_maps"] = maps
        return op

    def print(self, printer: Printer) -> None:
        if self.indexing_maps is not None:
            printer.print_string(" indexing_maps = ")
            printer.print_attribute(self.indexing_maps)
        super().print(printer)


@irdl_op_definition
class MatmulOp(Contraction):
    """Stands in for xDSL's, which knows neither this syntax of indexing maps nor the sign extension."""

    name = "linalg.matmul"
    FORM: ClassVar[str] = "mk kn mn"


@irdl_op_definition
class MatmulTransposeAOp(Contraction):
    name = "linalg.matmul_transpose_a"
    FORM: ClassVar[str] = "km kn mn"


@irdl_op_definition
class MatmulTransposeBOp(Contraction):
    name = "linalg.matmul_transpose_b"
    FORM: ClassVar[str] = "mk nk mn"


@irdl_op_definition
class BatchMatmulOp(Contraction):
    name = "linalg.batch_matmul"
    FORM: ClassVar[str] = "bmk bkn bmn"


@irdl_op_definition
class BatchMatmulTransposeAOp(Contraction):
    name = "linalg.batch_matmul_transpose_a"
    FORM: ClassVar[str] = "bkm bkn bmn"


@irdl_op_definition
class BatchMatmulTransposeBOp(Contraction):
    name = "linalg.batch_matmul_transpose_b"
    FORM: ClassVar[str] = "bmk bnk bmn"


@irdl_op_definition
class DotOp(Contraction):
    name = "linalg.dot"
    FORM: ClassVar[str] = "k k "


@irdl_op_definition
class MatvecOp(Contraction):
    name = "linalg.matvec"
    FORM: ClassVar[str] = "mk k m"


@irdl_op_definition
class VecmatOp(Contraction):
    name = "linalg.vecmat"
    FORM: ClassVar[str] = "k kn n"


@irdl_op_definition
class BatchMatvecOp(Contraction):
    name = "linalg.batch_matvec"
    FORM: ClassVar[str] = "bmk bk bm"


@irdl_op_definition
class BatchVecmatOp(Contraction):
    name = "linalg.batch_vecmat"
    FORM: ClassVar[str] = "bk bkn bn"


NAMED: tuple[type[Operation], ...] = (
    MatmulOp,
    MatmulTransposeAOp,
    MatmulTransposeBOp,
    BatchMatmulOp,
    BatchMatmulTransposeAOp,
    BatchMatmulTransposeBOp,
    DotOp,
    MatvecOp,
    VecmatOp,
    BatchMatvecOp,
    BatchVecmatOp,
)


def linalg_dialect() -> Dialect:
    """xDSL's linalg, with these ops."""
    ours = (*NAMED, *DEPTHWISE, *POOLING)
    own = {op.name for op in ours}
    others = [op for op in Linalg.operations if op.name not in own]
    return Dialect("linalg", [*others, *ours], list(Linalg.attributes))
