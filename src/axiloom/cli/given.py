"""Options that were given, and what of them a command does not honour in a mode: refused, never ignored.

A command says so beside its options::

    refuse(command, Refusal("trace_window", lacks("trace"), "a part of a trace: give --trace FILE too"))

:func:`check` looks at the whole command line before anything is read, built or written. What only shows later
(whether a model is a network) is refused where it shows, by :func:`reject`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from axiloom.base import files
from axiloom.base.errors import BuildError, UsageError
from axiloom.base.wording.names import hint

When = Callable[[argparse.Namespace], bool]


class _Remembering(argparse.Action):
    """Puts the option into ``namespace.given``: a default and the same value given are told apart."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if self.option_strings:
            before: Mapping[str, argparse.Action] = getattr(namespace, "given", {})
            namespace.given = {**before, self.dest: self}
        super().__call__(parser, namespace, values, option_string)


class _Store(_Remembering, argparse._StoreAction):
    word = "store"


class _StoreTrue(_Remembering, argparse._StoreTrueAction):
    word = "store_true"


class _Append(_Remembering, argparse._AppendAction):
    word = "append"


class _Extend(_Remembering, argparse._ExtendAction):
    word = "extend"


class Parser(argparse.ArgumentParser):
    """Remembers which options were given, and says in one line what it does not understand; subcommands are
    of the same class."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name, action in (
            (None, _Store),
            ("store", _Store),
            ("store_true", _StoreTrue),
            ("append", _Append),
            ("extend", _Extend),
        ):
            self.register("action", name, action)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        options, rest = self.parse_known_args(args, namespace)
        if rest:
            self._asked(options)._refuse_rest(rest)
        return options

    def error(self, message: str) -> NoReturn:
        """The exit code of UsageError, and no list of all options before the reason."""
        message = message.removeprefix("argument ")
        if match := _CHOICE.search(message):
            name, rest = match["name"], match["rest"].replace("'", "")
            message = f"{message[: match.start()]}`{name}` is none of {rest}{hint(name, rest.split(', '))}"
        print(f"axiloom: {message}; `{self.prog} --help` says what is accepted", file=sys.stderr)
        raise SystemExit(UsageError.exit_code)

    def _asked(self, options: argparse.Namespace) -> Parser:
        """The parser of the command that was given."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                inner = action.choices[getattr(options, action.dest)]
                assert isinstance(inner, Parser)
                return inner._asked(options)
        return self

    def _refuse_rest(self, rest: Sequence[str]) -> NoReturn:
        word, _, _ = rest[0].partition("=")
        if word.startswith("-"):
            self.error(f"{self.prog} has no option `{word}`{hint(word, self._option_string_actions)}")
        self.error(f"{self.prog} does not know what to do with `{' '.join(rest)}`")


_CHOICE = re.compile(r"invalid choice: '(?P<name>.*)' \(choose from (?P<rest>.*)\)$", re.DOTALL)


@dataclass(frozen=True)
class Refusal:
    """`options` (their names in the namespace, with spaces between them) have no effect `when` it says so."""

    options: str
    when: When
    why: str
    """Comes after the options and a colon."""


def has(*names: str) -> When:
    """All of these options are given."""
    return lambda options: all(is_given(options, name) for name in names)


def lacks(*names: str) -> When:
    """None of these options is given."""
    return lambda options: not any(is_given(options, name) for name in names)


def is_given(options: argparse.Namespace, name: str) -> bool:
    return name in getattr(options, "given", {})


def refuse(command: argparse.ArgumentParser, *refusals: Refusal) -> None:
    """Add to what `command` refuses."""
    command.set_defaults(refusals=(*(command.get_default("refusals") or ()), *refusals))


def check(options: argparse.Namespace) -> None:
    """Raises UsageError for every option that would have no effect, or an output that cannot be written, and
    BuildError for Verilog that is not there."""
    for file in getattr(options, "rtl", None) or ():
        from axiloom.explore.asked import MODEL  # a second, for those commands alone

        if not file.is_file() and file != MODEL:
            raise BuildError(f"user RTL {file}: no such file")
    reject(options, getattr(options, "refusals", ()))
    _check_outputs(options)


def reject(options: argparse.Namespace, refusals: Iterable[Refusal]) -> None:
    """Raises UsageError with each of `refusals` that holds."""
    faults = []
    for refusal in refusals:
        flags = [flag(options, name) for name in refusal.options.split() if is_given(options, name)]
        if flags and refusal.when(options):
            faults.append(f"{', '.join(flags)}: {refusal.why}")
    if faults:
        raise UsageError("; ".join(faults))


def flag(options: argparse.Namespace, name: str) -> str:
    """As the user writes it: the long form."""
    return str(options.given[name].option_strings[-1])


# --- outputs -----------------------------------------------------------------------------------------


def output_file(text: str) -> Path:
    """Type of an option: a file that the command writes."""
    return Path(text)


def output_folder(text: str) -> Path:
    """Type of an option: a folder that the command writes files to."""
    return Path(text)


_CHECKS: Mapping[Any, Callable[[Path, str], None]] = {
    output_file: files.check_file,
    output_folder: files.check_folder,
}


def _check_outputs(options: argparse.Namespace) -> None:
    seen: dict[Path, argparse.Action] = {}
    for name, action in getattr(options, "given", {}).items():
        if action.type not in _CHECKS:
            continue
        path, what = getattr(options, name), flag(options, name)
        _CHECKS[action.type](path, what)
        if files.is_special(path):
            continue
        other = seen.setdefault(path.absolute(), action)
        if other is not action and output_file in (other.type, action.type):  # folders may be shared
            raise UsageError(
                f"{other.option_strings[-1]} and {what} are both {path}: give them different names"
            )
