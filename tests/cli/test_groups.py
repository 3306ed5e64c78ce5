"""A command imports its own group alone; the table of groups says what each adds."""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys

import pytest

from axiloom.cli import GROUPS, _heads, given, main, parser


def _names(top: argparse.ArgumentParser) -> list[str]:
    (commands,) = (one for one in top._actions if isinstance(one, argparse._SubParsersAction))
    return [*commands.choices]


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_adds_what_the_table_says(group: str) -> None:
    top = given.Parser()
    importlib.import_module(f"axiloom.cli.{group}").add_commands(top.add_subparsers())
    assert tuple(_names(top)) == GROUPS[group]


def test_all_or_one() -> None:
    everything = [name for names in GROUPS.values() for name in names]
    assert _names(parser()) == everything == _names(parser("no-such-command"))
    assert _names(parser("list")) == ["spec", "list"]


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
    with pytest.raises(SystemExit):
        main(["--foo", "list"])
    assert "axiloom list has no option `--foo`" in capsys.readouterr().err
