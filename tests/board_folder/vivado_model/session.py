"""Runs a script under `tclsh` with the model behind it, and lists every fault with its place."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tests.board_folder.vivado_model.commands import COMMANDS, parse
from tests.board_folder.vivado_model.design import RefusedError
from tests.board_folder.vivado_model.project import Model

from axiloom.base.errors import BuildError

HARNESS = Path(__file__).parent / "harness.tcl"
_MOST_FAULTS = 20


@dataclass
class Session:
    """What a script did: its `faults`, each ``file:line: command: what``, what it printed, and the state it
    left.
    """

    model: Model
    faults: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    calls: int = 0


def tclsh() -> str | None:
    """A Tcl interpreter, or None."""
    return next((path for name in ("tclsh", "tclsh8.6", "tclsh9.0") if (path := shutil.which(name))), None)


def run(script: Path, arguments: Sequence[str] = (), model: Model | None = None) -> Session:
    """Run `script` as Vivado would in batch mode; what it writes, it writes.

    A refused command is noted and answered with nothing, so that one run finds all faults; `error` in the
    script, or what Tcl itself refuses, ends it. Raises :exc:`BuildError` without a Tcl interpreter.
    """
    program = tclsh()
    if program is None:
        raise BuildError("Tcl is not installed: apt-get install tcl")
    session = Session(model or Model())
    with tempfile.TemporaryDirectory(prefix="axiloom-tcl-") as folder:
        names = Path(folder) / "commands"
        names.write_text("\n".join(COMMANDS), encoding="utf-8")
        with subprocess.Popen(
            [program, str(HARNESS), str(names), str(script), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            ended = _serve(session, process.stdin, process.stdout)
            if not ended:
                session.faults.append(f"{script.name}: the interpreter ended early")
            process.stdin.close()
    return session


def _serve(session: Session, to: IO[str], of: IO[str]) -> bool:
    """Answer requests until the script ends; whether it did."""
    for line in of:
        kind, *words = line.split()
        if kind == "DONE":
            return True
        if kind == "FAILED":
            session.faults.append(_failure(*map(_decode, words)))
            return True
        if kind == "PRINT":
            session.printed.append(_decode(words[0]) if words else "")
        elif kind == "CALL":
            answer = _answer(session, Path(_decode(words[0])).name, words[1], list(map(_decode, words[2:])))
            if len(session.faults) >= _MOST_FAULTS:
                answer = ("ERROR", "too many faults")
            to.write(f"{answer[0]} x{answer[1].encode().hex()}\n")
            to.flush()
            if words[2:] and _decode(words[2]) == "exit":
                return True
        else:
            session.printed.append(line.rstrip("\n"))
    return False


def _answer(session: Session, file: str, line: str, words: list[str]) -> tuple[str, str]:
    name, *arguments = words
    session.calls += 1
    call, faults = parse(name, arguments)
    if not faults:
        try:
            return "OK", session.model.run(call)
        except RefusedError as refused:
            faults = [str(refused)]
    session.faults += [f"{file}:{line}: {name}: {fault}" for fault in faults]
    return "OK", ""


def _decode(word: str) -> str:
    return bytes.fromhex(word[1:]).decode()


def _failure(message: str, trace: str) -> str:
    """What Tcl says, with the innermost place in a script."""
    places = [line.strip() for line in trace.splitlines() if "(file " in line]
    where = places[0].strip("()").replace('file "', "").replace('" line ', ":") if places else "script"
    return f"{Path(where).name if ':' in where else where}: {message.splitlines()[0]}"
