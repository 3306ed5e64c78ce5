"""``--select egraph``: instructions are found by equality saturation, not by matching operations."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from axiloom.base import extras
from axiloom.base.errors import UsageError
from axiloom.cli.given import Refusal, is_given, reject
from axiloom.read import models
from axiloom.run import selection
from axiloom.run.selection import EXTRA, How, missing

if TYPE_CHECKING:
    from axiloom.device.rtl import DeviceRtl
    from axiloom.isa import AcceleratorSpec
    from axiloom.isa.instructions.tree import InstructionSet
    from axiloom.run.selected import Selected

MATCHING, EGRAPH = "matching", "egraph"
OTHERS = (
    "size spec encoding post rtl top macs memory_port flow order tile pipeline against input weights "
    "stop_after layers offload_from offload port data_type rebase schedule plain auto"
)
"""Options that nothing here honours."""


def add_option(command: argparse._ActionsContainer) -> None:
    command.add_argument(
        "--select",
        choices=(MATCHING, EGRAPH),
        help="how instructions are found: each operation by its form (matching), or all forms of the whole "
        "application by proved rules (egraph). Default: egraph for networks and instruction sets; matching "
        "where egraph cannot be used, and the first lines say why",
    )


def of_network(options: argparse.Namespace, specs: Sequence[AcceleratorSpec]) -> How:
    """For a network on accelerators with a stream. Raises UsageError where `egraph` was asked for in vain."""
    if options.select == MATCHING:
        return How(egraph=False, asked=True)
    if options.select == EGRAPH:
        reject(
            options,
            [Refusal("offload_from", lambda _: True, "--select egraph weighs every product: leave it out")],
        )
        check_extra()
        return How(egraph=True, asked=True)
    if is_given(options, "offload_from"):
        because = "egraph weighs every product and knows no --offload-from"
        return How(egraph=False, asked=False, because=because)
    return selection.of_network(specs, stands_in=is_given(options, "rtl"))


def by_text(options: argparse.Namespace) -> bool:
    """Whether a program is found for an instruction set: as asked, or because ``--accel`` names one for a
    model."""
    if options.select is None:
        return models.is_model(str(options.problem)) and _names_text(options)
    return bool(options.select == EGRAPH)


def is_for_texts(options: argparse.Namespace) -> bool:
    """Whether that is for an instruction set: ``--accel`` names a text or a file of one, or nothing."""
    return by_text(options) and (options.accel is None or _names_text(options))


def _names_text(options: argparse.Namespace) -> bool:
    from axiloom.isa.instructions.library import INSTRUCTIONS, targets

    names = (options.accel or "").split(",")
    return any(name in targets() or name.endswith(INSTRUCTIONS) for name in names)


def check_extra() -> None:
    """Raises UsageError where a solver is not installed."""
    if solver := missing():
        raise UsageError(f"--select egraph needs {solver}: {extras.install(EXTRA)}")


def constants(define: list[str]) -> dict[str, int]:
    """Constants of a text, of ``-D NAME=VALUE``. Raises UsageError."""
    from axiloom.cli.nest.source import defines

    values = {}
    for name, value in defines(define).items():
        try:
            values[name] = int(value, 0)
        except ValueError:
            raise UsageError(f"-D {name}={value}: a constant of a text is a number") from None
    return values


def instruction_set(name: str, folder: Path, values: Mapping[str, int], where: str) -> InstructionSet:
    """A built-in text by its name, or a file. Raises UsageError, SpecError."""
    from axiloom.isa.instructions.library import INSTRUCTIONS, targets
    from axiloom.isa.instructions.read import read

    built_in = targets()
    if name in built_in:
        return read(built_in[name], dict(values))
    if not name.endswith(INSTRUCTIONS):
        raise UsageError(
            f"{where}: no instruction set is called {name}; there are {', '.join(built_in)}, "
            f"and files that end in {INSTRUCTIONS}"
        )
    return read(folder / name, dict(values))


def selected(
    options: argparse.Namespace,
    device: Callable[[InstructionSet], DeviceRtl | None],
    progress: Callable[[str], None],
) -> Selected:
    """The application of the command line as a validated program."""
    check_extra()
    from axiloom.isa.instructions.library import INSTRUCTIONS, targets
    from axiloom.read import read
    from axiloom.run.selected import select

    if options.accel is None:
        names = ", ".join(targets())
        raise UsageError(f"--select egraph: say for which instruction set: --accel {names}, or FILE.isa")
    values = constants(options.define)
    path, _, function = str(options.problem).partition(":")
    graph = read(Path(path), function or None)
    return select(
        graph,
        lambda more: instruction_set(options.accel, Path(), {**more, **values}, "--accel"),
        device,
        progress,
        Path(options.accel).name if options.accel.endswith(INSTRUCTIONS) else "",
    )
