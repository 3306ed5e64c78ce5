"""Bitstreams for a ULX3S from an empty folder: clock met, Fmax, utilisation; and one tile on the netlist.

For each design the driver of one tile runs against the RTL and against the netlist that Yosys made of it
(with models of the ECP5's cells): results and cycles must be the same.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from axiloom import board_folder, drivergen, isa
from axiloom.board_folder import open_flow
from axiloom.boards import hardware
from axiloom.boards.ulx3s_design import NAME
from axiloom.remote.serial_run import SerialResult, run_problem

DESIGNS = (("v3_8", "int32", "matmul:8x8x8"), ("v4_16", "int8", "matmul:16x16x16"))


def show(line: str) -> None:
    if line:
        print(line, file=sys.stderr, flush=True)


def one_tile(
    spec: isa.AcceleratorSpec, problem: str, clock_hz: int, netlist: str | None, folder: Path
) -> SerialResult:
    """The run of `problem` on the RTL, or on `netlist`, for that clock; checked against NumPy."""
    mlir = drivergen.parse_workload(f"{problem}:{spec.data_type.value}").mlir
    result, expected = run_problem(
        mlir, spec, folder, name=problem, clock_hz=clock_hz, netlist=netlist, progress=show
    )
    for symbol, want in expected.items():
        np.testing.assert_array_equal(result.outputs[symbol], want)
    return result


def main() -> None:
    for name, data_type, problem in DESIGNS:
        spec = isa.builtin(name, data_type=data_type)
        with tempfile.TemporaryDirectory(prefix="axiloom-") as empty:
            folder = Path(empty) / "board"
            plan = board_folder.make(hardware.load(NAME), [spec])
            board_folder.write(board_folder.contents(plan), folder)
            built = open_flow.build(folder, progress=show)
            report = built.report
            bitstream = (built.folder / open_flow.BITSTREAM).stat().st_size
            netlist = (built.folder / open_flow.NETLIST).read_text(encoding="utf-8")
            clock_hz = report["clock_hz"]
            asked = "" if clock_hz == report["asked_hz"] else f" (not {report['asked_hz'] / 1e6:g})"
            print(
                f"{name} {data_type}: {clock_hz / 1e6:g} MHz met{asked}, "
                f"Fmax {report['fmax_hz'] / 1e6:.1f} MHz, bitstream of {bitstream:,} bytes"
            )
            for what, used in report["utilisation"].items():
                print(f"  {what:<12} {used['used']:>7,} of {used['available']:>7,}")
            rtl = one_tile(spec, problem, clock_hz, None, Path(empty))
            after = one_tile(spec, problem, clock_hz, netlist, Path(empty))
            print(f"  {problem}: right on RTL ({rtl.cycles:,} cycles) and netlist ({after.cycles:,} cycles)")
            if rtl.cycles != after.cycles:
                sys.exit("the netlist takes another number of cycles than the RTL")


if __name__ == "__main__":
    main()
