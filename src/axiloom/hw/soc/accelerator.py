"""Which engine executes a specification: the one place that knows all of them."""

from __future__ import annotations

from collections.abc import Mapping

from axiloom.base.errors import SpecError
from axiloom.hw.conv.engine import Conv
from axiloom.hw.copy.engine import CopyEngine
from axiloom.hw.engine.engine import Engine
from axiloom.hw.matmul.engine import MatMul
from axiloom.hw.window.engine import WindowConv
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.kernels.forms import COPY, FORMS, IMAGE, MATMUL, WINDOW

ENGINES: Mapping[str, type[Engine]] = {
    MATMUL.name: MatMul,
    IMAGE.name: Conv,
    WINDOW.name: WindowConv,
    COPY.name: CopyEngine,
}
"""Form of a kernel to the engine for it."""


def check_engine(device: AcceleratorSpec) -> None:
    """Raises :exc:`SpecError` for what no engine, or not its engine, can be."""
    if not device.parts:
        raise SpecError([f"{device.name}: has no opcode map. Give its Verilog (--rtl FILE --top NAME)"])
    spec, *_ = device.parts
    if spec.form.name not in ENGINES:
        known = sorted({form.kernel for form in FORMS if form.name in ENGINES})
        what = f"no engine of ours executes {spec.kernel}; they execute {', '.join(known)}"
        if spec.kernel in known:
            what = f"no engine of ours computes {spec.kernel} by these instructions and tiles"
        remedy = "Give its Verilog (--rtl FILE --top NAME), or take the functional model (--rtl model)"
        raise SpecError([f"{spec.name}: {what}. {remedy}"])
    if spec.link.rtl.registers or spec.link.rtl.inputs:
        what = "engines of ours have no registers and one input stream (`rtl` of the specification)"
        raise SpecError([f"{spec.name}: {what}. Give your own RTL"])
    if spec.in_place or len(spec.parts) > 1:
        what = "no engine of ours has several kernels. Give your own RTL, or run the functional model"
        raise SpecError([f"{spec.name}: {what}"])
    ENGINES[spec.form.name].sizes(spec)


def build(device: AcceleratorSpec) -> Engine:
    """The accelerator at `link`; raises what :func:`check_engine` does."""
    check_engine(device)
    spec, *_ = device.parts
    return ENGINES[spec.form.name](spec)
