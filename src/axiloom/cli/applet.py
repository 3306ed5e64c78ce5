"""An applet is a command: the options that it has, and the function that it calls with their values.

::

    APPLETS = (Applet("spec schema", "print the JSON Schema", schema, (option("what", nargs="?"),)),)

The function gets a keyword for each option that was given, and for none that was not: defaults stand in the
function. A :class:`Group` with `make` gives one keyword, what `make` makes of its options: a dataclass of the
room whose options they are, which refuses what does not go together. No function sees what argparse made.

``--help`` shows the options that are `first`, where some are; ``--help-all`` shows all.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from axiloom.base import files
from axiloom.base.errors import UsageError

WORDS = "words"
"""A parameter of this name gets the words of the command line, for pages that say how to repeat a run."""


@dataclass(frozen=True)
class Option:
    """An option, or an argument by its place. `settings` are those of argparse."""

    flags: tuple[str, ...]
    settings: Mapping[str, Any]
    first: bool = False
    needs: Mapping[str, str] = field(default_factory=dict)
    """Names of other options, one of which has to be there, too; and what this option is, without it."""
    excludes: Mapping[str, str] = field(default_factory=dict)
    """Names of options that it does not go with, and why."""

    @property
    def name(self) -> str:
        long = next((flag for flag in self.flags if flag.startswith("--")), self.flags[0])
        return str(self.settings.get("dest", long.lstrip("-").replace("-", "_")))

    @property
    def is_place(self) -> bool:
        return not self.flags[0].startswith("-")

    def faults(self, given: Mapping[str, Any], flags: Mapping[str, str]) -> Iterator[str]:
        """Why it does not go with what else was `given`; `flags` by names."""
        if self.needs and not any(name in given for name in self.needs):
            others = " or ".join(flags[name] for name in self.needs)
            yield f"{next(iter(self.needs.values()))}: give {others} too"
        for name, why in self.excludes.items():
            if name in given:
                yield why


def option(
    *flags: str,
    first: bool = False,
    needs: Mapping[str, str] | None = None,
    excludes: Mapping[str, str] | None = None,
    **settings: Any,
) -> Option:
    if settings.get("nargs") in ("?", "*"):
        settings["default"] = None
    return Option(flags, settings, first, needs or {}, excludes or {})


@dataclass(frozen=True)
class Group:
    """Options under one title. `name`: the keyword under which the function gets what `make` makes of them;
    without it, each is a keyword of its own."""

    title: str
    options: tuple[Option, ...]
    name: str = ""
    make: Callable[..., Any] = dict


@dataclass(frozen=True)
class Applet:
    name: str
    """As people type it: ``nest run``."""
    does: str
    """One line, for the list of commands."""
    execute: Callable[..., int | None]
    parts: tuple[Option | Group, ...] = ()
    says: str = ""
    """What a person has to know before the options."""
    aliases: tuple[str, ...] = ()
    prog: str = ""
    """What runs it, if that is not ``axiloom``."""

    @property
    def options(self) -> tuple[Option, ...]:
        """All of them."""
        parts = [part.options if isinstance(part, Group) else (part,) for part in self.parts]
        return tuple(option for part in parts for option in part)

    def fill(self, parser: Parser, *, every: bool = False) -> None:
        """Add the options to `parser`; its help shows the first ones, or `every` one."""
        some = any(option.first for option in self.options)
        hidden = 0
        for part in self.parts:
            place: argparse._ActionsContainer = parser
            if isinstance(part, Group) and part.title:
                place = parser.add_argument_group(part.title)
            for item in part.options if isinstance(part, Group) else (part,):
                settings = dict(item.settings)
                if some and not every and not item.first and not item.is_place:
                    settings["help"], hidden = argparse.SUPPRESS, hidden + 1
                place.add_argument(*item.flags, **settings)
        parser.add_argument("-h", "--help", action=_Help, help="this help")
        if hidden:
            parser.add_argument("--help-all", action=_Help, applet=self, help=f"{hidden} more options")
        parser.description = self.says or f"{self.does[0].upper()}{self.does[1:]}."
        parser.set_defaults(applet=self)
        if hidden or every:
            places = " ".join(_place(item) for item in self.options if item.is_place)
            parser.usage = " ".join(filter(None, (parser.prog, places, "[OPTION...]")))

    def parser(
        self, because: str = "", elsewhere: Mapping[str, str] | None = None, *, every: bool = False
    ) -> Parser:
        """Of this applet alone."""
        alone = Parser(prog=self.prog or f"axiloom {self.name}", because=because, elsewhere=elsewhere)
        self.fill(alone, every=every)
        return alone

    def values(
        self, words: Sequence[str], because: str = "", elsewhere: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """What argparse finds in the words behind the applet's name."""
        values: dict[str, Any] = vars(self.parser(because, elsewhere).parse_args(words))
        return values

    def taken(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The keywords of what argparse found. Raises UsageError for what does not go together, and for a
        file that cannot be written."""
        given = {
            option.name: values[option.name]
            for option in self.options
            if values.get(option.name) is not None and values[option.name] != []
        }
        self._check(given)
        keywords: dict[str, Any] = {}
        for part in self.parts:
            options = part.options if isinstance(part, Group) else (part,)
            own = {option.name: given[option.name] for option in options if option.name in given}
            if isinstance(part, Group) and part.name:
                keywords[part.name] = part.make(**own)
            else:
                keywords |= own
        return keywords

    def call(self, values: Mapping[str, Any], words: Sequence[str]) -> int:
        """Execute it. `words`: the command line, as it was typed."""
        keywords = self.taken(values)
        if WORDS in inspect.signature(self.execute).parameters:
            keywords[WORDS] = tuple(words)
        return int(self.execute(**keywords) or 0)

    def _check(self, given: Mapping[str, Any]) -> None:
        flags = {option.name: option.flags[-1] for option in self.options}
        faults: dict[str, list[str]] = {}
        for option in self.options:
            if option.name in given:
                for fault in option.faults(given, flags):
                    faults.setdefault(fault, []).append(flags[option.name])
        if faults:
            raise UsageError("; ".join(f"{', '.join(names)}: {why}" for why, names in faults.items()))
        written: dict[Path, Option] = {}
        for option in self.options:
            kind = option.settings.get("type")
            if option.name not in given or kind not in _CHECKS:
                continue
            path = given[option.name]
            _CHECKS[kind](path, flags[option.name])
            if files.is_special(path):
                continue
            other = written.setdefault(path.absolute(), option)
            if other is not option and output_file in (other.settings["type"], kind):  # folders may be shared
                both = f"{flags[other.name]} and {flags[option.name]}"
                raise UsageError(f"{both} are both {path}: give them different names")


def _place(item: Option) -> str:
    name = str(item.settings.get("metavar") or item.flags[0].upper())
    many = {"+": f"{name}...", "*": f"[{name}...]", "?": f"[{name}]"}
    return many.get(item.settings.get("nargs", ""), name)


class _Help(argparse.Action):
    """Prints the help, of an `applet` with every option, and ends."""

    def __init__(self, *args: Any, applet: Applet | None = None, **settings: Any) -> None:
        super().__init__(*args, **{**settings, "nargs": 0})
        self.applet = applet

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        if self.applet is not None:
            parser = self.applet.parser(every=True)
        parser.print_help()
        parser.exit()


class Parser(argparse.ArgumentParser):
    """Says in one line what it does not understand. What is not given is not there: no default."""

    def __init__(
        self,
        *args: Any,
        because: str = "",
        elsewhere: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> None:
        """`because`: why it is this command that parses, where the user typed a shorter one. `elsewhere`:
        which command has options that this one has not."""
        super().__init__(*args, **{"add_help": False, "argument_default": argparse.SUPPRESS, **settings})
        self.because, self.elsewhere = because, elsewhere or {}

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        options, rest = self.parse_known_args(args, namespace)
        if rest:
            self._asked(options)._refuse_rest(rest)
        return options

    def error(self, message: str) -> NoReturn:
        """Raises UsageError, in one line: no list of all options before the reason."""
        from axiloom.base.wording.names import hint  # it takes more time than all else here

        message = message.removeprefix("argument ")
        if match := _CHOICE.search(message):
            name, rest = match["name"], match["rest"].replace("'", "")
            message = f"{message[: match.start()]}`{name}` is none of {rest}{hint(name, rest.split(', '))}"
        why = f"{self.because}: " if self.because else ""
        raise UsageError(f"{why}{message}; `{self.prog} --help` says what is accepted")

    def _asked(self, options: argparse.Namespace) -> Parser:
        """The parser of the command that was given."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                inner = action.choices[getattr(options, action.dest)]
                assert isinstance(inner, Parser)
                return inner._asked(options)
        return self

    def _refuse_rest(self, rest: Sequence[str]) -> NoReturn:
        from axiloom.base.wording.names import hint

        word, _, _ = rest[0].partition("=")
        if word in self.elsewhere:
            self.error(f"{self.prog} has no option `{word}`, which is of `axiloom {self.elsewhere[word]}`")
        if word.startswith("-"):
            self.error(f"{self.prog} has no option `{word}`{hint(word, self._option_string_actions)}")
        self.error(f"{self.prog} does not know what to do with `{' '.join(rest)}`")


_CHOICE = re.compile(r"invalid choice: '(?P<name>.*)' \(choose from (?P<rest>.*)\)$", re.DOTALL)


def sketch(applets: Sequence[Applet], words: Sequence[str]) -> dict[str, Any]:
    """What `words` say as far as any of the `applets` knows their options: enough to see which is meant."""
    parser = Parser(prog=f"axiloom {applets[0].name}")
    seen: set[str] = set()
    for applet in applets:
        for item in applet.options:
            if item.is_place and applet is applets[0]:
                nargs = {None: "?", "+": "*"}.get(item.settings.get("nargs"), "?")
                parser.add_argument(*item.flags, **{**item.settings, "nargs": nargs, "default": None})
            elif seen.isdisjoint(item.flags) and not item.is_place:
                left_out = ("required", "choices", "type")  # which another applet may have otherwise
                settings = {name: value for name, value in item.settings.items() if name not in left_out}
                parser.add_argument(*item.flags, **settings)
            seen |= {*item.flags}
    said = vars(parser.parse_known_args(words)[0])
    return {name: value for name, value in said.items() if value not in (None, [])}


# --- files that a command writes ---------------------------------------------------------------------


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
