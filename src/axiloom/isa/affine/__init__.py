"""Integer affine forms over named iterators: what loop bounds, subscripts and addresses are made of."""

from axiloom.isa.affine.affine import Affine

__all__ = ["Affine"]
