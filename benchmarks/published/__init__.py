"""Inputs in the forms of the published AXI4MLIR code: which are read as they are.

``python -m benchmarks published`` prints a line for each: read unchanged and right, after which change, or
how it is refused. MLIR and maps run on the functional model, drivers by hand on our RTL. At the end it
lists the 32 published MLIR files by name with the form of each (``files.py``). The texts are ours, in the
forms that the public files have (``inputs.py``, ``maps.py``, ``configurations.py``, ``drivers.py``); no
public file is here.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.published.configurations import CONFIGURATIONS
from benchmarks.published.driven import of_driver, of_lowered
from benchmarks.published.drivers import DRIVERS
from benchmarks.published.files import FORMS
from benchmarks.published.inputs import INPUTS, Input
from benchmarks.published.lowered import drivers as lowered
from benchmarks.published.maps import MAPS
from benchmarks.published.programs import programs
from benchmarks.published.rows import Row, last_line, run


def of_mlir(folder: Path, name: str, one: Input, kind: str = "MLIR") -> Row:
    """Run as it is; if that is refused and a change is known, after it."""
    file = folder / f"{name.replace(' ', '_').replace(',', '')}.mlir"

    def tried(text: str) -> tuple[bool, str]:
        file.write_text(text, encoding="utf-8")
        code, out, err = run(["run", str(file), *one.options, "--rtl", "model", "--quiet"])
        said = "; ".join(line for line in out.splitlines() if line.startswith("Result"))
        return code == 0, said if said and code == 0 else last_line(err)

    right, said = tried(one.text)
    if right:
        return Row(kind, name, "unchanged", said)
    if one.change is not None:
        was, by = one.change
        changed, then = tried(one.text.replace(was, by))
        if changed:
            return Row(kind, name, "after a change", f"{was.strip()} -> {by.strip() or 'nothing'}; {then}")
    return Row(kind, name, "refused", said.replace(f"{folder}/", ""))


def of_configuration(folder: Path, name: str, document: object) -> Row:
    """Imported, checked by our own check; or refused in one line."""
    theirs, ours = folder / "theirs.json", folder / "ours.json"
    theirs.write_text(json.dumps(document), encoding="utf-8")
    code, _, err = run(["spec", "import", str(theirs), "-o", str(ours)])
    if code == 0 and run(["spec", "check", str(ours)])[0] == 0:
        return Row("configuration", name, "unchanged", "imported, and without a fault")
    lines = err.strip().splitlines()
    verdict = "refused in one line" if len(lines) == 1 else f"refused in {len(lines)} lines"
    return Row("configuration", name, verdict, lines[-1].replace(f"{folder}/", "") if lines else "")


def rows() -> list[Row]:
    """All of them, in the order of the files; AXILOOM_ONLY=mlir leaves drivers by hand out."""
    by_hand = {} if os.environ.get("AXILOOM_ONLY") == "mlir" else DRIVERS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = [of_mlir(folder, what, one) for what, one in INPUTS.items()]
        found += [of_lowered(folder, what, one) for what, one in (lowered() | programs()).items()]
        found += [of_mlir(folder, what, one, "opcode map") for what, one in MAPS.items()]
        found += [of_configuration(folder, what, one) for what, one in CONFIGURATIONS.items()]
        return found + [of_driver(folder, what, one) for what, one in by_hand.items()]


def by_file(rows: Sequence[Row]) -> list[Row]:
    """A line for each published MLIR file: what became of its form."""
    forms = {row.name: row for row in rows if row.kind == "MLIR"}
    return [Row("MLIR file", file, forms[form].verdict, form) for file, form in FORMS.items()]


def main() -> None:
    found = rows()
    files = by_file(found)
    for one in (*found, *files):
        print(f"{one.kind:<14}{one.name:<60}{one.verdict:<21}{one.said}")
    for kind in dict.fromkeys(one.kind for one in (*found, *files)):
        mine = [one for one in (*found, *files) if one.kind == kind]
        print(f"{kind}: {sum(one.unchanged for one in mine)} of {len(mine)} unchanged")
    if silent := [one.name for one in found if not one.said or "lines" in one.verdict]:
        sys.exit(f"no one line says why: {', '.join(silent)}")
