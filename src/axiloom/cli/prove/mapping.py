"""``axiloom prove mapping``: commands compute a kernel, on any data."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from axiloom.base.errors import AxiloomError, UsageError
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option
from axiloom.cli.prove import shared as proofs

if TYPE_CHECKING:
    from axiloom.isa.instructions.mappings import Mapped
    from axiloom.prove.verdict import Verdict


def _size(text: str) -> tuple[str, int]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=N, such as T=16")
    return name, shared.positive(value)


def execute(
    mappings: Sequence[str] = (),
    names: bool = False,
    size: Sequence[tuple[str, int]] = (),
    limit: int = proofs.LIMIT_S,
    every: bool = False,
    any_size: bool = False,
    json_file: Path | None = None,
) -> int:
    # Imported here: solvers are for this command alone.
    from axiloom.prove import solvers

    solvers.check()
    from axiloom.isa.instructions import library
    from axiloom.prove import any_size as any_sizes  # needs z3
    from axiloom.prove import mapping as proved
    from axiloom.prove.verdict import summary, table

    sizes = dict(size)
    if len(sizes) != len(size):
        raise UsageError("--size: one size is given twice")
    chosen: list[Mapped] = []
    faults: list[AxiloomError] = []
    for name in mappings or library.mappings():
        with _one_fault(name, faults):
            chosen.append(proved.read(name, sizes, any_size=any_size))
    if any_size and not mappings:  # of those that are built in, some say where elements lie
        chosen = [mapping for mapping in chosen if mapping.places]
    if names:
        for mapping in chosen:
            said = ", ".join(
                f"{of.name}={of.value} ({of.least} to {of.most}"
                + (f" by {of.multiple})" if of.multiple > 1 else ")")
                for of in mapping.sizes.values()
            )
            print(
                f"{mapping.name:<20} on {mapping.target.name}: {said}\n"
                f"    {mapping.text.partition(chr(10))[0]}"
            )
        return 0
    begun = time.perf_counter()
    rows: list[tuple[str, ...]] = [("mapping", "on", "sizes", "verdict", "claims", "s")]
    with proofs.Told(json_file) as told:
        for mapping in chosen:
            own: list[Verdict] = []
            with _one_fault(mapping.name, faults):
                for verdict in (any_sizes if any_size else proved).prove(mapping, limit):
                    told(verdict)
                    own.append(verdict)
                said = (any_sizes if any_size else proved).sizes_of(mapping)
                rows.append(_row(mapping.name, mapping.target.name, said, own))
    verdicts = told.verdicts
    if not verdicts and faults:
        raise faults[0]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    if every:
        print("\n".join(table(verdicts)))
    refused = f"; {len(faults)} refused" if faults else ""
    print(f"{summary(verdicts)}{refused}; {time.perf_counter() - begun:.0f} s; {solvers.versions()}")
    return proofs.ended(json_file, verdicts) or (faults[0].exit_code if faults else 0)


@contextmanager
def _one_fault(name: str, faults: list[AxiloomError]) -> Iterator[None]:
    """A mapping that is refused does not end the others. What is alone is refused as any command."""
    try:
        yield
    except UsageError:
        raise
    except AxiloomError as error:
        faults.append(error)
        print(f"{name}: refused: {error}", file=sys.stderr, flush=True)


def _row(name: str, target: str, sizes: str, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    wrong = [verdict.answer.value for verdict in verdicts if not verdict.good]
    answer = min(wrong, key=["violated", "not decided"].index) if wrong else "holds"
    by_solvers = sum(verdict.solver != "rewriting" for verdict in verdicts)
    claims = f"{by_solvers} by solvers" if by_solvers else "none left"
    return name, target, sizes, answer, claims, f"{sum(verdict.seconds for verdict in verdicts):.1f}"


_NAMED = {"names": "--list names the mappings and proves nothing"}
APPLET = Applet(
    "prove mapping",
    "commands of an instruction set compute a kernel, on any data",
    execute,
    (
        option("mappings", nargs="*", metavar="NAME|FILE.mapping", help="default: all that are built in"),
        option(
            "--list",
            dest="names",
            action="store_true",
            help="name the built-in mappings with their sizes and end",
        ),
        option(
            "--size",
            action="append",
            type=_size,
            metavar="NAME=N",
            excludes={**_NAMED, "any_size": "--any-size is for all sizes"},
            help="of every mapping named; once for each size",
        ),
        replace(proofs.limit("a claim"), first=False, excludes=_NAMED),
        replace(proofs.ALL, first=False, excludes=_NAMED),
        option(
            "--any-size",
            action="store_true",
            excludes=_NAMED,
            help="for all sizes that a mapping allows: one arbitrary element, no data and no size is "
            "known; of mappings that say where() elements lie",
        ),
        replace(proofs.JSON, first=False, excludes=_NAMED),
    ),
    "The commands of a mapping (docs/instructions.md) are executed at given sizes, on data "
    "that may be anything; where a result is not the kernel's term, z3 and bitwuzla decide. Exit code 1 "
    "if a mapping is wrong or not decided.",
)
