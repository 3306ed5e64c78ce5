"""What a design takes of a Lattice ECP5, and its netlist: Yosys' ``synth_ecp5``.

Yosys maps every product to a multiplier of 18 x 18 bits, also where the part has too few of them. Here those
of the fewest bits then go to LUTs and carry chains (:file:`product.v`), as the vendors' tools do by
themselves.

On the ECP5, products without a multiplier become carry chains, with two rows of partial products each. A
tenth of the multipliers stays free. In each 32-bit multiplication one of the two cross products is always
a carry chain. Its rows end in registers that the multiplier has anyway, and v3_8 then needs 128 of 156
multipliers. With both cross products in carry chains the router did not come to an end. With products of
8 bits in carry chains, nextpnr's static placer did not come to an end for v4_16.

ABC is told what a wire takes, and rewrites first. ``synth_lattice`` says 300 ps, but nextpnr's wires take
1,100 and more. No other setting shortened all paths at once: from 10.7 to 9.0 ns for v4_16 int8 before
placement, with as many LUTs.

An ECP5 packs the same two products 9 bits apart, as its multipliers have 18 x 18 bits. The lowest 7 bits
of the high product are computed a second time, in carry chains, and taken off (``axiloom_pair_8`` in
``boards/ecp5/multiplier.v``). Its synthesis puts that module in the place of ours, cycle by cycle the
same, so the Verilog that users get is one.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from axiloom.base.errors import BuildError
from axiloom.boards.ecp5 import copies, nets
from axiloom.boards.ecp5 import outputs as ecp5_outputs
from axiloom.boards.ecp5 import registers as ecp5_registers
from axiloom.boards.synthesis.resources import CachedBuild
from axiloom.boards.synthesis.yosys import in_their_folder, read_theirs, run, version, without_zeros

CORE = "axiloom_core"
"""Name of a module that is counted apart from what is around it."""

NETLIST, VERILOG = "netlist.json", "netlist.v"
"""Files of a synthesis: for nextpnr, and for a simulator."""
_PASSES = (
    ecp5_registers.absorb_registers,
    ecp5_outputs.absorb_outputs,
    copies.copy_drivers,
)
"""What is done to a netlist behind Yosys, in this order."""
_CHANGES = "changes.json"
"""How many cells of which types the core has gained (or lost) behind Yosys."""

_COMBINATIONAL = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6, "PFUMX": 0, "L6MUX21": 0}
"""LUTs of each cell (Lattice FPGA-TN-02205: two a slice; distributed RAM takes three slices)."""
_FREE = ("$scopeinfo", "EHXPLLL", "INV", "VHI", "VLO", "GSR", "DCCA", "TRELLIS_IO")
_FACTOR_BITS = 18
PRODUCT_MAP = Path(__file__).with_name("product.v")
MULTIPLIERS = Path(__file__).with_name("multiplier.v")
_WIRE_PS = 1100
"""What a way between two LUTs takes, about, as nextpnr places and routes. Told the 300 ps that
``synth_lattice`` says, ABC takes a level of LUTs more where it can save an input."""
_MAPS = ("&dch,-f,-r", f"&if,-W,{_WIRE_PS}", "&mfs")
_SCRIPT = ";".join(("&scorr", "&sweep", "&dc2", "&syn3", "&syn4", "&b", *_MAPS, *_MAPS))
"""What ABC does: shortens by rewriting and balancing, beside what ``abc9`` would do, and maps twice."""
_MAP_LUTS = f"techmap -map +/lattice/latches_map.v\nabc9 -W {_WIRE_PS} -script +{_SCRIPT}\nclean\n"
"""Step ``map_luts`` of ``synth_lattice``, but for these two."""
_FILLED = 0.9
"""Of the multipliers, where they are too few: with all taken, the last are far from what they multiply."""


@dataclass(frozen=True)
class Ecp5Resources:
    """Multipliers of 18 x 18 bits, LUTs of four inputs, flip-flops, and block RAMs of 18 Kbit."""

    multiplier: int
    lut: int
    ff: int
    ebr: int

    def fits(self, limits: Ecp5Resources) -> bool:
        return all(used <= there for used, there in zip(astuple(self), astuple(limits), strict=True))


LFE5U_85F = Ecp5Resources(multiplier=156, lut=83_640, ff=83_640, ebr=208)
"""Lattice FPGA-DS-02012, table 1.1."""


def count(cells: Mapping[str, int]) -> Ecp5Resources:
    """Resources of a netlist by cell type. Raises :exc:`BuildError` for a cell it does not know."""
    unknown = sorted(set(cells) - {*_COMBINATIONAL, *_FREE, "TRELLIS_FF", "MULT18X18D", "DP16KD"})
    if unknown:
        raise BuildError(f"resources: no ECP5 resources are known for the cells {', '.join(unknown)}")
    return Ecp5Resources(
        multiplier=cells.get("MULT18X18D", 0),
        lut=sum(luts * cells.get(cell, 0) for cell, luts in _COMBINATIONAL.items()),
        ff=cells.get("TRELLIS_FF", 0),
        ebr=cells.get("DP16KD", 0),
    )


@dataclass(frozen=True)
class Netlist:
    """A synthesised design: the folder with :data:`NETLIST` and :data:`VERILOG`, and what its core takes."""

    folder: Path
    resources: Ecp5Resources


def synthesise(
    sources: Sequence[tuple[str, str]],
    top: str,
    cached_build: CachedBuild,
    limits: Ecp5Resources = LFE5U_85F,
    theirs: Sequence[tuple[str, str]] = (),
) -> Netlist:
    """The netlist of `top`, of `sources`: name and text of each Verilog file, and of a user's own, `theirs`.

    It takes minutes, unless `cached_build` has it. A module of the name :data:`CORE` is mapped apart from
    what is around it, and its resources alone are counted; without one all is. Raises :exc:`BuildError` if
    Yosys is missing or refuses the Verilog.
    """
    names = [name for name, _ in sources]
    read = "".join(f"read_verilog {name}\n" for name in names) + read_theirs(theirs)
    replaced = "".join(f"chtype -set {own} t:{module}\n" for module, own in in_carry_chains(sources))
    prepare = (
        f"{read}synth_lattice -family ecp5 -top {top} -run begin:coarse\n"
        f"read_verilog {MULTIPLIERS.name}\n{replaced}hierarchy -check -top {top}\nproc\n"
        f"setattr -mod -set keep_hierarchy 1 A:top %n {CORE} %i\n"
        "flatten\nopt\nwreduce t:$mul\nopt_clean\ntee -q -o products.txt dump t:$mul\n"
        "delete =A:blackbox =A:whitebox\nwrite_rtlil coarse.il\n"  # the cells' models are read again below
    )
    finish = (
        f"read_rtlil coarse.il\nsynth_lattice -family ecp5 -top {top} -run begin:coarse\n{{soft}}"
        f"synth_lattice -family ecp5 -top {top} -run coarse:map_luts\n"
        f"{_MAP_LUTS}"
        f"synth_lattice -family ecp5 -top {top} -run map_cells:\n"
        "tee -q -o stat.json stat -json\n"
        "setattr -mod -unset keep_hierarchy *\nflatten\nclean\n"
        f"write_json {NETLIST}\n"
    )
    printed = f"read_json {NETLIST}\nwrite_verilog -noattr -norename {VERILOG}\n"
    product_map, multipliers = (path.read_text(encoding="utf-8") for path in (PRODUCT_MAP, MULTIPLIERS))
    in_luts = f"techmap -map {PRODUCT_MAP.name}\nbooth\n"  # those with signs are left to `booth`
    texts = prepare, finish, printed, in_luts, product_map, multipliers
    made_by = [inspect.getsource(module) for module in (nets, *(sys.modules[c.__module__] for c in _PASSES))]
    recipe = (version(), texts, made_by, _FILLED, limits.multiplier, list(sources), *theirs)
    key = hashlib.sha256(repr(recipe).encode())

    def build(folder: Path) -> None:
        for name, text in sources:
            (folder / name).write_text(without_zeros(text), encoding="utf-8")
        for name, text in in_their_folder(theirs):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        (folder / MULTIPLIERS.name).write_text(multipliers, encoding="utf-8")
        run(prepare, folder, f"synthesise {top}")
        soft = to_luts((folder / "products.txt").read_text(encoding="utf-8"), limits.multiplier)
        chosen = "".join(f"select -add */{cell}\n" for cell in soft)
        (folder / PRODUCT_MAP.name).write_text(product_map, encoding="utf-8")
        run(
            finish.replace("{soft}", f"select -none\n{chosen}{in_luts}select -clear\n" if soft else ""),
            folder,
            f"synthesise {top}",
        )
        design = json.loads((folder / NETLIST).read_text(encoding="utf-8"))
        before = _cells_of_core(design)
        for change in _PASSES:
            change(design)
        changes = _cells_of_core(design)
        changes.subtract(before)
        (folder / _CHANGES).write_text(json.dumps(changes))
        (folder / NETLIST).write_text(json.dumps(design), encoding="utf-8")
        run(printed, folder, f"print {top}")
        (folder / "coarse.il").unlink()

    folder = cached_build("ecp5", key.hexdigest()[:24], build)
    modules = json.loads((folder / "stat.json").read_text(encoding="utf-8"))["modules"]
    cells = modules.get(f"\\{CORE}", modules[f"\\{top}"])["num_cells_by_type"]
    changes = json.loads((folder / _CHANGES).read_text(encoding="utf-8"))
    return Netlist(
        folder, count({name: many + changes.get(name, 0) for name, many in cells.items() if name != CORE})
    )


def _cells_of_core(design: dict[str, Any]) -> Counter[str]:
    """Types of the core's cells in a flat netlist; of all, where all is counted."""
    top = next(module for module in design["modules"].values() if "top" in module.get("attributes", {}))
    inside = ""
    for name, cell in top["cells"].items():
        if cell["type"] == "$scopeinfo" and cell["attributes"].get("module") == CORE:
            inside = f"{name}."
    return Counter(cell["type"] for name, cell in top["cells"].items() if name.startswith(inside))


