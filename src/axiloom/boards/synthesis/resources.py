"""What a design takes of an FPGA: Yosys' ``synth_xilinx``, counted against a part's limits.

Yosys maps a little worse than the vendor's tools and knows no routing, so the figures are an upper
estimate: what fits here fits there. It comes with the extra ``synth``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from axiloom.base.errors import BuildError
from axiloom.boards.synthesis.yosys import in_their_folder, read_theirs, run, version, without_zeros

CachedBuild = Callable[[str, str, Callable[[Path], None]], Path]
"""As :func:`axiloom.base.cache.cached_build`: kind, key, what fills the folder; gives the folder."""

_LUTS = {
    **{f"LUT{inputs}": 1 for inputs in range(1, 7)},
    "SRL16E": 1,
    "SRLC32E": 1,
    "RAM32X1S": 1,
    "RAM32X1D": 2,
    "RAM64X1S": 1,
    "RAM64X1D": 2,
    "RAM128X1S": 2,
    "RAM128X1D": 4,
    "RAM256X1S": 4,
    "RAM32M": 4,
    "RAM64M": 4,
}
"""LUTs of each cell that sits in them (AMD UG474); an inverter goes into what is behind it."""

_BANNER = re.compile(r"\A(//.*\n)*")
"""Names the specification: what is mapped does not depend on it, and is not mapped again for another name."""

_FLIP_FLOPS = ("FDRE", "FDSE", "FDCE", "FDPE", "FDRE_1", "FDSE_1", "FDCE_1", "FDPE_1", "LDCE", "LDPE")
_FREE = ("BUFG", "CARRY4", "IBUF", "INV", "MUXF7", "MUXF8", "OBUF", "VCC", "GND")


@dataclass(frozen=True)
class Resources:
    """DSP48 slices, LUTs, flip-flops, and block RAMs in units of 36 Kbit."""

    dsp: int
    lut: int
    ff: int
    bram36: float

    def fits(self, limits: Resources) -> bool:
        return all(used <= there for used, there in zip(astuple(self), astuple(limits), strict=True))


XC7Z010 = Resources(dsp=80, lut=17_600, ff=35_200, bram36=60)
XC7Z020 = Resources(dsp=220, lut=53_200, ff=106_400, bram36=140)
"""Of the PYNQ-Z2 (AMD DS190, table 1)."""
XCZU7EV = Resources(dsp=1_728, lut=230_400, ff=460_800, bram36=312)
"""Of the ZCU104 (AMD DS891, table 3)."""
XCK26 = Resources(dsp=1_248, lut=117_120, ff=234_240, bram36=144)
"""Of the KV260 (AMD DS987, table 1)."""


def count(cells: Mapping[str, int]) -> Resources:
    """Resources of a netlist by cell type. Raises :exc:`BuildError` for a cell it does not know."""
    known = {*_LUTS, *_FLIP_FLOPS, *_FREE, "DSP48E1", "RAMB18E1", "RAMB36E1"}
    unknown = sorted(set(cells) - known)
    if unknown:
        raise BuildError(f"resources: no resources are known for the cells {', '.join(unknown)}")
    return Resources(
        dsp=cells.get("DSP48E1", 0),
        lut=sum(luts * cells.get(cell, 0) for cell, luts in _LUTS.items()),
        ff=sum(cells.get(cell, 0) for cell in _FLIP_FLOPS),
        bram36=cells.get("RAMB36E1", 0) + cells.get("RAMB18E1", 0) / 2,
    )


def synthesise(
    verilog: str, top: str, cached_build: CachedBuild, theirs: Sequence[tuple[str, str]] = ()
) -> Resources:
    """Resources of `top`, synthesised for a 7-series part; minutes, unless `cached_build` has it.

    `theirs`: name and text of a user's own files.
    Raises :exc:`BuildError` if Yosys is missing or refuses the Verilog.
    """
    # Module by module: equal modules are mapped once.
    script = (
        f"read_verilog design.v\n{read_theirs(theirs)}synth_xilinx -family xc7 -top {top}\n"
        "flatten -noscopeinfo\ntee -q -o stat.json stat -json\n"
    )
    design = _BANNER.sub("", without_zeros(verilog))
    recipe = f"{version()}\n{script}\n{design}" + (f"\n{theirs!r}" if theirs else "")
    key = hashlib.sha256(recipe.encode()).hexdigest()[:24]

    def build(folder: Path) -> None:
        for name, text in (("design.v", design), *in_their_folder(theirs)):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        run(script, folder, f"synthesise {top}")

    folder = cached_build("synthesis", key, build)
    statistics = json.loads((folder / "stat.json").read_text(encoding="utf-8"))
    return count(statistics["design"]["num_cells_by_type"])


def table(rows: Mapping[str, Resources], limits: Resources, part: str) -> str:
    """The rows under the part's limits, each with its share, as text."""
    names = ("DSP48", "LUT", "FF", "BRAM36")
    assert len(names) == len(fields(Resources))
    label = max(map(len, (part, *rows)))
    lines = [f"{part:<{label}}" + "".join(f"{name:>18}" for name in names)]
    lines.append(f"{'limit':<{label}}" + "".join(f"{value:>12,g}      " for value in astuple(limits)))
    for name, used in rows.items():
        shares = zip(astuple(used), astuple(limits), strict=True)
        cells = "".join(f"{value:>12,.10g} {value / limit:>4.0%} " for value, limit in shares)
        lines.append(f"{name:<{label}}{cells}{'' if used.fits(limits) else ' DOES NOT FIT'}")
    return "\n".join(line.rstrip() for line in lines)
