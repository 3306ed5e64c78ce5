"""Which engine executes a specification: the one place that knows all of them."""

from __future__ import annotations

from collections.abc import Mapping

from axiloom.hw.conv import Conv
from axiloom.hw.copy_engine import CopyEngine
from axiloom.hw.engine import Engine
from axiloom.hw.matmul import MatMul
from axiloom.hw.window_conv import WindowConv
from axiloom.isa.kernels import COPY, IMAGE, MATMUL, WINDOW
from axiloom.isa.spec import AcceleratorSpec

ENGINES: Mapping[str, type[Engine]] = {
    MATMUL.name: MatMul,
    IMAGE.name: Conv,
    WINDOW.name: WindowConv,
    COPY.name: CopyEngine,
}
"""Form of a kernel to the engine for it."""


def build(spec: AcceleratorSpec) -> Engine:
    """The accelerator of `spec`, which raises :exc:`SpecError` for what its engine cannot be."""
    return ENGINES[spec.form.name](spec)
