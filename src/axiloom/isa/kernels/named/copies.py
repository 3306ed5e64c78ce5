"""Words that come back as they went."""

from __future__ import annotations

from axiloom.isa.kernels.language.kernel import PARALLEL, Kernel

KERNELS = (Kernel("linalg.copy", {"n": PARALLEL}, {"A": {"n": "n"}, "C": {"n": "n"}}, "A", ("copy",)),)
