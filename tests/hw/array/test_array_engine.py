"""The parts around an array work at the same time, and say together when there is nothing left to do."""

from __future__ import annotations

import numpy as np
import pytest
from tests.hw.engine.engine_bench import Program, Result, check
from tests.isa.conv_streams import Convolution, conv_program
from tests.isa.streams import matmul_program

from axiloom import isa
from axiloom.hw.array.array_engine import ArrayEngine
from axiloom.hw.soc.accelerator import build
from axiloom.isa import AcceleratorSpec


def matmul(total: tuple[int, int, int]) -> tuple[AcceleratorSpec, list[int]]:
    spec = isa.builtin("v3_8")
    rng = np.random.default_rng(1)
    operands = {name: rng.integers(-9, 9, spec.operand_shape(name, total)) for name in "AB"}
    order = isa.loop_orders(spec, "Ns")[0]
    steps = matmul_program(spec, "Ns", order, spec.tile.size, operands)
    return spec, [word for step in steps for word in step.words]


def conv() -> tuple[AcceleratorSpec, list[int]]:
    spec = isa.builtin("conv_v4").replace(buffers={"I": 128, "F": 128, "O": 128}, macs=16)
    problem = Convolution(2, 7, 7, 4, 3, 3)
    rng = np.random.default_rng(2)
    operands = {"I": rng.integers(-9, 9, (2, 7, 7)), "F": rng.integers(-9, 9, (4, 2, 3, 3))}
    flow = spec.selected_flow
    order = isa.loop_orders(spec, flow)[0]
    tile = {"oc": 2, "oh": 3, "ow": 5, "ic": 2}
    return spec, [
        word for step in conv_program(spec, flow, order, tile, problem, operands) for word in step.words
    ]


@pytest.mark.every(6)
@pytest.mark.parametrize("make", [lambda: matmul((16, 16, 16)), conv])
@pytest.mark.parametrize("stall", [0.0, 0.5])
def test_results_are_the_model_s_at_any_pace(make: object, stall: float) -> None:
    """The bench also checks that nothing begins while all of it says that it is idle (`debug_busy`)."""
    assert callable(make)
    spec, words = make()
    assert isinstance(build(spec), ArrayEngine)
    (result,) = check(spec, Program(words), stall_in=stall, stall_out=stall, seed=3)
    assert result.error == 0
    assert len(result.computing) > 0


@pytest.mark.slow
def test_computing_goes_on_while_tiles_come_and_go() -> None:
    """More tiles cost less each than one tile alone, which waits for each of its parts in turn."""

    def run(tiles: int) -> Result:
        spec, words = matmul((8, 8, 8 * tiles))
        (result,) = check(spec, Program(words))
        return result

    one, many = run(1), run(8)
    assert len(many.computing) == 8 * len(one.computing)
    per_tile = (many.cycles - one.cycles) / 7
    assert per_tile < 0.9 * one.cycles
    # Each tile is computed within the cycles in which its neighbours' words come in.
    assert per_tile <= len(many.computing) / 8 + 2 * 8 * 8 + 3
