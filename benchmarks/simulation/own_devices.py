"""The devices of examples/hardware: how the draft of ``axiloom spec from-rtl`` differs, and a run.

Draft and specification are compared key by key, in the form in which ``axiloom spec show`` writes both. Names
and descriptions do not count; a difference may be of form alone (a kernel by its name, a flow's name). Each
run's result is compared with NumPy's; one that differs ends it with 1. VHDL is left out, with a line, where
GHDL is missing.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axiloom import isa
from axiloom.cli.spec.from_rtl import draft
from axiloom.hw.rtl_files.vhdl import SUFFIXES

FOLDER = Path(__file__).parents[2] / "examples/hardware"
NO_MATTER = ("name", "version", "description")


@dataclass(frozen=True)
class Device:
    """A folder of examples/hardware, what ``from-rtl`` is told, and the problem that is run."""

    folder: str
    top: str
    files: tuple[str, ...]
    problem: str
    kernel: str = "linalg.matmul"
    tile: tuple[int, ...] | None = None
    data_type: str = "int32"
    options: tuple[str, ...] = ()


DEVICES = (
    Device(
        "stream_matmul",
        "matmul_stream",
        ("matmul_stream.sv", "multiply.sv"),
        "matmul:4x8x6",
        options=("--pipeline", "published"),
    ),
    Device("start_matmul", "matmul_start", ("matmul_start.v",), "matmul:8x8x9", tile=(8, 8, 8)),
    Device(
        "two_streams", "multiply_pairs", ("multiply_pairs.v",), "multiply_pairs.mlir", kernel="linalg.mul"
    ),
    Device("gain16", "gain16", ("gain16.v",), "gain16.mlir", kernel="linalg.copy", data_type="int16"),
    Device("vadd_m_axi", "vadd", ("vadd.v",), "vadd.mlir", kernel="linalg.add", tile=(512,)),
    Device("fir16", "fir16", ("fir16.v",), "fir16.mlir", kernel="linalg.copy", data_type="int16"),
    Device("add_vhdl", "add_blocks", ("add_blocks.vhd",), "add_blocks.mlir", kernel="linalg.add"),
)


def changed(device: Device) -> list[str]:
    """Keys of the specification that the draft has otherwise or not at all."""
    folder = FOLDER / device.folder
    files = [folder / file for file in device.files]
    drafted, _ = draft(files, device.top, device.kernel, device.tile, device.data_type)
    written = isa.load(folder / f"{device.top}.json")
    ours, theirs = _keys(isa.dumps(drafted)), _keys(isa.dumps(written))
    return sorted(key for key in {*ours, *theirs} if ours.get(key) != theirs.get(key))


def _keys(text: str) -> dict[str, Any]:
    (accelerator,) = json.loads(text)["accelerators"]
    return {key: value for key, value in accelerator.items() if key not in NO_MATTER}


def run(device: Device) -> tuple[str, bool]:
    """Cycles of the fabric, or the last line of what went wrong; and whether the result is NumPy's."""
    folder = FOLDER / device.folder
    problem = str(folder / device.problem) if device.problem.endswith(".mlir") else device.problem
    files = [str(folder / file) for file in device.files]
    command = [sys.executable, "-m", "axiloom", "run", problem, "--spec", str(folder / f"{device.top}.json")]
    command += ["--rtl", *files, "--top", device.top, *device.options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    cycles = re.search(r"^  cycles +([\d,]+)", done.stdout, re.MULTILINE)
    if done.returncode or cycles is None:
        return (done.stderr or done.stdout).strip().splitlines()[-1], False
    return cycles[1], "Result: equal to NumPy" in done.stdout


def main() -> None:
    print(f"{'device':<15}{'cycles':>8}  {'result':<7}  keys that are otherwise in the draft")
    wrong = []
    for device in DEVICES:
        if any(file.endswith(SUFFIXES) for file in device.files) and shutil.which("ghdl") is None:
            print(f"{device.folder:<15}left out: needs GHDL")
            continue
        keys = changed(device)
        cycles, right = run(device)
        said = "right" if right else "WRONG"
        print(f"{device.folder:<15}{cycles:>8}  {said:<7}  {', '.join(keys) or 'none'}", flush=True)
        if not right:
            wrong.append(device.folder)
    if wrong:
        sys.exit(f"not right: {', '.join(wrong)}")
