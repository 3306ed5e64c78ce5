"""Two modules side by side in Icarus."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from axiloom.boards.ecp5.synthesis import VERILOG, synthesise
from axiloom.boards.synthesis import yosys

ECP5_MODELS = Path(__file__).parents[3] / "cosim" / "rtl" / "ecp5_models.v"
_FLATTEN = """
read_verilog models.v
read_verilog -overwrite +/lattice/cells_sim_ecp5.v
read_verilog -overwrite models.v netlist.v
hierarchy -check -top top
proc
flatten
write_verilog -noattr plain.v
"""


def first_line(folder: Path, *files: str) -> str:
    """What module `bench` of these files prints first."""
    compile_ = ["iverilog", "-g2012", "-o", "bench", "-s", "bench", *files]
    subprocess.run(compile_, cwd=folder, check=True)
    runs = shutil.which("vvp")
    assert runs
    told = subprocess.run([runs, "bench"], cwd=folder, check=True, capture_output=True, text=True).stdout
    return told.splitlines()[0]


def beside_netlist(folder: Path, top: str, bench: str) -> tuple[str, str]:
    """The netlist of an ECP5 with the Verilog `top`, and what `bench` prints first, in which that is `golden`
    and its netlist `top`."""
    built = folder / "netlist"
    built.mkdir()
    synthesise((("top.v", top),), "top", lambda _kind, _key, build: build(built) or built)
    netlist = (built / VERILOG).read_text(encoding="utf-8")
    (folder / "netlist.v").write_text(netlist)
    (folder / "models.v").write_text(ECP5_MODELS.read_text(encoding="utf-8"))
    yosys.run(_FLATTEN, folder, "print the netlist")
    (folder / "golden.v").write_text(top.replace("module top", "module golden"))
    (folder / "bench.v").write_text(bench)
    return netlist, first_line(folder, "bench.v", "golden.v", "plain.v")
