"""``axiloom prove mapping``: commands compute a kernel, on any data."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from axiloom.base.errors import AxiloomError, UsageError
from axiloom.cli import options as shared
from axiloom.cli.given import Refusal, has, refuse
from axiloom.cli.prove import shared as proofs

if TYPE_CHECKING:
    from axiloom.isa.instructions.mappings import Mapped
    from axiloom.prove.verdict import Verdict


def add_command(what: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    mapping = what.add_parser(
        "mapping",
        help="commands of an instruction set compute a kernel, on any data",
        description="The commands of a mapping (docs/instructions.md) are executed at given sizes, on data "
        "that may be anything; where a result is not the kernel's term, z3 and bitwuzla decide. Exit code 1 "
        "if a mapping is wrong or not decided.",
    )
    mapping.add_argument(
        "mappings", nargs="*", metavar="NAME|FILE.mapping", help="default: all that are built in"
    )
    mapping.add_argument(
        "--list", action="store_true", help="name the built-in mappings with their sizes and end"
    )
    mapping.add_argument(
        "--size",
        action="append",
        type=_size,
        metavar="NAME=N",
        help="of every mapping named; once for each size",
    )
    proofs.add_options(mapping, "seconds a claim")
    mapping.add_argument(
        "--all", action="store_true", help="a line for each claim, not only for what is not so"
    )
    mapping.add_argument(
        "--any-size",
        action="store_true",
        help="for all sizes that a mapping allows: one arbitrary element, no data and no size is known; of "
        "mappings that say where() elements lie",
    )
    refuse(
        mapping,
        Refusal("size limit all any_size json", has("list"), "--list names the mappings and proves nothing"),
        Refusal("size", has("any_size"), "--any-size is for all sizes"),
    )
    mapping.set_defaults(execute=execute)


def _size(text: str) -> tuple[str, int]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=N, such as T=16")
    return name, shared.positive(value)


def execute(options: argparse.Namespace) -> int:
    # Imported here: solvers are for this command alone.
    from axiloom.prove import solvers

    solvers.check()
    from axiloom.isa.instructions import library
    from axiloom.prove import any_size as any_sizes  # needs z3
    from axiloom.prove import mapping as mappings
    from axiloom.prove.verdict import summary, table

    sizes = dict(options.size or ())
    if len(sizes) != len(options.size or ()):
        raise UsageError("--size: one size is given twice")
    whole = options.any_size
    chosen: list[Mapped] = []
    faults: list[AxiloomError] = []
    for name in options.mappings or library.mappings():
        with _one_fault(name, faults):
            chosen.append(mappings.read(name, sizes, any_size=whole))
    if whole and not options.mappings:  # of those that are built in, some say where elements lie
        chosen = [mapping for mapping in chosen if mapping.places]
    if options.list:
        for mapping in chosen:
            said = ", ".join(
                f"{size.name}={size.value} ({size.least} to {size.most}"
                + (f" by {size.multiple})" if size.multiple > 1 else ")")
                for size in mapping.sizes.values()
            )
            print(
                f"{mapping.name:<20} on {mapping.target.name}: {said}\n"
                f"    {mapping.text.partition(chr(10))[0]}"
            )
        return 0
    begun = time.perf_counter()
    rows: list[tuple[str, ...]] = [("mapping", "on", "sizes", "verdict", "claims", "s")]
    with proofs.Told(options) as told:
        for mapping in chosen:
            own: list[Verdict] = []
            with _one_fault(mapping.name, faults):
                for verdict in (any_sizes if whole else mappings).prove(mapping, options.limit):
                    told(verdict)
                    own.append(verdict)
                said = (any_sizes if whole else mappings).sizes_of(mapping)
                rows.append(_row(mapping.name, mapping.target.name, said, own))
    verdicts = told.verdicts
    if not verdicts and faults:
        raise faults[0]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    if options.all:
        print("\n".join(table(verdicts)))
    refused = f"; {len(faults)} refused" if faults else ""
    print(f"{summary(verdicts)}{refused}; {time.perf_counter() - begun:.0f} s; {solvers.versions()}")
    return proofs.ended(options, verdicts) or (faults[0].exit_code if faults else 0)


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
