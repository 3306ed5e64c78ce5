"""State maps of our engines: which word of which memory holds which element, for each form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from axiloom.base.errors import SpecError
from axiloom.hw.engine.decoder import Programs
from axiloom.hw.verilog.emit import TOPS, emit
from axiloom.isa import AcceleratorSpec
from axiloom.isa.formal.beats import Beats, model_of
from axiloom.isa.kernels.forms import IMAGE, MATMUL, WINDOW
from axiloom.prove.rtl.maps import combined, of_image, of_matmul, of_window
from axiloom.prove.rtl.maps.device import Device
from axiloom.prove.rtl.maps.laid import Laid, settings
from axiloom.prove.rtl.terms import machine as machines
from axiloom.prove.rtl.terms.pairs import apart


@dataclass(frozen=True)
class Engine:
    """Of a form: what the engine of a specification has of the model, and the specification in small."""

    laid: Callable[[Beats], Laid]
    small: Callable[[AcceleratorSpec], AcceleratorSpec]


FORMS: dict[str, Engine] = {
    MATMUL.name: Engine(of_matmul.matmul, of_matmul.small),
    IMAGE.name: Engine(of_image.image, of_image.small),
    WINDOW.name: Engine(of_window.window, of_window.small),
}
MOST_WORDS = 1024
"""Of all buffers together."""


def device_of(spec: AcceleratorSpec, verilog: str | None = None) -> Device:
    """Our engine of `spec`, from the Verilog that users get, or from `verilog` in its place.

    Raises SpecError for what has no formal model, BuildError for Verilog that is not understood.
    """
    check(spec)
    words = sum(spec.buffers.values())
    if words > MOST_WORDS:
        raise SpecError(
            [
                f"{spec.name}: its buffers hold {words} words; prove rtl looks at each of them, and takes at "
                f"most {MOST_WORDS}: --small proves the same engine with a small array, tile and buffers"
            ]
        )
    beats = model_of(spec, products="uninterpreted")
    top = TOPS["accelerator"]
    sources = ((f"{top}.v", verilog or emit(spec, "accelerator")),)
    read = apart(machines.read(sources, top))
    laid = FORMS[spec.form.name].laid(beats)
    return Device(
        spec.name,
        spec,
        beats.ila,
        read,
        sources,
        laid.links,
        laid.multiplier(read, laid.bits),
        error="debug_error",
        sizes=tuple(name for name in laid.sizes if name in beats.ila.states),
        bits=laid.bits,
        settings=settings(beats, laid.shapes),
        limited=laid.limited,
        settles=laid.settles,
        program=combined.left(beats),
        action_bits=Programs(spec).action_width,
        **memories(beats),
    )


def small(spec: AcceleratorSpec) -> AcceleratorSpec:
    """The same accelerator with a small array, tile and buffers, whose claims are proved in minutes.

    Raises SpecError for one that cannot be looked at, or not with such sizes.
    """
    check(spec)
    return FORMS[spec.form.name].small(spec)


def memories(beats: Beats) -> dict[str, Any]:
    """What a :class:`Device` is told of the model's memories."""
    (part,) = beats.opcodes.parts
    held = [memory for memory in beats.opcodes.instructions.memories.values() if not memory.host]
    rooms = {memory.name: memory.shape[0] for memory in (*held, *part.incoming.values())}
    return {"rooms": rooms, "zeros": {} if part.form.saves else {part.out: part.there[part.out].name}}


def steps(beats: Beats) -> dict[str, int]:
    """Each action that takes words (``opcode.index``) to what the model's `step` is while it does."""
    return {f"{wait.opcode}.{wait.action}": step for step, wait in beats.waits.items()}


def check(spec: AcceleratorSpec) -> None:
    """Raises SpecError for an accelerator that cannot be looked at yet."""
    faults = []
    if spec.form.name not in FORMS:
        faults.append(f"of the form {spec.form.name}; known are {', '.join(FORMS)}")
    if spec.link.stream_width != 32 or spec.post:
        faults.append("with wider streams than 32 bits or post-processing")
    if faults:
        raise SpecError(
            [f"{spec.name}: prove rtl does not take accelerators {fault} yet" for fault in faults]
        )
