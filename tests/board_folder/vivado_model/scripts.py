"""The scripts of a folder, run on the model of Vivado."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.board_folder.vivado_model import session
from tests.board_folder.vivado_model.project import Model

from axiloom import isa
from axiloom.board_folder.write import MARK


def faults_of(folder: Path) -> list[str]:
    """Faults of the scripts as `make` runs them, and of the constraints in the design that they leave.

    It runs them in `folder`.
    """
    built = session.run(folder / "vivado" / "build.tcl")
    # What follows from a fault would only hide it.
    faults = built.faults or [*_addresses(folder, built.model), *_pair(folder)]
    faults = [fault.replace(f"{folder}/", "") for fault in faults]
    constrained = session.run(folder / "constraints" / "board.xdc", model=built.model)
    faults += [*constrained.faults, *_pins(constrained.model)]
    for core in (path.name for path in sorted((folder / "ip").glob("*"))):
        ooc = session.run(folder / "vivado" / "ooc.tcl", [core])
        clocked = session.run(folder / "constraints" / "ooc.xdc", model=ooc.model)
        faults += [*ooc.faults, *clocked.faults]
        if not clocked.model.clocks:
            faults.append("ooc.xdc: no clock is constrained")
    packaged = session.run(folder / "vivado" / "package_ip.tcl")
    return [*faults, *packaged.faults]


def _addresses(folder: Path, model: Model) -> list[str]:
    """The address map that the script makes against the one of the specification."""
    planned = {
        f"{one['space']} {one['segment']}": (int(one["offset"], 0), int(one["size"], 0))
        for one in _manifest(folder)["addresses"]
    }
    made = dict(model.design.describe()) if model.design is not None else {}
    faults = [
        f"{name}: the block design maps {_range(made.get(name))}, the specification says "
        f"{_range(planned.get(name))}"
        for name in sorted(planned.keys() | made.keys())
        if planned.get(name) != made.get(name)
    ]
    for spec in isa.load_all(folder / "accelerator.json").values():
        inside = [
            (offset, size)
            for name, (offset, size) in made.items()
            if "/Data " in name and offset <= spec.link.dma.address < offset + size
        ]
        if not inside:
            faults.append(f"{spec.name}: nothing is mapped at its registers, {spec.link.dma.address:#x}")
    return faults


def _range(found: tuple[int, int] | None) -> str:
    return "nothing" if found is None else f"{found[1]:#x} bytes at {found[0]:#x}"


def _pair(folder: Path) -> list[str]:
    pair = [f"{_manifest(folder)['name']}.{end}" for end in ("bit", "hwh")]
    return [f"build.tcl leaves no {name}" for name in pair if not (folder / "build" / name).is_file()]


def _pins(model: Model) -> list[str]:
    """Every port of the design that is no interface of the processing system needs a pin."""
    if model.design is None:
        return []
    return [
        f"board.xdc: port {port} has no {name}"
        for port in model.design.ports
        for name in ("PACKAGE_PIN", "IOSTANDARD")
        if name not in model.xdc_ports.get(port, {})
    ]


def _manifest(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / MARK).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found
