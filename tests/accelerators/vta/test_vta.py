"""VTA's text against a model in plain NumPy by another hand, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from tests.accelerators.vta.vta_plain import GEMM, alu_struct, memory_struct, pack
from tests.accelerators.vta.vta_streams import DRAM, Compared, Pair

from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import parse, read
from axiloom.isa.instructions.simulator.simulate import Simulator
from axiloom.isa.instructions.simulator.state import IllegalCommandError

FILE = targets()["vta"]
EDITIONS = [(2, 2), (3, 3)]


def device(m: int = 2, a: int = 2, dram: int = DRAM) -> Simulator:
    return Simulator(read(FILE, constants={"M": m, "A": a, "DRAM": dram}))


def compared(edition: tuple[int, int], streams: int, seed: int, text: str = "") -> Compared:
    m, a = edition
    constants = {"M": m, "A": a, "DRAM": DRAM}
    isa = parse(text, "vta.isa", "vta", constants) if text else read(FILE, constants=constants)
    found = Compared()
    while found.streams < streams and not found.differences:
        pair = Pair(Simulator(isa), m, a, seed + found.streams)
        for _ in range(min(25, streams - found.streams)):
            pair.run(found)
    return found


@pytest.mark.every(2)
@pytest.mark.parametrize("edition", EDITIONS)
def test_streams(edition: tuple[int, int]) -> None:
    found = compared(edition, 150, seed=1)
    assert not found.differences
    assert len(found.instructions) == 8 + (edition[0] == 3)
    assert all(
        found.met[what] > 20 for what in ("shifts to the left", "indices that wrap", "padded elements")
    )


@pytest.mark.slow
@pytest.mark.parametrize("edition", EDITIONS)
def test_many_streams(edition: tuple[int, int]) -> None:
    assert not compared(edition, 300, seed=1000).differences


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("shifted(a, int5(b))", "a >> uint5(b)"),
        ("out[dst, o] = int8(value)", "out[dst, o] = clamp(value, -128, 127)"),
        ("acc[dst, o] = 0 if reset == 1 else total", "acc[dst, o] = total"),
        ("i * src_outer", "i * dst_outer"),
        ("left <= x < left + count", "left <= x < left + count + right"),
        ("(y - above) * stride", "(y - above) * count"),
    ],
)
def test_a_wrong_text_differs(right: str, wrong: str) -> None:
    text = FILE.read_text()
    assert right in text
    assert compared((2, 2), 100, seed=7, text=text.replace(right, wrong)).differences


ILLEGAL = [
    (2, {"opcode": 0, "kind": 0, "rows": 2, "count": 1}, "not rows == 1 and pads == 0"),
    (2, {"opcode": 0, "kind": 0, "rows": 1, "count": 2, "sram": 8191}, "not sram + count <= UOPS"),
    (2, {"opcode": 0, "kind": 2, "rows": 2, "count": 2, "sram": 2044, "left": 1}, "<= INPS"),
    (2, {"opcode": 0, "kind": 1, "rows": 1, "count": 1, "dram": DRAM // 256}, "<= DRAM"),
    (2, {"opcode": 1, "rows": 1, "count": 1, "above": 1}, "not pads == 0"),
    (3, {"opcode": 1, "kind": 3}, "kind == OUT"),
    (3, {"opcode": 0, "kind": 4}, "no instruction comes"),
    (2, {"opcode": 6}, "no instruction comes"),
]


@pytest.mark.parametrize(("m", "fields", "why"), ILLEGAL)
def test_what_is_illegal_stops_it(m: int, fields: dict[str, int], why: str) -> None:
    simulator = device(m, m)
    before = simulator.state.copied()
    with pytest.raises(IllegalCommandError, match=why.replace("+", r"\+")):
        simulator.command(word=pack(memory_struct(m), fields))
    assert all(np.array_equal(before[name], simulator.state[name]) for name in before)
    with pytest.raises(IllegalCommandError, match="stopped before"):
        simulator.command(word=3)


def test_micro_ops_beyond_the_buffer_and_unknown_operations() -> None:
    with pytest.raises(IllegalCommandError, match="last <= UOPS"):
        device().command(word=pack(GEMM, {"opcode": 2, "end": 8193}))
    with pytest.raises(IllegalCommandError, match="op <= MUL"):
        device(3, 3).command(word=pack(alu_struct(3), {"opcode": 4, "operation": 5}))


def test_a_matrix_product_with_a_bias_and_relu() -> None:
    """C = max(A . B^T + bias, 0) >> 4 as bytes at 32 x 32 x 32, as a host would say it."""
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-20, 20, (32, 32)) for _ in range(2))
    bias = rng.integers(-1000, 1000, 32)
    simulator = device()
    dram = simulator.state["dram"]

    def put(at: int, values: np.ndarray) -> None:
        raw = values.reshape(-1).view(np.uint8)
        dram[at : at + len(raw)] = raw

    put(0, a.reshape(32, 2, 16).astype(np.int8))
    put(1024, b.reshape(2, 16, 2, 16).transpose(0, 2, 1, 3).astype(np.int8))
    put(2048, np.tile(bias, (32, 1)).astype("<i4"))
    put(8192, np.array([0 | 0 << 11 | k << 22 | k << 11 for k in range(2)], "<u4"))
    memory, alu = memory_struct(2), alu_struct(2)
    loops = {"begin": 0, "end": 2, "outer": 32, "inner": 2, "dst_outer": 2, "dst_inner": 1, "src_outer": 2}
    each = {"begin": 0, "end": 1, "outer": 64, "inner": 1, "dst_outer": 1, "immediate": 1}
    for word in (
        pack(memory, {"opcode": 0, "kind": 0, "dram": 2048, "rows": 1, "count": 2}),
        pack(memory, {"opcode": 0, "kind": 2, "dram": 0, "rows": 1, "count": 64}),
        pack(memory, {"opcode": 0, "kind": 1, "dram": 4, "rows": 1, "count": 4}),
        pack(memory, {"opcode": 0, "kind": 3, "dram": 32, "rows": 1, "count": 64}),
        pack(GEMM, {"opcode": 2, **loops, "wgt_inner": 2}),
        pack(alu, {"opcode": 4, "operation": 1, **each, "constant": 0}),
        pack(alu, {"opcode": 4, "operation": 3, **each, "constant": 4}),
        pack(memory, {"opcode": 1, "dram": 600, "rows": 1, "count": 64}),
        3,
    ):
        simulator.command(word=word)
    found = dram[9600 : 9600 + 1024].view(np.int8).reshape(32, 32)
    assert np.array_equal(found, (np.maximum(a @ b.T + bias, 0) >> 4).astype(np.int8))
    assert simulator.state["done"] == 1


def test_the_two_editions_differ_in_the_encoding_alone() -> None:
    old, new = device(2, 2), device(3, 3)
    for m, simulator in ((2, old), (3, new)):
        simulator.state["dram"][:64] = np.arange(64)
        fields = {"opcode": 0, "kind": 3, "rows": 1, "count": 1, "sram": 5}
        simulator.command(word=pack(memory_struct(m), fields))
    assert np.array_equal(old.state["acc"], new.state["acc"])
    assert old.state["acc"][5, 1] == 0x07060504
