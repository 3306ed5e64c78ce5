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


def of_mlir(folder: Path, name: str, input_: Input, kind: str = "MLIR") -> Row:
    """Run as it is; if that is refused and a change is known, after it."""
    file = folder / f"{name.replace(' ', '_').replace(',', '')}.mlir"

    def tried(text: str) -> tuple[bool, str]:
        file.write_text(text, encoding="utf-8")
        code, out, err = run(["run", str(file), *input_.options, "--rtl", "model", "--quiet"])
        said = "; ".join(line for line in out.splitlines() if line.startswith("Result"))
        return code == 0, said if said and code == 0 else last_line(err)

    right, said = tried(input_.text)
    if right:
        return Row(kind, name, "unchanged", said)
    if input_.change is not None:
        was, by = input_.change
        changed, then = tried(input_.text.replace(was, by))
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
        rows = [of_mlir(folder, what, input_) for what, input_ in INPUTS.items()]
        rows += [of_lowered(folder, what, input_) for what, input_ in (lowered() | programs()).items()]
        rows += [of_mlir(folder, what, input_, "opcode map") for what, input_ in MAPS.items()]
        rows += [of_configuration(folder, what, input_) for what, input_ in CONFIGURATIONS.items()]
        return rows + [of_driver(folder, what, driver) for what, driver in by_hand.items()]


def by_file(rows: Sequence[Row]) -> list[Row]:
    """A line for each published MLIR file: what became of its form."""
    forms = {row.name: row for row in rows if row.kind == "MLIR"}
    return [Row("MLIR file", file, forms[form].verdict, form) for file, form in FORMS.items()]


def main() -> None:
    results = rows()
    files = by_file(results)
    for row in (*results, *files):
        print(f"{row.kind:<14}{row.name:<60}{row.verdict:<21}{row.said}")
    for kind in dict.fromkeys(row.kind for row in (*results, *files)):
        mine = [row for row in (*results, *files) if row.kind == kind]
        print(f"{kind}: {sum(row.unchanged for row in mine)} of {len(mine)} unchanged")
    if silent := [row.name for row in results if not row.said or "lines" in row.verdict]:
        sys.exit(f"no one line says why: {', '.join(silent)}")
