"""``--select egraph``: instructions are found by equality saturation, not by matching operations."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from axiloom.cli.given import Refusal, reject
from axiloom.errors import UsageError

if TYPE_CHECKING:
    from axiloom.device.rtl import DeviceRtl
    from axiloom.isa.instructions.tree import InstructionSet
    from axiloom.run.selected import Selected

MATCHING, EGRAPH = "matching", "egraph"
OTHERS = (
    "size spec encoding post rtl top macs memory_port flow order tile pipeline against input weights "
    "stop_after layers offload_from offload port data_type rebase schedule plain auto"
)
"""Options that nothing here honours."""
EXTRA = "pip install 'axiloom[select]'"


def add_option(command: argparse._ActionsContainer) -> None:
    command.add_argument(
        "--select",
        choices=(MATCHING, EGRAPH),
        default=MATCHING,
        help="how instructions are found: each operation by its form (matching), or all forms of the whole "
        "application by proved rules, for the instruction set --accel NAME|FILE.isa (egraph)",
    )


def is_egraph(options: argparse.Namespace) -> bool:
    """Whether a network's accelerators are chosen by equality saturation. Raises UsageError."""
    if options.select != EGRAPH:
        return False
    reject(
        options,
        [Refusal("offload_from", lambda _: True, "--select egraph weighs every product: leave it out")],
    )
    check_extra()
    return True


def is_for_texts(options: argparse.Namespace) -> bool:
    """Whether ``--select egraph`` is for an instruction set: ``--accel`` names a text or a file of one, or
    nothing."""
    if options.select != EGRAPH:
        return False
    from axiloom.isa.instructions.library import INSTRUCTIONS, targets

    names = (options.accel or "").split(",")
    return names == [""] or any(name in targets() or name.endswith(INSTRUCTIONS) for name in names)


def check_extra() -> None:
    """Raises UsageError where a solver is not installed."""
    try:
        import egglog  # noqa: F401
        import ortools  # noqa: F401
    except ImportError as error:
        raise UsageError(f"--select egraph needs {error.name}: {EXTRA}") from None


def constants(define: list[str]) -> dict[str, int]:
    """Constants of a text, of ``-D NAME=VALUE``. Raises UsageError."""
    from axiloom.cli.nest_source import defines

    given = {}
    for name, value in defines(define).items():
        try:
            given[name] = int(value, 0)
        except ValueError:
            raise UsageError(f"-D {name}={value}: a constant of a text is a number") from None
    return given


def instruction_set(name: str, folder: Path, given: Mapping[str, int], where: str) -> InstructionSet:
    """A built-in text by its name, or a file. Raises UsageError, SpecError."""
    from axiloom.isa.instructions.library import INSTRUCTIONS, targets
    from axiloom.isa.instructions.read import read

    built_in = targets()
    if name in built_in:
        return read(built_in[name], dict(given))
    if not name.endswith(INSTRUCTIONS):
        raise UsageError(
            f"{where}: no instruction set is called {name}; there are {', '.join(built_in)}, "
            f"and files that end in {INSTRUCTIONS}"
        )
    return read(folder / name, dict(given))


def selected(
    options: argparse.Namespace,
    device: Callable[[InstructionSet], DeviceRtl | None],
    progress: Callable[[str], None],
) -> Selected:
    """The application of the command line as a validated program."""
    check_extra()
    from axiloom.isa.instructions.library import INSTRUCTIONS, targets
    from axiloom.run.selected import select
    from axiloom.selection.read import read

    if options.accel is None:
        names = ", ".join(targets())
        raise UsageError(f"--select egraph: say for which instruction set: --accel {names}, or FILE.isa")
    given = constants(options.define)
    path, _, function = str(options.problem).partition(":")
    graph = read(Path(path), function or None)
    return select(
        graph,
        lambda more: instruction_set(options.accel, Path(), {**more, **given}, "--accel"),
        device,
        progress,
        Path(options.accel).name if options.accel.endswith(INSTRUCTIONS) else "",
    )
