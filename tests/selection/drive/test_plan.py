"""Programs as transfers: what moves as it lies, what the CPU packs, where fences lie."""

from __future__ import annotations

from dataclasses import replace

import pytest

from axiloom.accelerators.qkv.attention import attention
from axiloom.base.errors import CompileError
from axiloom.isa.instructions.library import target
from axiloom.selection.drive.plan import Fence, Gather, Piece, Plan, Scatter, Send, Words, plan
from axiloom.selection.program.program import Command, HostArray, Program

QKV, VTA = target("qkv"), target("vta")


def _array(name: str, role: str, base: int, rows: int = 64) -> HostArray:
    return HostArray(name, role, (rows, 64), "bfloat16", base, "d0")  # type: ignore[arg-type]


def _load(base: int, n: int = 64) -> Command:
    return Command("load_rm", {"n": n, "out": 0, "base": base})


def _store(base: int, n: int = 64) -> Command:
    return Command("store_rm", {"n": n, "row": 0, "base": base})


def _kinds(made: Plan) -> list[str]:
    return [type(step).__name__ for step in made.steps]


def test_attention() -> None:
    made = plan(attention(), QKV)
    assert _kinds(made) == [
        *("Words", "Send", "Words", "Send", "Words", "Words", "Words", "Words", "Send", "Words", "Words"),
        *("Receive", "Words", "Fence"),
    ]
    assert (made.bytes_in, made.bytes_out) == (9 * 8 + 3 * 8192, 8192)
    assert made.steps[1] == Send(Piece("q", 0, 8192), clean=False)
    assert made.steps[4] == Words((0x04000006, 0), "gemm a 0, b 64, out 0")
    assert (made.packed, made.unpacked) == (0, 0)


def test_what_was_stored_is_loaded_behind_a_fence() -> None:
    program = Program(
        "qkv",
        "spill",
        (_load(0), _store(8192), _load(0), _load(8192), _store(16384)),
        (_array("a", "in", 0), _array("t", "local", 8192), _array("y", "out", 16384)),
    )
    made = plan(program, QKV)
    fence = made.steps.index(Fence())
    sends = [(at, step) for at, step in enumerate(made.steps) if isinstance(step, Send)]
    assert [(at > fence, step.piece.array, step.clean) for at, step in sends] == [
        (False, "a", False),
        (False, "a", True),
        (True, "t", True),
    ]
    twice = replace(program, commands=(_load(0), _store(16384), _store(16384)))
    assert plan(twice, QKV).steps.count(Fence()) == 2


def test_pieces_that_no_descriptor_says_are_packed() -> None:
    """A row of 128 bytes of arrays that are no whole beats: through a place of the driver's."""
    arrays = (
        HostArray("a", "in", (100,), "uint8", 0, "d0"),
        HostArray("b", "in", (28,), "uint8", 100, "d0"),
        HostArray("y", "out", (128,), "uint8", 1000, "d0"),
        HostArray("z", "out", (128,), "uint8", 1128, "d0"),
    )
    made = plan(Program("qkv", "ragged", (_load(0, 1), _store(1000, 2)), arrays), QKV)
    assert made.steps[1] == Gather((Piece("a", 0, 100), Piece("b", 0, 28)), 0, 128)
    assert made.steps[2] == Scatter((Piece("y", 0, 128), Piece("z", 0, 128)), 0, 256)
    assert (made.packed, made.unpacked) == (128, 256)


def test_rows_at_equal_distances_are_one_descriptor() -> None:
    load = Command("load_inp", {"base": 0, "rows": 4, "count": 2, "stride": 8})
    arrays = (HostArray("x", "in", (4, 128), "int8", 0, "dram"),)
    made = plan(Program("vta", "rows", (load,), arrays), VTA)
    assert made.steps[1] == Send(Piece("x", 0, 32, 4, 128), clean=False)
    odd = Command("load_uop", {"base": 1, "rows": 1, "count": 3})
    made = plan(Program("vta", "odd", (odd,), arrays), VTA)
    assert made.steps[1] == Gather((Piece("x", 4, 12),), 0, 16)


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
