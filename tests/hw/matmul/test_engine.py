# amaranth: UnusedElaboratable=no
"""The MatMul engine against the functional model of the same specification, and NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hw import component_bench
from tests.hw.engine.engine_bench import Program, check, simulate, sustained
from tests.isa.strategies import ill_formed, specs, well_formed, word_program
from tests.isa.streams import matmul_program, opcode_words, wrapped_matmul
from tests.some import slow

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.hw.matmul.engine import MatMul
from axiloom.isa import AcceleratorSpec, Opcode
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.contract.types import SendDim, SendIdx, SendLiteral, SetDims, Skip, TileRule

Dims = tuple[str, str]
STALLS = {"stall_in": 0.3, "stall_out": 0.4}


def small_v4(data_type: str = "int32", width: int = 32) -> AcceleratorSpec:
    """v4 with tiles small enough for this simulator: granule 4, 16 multiply-adds."""
    spec = isa.builtin("v4_16", data_type=data_type)
    buffers = {"A": 48 // spec.data_type.per_word, "B": 48 // spec.data_type.per_word, "C": 48}
    spec = spec.replace(tile=TileRule((4, 4, 4), (4, 4, 4)), buffers=buffers, macs=16)
    return isa.revise(spec, stream_width=width)


def small(name: str, data_type: str = "int32", width: int = 32) -> AcceleratorSpec:
    """The built-in one, with the tiles of `small_v4` if it is called v4."""
    if name == "v4":
        return small_v4(data_type, width)
    return isa.revise(isa.builtin(name, data_type=data_type), stream_width=width)


def random_tile(spec: AcceleratorSpec, operand: str, tile: tuple[int, ...], seed: int) -> np.ndarray:
    info = np.iinfo(spec.data_type.numpy)
    return np.random.default_rng(seed).integers(
        info.min, info.max, spec.operand_shape(operand, tile), endpoint=True
    )


def words_of(spec: AcceleratorSpec, *opcodes: str, tile: tuple[int, ...] | None = None) -> list[int]:
    """The words of opcodes with random payloads."""
    tile = tile or spec.tile.size
    words: list[int] = []
    for seed, name in enumerate(opcodes):
        operands = {o: random_tile(spec, o, tile, seed) for o in spec.opcodes[name].sends}
        words += opcode_words(spec, name, tile, operands)
    return words


def whole_matmul(spec: AcceleratorSpec, flow: str, counts: tuple[int, int, int]) -> Program:
    tile = spec.tile.size
    total = tuple(size * count for size, count in zip(tile, counts, strict=True))
    operands = {o: random_tile(spec, o, total, seed) for seed, o in enumerate("AB")}
    order = isa.loop_orders(spec, flow)[0]
    return Program(
        [word for step in matmul_program(spec, flow, order, tile, operands) for word in step.words]
    )


# --- the built-in accelerators ---------------------------------------------------------------------------


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("data_type", "width"), [("int8", 32), slow("int16", 128), ("int32", 32), ("int8", 128), ("int32", 64)]
)
@pytest.mark.parametrize("name", ["v1_4", slow("v2_4"), "v3_4", "v4"])
def test_every_flow_with_stalls_twice_in_a_row(name: str, data_type: str, width: int) -> None:
    spec = small(name, data_type, width)
    programs = [whole_matmul(spec, flow, (2, 1, 2)) for flow in spec.flows]
    check(spec, *programs, *programs, **STALLS)


@pytest.mark.every(2)
@pytest.mark.parametrize("encoding", ["bitmask", "literals"])
def test_equals_numpy(encoding: str) -> None:
    """Independently of the functional model: C of one tile is A . B mod 2^32."""
    spec = isa.builtin("v3_4", encoding=encoding)
    operands = {o: random_tile(spec, o, spec.tile.size, seed) for seed, o in enumerate("AB")}
    program = matmul_program(spec, "Ns", isa.loop_orders(spec, "Ns")[0], spec.tile.size, operands)
    (result,) = simulate(spec, Program([word for step in program for word in step.words]))
    got = np.array(result.words, dtype=np.uint32).view(np.int32).reshape(4, 4)
    assert np.array_equal(got, wrapped_matmul(spec, operands))


ORDERS = [
    pytest.param(*one, marks=[pytest.mark.slow] if number.bit_count() % 2 else [])
    for number, one in enumerate(
        itertools.product(
            [("m", "k"), ("k", "m")],
            [("k", "n"), ("n", "k")],
            [("m", "n"), ("n", "m")],
            [("int8", 32), ("int32", 32), ("int8", 128), ("int32", 64)],
        )
    )
]
"""Half of them are quick, and have every combination of any three of the four."""


@pytest.mark.every(3)
@pytest.mark.parametrize(("a", "b", "c", "kind"), ORDERS)
def test_orders_of_operands(a: Dims, b: Dims, c: Dims, kind: tuple[str, int]) -> None:
    """Several blocks of the array in both directions, A and B packed along and across k, C both ways; lines
    as long as a beat and shorter, beats of more elements than the array takes."""
    spec = isa.builtin("v3_8", data_type=kind[0]).replace(data={"A": a, "B": b, "C": c}, macs=8)
    spec = isa.revise(spec, stream_width=kind[1])
    check(spec, Program(words_of(spec, "sA", "sB", "cC", "sA", "cC", "rC")), **STALLS)


@pytest.mark.every(3)
@pytest.mark.parametrize("width", [32, slow(128)])
@pytest.mark.parametrize("macs", [1, slow(2), 4, slow(8), slow(16), 32, slow(64)])
def test_any_number_of_multiply_adds(macs: int, width: int) -> None:
    """From less than one word of lanes to the whole tile at once."""
    spec = isa.builtin("v3_8", data_type="int8")
    spec = spec.replace(macs=macs, tile=TileRule((8, 8, 4)), stream_width=width)
    check(spec, Program(words_of(spec, "sA", "sB", "cC", "cC", "cC", "rC", "sB", "cC", "rC")))


@pytest.mark.parametrize("macs", [1, 2, 4])
def test_short_blocks_wait_for_their_rows(macs: int) -> None:
    """One k a block: a row of C must be written before the next compute reads it again."""
    spec = isa.builtin("v3_4").replace(macs=macs, tile=TileRule((2, 2, 1)))
    check(spec, Program(words_of(spec, "sA", "sB", *["cC"] * 9, "rC")))


@pytest.mark.every(3)
@pytest.mark.parametrize("k", [(8, 4), (8, 2), (8, 1), (3, 1), (1, 3)])
def test_short_blocks_behind_longer_ones(k: tuple[int, int]) -> None:
    """The last rows of a compute must have been added before the next one's first come."""
    buffers = {"A": 64, "B": 64, "C": 64}
    spec = isa.builtin("v4_16").replace(tile=TileRule((8, 8, 8), (4, 4, 1)), buffers=buffers, macs=16)
    words = words_of(spec, "sA", "sB", *["cC"] * 5, tile=(8, 8, k[0]))
    words += words_of(spec, "sA", "sB", "cC", "rC", tile=(8, 8, k[1]))
    check(spec, Program(words))


