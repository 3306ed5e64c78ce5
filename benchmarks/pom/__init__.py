"""POM's 14 kernels (HPCA 2024) in corrected form: every access in bounds, sums that begin with zero, a pool
that is a maximum.

The extents of the loops that multiply are POM's, so that its cycles compare. ``linear.py``: products;
``image.py``: filters; ``stencil.py``: stencils; ``network.py``: VGG-16 and ResNet-18. Each function takes its
sizes and gives a `Program`; without arguments, POM's own size. ``axiloom nest benchmarks/pom/linear.py:gemm
-D n=64`` shows one.
"""
