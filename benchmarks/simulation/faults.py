"""Twenty faults, ten in RTL and ten in drivers, and what the diagnosis of the wrong result says of each.

The RTL is examples/verilog_accelerator/rowmul.v and the driver that of v1_4, each with one edit; both run on
the simulated SoC. A fault is named if the line has the words that stand beside it here.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from axiloom import isa
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import Watch, simulate

EXAMPLE = Path(__file__).parents[2] / "examples" / "verilog_accelerator"


@dataclass(frozen=True)
class Fault:
    what: str
    old: str
    new: str
    named: str
    """Words of the right diagnosis."""


RTL = (
    Fault(
        "B's index is turned", "b[{count[2:0], n[2:0]}]", "b[{n[2:0], count[2:0]}]", "B's tile is transposed"
    ),
    Fault("the clear of the sums is forgotten", "acc[n] <= 0;", "acc[n] <= acc[n];", "C is not cleared"),
    Fault("B is written one place too high", "b[count] <= s", "b[count + 6'd1] <= s", "B is shifted"),
    Fault("products are subtracted", "acc[n] + s_axis", "acc[n] - s_axis", "the sign is wrong"),
    Fault(
        "the row comes out backwards",
        "acc[count[2:0]];",
        "acc[3'd7 - count[2:0]];",
        "C's columns come in reverse",
    ),
    Fault(
        "the last k is lost",
        "<= acc[n] + s",
        "<= acc[n] + (count == 7 ? 0 : 1) * s",
        "the last k of each tile",
    ),
    Fault(
        "the first k is lost",
        "<= acc[n] + s",
        "<= acc[n] + (count == 0 ? 0 : 1) * s",
        "the first k of each tile",
    ),
    Fault(
        "factors of 16 bits", "s_axis_tdata * b", "s_axis_tdata[15:0] * b", "A has 16 bits, without a sign"
    ),
    Fault(
        "sums of 16 bits",
        "acc[count[2:0]];",
        "{{16{acc[count[2:0]][15]}}, acc[count[2:0]][15:0]};",
        "sums have 16 bits",
    ),
    Fault(
        "each product twice", "s_axis_tdata * b", "(s_axis_tdata << 1) * b", "each product is counted twice"
    ),
)
DRIVER = (
    Fault(
        "A's strides are exchanged",
        "&A[m * 16 + k], 4, 4, 16, 1,",
        "&A[m * 16 + k], 4, 4, 1, 16,",
        "A's tile is transposed",
    ),
    Fault(
        "B's strides are exchanged",
        "&B[k * 16 + n], 4, 4, 16, 1,",
        "&B[k * 16 + n], 4, 4, 1, 16,",
        "B's tile is transposed",
    ),
    Fault(
        "C's strides are exchanged",
        "&C[m * 16 + n], 4, 4, 16, 1,",
        "&C[m * 16 + n], 4, 4, 1, 16,",
        "C's tile is transposed",
    ),
    Fault("the result is not added", "4, 4, 0, 1));", "4, 4, 0, 0));", "the last tile along k stands alone"),
    Fault("the last tile of k is forgotten", "k < 16;", "k < 12;", "the last tile along k is left out"),
    Fault(
        "the first tile of k is forgotten",
        "uint32_t k = 0;",
        "uint32_t k = 4;",
        "the first tile along k is left out",
    ),
    Fault("the buffers are exchanged", "4, 4, 0));", "4, 4, 16));", "A and B are exchanged"),
    Fault("the result is taken one word too far", "1, 4, 4, 0, 1));", "1, 4, 4, 1, 1));", "C is shifted"),
    Fault(
        "the result is taken twice",
        "TRY(dma_get_tile_i32(",
        "TRY(dma_get_tile_i32(&C[m * 16 + n], 4, 4, 16, 1, 4, 4, 0, 1)); TRY(dma_get_tile_i32(",
        "each product is counted twice",
    ),
    Fault("A's tile is sent before it is packed", "", "", "A is one tile late"),
)
_PACK_A = "                TRY(dma_put_tile_i32(&A[m * 16 + k], 4, 4, 16, 1, 4, 4, 0));\n"


def edited(text: str, fault: Fault) -> str:
    if fault.what == "the buffers are exchanged":
        return (
            text.replace("4, 4, 16));", "4, 4, @));").replace("4, 4, 0));", "4, 4, 16));").replace("@", "0")
        )
    if fault.what == "A's tile is sent before it is packed":
        return text.replace(_PACK_A, "").replace(
            "                TRY(dma_wait_recv());\n", "                TRY(dma_wait_recv());\n" + _PACK_A
        )
    assert fault.old in text, fault.what
    return text.replace(fault.old, fault.new)


def said_of_rtl(fault: Fault, folder: Path, sim: str = "verilator") -> list[str]:
    file = folder / "rowmul.v"
    file.write_text(edited((EXAMPLE / "rowmul.v").read_text(), fault))
    system = System([isa.load(EXAMPLE / "rowmul.json")], sim=sim, user_rtl=UserRtl([file], "rowmul"))  # type: ignore[arg-type]
    run = ProblemRun(Workload.of("matmul:16x16x16"), system, Schedule(pipeline="published"))
    return run.checked(simulate(run, Watch()))["result"].get("diagnosis", ["no wrong result"])


def said_of_driver(fault: Fault, folder: Path) -> list[str]:
    system = System([isa.builtin("v1_4")])
    run = ProblemRun(Workload.of("matmul:16x16x16"), system, Schedule(pipeline="published"))
    run.driver.c = edited(run.driver.c, fault)
    elf = run.build(folder)
    soc = Soc(system)
    soc.build()
    return run.checked(soc.run_many([run.job(elf)])[0])["result"].get("diagnosis", ["no wrong result"])


def main() -> int:
    right = 0
    with tempfile.TemporaryDirectory() as name:
        for kind, faults, said in (("RTL", RTL, said_of_rtl), ("driver", DRIVER, said_of_driver)):
            for fault in faults:
                lines = said(fault, Path(name))
                good = fault.named in lines[-1]
                right += good
                print(f"{kind:6} {fault.what:40} {'named' if good else 'NOT  '}  {lines[-1]}", flush=True)
    print(f"{right} of {len(RTL) + len(DRIVER)} faults named rightly")
    return int(right < len(RTL) + len(DRIVER))


if __name__ == "__main__":
    sys.exit(main())