@pytest.mark.parametrize(("data_type", "width"), [("int32", 32), ("int8", 64), ("int8", 128)])
def test_flexible_tiles_change_from_opcode_to_opcode(data_type: str, width: int) -> None:
    spec = small_v4(data_type, width)
    words: list[int] = []
    for tile in [(4, 12, 4), (12, 4, 4), (4, 4, 12), (8, 4, 8)]:
        words += words_of(spec, "sA", "sB", "cC", "cC", "rC", tile=tile)
    words += words_of(spec, "rC", tile=(4, 8, 4))  # a cleared C under other dims: zeros
    check(spec, Program(words), **STALLS)


@pytest.mark.parametrize("width", [64, 128])
def test_long_heads(width: int) -> None:
    """Words to skip before, behind and between dims, in the same beat and in beats of their own."""
    spec = small_v4()
    dims = next(a for a in spec.opcodes["sA"].host if isinstance(a, SendDim))
    idle, index = SendLiteral(5), SendIdx("m")
    head = [dims, idle, index, dims, idle, idle, idle, dims, idle]
    sets = [SetDims() if isinstance(action, SendDim) else Skip() for action in head]
    opcodes = dict(spec.opcodes)
    for name in ("sA", "sB", "cC", "rC"):
        old = opcodes[name]
        tail = [action for action in old.device if not isinstance(action, SetDims)]
        opcodes[name] = Opcode(
            name,
            (
                old.host[0],
                idle,
                *head,
                *(a for a in old.payload if not isinstance(a, SendDim)),
                idle,
                index,
                dims,
            ),
            (Skip(), *sets, *tail, Skip(), Skip(), SetDims()),
        )
    spec = spec.replace(opcodes=opcodes, stream_width=width)
    words: list[int] = []
    for tile in [(4, 8, 4), (8, 4, 4)]:
        words += words_of(spec, "sA", "sB", "cC", "cC", "rC", tile=tile)
    results = check(spec, Program(words), **STALLS)
    assert results[0].error == DeviceError.OK
    assert len(results[0].words) == 64


def test_store_without_clear_keeps_c() -> None:
    spec = isa.builtin("v3_4")
    keep = isa.Opcode("keep", spec.opcodes["rC"].host, spec.opcodes["rC"].device[:1])
    spec = spec.replace(opcodes={**spec.opcodes, "rC": keep})
    check(spec, Program(words_of(spec, "sA", "sB", "cC", "rC", "cC", "rC", "rC", "cC", "cC", "rC")), **STALLS)


