"""Integer affine forms over named iterators: what loop bounds, subscripts and addresses are made of."""

from axiloom.base.affine.affine import Affine

__all__ = ["Affine"]
