"""Edits of texts after warm caches: what comes from a cache must be what a cold one gives.

``python -m tests.device.edits 300`` prints how many of so many edits (bodies, guards, constants, -D) changed
what the text means, and how many answers were stale.
"""

from __future__ import annotations

import ast
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from axiloom.device.known import derive, known
from axiloom.errors import AxiloomError
from axiloom.isa.instructions.read import parse
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.machine.derive import Meanings

TEXT = Path("examples/selection/rows32.isa").read_text(encoding="utf-8")
N = 4
SIZES = (1, 2, N)
_OPERATORS = (ast.Add, ast.Sub, ast.Mult)
_COMPARED = (ast.LtE, ast.Lt, ast.GtE, ast.Eq)


@dataclass
class Found:
    """Of edits that are texts: how many mean something else than the first text, and where a cache was
    stale."""

    edits: int = 0
    changed: int = 0
    stale: tuple[str, ...] = ()


def edited(dice: random.Random) -> tuple[str, dict[str, int]]:
    """The text with one change of a body, a guard or a constant; or another constant from outside."""
    given = {"N": N, "ROWS": 3 * N}
    if dice.random() < 0.1:
        given[dice.choice(["ROWS", "N"])] += dice.choice([-1, 1, 2])
        return TEXT, given
    module = ast.parse(TEXT)
    bodies = [one for one in module.body if isinstance(one, ast.FunctionDef)]
    nodes = [node for body in bodies for node in ast.walk(body)]
    kinds = (ast.BinOp, ast.Compare, ast.Name)
    chosen = [
        one for one in nodes
        if isinstance(one, kinds) or (isinstance(one, ast.Constant) and isinstance(one.value, int))
    ]  # fmt: skip
    node = dice.choice(chosen)
    match node:
        case ast.Constant(value=value):
            node.value = max(0, value + dice.choice([-1, 1]))  # type: ignore[operator]
        case ast.BinOp():
            node.op = dice.choice(_OPERATORS)()
        case ast.Compare():
            node.ops = [dice.choice(_COMPARED)()]
        case ast.Name():
            node.id = dice.choice([one.id for one in nodes if isinstance(one, ast.Name)])
    return ast.unparse(module), given


def texts(seed: int) -> Iterator[InstructionSet]:
    """Edits that are texts of the language."""
    dice = random.Random(seed)
    while True:
        text, given = edited(dice)
        try:
            yield parse(text, "rows.isa", "rows", given)
        except AxiloomError:
            continue


def said(meanings: Meanings) -> list[str]:
    return sorted(str(one) for one in meanings.found.values())


def cold(isa: InstructionSet) -> list[str]:
    meanings = Meanings(isa)
    meanings.at(SIZES)
    return said(meanings)


def warm(isa: InstructionSet) -> list[str]:
    meanings = known(isa)
    derive(meanings, SIZES)
    return said(meanings)


def measure(count: int, seed: int = 1) -> Found:
    """With one cache for all edits, each asked twice; it must hold the first text."""
    first = warm(parse(TEXT, "rows.isa", "rows", {"N": N, "ROWS": 3 * N}))
    found = Found()
    for isa, number in zip(texts(seed), range(count), strict=False):
        wanted = cold(isa)
        found.edits += 1
        found.changed += wanted != first
        for _ in range(2):
            if warm(isa) != wanted:
                found.stale += (f"edit {number} of seed {seed}",)
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AXILOOM_CACHE"] = folder
        done = measure(int(sys.argv[1]))
    print(f"{done.edits} edits, {done.changed} change what the text means: {len(done.stale)} stale answers")
    print("\n".join(done.stale))
    sys.exit(bool(done.stale))