def test_loads_spare_what_queued_computes_need() -> None:
    """Both operands come anew, twice, while computes on the first still wait: 16 words against 128 cycles."""
    spec = isa.builtin("v3_8", data_type="int8").replace(macs=4)
    check(spec, Program(words_of(spec, "sA", "sB", "cC", "cC", "sA", "sB", "sA", "sB", "cC", "rC")))


@pytest.mark.slow
@pytest.mark.parametrize(("stream_width", "gaps"), [(32, range(11, 17)), (128, range(5))])
def test_the_end_of_a_tile_outlives_later_computes(stream_width: int, gaps: range) -> None:
    """Nothing is taken for so long that the half whose last rows wait to be sent is computed on again."""
    spec = isa.revise(isa.builtin("v3_4"), stream_width=stream_width)
    program = Program(words_of(spec, *("sA", "sB", "cC", "cC", "rC") * 5))
    for beats in gaps:
        check(spec, program, gap=(beats, 150))


def test_valid_does_not_wait_for_ready() -> None:
    spec = isa.builtin("v3_4")
    device = MatMul(spec)
    words = words_of(spec, "sA", "sB", "cC", "rC")

    async def bench(ctx: Any) -> None:
        ctx.set(device.s_axis.tvalid, 1)
        for word in words:
            ctx.set(device.s_axis.tdata, word)
            await ctx.tick().until(device.s_axis.tready)
        ctx.set(device.s_axis.tvalid, 0)
        await ctx.tick().repeat(60)
        assert ctx.get(device.m_axis.tvalid), "a word waits, although nobody has been ready for it"
        assert not ctx.get(device.debug_busy), "nothing happens before it is taken"
        ctx.set(device.m_axis.tready, 1)
        assert ctx.get(device.debug_busy)
        await ctx.tick().repeat(20)
        assert not ctx.get(device.m_axis.tvalid)
        assert not ctx.get(device.debug_busy)

    component_bench.simulate(device, bench)


# --- reset and errors ------------------------------------------------------------------------------------


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", [0, slow(1), slow(2)])
@pytest.mark.parametrize("width", [32, 64, 128])
@pytest.mark.parametrize("name", ["v1_4", "v2_4", "v3_4", "v4"])
def test_reset_in_the_middle(name: str, width: int, seed: int) -> None:
    """Wherever reset comes, what follows is as after power-on: no word, sum, half or dims are left."""
    spec = small(name, "int32" if width == 32 else "int8", width)
    flow = spec.selected_flow
    program = whole_matmul(spec, flow, (2, 1, 1))
    cut = np.random.default_rng(seed).integers(1, len(program.words))
    check(spec, Program(program.words, reset_after=int(cut)), program, seed=seed, **STALLS)


LARGE = {"v1_16", "v2_16", "v3_16", "v4_16"}
"""Seconds each in Amaranth's simulator."""
ACCELERATORS = [
    pytest.param(name, marks=[pytest.mark.slow] if name in LARGE else []) for name in isa.builtins()
]


