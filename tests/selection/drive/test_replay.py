"""Plans on the simulator of their text: programs at random places, and faults of plans that show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from axiloom.device.values import random_values
from axiloom.isa.instructions.library import target
from axiloom.plan import Plan, Queue, Receive, Send
from axiloom.plan.figures import commands, figures
from axiloom.plan.tree import Move
from axiloom.selection.drive.execute import execute
from axiloom.selection.drive.plan import plan
from axiloom.selection.drive.replay import Replay
from axiloom.selection.program.program import Command, HostArray, Program
from axiloom.selection.validate import ProgramFaultError
from axiloom.selection.validate.transfers import check

QKV = target("qkv")
BYTES, ROW = 8192, 128
NAMES = ("load_rm", "store_rm")


def _program(seed: int) -> Program:
    """Arrays with odd ends, and commands wherever they may be."""
    dice = np.random.default_rng(seed)
    ends = [*np.sort(dice.choice(np.arange(1, BYTES), 7, replace=False)).tolist(), BYTES]
    arrays, constants, begin = [], {}, 0
    for number, end in enumerate(ends):
        role = ("in", "out", "local", "constant")[dice.integers(4)] if number else "out"
        arrays.append(HostArray(f"x{number}", role, (end - begin,), "uint8", begin, "d0"))  # type: ignore[arg-type]
        if role == "constant":
            constants[f"x{number}"] = dice.integers(0, 256, end - begin).astype(np.uint8)
        begin = end
    free = np.concatenate([np.full(array.shape, array.role in ("out", "local")) for array in arrays])
    program: list[Command] = []
    while len(program) < 24:
        count = int(dice.integers(1, 9))
        base = int(dice.integers(0, BYTES - ROW * count))
        if dice.random() < 0.5:
            program.append(Command("load_rm", {"n": count, "out": 0, "base": base}))
        elif free[base : base + ROW * count].all():
            program.append(Command("store_rm", {"n": count, "row": 0, "base": base}))
    return Program("qkv", "sampled", tuple(program), tuple(arrays), constants)


def _is_right(program: Program, made: Plan) -> bool:
    values = random_values(program, 1)
    replay = Replay(program, made, QKV, values)
    sent = sum(len(beats) for _, beats, _ in replay.packets())
    assert sent == 4 * figures(made).sent
    expected, results = execute(program, QKV, values), replay.results()
    right = all(np.array_equal(results[name], array) for name, array in expected.items())
    assert right is _is_checked(program, made)
    return right


def _is_checked(program: Program, made: Plan) -> bool:
    try:
        check(made, program, QKV)
    except ProgramFaultError:
        return False
    return True


@pytest.mark.parametrize("seed", range(12))
def test_programs_at_random_places(seed: int) -> None:
    program = _program(seed)
    assert _is_right(program, plan(program, QKV))


def test_faults_of_plans_show() -> None:
    """A queue that does not end where it must, what is packed in another order, a tile a row further."""
    arrays = [("a", "in", 0), ("b", "in", 999), ("t", "local", 2048), ("y", "out", 4096), ("z", "out", 4199)]
    ends = [999, 2048, 4096, 4199, 5120]
    load, store = (lambda base, name=name: Command(name, {"n": 8, "base": base}) for name in NAMES)
    program = Program(
        "qkv",
        "spill",
        (load(0), store(2048), load(1024), load(2048), store(4096)),
        tuple(
            HostArray(name, role, (end - begin,), "uint8", begin, "d0")  # type: ignore[arg-type]
            for (name, role, begin), end in zip(arrays, ends, strict=True)
        ),
    )
    made = plan(program, QKV)
    assert _is_right(program, made)

    def turned(move: Move) -> Move:
        return replace(move, of=move.of[::-1]) if isinstance(move, Send | Receive) else move

    def moved(move: Move) -> Move:
        if not isinstance(move, Send) or move.of:
            return move
        lines, span = move.region.spans
        region = replace(move.region, spans=(lines, replace(span, base=span.base + ROW)))
        return replace(move, region=region)

    assert not _is_right(program, Plan((Queue(tuple(command for command, _ in commands(made))),)))
    assert not _is_right(program, made.each(turned))
    assert not _is_right(program, made.each(moved))
    first, *others = made.body
    assert isinstance(first, Queue)
    assert not _is_checked(program, Plan((Queue(first.body[::-1]), *others)))
    assert not _is_checked(program, Plan(made.body[:-1]))
