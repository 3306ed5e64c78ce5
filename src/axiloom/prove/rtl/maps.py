"""State maps of our engines: which word of which memory holds which element, for each form."""

from __future__ import annotations

from collections.abc import Callable

from axiloom.errors import SpecError
from axiloom.hw.verilog.emit import TOPS, emit
from axiloom.isa import AcceleratorSpec
from axiloom.isa.formal.streams import model_of
from axiloom.isa.formal.streams.places import Places
from axiloom.isa.kernels.forms import MATMUL, WINDOW
from axiloom.prove.rtl import machine as machines
from axiloom.prove.rtl.device import Device
from axiloom.prove.rtl.laid import Laid
from axiloom.prove.rtl.of_matmul import matmul
from axiloom.prove.rtl.of_window import window
from axiloom.prove.rtl.pairs import apart

FORMS: dict[str, Callable[[AcceleratorSpec], Laid]] = {
    MATMUL.name: matmul,
    WINDOW.name: window,
}
"""Form to what its engine has of the model."""


def device_of(spec: AcceleratorSpec, verilog: str | None = None) -> Device:
    """Our engine of `spec`, from the Verilog that users get, or from `verilog` in its place.

    Raises SpecError for what has no formal model, BuildError for Verilog that is not understood.
    """
    check(spec)
    model = model_of(spec, products="uninterpreted")
    top = TOPS["accelerator"]
    sources = ((f"{top}.v", verilog or emit(spec, "accelerator")),)
    read = apart(machines.read(sources, top))
    laid = FORMS[spec.form.name](spec)
    return Device(
        spec.name,
        spec,
        model,
        read,
        sources,
        laid.links,
        laid.multiplier(read, laid.bits),
        error="debug_error",
        sizes=laid.sizes,
        bits=laid.bits,
        fixed=laid.fixed or {},
        data=laid.data,
        settles=laid.settles,
    )


def places(spec: AcceleratorSpec) -> dict[str, int]:
    """Each action of each opcode (``name.index``) to the number that the model's `place` has in it."""
    return {f"{place.opcode.name}.{place.index}": place.number for place in Places(spec).every}


def check(spec: AcceleratorSpec) -> None:
    """Raises SpecError for an accelerator that cannot be looked at yet."""
    faults = []
    if spec.form.name not in FORMS:
        faults.append(f"of the form {spec.form.name}; known are {', '.join(FORMS)}")
    if spec.stream_width != 32 or spec.post or spec.bits:
        faults.append("with wider streams than 32 bits, post-processing, or opcodes that combine bits")
    if faults:
        raise SpecError(
            [f"{spec.name}: prove rtl does not take accelerators {fault} yet" for fault in faults]
        )
