"""Prints a top module as Verilog: hierarchical, named, the same bytes for the same specification."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import ClockDomain, Fragment, Signal, _nir
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring

from axiloom import isa
from axiloom.base.errors import BuildError, SpecError
from axiloom.hw.axi.signatures import flat_ports
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.hw.rtl_files.yosys import to_verilog
from axiloom.hw.soc.accelerator import build, check_engine
from axiloom.hw.soc.model import MODULE, PORTS, ModelAccelerator
from axiloom.hw.soc.shared import SharedSoc
from axiloom.hw.soc.soc import Soc
from axiloom.hw.soc.user import UserAccelerator
from axiloom.hw.soc.watched import NAMES
from axiloom.hw.verilog.tidy import tidy
from axiloom.isa.contract.spec import AcceleratorSpec

TOPS = {"soc": "axiloom_soc", "accelerator": "axiloom_accelerator"}
"""What can be printed, and the name of its top module."""


def emit(
    spec: AcceleratorSpec | Sequence[AcceleratorSpec],
    top: str = "soc",
    user_rtl: UserRtl | None = None,
    readable: bool = True,
    watched: bool = False,
    fifo: bool = False,
) -> str:
    """Verilog of the SoC or of the accelerator alone, with the clock ``aclk`` and the reset ``aresetn``
    (synchronous, active low). With `user_rtl` it instantiates the user's module, whose files stay apart.

    `watched`: the SoC for a simulation, which needs the modules of ``cosim/rtl/axl_watch.v``. `fifo`: a SoC
    of one accelerator with an AXI4-Stream FIFO in the DMA's place.

    Several specifications: the SoC of all of them (:class:`axiloom.hw.soc.shared.SharedSoc`). Not
    `readable`: as Yosys prints it.

    Raises :exc:`BuildError` for another `top`, for several accelerators where one is meant, or if Yosys
    fails, and :exc:`SpecError` for accelerators that do not fit together.
    """
    if top not in TOPS:
        raise BuildError(f"top must be one of {', '.join(TOPS)}, not {top!r}")
    component: wiring.Component
    specs = (spec,) if isinstance(spec, AcceleratorSpec) else tuple(spec)
    for link in specs if user_rtl is None else ():
        check_engine(link)  # before Amaranth has a DMA that is never used, of which it would warn
    if len(specs) != 1:
        names = ", ".join(link.name for link in specs)
        if top != "soc":
            raise BuildError(f"{names}: the Verilog of an accelerator alone is of one of them; name one")
        if user_rtl is not None:
            raise BuildError(
                f"{names}: Verilog of your own takes the place of a generated accelerator, and is built in "
                "only where there is one"
            )
        faults = isa.check_together(specs)
        if faults:
            raise SpecError(faults)
        soc = SharedSoc(specs, watched=watched)
        return banner(specs) + convert(soc, TOPS[top], NAMES if watched else (), readable)
    (spec,) = specs
    if user_rtl is not None:
        user_rtl.check(spec)
    if top == "soc":
        component = Soc(spec, user_rtl, watched=watched, fifo=fifo)
    elif user_rtl is not None:
        component = UserAccelerator(user_rtl, spec)
    else:
        component = build(spec)
    keep = (
        {user_rtl.top, *user_rtl.told.parameters, *(port.name for port in user_rtl.ports)}
        if user_rtl
        else set()
    )
    keep |= NAMES if watched else set()
    return banner(specs, user_rtl) + convert(component, TOPS[top], keep, readable)


def emit_model_soc(specs: Sequence[AcceleratorSpec], fifo: bool = False) -> str:
    """Verilog of the SoC of `specs` for a simulator, with the functional model in each accelerator's place.

    What the accelerators compute is not in it: one with the same streams and DMA gives the same text. Raises
    :exc:`SpecError` for accelerators that do not fit together.
    """
    models = [ModelAccelerator(spec.link.stream_width, number) for number, spec in enumerate(specs)]
    single = len(specs) == 1
    soc = Soc(specs[0], accelerator=models[0], fifo=fifo) if single else SharedSoc(specs, models)
    lines = (f"{_tool()}, a SoC for simulation", f"needs module {MODULE}, the functional model")
    return _comment(lines) + convert(soc, TOPS["soc"], {MODULE, *PORTS})


def config_hash(*specs: AcceleratorSpec) -> str:
    """What tells two specifications, or two systems, apart: hash of their printed form."""
    return hashlib.sha256(isa.dumps(*specs).encode()).hexdigest()[:16]


def banner(specs: Sequence[AcceleratorSpec], user_rtl: UserRtl | None = None) -> str:
    """Comment at the head of the file: tool, specification, its hash; no timestamp."""
    names = " and ".join(spec.name for spec in specs)
    lines = [f"{_tool()}, specification {names}, configuration {config_hash(*specs)}"]
    if user_rtl is not None:
        lines.append(f"needs module {user_rtl.top}, which is not in this file")
    lines.append("Generated: change the specification, not this file.")
    return _comment(lines)


def _tool() -> str:
    try:
        return f"axiloom {version('axiloom')}"
    except PackageNotFoundError:
        return "axiloom"


def _comment(lines: Sequence[str]) -> str:
    return "".join(f"// {line}\n" for line in lines)


def _emit_memory(emitter: Any, index: int, cell: Any) -> None:
    """What Amaranth 0.5 writes of a memory's initial words, from whole words: it goes through the bits one by
    one, which is half of all time for conv_v4. It is in the place of Amaranth's inside
    :func:`_quick_memories`.
    """
    words = "".join(f"{word & ((1 << cell.width) - 1):0{cell.width}b}" for word in reversed(cell.init))
    emitter.builder.cell(
        "$meminit_v2",
        ports={
            "ADDR": emitter.sigspec(),
            "DATA": f"{len(words)}'{words}",
            "EN": emitter.sigspec(_nir.Value.ones(cell.width)),
        },
        parameters={
            "MEMID": emitter.memories[index].memid,
            "ABITS": 0,
            "WIDTH": cell.width,
            "WORDS": cell.depth,
            "PRIORITY": 0,
        },
        src_loc=cell.src_loc,
    )


@contextmanager
def _quick_memories() -> Iterator[None]:
    """Inside, Amaranth writes memories by :func:`_emit_memory`; before and after it is untouched. One thread
    at a time is inside."""
    with _PATCHING:
        theirs = rtlil.ModuleEmitter.emit_memory
        rtlil.ModuleEmitter.emit_memory = _emit_memory
        try:
            yield
        finally:
            rtlil.ModuleEmitter.emit_memory = theirs


_PATCHING = threading.Lock()
_READS_OLD = re.compile(r"^ *attribute \\reads_old 1\n(?: *attribute \\no_rw_check 1\n)?", re.MULTILINE)
"""A memory with the attribute ``reads_old`` does give the old word in that cycle."""


def convert(
    component: wiring.Component,
    name: str,
    keep: Collection[str] = (),
    readable: bool = True,
) -> str:
    """Verilog of any component of the domain ``sync``, its members as flat ports.

    `keep`: names of modules and ports that are defined elsewhere. Not `readable`: as Yosys
    prints it.
    """
    aclk = Signal()  # each in its own statement: Amaranth takes the name from there
    aresetn = Signal()
    domain = ClockDomain("sync")
    domain.clk = aclk
    fragment = Fragment.get(component, None)
    fragment.add_domains(domain)
    fragment.add_statements("comb", domain.rst.eq(~aresetn))
    ports = {
        "aclk": (aclk, PortDirection.Input),
        "aresetn": (aresetn, PortDirection.Input),
        **flat_ports(component),
    }
    for internal in ("restart", "awaited"):  # inputs that only the SoC drives
        ports.pop(internal, None)
    with _quick_memories():
        text, _ = rtlil.convert_fragment(fragment, ports, name, emit_src=False)
    # In most memories no word is read in the cycle in which it is written. If Yosys did not know, it would
    # put registers and comparisons around an ECP5's memories, which do not give the old word then.
    text = re.sub(r"^( *)(memory )", r"\1attribute \\no_rw_check 1\n\1\2", text, flags=re.MULTILINE)
    text = _READS_OLD.sub("", text)
    raw = to_verilog(text)
    return tidy(raw, list(ports), keep) if readable else raw
