"""A SoC between registers, so that its clock can be told: it has more ports than a package has pins.

Inputs come from a chain of flip-flops, outputs go into one; a clock, a bit in, a bit out and two controls are
what is left. Every path of the SoC then lies between flip-flops, as it will on a board.
"""

from __future__ import annotations

from amaranth.hdl._ir import PortDirection

from axiloom.boards.ecp5.synthesis import CORE
from axiloom.hw.axi.signatures import flat_ports
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.hw.soc.soc import Soc
from axiloom.hw.verilog import emit as verilog
from axiloom.isa.contract.spec import AcceleratorSpec

TOP = "enclosure"


def enclose(spec: AcceleratorSpec, user_rtl: UserRtl | None = None) -> tuple[tuple[str, str], ...]:
    """Name and text of the Verilog files; the top module is :data:`TOP`, the SoC in it :data:`CORE`.

    Probes are left open, as on a board. The files of `user_rtl`, which takes the place of the generated
    accelerator, are not among them.
    """
    soc = Soc(spec, user_rtl)
    keep = (
        {user_rtl.top, *user_rtl.told.parameters, *(port.name for port in user_rtl.ports)}
        if user_rtl
        else set()
    )
    inputs: list[tuple[str, int]] = []
    outputs: list[tuple[str, int]] = []
    probes: list[str] = []
    for name, (value, direction) in flat_ports(soc).items():
        if name.startswith("debug_"):
            probes.append(name)
            continue
        (inputs if direction is PortDirection.Input else outputs).append((name, len(value)))
    fed = sum(width for _, width in inputs)
    seen = sum(width for _, width in outputs)
    lines = [
        f"module {TOP} (",
        "  input wire clock, input wire resetn, input wire bit_in, input wire load, output wire bit_out",
        ");",
        f"  reg [{fed - 1}:0] fed;",
        f"  reg [{seen - 1}:0] seen;",
        f"  wire [{seen - 1}:0] outputs;",
        "  reg aresetn;",
        "  always @(posedge clock) begin",
        "    aresetn <= resetn;",
        f"    fed <= {{fed[{fed - 2}:0], bit_in}};",
        f"    seen <= load ? outputs : {{seen[{seen - 2}:0], 1'b0}};",
        "  end",
        f"  assign bit_out = seen[{seen - 1}];",
        f"  {CORE} core (",
        "    .aclk(clock), .aresetn(aresetn)",
    ]
    for vector, ports in (("fed", inputs), ("outputs", outputs)):
        at = 0
        for name, width in ports:
            lines.append(f"    , .{name}({vector}[{at + width - 1}:{at}])")
            at += width
    lines += [f"    , .{name}()" for name in probes]
    lines += ["  );", "endmodule", ""]
    return ("enclosure.v", "\n".join(lines)), ("core.v", verilog.convert(soc, CORE, keep))
