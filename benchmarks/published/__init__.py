"""Inputs in the forms of the published AXI4MLIR code: which are read as they are.

``python -m benchmarks published`` prints a line for each: read unchanged and right on the functional model,
after which change, or how it is refused. The texts are ours, in the forms that the public files have
(``inputs.py``, ``maps.py``, ``configurations.py``); no public file is here.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from axiloom.cli import main as axiloom
from benchmarks.published.configurations import CONFIGURATIONS
from benchmarks.published.inputs import INPUTS, Input
from benchmarks.published.maps import MAPS


@dataclass(frozen=True)
class Row:
    """What became of one input."""

    kind: str
    name: str
    verdict: str
    said: str

    @property
    def unchanged(self) -> bool:
        return self.verdict == "unchanged"


def run(words: list[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = axiloom(words)
    return code, out.getvalue(), err.getvalue()


def of_mlir(folder: Path, name: str, one: Input, kind: str = "MLIR") -> Row:
    """Run as it is; if that is refused and a change is known, after it."""
    file = folder / f"{name.replace(' ', '_').replace(',', '')}.mlir"

    def tried(text: str) -> tuple[bool, str]:
        file.write_text(text, encoding="utf-8")
        code, out, err = run(["run", str(file), *one.options, "--rtl", "model", "--quiet"])
        said = "; ".join(line for line in out.splitlines() if line.startswith("Result"))
        last = [line for line in err.splitlines() if not line.startswith("note:")]
        return code == 0, said or (last[-1].removeprefix("axiloom: ") if last else "")

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
    """All of them, in the order of the files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = [of_mlir(folder, what, one) for what, one in INPUTS.items()]
        found += [of_mlir(folder, what, one, "opcode map") for what, one in MAPS.items()]
        return found + [of_configuration(folder, what, one) for what, one in CONFIGURATIONS.items()]


def main() -> None:
    found = rows()
    for one in found:
        print(f"{one.kind:<14}{one.name:<44}{one.verdict:<21}{one.said}")
    for kind in dict.fromkeys(one.kind for one in found):
        mine = [one for one in found if one.kind == kind]
        print(f"{kind}: {sum(one.unchanged for one in mine)} of {len(mine)} unchanged")
    if silent := [one.name for one in found if not one.said or "lines" in one.verdict]:
        sys.exit(f"no one line says why: {', '.join(silent)}")