@pytest.mark.every(11)
@pytest.mark.parametrize("width", [32, slow(64), slow(128)])
@pytest.mark.parametrize("name", ACCELERATORS)
def test_each_accelerator_with_stalls_twice_and_after_reset(name: str, width: int) -> None:
    kind = ["int8", "int16", "int32"][(isa.builtins().index(name) + width // 128) % 3]
    spec = isa.revise(isa.builtin(name, data_type="int32" if width == 32 else kind), stream_width=width)
    if spec.tile.granule:
        spec = spec.replace(tile=TileRule(spec.tile.granule, spec.tile.granule))
    program = whole_matmul(spec, spec.selected_flow, (1, 1, 2))
    cut = np.random.default_rng(len(name)).integers(1, len(program.words))
    check(spec, program, program, Program(program.words, reset_after=int(cut)), program, **STALLS)


ERRORS = {
    "unknown opcode": (lambda spec: [0x80], DeviceError.UNKNOWN_OPCODE),
    "zero dims": (lambda spec: [1, 4 | 0 << 10 | 4 << 20], DeviceError.BAD_DIMS),
    "no multiple of the granule": (lambda spec: [1, 4 | 6 << 10 | 4 << 20], DeviceError.BAD_DIMS),
    "one dim far too large": (lambda spec: [1, 4 | 1020 << 10 | 4 << 20], DeviceError.BAD_DIMS),
    "does not fit": (lambda spec: [1, 8 | 4 << 10 | 8 << 20], DeviceError.BAD_DIMS),
    "nothing loaded": (lambda spec: words_of(spec, "cC"), DeviceError.NOT_LOADED),
    "B not loaded": (lambda spec: words_of(spec, "sA", "cC"), DeviceError.NOT_LOADED),
    "A has other dims": (
        lambda spec: words_of(spec, "sA") + words_of(spec, "sB", "cC", tile=(8, 4, 4)),
        DeviceError.DIMS_MISMATCH,
    ),
    "C has other dims": (
        lambda spec: words_of(spec, "sA", "sB", "cC") + words_of(spec, "sA", "sB", "cC", tile=(8, 4, 4)),
        DeviceError.DIMS_MISMATCH,
    ),
    "store under other dims": (
        lambda spec: words_of(spec, "sA", "sB", "cC") + words_of(spec, "rC", tile=(8, 4, 4)),
        DeviceError.DIMS_MISMATCH,
    ),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("width", [32, 64, 128])
@pytest.mark.parametrize("case", ERRORS)
def test_errors_stop_the_device_until_reset(case: str, width: int) -> None:
    """What came before the error still goes out; nothing after it is taken; reset repairs it."""
    spec = small_v4(width=width).replace(buffers={"A": 48, "B": 48, "C": 48})
    make, code = ERRORS[case]
    good = words_of(spec, "sA", "sB", "cC", "rC")
    before = [] if "loaded" in case else good
    wrong = make(spec)
    wrong += [0] * (-len(wrong) % spec.link.beat_words)
    results = check(spec, Program([*before, *wrong, *good], reset=True), Program(good), **STALLS)
    assert [result.error for result in results] == [code, DeviceError.OK]
    taken = (len(before) + len(wrong)) // spec.link.beat_words
    assert results[0].accepted <= taken + 2, "the input registers hold two beats"
    assert len(results[0].words) == (16 if before else 0)


# --- any specification, any words ------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=16)
@given(data=st.data(), seed=st.integers(0, 99))
def test_any_specification_and_words(data: st.DataObject, seed: int) -> None:
    spec = data.draw(specs(largest=8))
    first, _ = data.draw(word_program(spec))
    second, _ = data.draw(well_formed(spec, longest=6))
    third, _ = data.draw(ill_formed(spec))
    cut = data.draw(st.integers(0, first.size))
    programs = (Program(first, reset=True), Program(first, reset_after=cut), Program(second), Program(third))
    check(spec, *programs, seed=seed, **STALLS)


# --- speed -----------------------------------------------------------------------------------------------


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("name", "width", "count", "floor"),
    [("v3_4", 32, 40, 30), ("v3_8", 32, 20, 120), ("v3_8", 128, 12, 120), ("v4_16", 32, 6, 120)],
)
def test_computes_in_a_row_keep_the_array_full(name: str, width: int, count: int, floor: int) -> None:
    """With A and B resident, one compute follows the other without a gap."""
    spec = isa.revise(isa.builtin(name), stream_width=width)
    tile = (16, 16, 16) if spec.tile.granule else None
    (result,) = check(spec, Program(words_of(spec, "sA", "sB", *["cC"] * count, "rC", tile=tile)))
    assert sustained(spec, result) >= floor


@pytest.mark.parametrize(("name", "width"), [("v3_4", 32), slow("v3_8", 64), slow("v3_8", 128)])
def test_loading_overlaps_computing_and_sending(name: str, width: int) -> None:
    """A step of Ns takes little more than its beats: those that go out, and the array, hide behind them."""
    spec = isa.revise(isa.builtin(name), stream_width=width)
    step = words_of(spec, "sA", "sB", "cC", "rC")
    (once,) = check(spec, Program(step))
    (often,) = check(spec, Program(step * 5))
    assert (often.cycles - once.cycles) / 4 <= len(step) // spec.link.beat_words + 4


# --- refusals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"stream_width": 256}, "stream width must be one of 32, 64, 128, not 256"),
        (
            {"stream_width": 64, "macs": 1, "tile": TileRule((3, 4, 3))},
            "tile of A must be whole beats of 2 words, not 9 words",
        ),
        ({"macs": 64}, "macs must divide the 16 elements of C in a tile, not 64"),
    ],
)
def test_what_it_cannot_be(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(SpecError, match=f"^matmul {why}$"):
        MatMul(isa.builtin("v3_4").replace(**changes))


def test_all_reasons_are_listed() -> None:
    spec = isa.builtin("v3_4").replace(kernel="linalg.fill", macs=12)
    with pytest.raises(SpecError) as caught:
        MatMul(spec)
    assert caught.value.faults == (
        'matmul kernel must be "linalg.matmul", not "linalg.fill"',
        "matmul macs must be a power of two, not 12",
    )


def test_parameters_are_read_only() -> None:
    device = MatMul(isa.builtin("v3_4"))
    assert repr(device) == "MatMul('v3_4')"
    with pytest.raises(AttributeError):
        device.spec = isa.builtin("v3_8")
