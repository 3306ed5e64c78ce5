"""The core's ports and the run it makes; what it computes is in tests/nest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.hw.component_bench import simulate
from tests.nest import circuits, model

from axiloom.hw.nest.circuit import Circuit, Operate, Pipe, Position
from axiloom.hw.nest.core import Core, stream_bits


def without_operators(circuit: Circuit) -> Circuit:
    """Amaranth's simulator knows no instances."""

    def plain(pipe: Pipe) -> Pipe:
        constant = Position(circuits.i, 32)
        return replace(pipe, nodes=tuple(constant if isinstance(x, Operate) else x for x in pipe.nodes))

    return replace(circuit, pipes=tuple(map(plain, circuit.pipes)))


def test_ports() -> None:
    core = Core(circuits.streams(bits=40), model.plain, checks=True)
    assert {*core.signature.members} == {
        *("start", "busy", "done", "cycles", "s_axis_x", "m_axis_y"),
        *("debug_error", "debug_peak_x", "debug_peak_y"),
    }
    assert core.s_axis_x.signature.data_width == 64
    members = Core(circuits.one_pipe(), model.plain).signature.members
    assert [name for name in members if name.startswith(("a_", "y_"))] == [
        *("a_0_r0_addr", "a_0_r0_en", "a_0_r0_data", "y_0_r0_addr", "y_0_r0_en", "y_0_r0_data"),
        *("y_0_w_addr", "y_0_w_en", "y_0_w_data"),
    ]


@pytest.mark.parametrize(("bits", "width"), [(1, 8), (8, 8), (9, 16), (32, 32), (96, 128)])
def test_streams_have_widths_of_axi(bits: int, width: int) -> None:
    assert stream_bits(bits) == width


def test_a_run_has_its_cycles_and_no_start_disturbs_it() -> None:
    circuit = without_operators(circuits.tokens())
    memories = {"a": [[0] * 48], "b": [[0] * 48]}
    expected = model.simulate(circuit, memories).cycles
    core = Core(circuit, model.plain, checks=True)

    async def bench(ctx: Any) -> None:
        assert not ctx.get(core.busy)
        assert not ctx.get(core.done)
        cycles = []
        for _ in range(2):
            ctx.set(core.start, 1)
            await ctx.tick()
            count = 0
            while not ctx.get(core.done):
                assert ctx.get(core.busy)
                ctx.set(core.start, count in (3, 10))  # means nothing while it is busy
                await ctx.tick()
                count += 1
            ctx.set(core.start, 0)
            await ctx.tick()
            assert ctx.get(core.done)
            assert not ctx.get(core.busy)
            cycles.append((count, ctx.get(core.cycles)))
        assert cycles == [(expected, expected)] * 2
        assert ctx.get(core.debug_error) == 0

    simulate(core, bench)
