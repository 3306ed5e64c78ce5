"""The Verilog of a folder: one core with accelerators and DMAs, or one core an accelerator for Xilinx'
DMA.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from axiloom import isa
from axiloom.base.errors import BuildError
from axiloom.board_folder.design.plan import OWN, Plan, identifier
from axiloom.cosim.build import verilator
from axiloom.hw.soc.accelerator import build
from axiloom.hw.soc.soc import Soc
from axiloom.hw.soc.user import UserAccelerator
from axiloom.hw.verilog import emit as verilog
from axiloom.isa import AcceleratorSpec

_PORT = re.compile(r"\s*(input|output)\s+(?:wire\s+|reg\s+)?(?:\[(\d+):0\]\s*)?(\w+)")


@dataclass(frozen=True)
class Port:
    """A port of a module; `width` in bits."""

    name: str
    is_input: bool
    width: int


@dataclass(frozen=True)
class Core:
    """A packaged core: its top module, its files (name to text) and the accelerators inside."""

    name: str
    files: dict[str, str]
    ports: tuple[Port, ...]
    specs: tuple[AcceleratorSpec, ...]

    @property
    def registers(self) -> bool:
        """Whether it has a port of registers: with our DMA."""
        return any(port.name.startswith("s_axi_lite_") for port in self.ports)


def cores(plan: Plan) -> tuple[Core, ...]:
    """The cores of `plan`, the accelerators in order."""
    if plan.dma == OWN:
        text = _soc(plan)
        name = verilog.TOPS["soc"]
        files = {f"{name}.v": text, **_user_files(plan)}
        return (Core(name, files, ports(text, name), plan.specs),)
    return tuple(_stream_core(plan, spec) for spec in plan.specs)


def _soc(plan: Plan) -> str:
    """The Verilog of DMAs and accelerators. That of one does not depend on its address."""
    if len(plan.specs) > 1 or plan.user_rtl is not None:
        return verilog.emit(plan.specs, user_rtl=plan.user_rtl)
    (spec,) = plan.specs
    return verilog.banner([spec]) + _placeless(
        isa.dumps(spec.replace(dma=replace(spec.link.dma, address=0))), spec
    )


_printed: dict[str, str] = {}


def _placeless(key: str, spec: AcceleratorSpec) -> str:
    """Without the banner; made once for all boards that one program writes for."""
    if key not in _printed:
        _printed[key] = verilog.convert(Soc(spec), verilog.TOPS["soc"])
    return _printed[key]


def ports(text: str, module: str) -> tuple[Port, ...]:
    """The ports of `module` in Verilog `text` with one port a line. BuildError if it is not there."""
    match = re.search(rf"^module {re.escape(module)} \(\n(.*?)\n\);", text, re.MULTILINE | re.DOTALL)
    if match is None:
        raise BuildError(f"module {module} is not in its Verilog")
    lines = [_PORT.match(line) for line in match[1].splitlines()]
    return tuple(Port(m[3], m[1] == "input", int(m[2] or 0) + 1) for m in lines if m)


def _user_files(plan: Plan) -> dict[str, str]:
    if plan.user_rtl is None:
        return {}
    return dict(verilator.read_sources(plan.user_rtl.files))  # with what they include


def _stream_core(plan: Plan, spec: AcceleratorSpec) -> Core:
    """An accelerator between the streams of Xilinx' AXI DMA, which looks at TKEEP: ours has whole words
    only.
    """
    name = f"axiloom_{identifier(spec.name)}"
    rtl = plan.user_rtl
    inner = UserAccelerator(rtl, spec) if rtl is not None else build(spec)
    keep = {rtl.top, *(port.name for port in rtl.ports)} if rtl is not None else set()
    text = verilog.convert(inner, f"{name}_core", keep)
    wrapper = _wrapper(name, ports(text, f"{name}_core"), spec.link.stream_width // 8)
    files = {f"{name}.v": verilog.banner([spec], rtl) + wrapper + "\n" + text, **_user_files(plan)}
    return Core(name, files, ports(wrapper, name), (spec,))


def _wrapper(name: str, inner: tuple[Port, ...], keep: int) -> str:
    """A module around the core with ``m_axis_tkeep``, all ones."""
    declarations = [_declaration(port) for port in (*inner, Port("m_axis_tkeep", False, keep))]
    links = [f"    .{port.name}({port.name})" for port in inner]
    return "\n".join(
        [
            f"module {name} (",
            ",\n".join(declarations),
            ");",
            f"  assign m_axis_tkeep = {{{keep}{{1'b1}}}};  // whole words, always",
            "",
            f"  {name}_core core (",
            ",\n".join(links),
            "  );",
            "endmodule",
            "",
        ]
    )


def _declaration(port: Port) -> str:
    bits = f"[{port.width - 1}:0] " if port.width > 1 else ""
    return f"  {'input ' if port.is_input else 'output'} wire {bits}{port.name}"
