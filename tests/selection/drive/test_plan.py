"""Programs as plans: what moves as it lies, what the CPU packs, where queues end, and the drivers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.accelerators.qkv.attention import attention

from axiloom.base.errors import CompileError
from axiloom.isa import builtin
from axiloom.isa.instructions.library import target
from axiloom.plan import Plan, Queue, Receive, Send, Words, figures
from axiloom.plan.figures import commands
from axiloom.plan.tree import Move, rows
from axiloom.selection.drive.driver import driver
from axiloom.selection.drive.plan import Own, plan
from axiloom.selection.program.program import Command, HostArray, Program

QKV, VTA = target("qkv"), target("vta")


def _array(name: str, role: str, base: int, rows: int = 64) -> HostArray:
    return HostArray(name, role, (rows, 64), "bfloat16", base, "d0")  # type: ignore[arg-type]


def _load(base: int, n: int = 64) -> Command:
    return Command("load_rm", {"n": n, "out": 0, "base": base})


def _store(base: int, n: int = 64) -> Command:
    return Command("store_rm", {"n": n, "row": 0, "base": base})


def _moves(made: Plan) -> list[Move]:
    return [move for command, _ in commands(made) for move in command.moves]


def test_attention() -> None:
    made = plan(attention(), QKV)
    (queue,) = made.body
    assert isinstance(queue, Queue)
    kinds = [[type(move) for move in command.moves] for command, _ in commands(made)]
    load, compute, store = [Words, Send], [Words], [Receive, Words]
    assert kinds == [load, load, compute, compute, compute, load, compute, compute, store]
    totals = figures(made)
    assert (4 * totals.sent, 4 * totals.received) == (9 * 8 + 3 * 8192, 8192)
    moves = _moves(made)
    assert moves[1] == Send(2048, rows("q", 0, 8192), in_place=True)
    assert moves[4] == Words(2, values=(0x04000006, 0))
    assert not any(move.of for move in moves if isinstance(move, Send | Receive))


def test_what_was_stored_is_loaded_by_another_queue() -> None:
    program = Program(
        "qkv",
        "spill",
        (_load(0), _store(8192), _load(0), _load(8192), _store(16384)),
        (_array("a", "in", 0), _array("t", "local", 8192), _array("y", "out", 16384)),
    )
    made = plan(program, QKV)
    sends = [
        [
            (move.region.array, move.clean)
            for command, _ in commands(Plan((queue,)))
            for move in command.moves
            if isinstance(move, Send)
        ]
        for queue in made.body
    ]
    assert sends == [[("a", False), ("a", True)], [("t", True)]]
    twice = replace(program, commands=(_load(0), _store(16384), _store(16384)))
    assert len(plan(twice, QKV).body) == 2


def test_pieces_that_no_descriptor_says_are_packed() -> None:
    """A row of 128 bytes of arrays that are no whole beats: through a place of the driver's."""
    arrays = (
        HostArray("a", "in", (100,), "uint8", 0, "d0"),
        HostArray("b", "in", (28,), "uint8", 100, "d0"),
        HostArray("y", "out", (128,), "uint8", 1000, "d0"),
        HostArray("z", "out", (128,), "uint8", 1128, "d0"),
    )
    made = plan(Program("qkv", "ragged", (_load(0, 1), _store(1000, 2)), arrays), QKV)
    _, send, receive, _ = _moves(made)
    packed = (rows("a", 0, 100), rows("b", 0, 28))
    assert send == Send(32, rows(Own.PACKED, 0, 128), in_place=True, of=packed)
    taken = (rows("y", 0, 128), rows("z", 0, 128))
    assert receive == Receive(64, rows(Own.UNPACKED, 0, 256), add=False, in_place=True, of=taken)


def test_rows_at_equal_distances_are_one_descriptor() -> None:
    load = Command("load_inp", {"base": 0, "rows": 4, "count": 2, "stride": 8})
    arrays = (HostArray("x", "in", (4, 128), "int8", 0, "dram"),)
    made = plan(Program("vta", "rows", (load,), arrays), VTA)
    assert _moves(made)[1] == Send(32, rows("x", 0, 32, 4, 128), in_place=True)
    odd = Command("load_uop", {"base": 1, "rows": 1, "count": 3})
    made = plan(Program("vta", "odd", (odd,), arrays), VTA)
    assert _moves(made)[1] == Send(4, rows(Own.PACKED, 0, 16), in_place=True, of=(rows("x", 4, 12),))


def test_what_is_packed_only_is_a_driver() -> None:
    """Long ones are several functions; constants are words, and what is no whole beats is packed."""
    arrays = (
        HostArray("statics", "constant", (127,), "uint8", 0, "d0"),
        HostArray("x", "in", (65536 - 127,), "uint8", 127, "d0"),
    )
    commands = tuple(_load(128 * (number % 4), 1) for number in range(500))
    program = Program("qkv", "packed_only", commands, arrays, {"statics": np.arange(127, dtype=np.uint8)})
    made = driver(program, plan(program, QKV), builtin("v4_16").link)
    assert made.c.count("static dma_status packed_only_") == 2
    assert made.header.count("dma_status") == 2
    words = "[32] __attribute__((aligned(64))) = {\n    50462976, 117835012,"
    assert f"static const int32_t k0_statics{words}" in made.c
    assert "axl_copy_rows((uint8_t *)packed + 127, 1, in1_x, 0, 1, 1);" in made.c
    assert [(arg.name, arg.shape, arg.kind) for arg in made.args] == [("x", (65409,), "in")]
    for name in ("packed", "k0_statics"):
        with pytest.raises(CompileError, match=f"{name}: an array of its driver has that name"):
            driver(replace(program, name=name), plan(program, QKV), builtin("v4_16").link)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((_array("a", "in", 0, 63),), "command 0, load_rm: byte 8064 of the host's memory is of no array"),
        ((_array("a", "in", 0), _array("b", "in", 8190)), "b and a lie in the same bytes of d0"),
        ((_array("a", "in", 60000),), "a ends at byte 68192; d0 has 65536"),
        ((replace(_array("a", "in", 0), memory="ram"),), "a lies in ram; the host's memory is d0"),
    ],
)
def test_arrays_that_do_not_fit_are_named(arrays: tuple[HostArray, ...], message: str) -> None:
    with pytest.raises(CompileError, match=message):
        plan(Program("qkv", "wrong", (_load(0),), arrays), QKV)


def test_what_is_given_is_not_stored_to() -> None:
    with pytest.raises(CompileError, match="command 1, store_rm: it stores to a, which is in"):
        plan(Program("qkv", "wrong", (_load(0), _store(0)), (_array("a", "in", 0),)), QKV)
