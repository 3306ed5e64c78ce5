"""Pages from the code: each command of ``axiloom`` with its options, and what is public in Python."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

PYTHON: dict[str, tuple[str, tuple[str, ...]]] = {
    "axiloom": (
        "The library: `import axiloom as ax`",
        (
            *("device", "read", "quantize", "nest", "plan", "run", "explore", "prove", "compare", "soc"),
            *("board", "Device", "Plan", "Run"),
        ),
    ),
    "axiloom.library.sessions": ("The pytest fixture `soc` gives a chip", ("Chip",)),
    "axiloom.isa": (
        "Specifications",
        (
            "AcceleratorSpec",
            "builtin",
            "builtins",
            "load",
            "load_all",
            "find",
            "check_file",
            "dumps",
            "schema",
        ),
    ),
    "axiloom.drivergen": (
        "MLIR to a driver",
        ("compile_mlir", "Driver", "matmul_mlir", "conv_mlir", "Problem"),
    ),
    "axiloom.nests.schedule": ("Schedules of loops", ("Schedule",)),
    "axiloom.base.errors": (
        "Errors",
        (
            *("AxiloomError", "MismatchError", "UsageError", "SpecError", "CompileError", "BuildError"),
            *("HangError", "DriverError", "BoardError"),
        ),
    ),
}
"""Module to its heading and the names that the page has."""


def command_line() -> str:
    """A heading a command, with its help as the terminal shows it at 100 columns."""
    import os

    from axiloom.cli import parser

    os.environ["COLUMNS"] = "100"
    lines = [
        "# Command line",
        "",
        "**You get** every command with all its options, from the program itself. "
        "`axiloom COMMAND --help-all` prints the same.",
        "",
    ]
    for words, command in _commands(parser(every=True), ()):
        name = " ".join(("axiloom", *words))
        lines += [
            f"{'#' * (1 + len(words))} `{name}`",
            "",
            "```text",
            command.format_help().rstrip(),
            "```",
            "",
        ]
    return "\n".join(lines)


def _commands(
    argument_parser: argparse.ArgumentParser, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    seen: set[int] = set()
    for action in argument_parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            continue
        for name, choice in action.choices.items():
            if id(choice) not in seen:  # `quantise` is `quantize` again
                seen.add(id(choice))
                yield (*words, name), choice
                yield from _commands(choice, (*words, name))


def python() -> str:
    """Public classes and functions, for Sphinx's autodoc."""
    lines = [
        "# Python",
        "",
        "**You get** what scripts and tests may call: classes and functions with arguments, from the code. "
        "[The fixtures](python.md) says how to use the first ones.",
        "",
    ]
    for module, (title, names) in PYTHON.items():
        lines += [f"## {title}: `{module}`", ""]
        for name in names:
            kind = "autoclass" if name[0].isupper() else "autofunction"
            members = "\n:members:" if kind == "autoclass" and module != "axiloom.base.errors" else ""
            lines += [
                "```{eval-rst}",
                f".. {kind}:: {module}.{name}",
                *(["   :members:"] if members else []),
                "```",
                "",
            ]
    return "\n".join(lines)


PAGES: dict[str, Callable[[], str]] = {
    "reference-command-line.md": command_line,
    "reference-python.md": python,
}
"""Name of the page to what writes it."""
