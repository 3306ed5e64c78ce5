# amaranth: UnusedElaboratable=no
"""The MatMul engine on streams of 64 and 128 bits, against the functional model."""

from __future__ import annotations

import numpy as np
import pytest
from tests.hw.engine.engine_bench import Program, check, sustained
from tests.hw.matmul.test_engine import ERRORS, STALLS, Dims, small_v4, whole_matmul, words_of
from tests.some import slow

from axiloom import isa
from axiloom.hw.matmul.engine import MatMul
from axiloom.hw.matmul.geometry import Geometry
from axiloom.isa import AcceleratorSpec, Opcode
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.contract.types import SendDim, SendIdx, SendLiteral, SetDims, Skip, TileRule

WIDTHS = pytest.mark.parametrize("width", [64, 128])


def wide(spec: AcceleratorSpec, width: int) -> AcceleratorSpec:
    return isa.revise(spec, stream_width=width)


def type_for(name: str, width: int) -> str:
    """The types in turn, so that the default tests have all of them; wide elements on wide streams."""
    return ["int8", "int16", "int32"][(isa.builtins().index(name) + width // 128) % 3]


@pytest.mark.slow
@WIDTHS
@pytest.mark.parametrize("name", ["v1_8", "v2_4", "v3_16", "v4_16"])
def test_each_accelerator_with_stalls_twice_and_after_reset(name: str, width: int) -> None:
    spec = isa.builtin(name, data_type=type_for(name, width))
    if spec.tile.granule:
        spec = spec.replace(tile=TileRule(spec.tile.granule, spec.tile.granule))
    spec = wide(spec, width)
    program = whole_matmul(spec, spec.selected_flow, (1, 1, 1))
    cut = np.random.default_rng(len(name)).integers(1, len(program.words))
    check(spec, program, program, Program(program.words, reset_after=int(cut)), program, **STALLS)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("name", "data_type", "width"),
    [("v2_4", "int8", 64), ("v3_4", "int16", 128), ("v4", "int8", 128), ("v4", "int32", 64)],
)
def test_every_flow_with_stalls_twice_in_a_row(name: str, data_type: str, width: int) -> None:
    spec = small_v4(data_type) if name == "v4" else isa.builtin(name, data_type=data_type)
    spec = wide(spec, width)
    programs = [whole_matmul(spec, flow, (2, 1, 2)) for flow in spec.flows]
    check(spec, *programs, *programs, **STALLS)


@pytest.mark.every(3)
@pytest.mark.parametrize(("data_type", "width"), [("int8", 128), ("int32", 64)])
@pytest.mark.parametrize("a", [("m", "k"), slow(("k", "m"))])
@pytest.mark.parametrize("b", [("k", "n"), ("n", "k")])
@pytest.mark.parametrize("c", [("m", "n"), ("n", "m")])
def test_orders_of_operands(a: Dims, b: Dims, c: Dims, data_type: str, width: int) -> None:
    """Lines as long as a beat and shorter, beats of more elements than the array takes, C both ways."""
    spec = isa.builtin("v3_8", data_type=data_type).replace(data={"A": a, "B": b, "C": c}, macs=8)
    check(
        wide(spec, width), Program(words_of(wide(spec, width), "sA", "sB", "cC", "sA", "cC", "rC")), **STALLS
    )


@pytest.mark.every(3)
@pytest.mark.parametrize("macs", [1, 4, 64])
def test_any_number_of_multiply_adds(macs: int) -> None:
    spec = isa.builtin("v3_8", data_type="int8").replace(
        macs=macs, tile=TileRule((8, 8, 4)), stream_width=128
    )
    check(spec, Program(words_of(spec, "sA", "sB", "cC", "cC", "cC", "rC", "sB", "cC", "rC")))


@WIDTHS
def test_flexible_tiles_change_from_opcode_to_opcode(width: int) -> None:
    spec = wide(small_v4("int8"), width)
    words: list[int] = []
    for tile in [(4, 12, 4), (12, 4, 4), (4, 4, 12), (8, 4, 8)]:
        words += words_of(spec, "sA", "sB", "cC", "cC", "rC", tile=tile)
    words += words_of(spec, "rC", tile=(4, 8, 4))  # a cleared C under other dims: zeros
    check(spec, Program(words), **STALLS)


@WIDTHS
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


@pytest.mark.every(3)
@WIDTHS
@pytest.mark.parametrize(("name", "seed"), [("v1_4", 0), ("v3_4", 1), ("v4", 2)])
def test_reset_in_the_middle(name: str, seed: int, width: int) -> None:
    spec = small_v4("int16") if name == "v4" else isa.builtin(name, data_type="int8")
    spec = wide(spec, width)
    program = whole_matmul(spec, spec.selected_flow, (2, 1, 1))
    cut = np.random.default_rng(seed).integers(1, len(program.words))
    check(spec, Program(program.words, reset_after=int(cut)), program, seed=seed, **STALLS)


@pytest.mark.every(3)
@pytest.mark.parametrize("case", ERRORS)
def test_errors_stop_the_device_until_reset(case: str) -> None:
    width = 64 if len(case) % 2 else 128
    spec = wide(small_v4().replace(buffers={"A": 48, "B": 48, "C": 48}), width)
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


# --- what is loaded and sent at once ------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in isa.builtins() if not name.endswith("_4")])
@pytest.mark.parametrize(
    ("width", "data_type"), [(64, "int8"), (64, "int32"), (128, "int16"), (128, "int32")]
)
def test_whole_beats_go_into_the_banks(name: str, width: int, data_type: str) -> None:
    geometry = Geometry.of(wide(isa.builtin(name, data_type=data_type), width))
    assert geometry.a.width == geometry.b.width == geometry.c_words * 32 == width


def test_lines_shorter_than_a_beat_are_loaded_in_parts() -> None:
    geometry = Geometry.of(wide(isa.builtin("v3_8", data_type="int8"), 128))
    assert (geometry.a.width, geometry.b.width, geometry.c_words) == (64, 64, 4)


@pytest.mark.slow
@WIDTHS
def test_a_beat_a_cycle(width: int) -> None:
    """A step of Ns takes little more than its beats; C goes out behind them."""
    spec = wide(isa.builtin("v3_8"), width)
    step = words_of(spec, "sA", "sB", "cC", "rC")
    (once,) = check(spec, Program(step))
    (often,) = check(spec, Program(step * 5))
    assert (often.cycles - once.cycles) / 4 <= len(step) // spec.link.beat_words + 4
    (stores,) = check(spec, Program(words_of(spec, *["rC"] * 5)))
    assert stores.cycles <= 5 * (64 // spec.link.beat_words + 4) + 20


@pytest.mark.every(2)
@WIDTHS
def test_computes_in_a_row_keep_the_array_full(width: int) -> None:
    spec = wide(isa.builtin("v3_8"), width)
    (result,) = check(spec, Program(words_of(spec, "sA", "sB", *["cC"] * 12, "rC")))
    assert sustained(spec, result) >= 120


def test_ports_are_as_wide_as_the_stream() -> None:
    device = MatMul(wide(isa.builtin("v4_16"), 128))
    assert len(device.s_axis.tdata) == len(device.m_axis.tdata) == 128
