"""``axiloom simulate APP.elf`` for what other tools built: its terminal, and what is said of its run."""

from __future__ import annotations

import os
import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from axiloom.base.errors import UsageError
from axiloom.cosim import elf
from axiloom.cosim.board_program import NOBODY, Terminal, is_cleared
from axiloom.cosim.job import Result

STANDARD = "-"


def check(path: Path, given: Mapping[str, Any], inputs: Mapping[str, Any]) -> bool:
    """Whether other tools built it. UsageError where what is `given` (``input``, ``until``, ``limit``), or
    arrays to be filled, do not fit the program."""
    program = elf.load(path)
    if not program.is_board:
        if given:
            raise UsageError(
                f"--{next(iter(given))} is for an ELF file that other tools built; {path.name} has our "
                "start-up code"
            )
        return False
    if given.get("input", STANDARD) != STANDARD:
        _typed(given["input"])
    for symbol in inputs:
        if is_cleared(program, symbol):
            raise UsageError(
                f"--load {symbol}: the program's own start-up code clears it (.bss) before main: give it an "
                "initial value in its source"
            )
    return True


@contextmanager
def terminal(is_board: bool, given: Mapping[str, Any]) -> Iterator[Terminal]:
    """Of what is `given`, for a program of other tools. In the block our own terminal is the board's."""
    if not is_board:
        yield NOBODY
        return
    asked = given.get("input", STANDARD)
    quiet = Terminal(
        b"" if asked == STANDARD else _typed(asked),
        given.get("until", NOBODY.until),
        given.get("limit", NOBODY.limit_s),
    )
    with ExitStack() as stack:
        reads = _descriptor(sys.stdin, stack) if asked == STANDARD else -1
        if reads >= 0:
            stack.enter_context(_by_key(reads))
        sys.stdout.flush()
        yield replace(quiet, reads=reads, prints=_descriptor(sys.stdout, stack))


def _typed(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"--input {name}: {error.strerror}") from None


def _descriptor(stream: IO[str] | None, stack: ExitStack) -> int:
    """One of its own for the block, which a program that we start can have; -1: there is none."""
    with suppress(OSError, ValueError, AttributeError):
        assert stream is not None
        number = os.dup(stream.fileno())
        stack.callback(os.close, number)
        return number
    return -1


@contextmanager
def _by_key(number: int) -> Iterator[None]:
    """As at a serial terminal the program gets each key when it is hit, Enter as CR, and echoes it itself."""
    if not os.isatty(number) or _in_background(number):
        yield
        return
    before = termios.tcgetattr(number)
    now = termios.tcgetattr(number)
    now[0] &= ~(termios.ICRNL | termios.INLCR)
    now[3] &= ~(termios.ICANON | termios.ECHO)
    termios.tcsetattr(number, termios.TCSADRAIN, now)
    try:
        yield
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)


def _in_background(number: int) -> bool:
    """Another job has the terminal; of one that is not ours nobody knows."""
    try:
        return os.tcgetpgrp(number) != os.getpgrp()
    except OSError:
        return False


def say(result: Result, terminal: Terminal) -> None:
    """What the program has printed, if nobody saw it yet, and notes on its run."""
    if not result.is_board:
        return
    text = result.console.replace("\r\n", "\n")
    if terminal.prints < 0:
        print(text, end="", flush=True)
    if text and not text.endswith("\n"):
        print(flush=True)
    for note in result.notes:
        print(f"note: {note}", file=sys.stderr)
