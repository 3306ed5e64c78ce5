"""Three faults in each device of examples/hardware: a hang, a wrong result, an access outside of the arrays.

The hang and the wrong result are edits of the RTL, the access one of the generated driver (of ``vadd`` also
one of the RTL). Each runs on the simulated SoC with Icarus, and is named if the message has the words beside
it. VHDL is left out, with a line, where GHDL is missing. Folders after the command: these alone.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from axiloom import isa
from axiloom.base.errors import AxiloomError
from axiloom.cosim import outside
from axiloom.cosim.job import Job
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.hw.rtl_files.vhdl import SUFFIXES
from axiloom.run.problem import ProblemRun, Workload

FOLDER = Path(__file__).parents[2] / "examples/hardware"
WATCHDOG = 5_000


@dataclass(frozen=True)
class Edit:
    """In the file of the module, or in the driver: `old` becomes `new`."""

    what: str
    old: str
    new: str
    named: str
    """Words of the right message."""


@dataclass(frozen=True)
class Device:
    """A folder, the module in it, its files with the edited one first, and the problem."""

    folder: str
    top: str
    files: tuple[str, ...]
    problem: str
    rtl: tuple[Edit, ...]
    driver: tuple[Edit, ...]


def _beyond(old: str, new: str, array: str) -> Edit:
    return Edit(f"{array} is read too far", old, new, "the driver left its arrays")


DEVICES = (
    Device(
        "stream_matmul",
        "matmul_stream",
        ("matmul_stream.sv", "multiply.sv", "matmul_size.svh"),
        "matmul:4x8x6",
        (
            Edit(
                "never begins", "if (S_AXIS_TLAST) begin", "if (word == 5'd0 && S_AXIS_TLAST) begin", "m_axis"
            ),
            Edit(
                "B is turned",
                "{1'b1, step, cell_at[1:0]}",
                "{1'b1, cell_at[1:0], step}",
                "B's tile is transposed",
            ),
        ),
        (_beyond("&A[", "&A[8 + ", "A"),),
    ),
    Device(
        "start_matmul",
        "matmul_start",
        ("matmul_start.v",),
        "matmul:8x8x8",
        (
            Edit(
                "done is forgotten", "done <= 1;", "done <= 0;", "wait(control, 2) waits for register control"
            ),
            Edit("subtracts", "sum + a[", "sum - a[", "the sign is wrong: products are subtracted"),
        ),
        (_beyond("&A[", "&A[1 + ", "A"),),
    ),
    Device(
        "two_streams",
        "multiply_pairs",
        ("multiply_pairs.v",),
        "multiply_pairs.mlir",
        (
            Edit("a result is lost", "c_tvalid <= take;", "c_tvalid <= take && a_tdata[0];", "m_axis"),
            Edit("A is squared", "a_tdata * b_tdata", "a_tdata * a_tdata", "A stands for both A and B"),
        ),
        (_beyond("&A[", "&A[1 + ", "A"),),
    ),
    Device(
        "gain16",
        "gain16",
        ("gain16.v",),
        "gain16.mlir",
        (
            Edit("sends nothing", "M_AXIS_TVALID <= S_AXIS_TVALID;", "M_AXIS_TVALID <= 1'b0;", "m_axis"),
            Edit(
                "another gain",
                "S_AXIS_TDATA * gain",
                "S_AXIS_TDATA * (gain + 16'd1)",
                "4/3 of what it should be",
            ),
        ),
        (_beyond("&A[", "&A[2 + ", "A"),),
    ),
    Device(
        "vadd_m_axi",
        "vadd",
        ("vadd.v",),
        "vadd.mlir",
        (
            Edit(
                "done is forgotten",
                "ap_done <= 1;",
                "ap_done <= 0;",
                "wait(control, 2) waits for register control",
            ),
            Edit(
                "a is not added",
                "sum[beat[3:0]] + m_axi_gmem_RDATA",
                "m_axi_gmem_RDATA",
                "A is 0: nothing arrives",
            ),
            Edit(
                "a burst is a beat too long",
                "m_axi_gmem_ARLEN   = {3'b0, words} - 8'd1",
                "m_axi_gmem_ARLEN   = {3'b0, words}",
                "before, the accelerator reads bytes",
            ),
            Edit(
                "the address has a bit too many",
                "{state == ASK_B ? at_b : at_a, 2'b00}",
                "{state == ASK_B ? at_b : at_a, 2'b00} + 64'h80000000",
                "the accelerator reads address 0x80",
            ),
        ),
        (_beyond("&A[n]", "&A[n + 16]", "A"),),
    ),
    Device(
        "fir16",
        "fir16",
        ("fir16.v",),
        "fir16.mlir",
        (
            Edit("stops at the ninth sample", "|| m_axis_tready;", "&& have != TAPS - 1;", "s_axis"),
            Edit("a sum too few", "have < TAPS - 1)", "have < TAPS)", "TLAST on word 63 of the 64 of Y"),
            Edit(
                "taps the other way round",
                "tap[s_axi_awaddr[5:2]] <=",
                "tap[TAPS - 1 - s_axi_awaddr[5:2]] <=",
                "H comes",
            ),
        ),
        (_beyond("&X[", "&X[1 + ", "X"), _beyond("i16(H,", "i16(H + 1,", "H")),
    ),
    Device(
        "add_vhdl",
        "add_blocks",
        ("add_blocks.vhd",),
        "add_blocks.mlir",
        (
            Edit("B is not taken", "room = '1' then", "room = '1' and state = TAKE_A then", "m_axis"),
            Edit(
                "subtracts", "+ unsigned(s_axis_tdata)", "- unsigned(s_axis_tdata)", "the sign of B is wrong"
            ),
        ),
        (_beyond("&B[", "&B[1 + ", "B"),),
    ),
)


def _run(device: Device, folder: Path, edit: Edit | None) -> ProblemRun:
    home = FOLDER / device.folder
    for name in device.files:
        shutil.copyfile(home / name, folder / name)
    if edit is not None:
        file = folder / device.files[0]
        text = file.read_text()
        assert edit.old in text, (device.folder, edit.what)
        file.write_text(text.replace(edit.old, edit.new))
    spec = isa.load(home / f"{device.top}.json")
    files = [folder / name for name in device.files if not name.endswith(".svh")]
    rtl = UserRtl(files, device.top, spec.link.rtl)
    system = System(spec, sim="icarus", user_rtl=rtl, watchdog_cycles=WATCHDOG)
    problem = device.problem
    mlir = (
        Workload(problem, (home / problem).read_text()) if problem.endswith(".mlir") else Workload.of(problem)
    )
    return ProblemRun(mlir, system, Schedule(pipeline="published"))


def said_of_rtl(device: Device, edit: Edit, folder: Path) -> str:
    """What a run with the edited RTL says: the message, or the diagnosis of the result."""
    try:
        run = _run(device, folder, edit)
        soc = Soc(run.system)
        soc.build()
        result = soc.run_many([run.job(run.build(folder))])[0]
        report = run.checked(result)
    except AxiloomError as error:
        return str(error)
    if result.outside:
        return outside.refusal(result.outside)
    return report["result"].get("diagnosis", ["no fault"])[-1]


def said_of_driver(device: Device, edit: Edit, folder: Path) -> str:
    """What a run with the edited driver says of accesses outside."""
    run = _run(device, folder, None)
    driver, arrays = run.driver, [arg.symbol for arg in run.driver.args]
    assert edit.old in driver.c, (device.folder, edit.what, driver.c)
    (folder / "driver.c").write_text(driver.c.replace(edit.old, edit.new))
    (folder / driver.header_name).write_text(driver.header)
    (folder / "driver_main.c").write_text(driver.harness)
    sources = [folder / "driver.c", folder / "driver_main.c"]
    elf, _ = run.system.compile_user(sources, folder / "driver.elf", arrays=arrays)
    soc = Soc(run.system)
    soc.build()
    accesses = soc.run_many([Job(elf, run.inputs, run.outputs)])[0].outside
    return outside.refusal(accesses) if accesses else "no fault"


def main(wanted: Sequence[str] = ()) -> int:
    right = count = 0
    for device in [device for device in DEVICES if device.folder in wanted or not wanted]:
        if device.files[0].endswith(tuple(SUFFIXES)) and shutil.which("ghdl") is None:
            print(f"{device.folder}: needs ghdl, left out")
            continue
        for edits, said in ((device.rtl, said_of_rtl), (device.driver, said_of_driver)):
            for edit in edits:
                with tempfile.TemporaryDirectory() as folder:
                    text = said(device, edit, Path(folder))
                good = edit.named in text
                right, count = right + good, count + 1
                place = f"{device.folder:14} {edit.what:32}"
                print(f"{place} {'named' if good else 'NOT  '}  {text[:150]}", flush=True)
    print(f"{right} of {count} faults named")
    return int(right < count)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