_MODULE = re.compile(r"^module (?P<name>\w+) \((?P<ports>[^;]*)\);", re.MULTILINE)
_OWN = (
    (r"\w+_multiplier(?:_\d+)?", {"[31:0] a", "[31:0] b", "[31:0] product"}, "axiloom_multiplier_32"),
    (r"\w+_pair(?:_\d+)?", {"[16:0] pair", "[7:0] shared", "[31:0] both"}, "axiloom_pair_8"),
)
"""Names and ports beside the clock's of a module of ours, and what takes its place."""
_PORT = re.compile(r"(\[\d+:0\] \w+)")


def in_carry_chains(sources: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The array's multipliers that have one in :data:`MULTIPLIERS`, the same in the same cycles."""
    return [
        (module["name"], own)
        for _, text in sources
        for module in _MODULE.finditer(text)
        for name, ports, own in _OWN
        if re.fullmatch(name, module["name"]) and {*_PORT.findall(module["ports"])} == ports
    ]


_PRODUCT = re.compile(
    r"^ *cell \$mul (?P<cell>\S+)|parameter (?:signed )?\\(?P<parameter>[ABY]_WIDTH) (?P<value>\d+)",
    re.MULTILINE,
)


def to_luts(dump: str, multipliers: int) -> list[str]:
    """Names of the products that must leave a part with so few `multipliers`: none if all have room.

    Those of the fewest bits go first; of equal ones, one of each instance before the second of any, so that
    they are spread over an array. `dump` is what Yosys' ``dump`` prints of the cells ``$mul``.
    """
    products: list[tuple[int, str, int]] = []
    cell = ""
    widths: dict[str, int] = {}
    for match in _PRODUCT.finditer(dump):
        if match["cell"]:
            cell, widths = match["cell"].removeprefix("\\"), {}
            continue
        widths[match["parameter"]] = int(match["value"])
        if len(widths) == 3:
            a, b = (-(-widths[factor] // _FACTOR_BITS) for factor in ("A_WIDTH", "B_WIDTH"))
            products.append((widths["Y_WIDTH"], cell, a * b))
    if sum(taken for *_, taken in products) <= multipliers:
        return []
    excess = sum(taken for *_, taken in products) - int(_FILLED * multipliers)
    chosen = []
    instances: Counter[tuple[int, str]] = Counter()
    ranked = []
    for bits, cell, taken in sorted(products):
        instance = bits, cell.rpartition(".")[0]
        ranked.append((bits, instances[instance], cell, taken))
        instances[instance] += 1
    for *_, cell, taken in sorted(ranked):
        if excess <= 0:
            break
        chosen.append(cell)
        excess -= taken
    return chosen
