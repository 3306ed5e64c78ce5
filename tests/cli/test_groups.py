"""A command imports its own group alone; the table of groups says what each adds; an applet's function takes
what its options give."""

from __future__ import annotations

import argparse
import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator

import pytest

from axiloom.cli import GROUPS, _heads, main, parser
from axiloom.cli.applet import WORDS, Applet, Group

MOST_WORDS = 250
"""Of a first help: one screen."""


def _names(top: argparse.ArgumentParser) -> list[str]:
    (commands,) = (one for one in top._actions if isinstance(one, argparse._SubParsersAction))
    return [*commands.choices]


def applets() -> Iterator[Applet]:
    for group in GROUPS:
        yield from importlib.import_module(f"axiloom.cli.{group}").APPLETS


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_adds_what_the_table_says(group: str) -> None:
    added = importlib.import_module(f"axiloom.cli.{group}").APPLETS
    names = [name for applet in added for name in (applet.name.partition(" ")[0], *applet.aliases)]
    assert tuple(dict.fromkeys(names)) == GROUPS[group]


def test_all_or_one() -> None:
    everything = [name for names in GROUPS.values() for name in names]
    assert _names(parser()) == everything == _names(parser("no-such-command"))
    assert _names(parser("list")) == ["spec", "list"]


@pytest.mark.parametrize("applet", [*applets()], ids=lambda applet: applet.name)
def test_an_applet(applet: Applet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first help is short, options go with options that are there, its function takes what they give."""
    monkeypatch.setenv("COLUMNS", "100")
    assert len(applet.parser().format_help().split()) <= MOST_WORDS
    names = {option.name for option in applet.options}
    assert {name for option in applet.options for name in (*option.needs, *option.excludes)} <= names
    parameters = inspect.signature(applet.execute).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    given: dict[str, bool] = {WORDS: True}
    for part in applet.parts:
        if isinstance(part, Group) and part.name:
            given[part.name] = True
            fields = inspect.signature(part.make).parameters.values()
            others = any(field.kind is field.VAR_KEYWORD for field in fields)
            assert others or {option.name for option in part.options} <= {field.name for field in fields}
        else:
            for option in part.options if isinstance(part, Group) else (part,):
                there = option.is_place and option.settings.get("nargs") not in ("?", "*")
                given[option.name] = there or option.settings.get("required", False)
    assert takes_all or {*given} - {WORDS} <= {*parameters}
    for name, parameter in parameters.items():
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD:
            assert given.get(name), f"{name} may be missing"


def test_the_whole_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["run", "--help-all"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert "--watchdog" in text
    assert "--weights" not in text
    with pytest.raises(SystemExit):
        main(["run", "x.c", "--help"])
    assert capsys.readouterr().out.startswith("usage: axiloom nest run FILE")


def test_what_others_need_is_not_imported() -> None:
    code = "import sys; from axiloom.cli import parser; parser('doctor'); print('amaranth' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"


def test_the_list_of_commands_imports_none() -> None:
    assert _heads().format_help() == parser().format_help()
    code = (
        "import sys; from axiloom.cli import main\n"
        "try: main(['--help'])\n"
        "finally: print('xdsl' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_what_comes_before_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--foo", "list"]) == 2
    assert "axiloom list has no option `--foo`" in capsys.readouterr().err
