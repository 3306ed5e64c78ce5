"""`accel.padded`: a `linalg.generic` that may reach beyond its first operand, where it reads zeros.

It is what a convolution becomes whose padding the accelerator makes, and what the tiles of one are: an image
may have fewer rows than the indexing maps reach. The attribute `padding` says how many rows and columns of
zeros lie in front of it; those behind need no saying.
"""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.dialects.linalg import ops as linalg

PADDING = "padding"


class PaddedOp(linalg.GenericOp):
    """It has the definition of `linalg.generic`, which xDSL does not let a subclass repeat."""

    name = "accel.padded"

    def verify_(self) -> None:
        """Sizes are not compared with the indexing maps: what is missing is zero."""
        self.get_irdl_definition().verify(self)


def padding(op: linalg.GenericOp) -> tuple[int, int]:
    """Rows of zeros above its image, and columns of them on its left."""
    found = op.attributes.get(PADDING)
    if not isinstance(found, DenseArrayBase):
        return 0, 0
    top, left = found.get_values()
    return int(top), int(left)


def padded(op: linalg.GenericOp, top: int = 0, left: int = 0) -> PaddedOp:
    """`op` as one that may be padded; `op` itself is left as it is."""
    new = PaddedOp.create(
        operands=op.operands,
        result_types=op.result_types,
        properties=op.properties,
        attributes={k: v for k, v in op.attributes.items() if k != PADDING},
        regions=[op.body.clone()],
        location=op.location,
    )
    if top or left:
        new.attributes[PADDING] = DenseArrayBase.from_list(i64, [top, left])
    return new
