"""The Verilog of a specification, printed once: Amaranth and Yosys take seconds, a file none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from axiloom.base.cache import cached_build, content_hash
from axiloom.base.files import code_hash, versions
from axiloom.cosim.build import verilator
from axiloom.isa import AcceleratorSpec, dumps

if TYPE_CHECKING:
    from axiloom.hw.rtl_files.user_rtl import UserRtl

MODEL = "axl_model.v"


@cache
def _generator() -> str:
    """Hash of all that prints it: sizes of an array come from the specification's code."""
    return code_hash("base", "isa", "hw") + versions("axiloom", "amaranth", "pyosys")


def sources(
    spec: AcceleratorSpec | Sequence[AcceleratorSpec],
    top: str,
    user_rtl: UserRtl | None,
    watched: bool = False,
    fifo: bool = False,
) -> verilator.Sources:
    """The generated file of `top` ("soc" or "accelerator"), and the user's own. Raises BuildError.

    `watched`: of a SoC, with what looks at its ports in a simulation. `fifo`: and a FIFO in the DMA's place.
    """
    specs = (spec,) if isinstance(spec, AcceleratorSpec) else tuple(spec)
    user = verilator.read_sources(user_rtl.files if user_rtl else ())

    def build(folder: Path) -> None:
        from axiloom.hw.verilog import emit

        text = emit.emit(specs, top=top, user_rtl=user_rtl, watched=watched, fifo=fifo)
        (folder / "top.v").write_text(text, encoding="utf-8")

    # Without an opcode map the text of a device says nothing of its ports.
    ports = [repr(device.link.rtl) for device in specs if not device.parts]
    key = content_hash(
        _generator(), dumps(*specs), top, watched, fifo, user_rtl.top if user_rtl else "", user, *ports
    )
    text = (cached_build("emitted", key, build) / "top.v").read_text(encoding="utf-8")
    return ((f"axiloom_{top}.v", text), *user)


def model_sources(specs: Sequence[AcceleratorSpec], fifo: bool = False) -> verilator.Sources:
    """As :func:`sources` of a SoC, with the functional model in each accelerator's place. SpecError."""

    def build(folder: Path) -> None:
        from axiloom.hw.verilog import emit

        (folder / "top.v").write_text(emit.emit_model_soc(specs, fifo), encoding="utf-8")

    # What an accelerator computes is not in the text: those with the same streams and DMA share a build.
    shape = [
        (spec.link.stream_width, spec.link.dma.length_width, spec.link.dma.scatter_gather) for spec in specs
    ]
    places = [(spec.name, spec.link.dma.address) for spec in specs] if len(specs) > 1 else []
    folder = cached_build("emitted", content_hash(_generator(), "model", shape, places, fifo), build)
    text = (folder / "top.v").read_text(encoding="utf-8")
    return ("axiloom_soc.v", text), (MODEL, (verilator.RTL / MODEL).read_text(encoding="utf-8"))
