"""All of POM's kernels by name, and small sizes of each for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from axiloom.nests.program import Program
from benchmarks.pom import image, linear, network, stencil

KERNELS: Mapping[str, Callable[..., Program]] = {
    kernel.__name__: kernel
    for kernel in (
        *(linear.gemm, linear.bicg, linear.gesummv, linear.two_mm, linear.three_mm),
        *(image.blur, image.edge_detect, image.gaussian),
        *(stencil.jacobi_1d, stencil.jacobi_2d, stencil.heat, stencil.seidel),
        *(network.vgg16, network.resnet18),
    )
}
SMALL: Mapping[str, Mapping[str, int]] = {
    **{name: {"n": 6} for name in ("gemm", "bicg", "gesummv", "two_mm", "three_mm", "blur", "edge_detect")},
    "gaussian": {"n": 10, "taps": 3},
    **{name: {"n": 7, "steps": 3} for name in ("jacobi_1d", "jacobi_2d", "heat", "seidel")},
    "vgg16": {"channels": 1, "size": 32},
    "resnet18": {"channels": 1, "size": 8},
}
"""Sizes at which a slow interpreter runs each of them."""
