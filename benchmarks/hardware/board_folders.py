"""Board folders: for every board and loopback, identity, v1_16, v3_16, v4_16 and conv_v4, every file checked
by a tool.

Our DMA for all of them; two for each board with Xilinx' AXI DMA as well. Tools that are missing are said; a
fault, a file that no tool has read, or a folder that is refused ends it with 1.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from axiloom import board_folder, isa
from axiloom.base.errors import AxiloomError
from axiloom.board_folder.check import check as checks
from axiloom.boards import hardware

ACCELERATORS = ("loopback", "identity", "v1_16", "v3_16", "v4_16", "conv_v4")
CASES = (
    *((name, "simple") for name in ACCELERATORS),
    ("v3_16", "sg"),
    ("v3_16", "xilinx"),
    ("v4_16", "xilinx-sg"),
)
COLUMNS = {
    "spec": ("spec check",),
    "verilator": ("verilator",),
    "yosys": ("yosys", "yosys (ecp5)"),
    "Vivado": ("xml", "vivado"),
    "C Linux": ("zig cc (linux)", "zig cc (ladder)"),
    "C bare": ("zig cc (baremetal)",),
    "C PC": ("zig cc (host)",),
    "dtc": ("dtc",),
    "python": ("python",),
    "pins": ("pins",),
    "others": ("readme", "json", "make"),
}
"""Column to the tools that it counts."""


def main() -> None:
    print(
        f"{'board':<9}{'accelerator':<12}{'DMA':<10}{'files':>6}  "
        + "  ".join(f"{name:<9}" for name in COLUMNS)
        + "  not read"
    )
    faults: list[str] = []
    skipped: set[str] = set()
    for accelerator, dma in CASES:
        for board in hardware.names():
            if hardware.load(board).family == "ecp5" and dma != "simple":
                continue
            row = _row(board, accelerator, dma, faults, skipped)
            print(f"{board:<9}{accelerator:<12}{dma:<10}{row}", flush=True)
    for line in (*sorted(skipped), *faults):
        print(line)
    if faults:
        sys.exit(f"{len(faults)} faults")
    print("no faults")


def _row(board: str, accelerator: str, dma: str, faults: list[str], skipped: set[str]) -> str:
    try:
        contents = _contents(board, accelerator, dma)
    except AxiloomError as error:
        faults.append(f"{board} {accelerator} {dma}: refused: {error}")
        return "  refused"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "folder"
        board_folder.write(contents, folder)
        rows = checks.check(folder)
        left = checks.unchecked(folder, rows)
    cells = [_cell([row for row in rows if row.tool in tools]) for tools in COLUMNS.values()]
    skipped |= {f"{row.tool} did not run: {row.skipped}" for row in rows if row.skipped}
    skipped |= {f"{board}: not written: {line}" for line in contents.missing}
    where = f"{board} {accelerator} {dma}"
    faults += [f"{where}: {row.tool}: {fault}" for row in rows for fault in row.faults]
    faults += [f"{where}: no tool has read {name}" for name in left if not any(row.skipped for row in rows)]
    shown = "  ".join(f"{text:<9}" for text in cells)
    return f"{len(contents.files):>6}  {shown}  {len(left)}"


def _contents(board: str, accelerator: str, dma: str) -> board_folder.Contents:
    spec = isa.builtin(accelerator)
    spec = isa.revise(spec, dma=replace(spec.link.dma, scatter_gather=dma.endswith("sg")))
    whose = board_folder.XILINX if dma.startswith("xilinx") else board_folder.OWN
    return board_folder.contents(board_folder.make(hardware.load(board), [spec], dma=whose, rebase=True))


def _cell(rows: list[checks.Row]) -> str:
    """`ok` and how many files, how many faults, `skipped`, or a dash where there is nothing to check."""
    if not rows:
        return "-"
    if any(row.skipped for row in rows):
        return "skipped"
    wrong = sum(len(row.faults) for row in rows)
    return f"{wrong} FAULTS" if wrong else f"ok {len({file for row in rows for file in row.files})}"


if __name__ == "__main__":
    main()
