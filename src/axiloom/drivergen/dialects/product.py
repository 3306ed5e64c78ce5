"""`accel.product`: a `linalg.generic` that multiplies and adds, with what an accelerator does beside that.

It has the form of a `linalg.generic`, and attributes:

- ``padding = array<i64: top, left>``: the image has as many rows and columns of zeros in front. Those behind
  need no saying: wherever the indexing maps reach beyond an operand, there are zeros.
- ``requantise = {zp, lo, hi}``: the sums, which start from zero, leave as int8. The third input has two words
  for each channel (:mod:`axiloom.isa.kernels.requantise`), and the body only says what is read and written.

``accel.product`` is not ``linalg.generic``. It may read zeros beyond its operands and round its sums;
xDSL's verifier would refuse both on a generic.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, IntegerAttr, i64
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute

PADDING, REQUANTISE = "padding", "requantise"
LEAN, MERGED = "accel.lean", "accel.merged"
"""Of an op, what an estimate must know: few multiply-adds for each element that travels (a vector, a
channel by
itself); how many groups were put together, so that of as many multiply-adds one is not by zero."""


class ProductOp(linalg.GenericOp):
    """It has the definition of `linalg.generic`, which xDSL does not let a subclass repeat."""

    name = "accel.product"

    def verify_(self) -> None:
        """Sizes are not compared with the indexing maps: what is missing is zero."""
        self.get_irdl_definition().verify(self)


def padding(op: linalg.GenericOp) -> tuple[int, int]:
    """Rows of zeros above its image, and columns of them on its left."""
    attribute = op.attributes.get(PADDING)
    if not isinstance(attribute, DenseArrayBase):
        return 0, 0
    top, left = attribute.get_values()
    return int(top), int(left)


def requantises(op: linalg.GenericOp) -> Mapping[str, int] | None:
    """zp, lo and hi where its sums leave as int8."""
    attribute = op.attributes.get(REQUANTISE)
    if not isinstance(attribute, DictionaryAttr):
        return None
    return {key: value.value.data for key, value in attribute.data.items() if isinstance(value, IntegerAttr)}


def is_lean(op: linalg.GenericOp) -> bool:
    """Has it few multiply-adds for each element that travels?"""
    return LEAN in op.attributes


def merged(op: linalg.GenericOp) -> int:
    """Groups of the convolution that it was, for each group that it has."""
    attribute = op.attributes.get(MERGED)
    return attribute.value.data if isinstance(attribute, IntegerAttr) else 1


def multiplied(op: linalg.GenericOp) -> tuple[int, int, int]:
    """Numbers of the operands that are multiplied, and of the output."""
    return 0, 1, len(op.operands) - 1


def product_of(op: linalg.GenericOp, **changed: Attribute) -> ProductOp:
    """`op` as an `accel.product` with its attributes and those that are `changed`."""
    return ProductOp.create(
        operands=op.operands,
        result_types=op.result_types,
        properties=op.properties,
        attributes={**op.attributes, **changed},
        regions=[op.body.clone()],
        location=op.location,
    )


def padding_attr(top: int, left: int) -> Attribute:
    """The value of the attribute ``padding``."""
    return DenseArrayBase.from_list(i64, [top, left])


def requantise_attr(values: Mapping[str, int]) -> Attribute:
    """The value of the attribute ``requantise``."""
    return DictionaryAttr({key: IntegerAttr(value, i64) for key, value in values.items()})
