"""z3 and bitwuzla on formulas that must hold, each in a process of its own, with limits.

z3 has the first turn, since it is quick where little is to be done. What it leaves goes to both at once,
and the first that answers is believed. What holds is asked of the other one too, beside the first, for a
short time: who agrees certifies it, and who does not makes it undecided.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from axiloom import extras
from axiloom.errors import BuildError
from axiloom.prove.solver_process import of_integers

QUICK_S = 2
SOLVERS = {"z3": "z3-solver", "bitwuzla": "bitwuzla"}
"""Solver to the package that brings it."""


@dataclass(frozen=True)
class Said:
    """Of a formula: does it hold (None: nobody knows), who says so, how soon; if not, for which values."""

    holds: bool | None
    solver: str
    seconds: float
    values: dict[str, str]
    certified: str = ""
    """Of what holds: the engine that says so too."""


def check() -> None:
    """Raises BuildError with the command that installs what is missing."""
    for name, package in SOLVERS.items():
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            raise BuildError(f"{name} is not installed: {extras.install('prove')}") from None


def versions() -> str:
    return ", ".join(f"{name} {importlib.metadata.version(package)}" for name, package in SOLVERS.items())


def decide(formulas: Sequence[Any], limit_s: int) -> Iterator[Said]:
    """What is said of each z3 formula, in their order: does it hold for all values of its constants?

    First it is asked whether products matter at all (:func:`axiloom.isa.formal.sound.opaque`).
    """
    from axiloom.isa.formal.sound import opaque

    easy = opaque(formulas)
    texts = [_negation(one) for one in easy]
    said = _ask("z3", texts, QUICK_S)
    checked = _ask("bitwuzla", [*map(_for_bits, easy, texts)], QUICK_S)
    for formula, same, first, other in zip(formulas, map(_eq, formulas, easy), said, checked, strict=True):
        if first.holds or (same and first.holds is not None):
            yield _together(first, other)
            continue
        text = _negation(formula)
        if not same:
            (first,) = _ask("z3", [text], QUICK_S)
        found = first if first.holds is not None else _portfolio(text, limit_s)
        if found.holds:
            name = "z3" if found.solver == "bitwuzla" else "bitwuzla"
            (other,) = _ask(name, [text if name == "z3" else _for_bits(formula, text)], QUICK_S)
            found = _together(found, other)
        yield found


def _together(first: Said, other: Said) -> Said:
    """What one engine has proved, and the other was asked too."""
    if not first.holds or other.holds is None:
        return first
    if other.holds:
        return replace(first, certified=other.solver)
    return Said(None, f"{first.solver} and {other.solver} say the contrary", first.seconds, other.values)


def _for_bits(formula: Any, text: str) -> str:
    """The same question, as `text`, for an engine that has no whole numbers."""
    from axiloom.isa.formal.bits import in_bits

    if not of_integers(text):
        return text
    made = in_bits(formula)
    return NOTHING if made is None else _negation(made)


NOTHING = "(declare-fun x () Int)"
"""A question that bitwuzla does not answer."""


def _eq(one: Any, other: Any) -> bool:
    import z3

    return bool(z3.eq(one, other))


def _negation(formula: Any) -> str:
    """SMT-LIB that is satisfiable where `formula` does not hold."""
    import z3

    solver = z3.Solver()
    # Bitwuzla does not read `(or x)`: simplified, nothing is joined with nothing.
    solver.add(z3.simplify(z3.Not(formula)))
    # z3's own names of divisions whose divisor is known not to be 0.
    return re.sub(r"\b(bv[us](?:div|rem|mod))_i\b", r"\1", str(solver.to_smt2()))


def _start(solver: str, texts: Sequence[str], limit_s: int) -> subprocess.Popen[str]:
    program = [sys.executable, "-m", "axiloom.prove.solver_process", solver, str(limit_s)]
    running = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert running.stdin is not None
    try:
        running.stdin.write(json.dumps([*texts]))
        running.stdin.close()
    except BrokenPipeError:  # it has ended already: what it says is nothing
        pass
    return running


def _ask(solver: str, texts: Sequence[str], limit_s: int) -> Iterator[Said]:
    """As they come."""
    if not texts:
        return
    said = 0
    with _start(solver, texts, limit_s) as running:
        assert running.stdout is not None
        try:
            for line in running.stdout:
                said += 1
                yield _read(solver, line)
        except BaseException:
            running.kill()
            raise
    # A solver that dies has said nothing of the rest.
    yield from [Said(None, solver, 0.0, {})] * (len(texts) - said)


def _portfolio(text: str, limit_s: int) -> Said:
    begun = time.perf_counter()
    running = {name: _start(name, [text], limit_s) for name in SOLVERS}
    try:
        while running:
            for name, process in list(running.items()):
                if process.poll() is None:
                    continue
                assert process.stdout is not None
                line = process.stdout.readline()
                del running[name]
                if line and (said := _read(name, line)).holds is not None:
                    return said
            if time.perf_counter() - begun > limit_s + QUICK_S:
                break
            time.sleep(0.02)
    finally:
        for process in running.values():
            process.kill()
            process.wait()
    return Said(None, ", ".join(SOLVERS), time.perf_counter() - begun, {})


def _read(solver: str, line: str) -> Said:
    answer, seconds, values = json.loads(line)
    return Said({"unsat": True, "sat": False}.get(answer), solver, seconds, values)
