"""``axiloom simulate APP.elf`` for what other tools built: its terminal, and what is said of its run."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from axiloom.base.errors import UsageError
from axiloom.cosim import elf
from axiloom.cosim.board_program import NOBODY, Terminal, is_cleared
from axiloom.cosim.job import Result


def terminal(path: Path, given: Mapping[str, Any], inputs: Mapping[str, Any]) -> Terminal:
    """Of what is `given`: ``input``, ``until``, ``limit``. UsageError where that, or arrays to be filled, do
    not fit the program."""
    program = elf.load(path)
    if not program.is_board:
        if given:
            raise UsageError(
                f"--{next(iter(given))} is for an ELF file that other tools built; {path.name} has our "
                "start-up code"
            )
        return NOBODY
    for symbol in inputs:
        if is_cleared(program, symbol):
            raise UsageError(
                f"--load {symbol}: the program's own start-up code clears it (.bss) before main: give it an "
                "initial value in its source"
            )
    return Terminal(
        _typed(given["input"]) if "input" in given else NOBODY.typed,
        given.get("until", NOBODY.until),
        given.get("limit", NOBODY.limit_s),
    )


def _typed(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"--input {name}: {error.strerror}") from None


def say(result: Result) -> None:
    """What the program has printed, and notes on its run."""
    if not result.is_board:
        return
    text = result.console.replace("\r\n", "\n")
    print(text, end="" if not text or text.endswith("\n") else "\n", flush=True)
    for note in result.notes:
        print(f"note: {note}", file=sys.stderr)
