# amaranth: UnusedElaboratable=no
"""The engine that gives back what it gets (loopback, identity) against its functional model."""

from __future__ import annotations

import numpy as np
import pytest
from amaranth.sim import SimulatorContext
from tests.hw.component_bench import simulate
from tests.hw.engine.engine_bench import Program, check

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.hw.copy.engine import CopyEngine
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.contract.types import TileRule
from axiloom.isa.numerics import INT8

STALLS = {"stall_in": 0.3, "stall_out": 0.4}
WORDS = np.random.default_rng(7).integers(0, 1 << 32, (3, 8), dtype=np.uint32)


def small(name: str, stream_width: int = 32) -> AcceleratorSpec:
    """The built-in one with tiles of 8 words."""
    spec = isa.builtin(name)
    return isa.revise(
        spec, tile=TileRule((8,)), buffers=dict.fromkeys(spec.buffers, 8), stream_width=stream_width
    )


def instruction(spec: AcceleratorSpec, opcode: int, *words: int) -> list[int]:
    return [opcode, *[0] * (spec.link.beat_words - 1), *words]


@pytest.mark.parametrize("stream_width", [32, 64, 128])
def test_loopback(stream_width: int) -> None:
    spec = small("loopback", stream_width)
    first, second = check(
        spec, Program(WORDS[:2].reshape(-1), reset_after=12), Program(WORDS.reshape(-1)), **STALLS
    )
    assert first.words in (WORDS[0].tolist(), [])
    assert second.words == WORDS.reshape(-1).tolist()
    assert [at for at, last in enumerate(second.last) if last] == [7, 15, 23]


@pytest.mark.parametrize("stream_width", [32, 64, 128])
def test_identity(stream_width: int) -> None:
    """A tile comes back; a second compute adds; a store of nothing is zeros; an unknown opcode stops it."""
    spec = small("identity", stream_width)
    load, compute, store = (
        instruction(spec, 1, *WORDS[0]),
        instruction(spec, 4),
        instruction(spec, 8),
    )
    words = [*load, *compute, *store, *compute, *compute, *store, *store]
    (result,) = check(spec, Program(words, reset=True), **STALLS)
    assert result.words == [*WORDS[0], *((2 * WORDS[0].astype(np.int64)) % (1 << 32)), *[0] * 8]
    (unknown,) = check(spec, Program([*load, *instruction(spec, 2)]), **STALLS)
    assert unknown.error == DeviceError.UNKNOWN_OPCODE
    (early,) = check(spec, Program(compute))
    assert early.error == DeviceError.NOT_LOADED


@pytest.mark.parametrize("stream_width", [32, 64])
def test_a_fifo_keeps_packets_and_holds_them_back(stream_width: int) -> None:
    engine = CopyEngine(isa.revise(isa.builtin("fifo"), stream_width=stream_width))
    ends = [0, 0, 1, 1, 0, 1]
    came: list[tuple[int, int]] = []

    async def bench(ctx: SimulatorContext) -> None:
        for word, last in enumerate(ends):  # nobody takes anything yet
            ctx.set(engine.s_axis.tdata, word)
            ctx.set(engine.s_axis.tlast, last)
            ctx.set(engine.s_axis.tvalid, 1)
            assert ctx.get(engine.s_axis.tready)
            await ctx.tick()
        ctx.set(engine.s_axis.tvalid, 0)
        ctx.set(engine.m_axis.tready, 1)
        for _ in range(20):
            if ctx.get(engine.m_axis.tvalid):
                came.append((ctx.get(engine.m_axis.tdata), ctx.get(engine.m_axis.tlast)))
            await ctx.tick()
        assert not ctx.get(engine.debug_busy)

    simulate(engine, bench)
    assert came == list(enumerate(ends))


def test_a_tile_of_one_beat() -> None:
    spec = isa.revise(small("identity", 64), tile=TileRule((2,)))
    words = [*instruction(spec, 1, 5, 9), *instruction(spec, 4), *instruction(spec, 8)]
    (result,) = check(spec, Program(words), **STALLS)
    assert (result.words, result.last) == ([5, 9], [0, 1])
    with pytest.raises(SpecError, match="identity: accel_size: 1 words are no whole beats of 64 bits"):
        isa.revise(spec, tile=TileRule((1,)))


def test_what_it_cannot_be() -> None:
    with pytest.raises(SpecError, match=r'copy must execute "linalg\.copy", not "linalg\.matmul"'):
        CopyEngine(isa.builtin("v3"))
    with pytest.raises(SpecError, match=r"data_type: linalg\.copy moves words: int32, not int8"):
        isa.builtin("loopback", data_type="int8")
    with pytest.raises(SpecError, match=r"copy moves words, so its data type must be int32, not int8"):
        CopyEngine(isa.builtin("loopback").replace(data_type=INT8))
