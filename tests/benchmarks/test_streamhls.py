"""Convolutional blocks from PyTorch: one in Verilator, bit for bit with torch; cycles as predicted."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch_mlir")

from benchmarks.streamhls import reference
from benchmarks.streamhls.__main__ import PUBLISHED, block, measure

from axiloom.hw.nest.circuit import Operate
from axiloom.nests.affine.interpret import interpret
from axiloom.nests.dataflow import plan
from axiloom.nests.lower import lower
from axiloom.nests.timing.timing import cycles


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_reference_is_the_module(name: str) -> None:
    """By another order of sums; and the program is the reference bit for bit."""
    import torch
    from benchmarks.streamhls import models

    module, (x,) = getattr(models, name)(2, 8)
    with torch.no_grad():
        np.testing.assert_allclose(reference.outputs(module, x), module(x).numpy(), rtol=1e-4, atol=1e-5)
    one = block(name, small=True)
    found = interpret(one.schedule, one.arrays)["result"]
    assert np.array_equal(found.view(np.uint32), one.expected.view(np.uint32))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["residual_block", "dws_conv"])
def test_small_block_in_verilator(name: str) -> None:
    row = measure(block(name, small=True))
    assert row.equal
    assert row.predicted == row.simulated


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [("residual_block", 260_000), ("dws_conv", 32_000)])
def test_cycles_at_full_size(name: str, most: int) -> None:
    schedule = block(name, small=False).schedule
    circuit = lower(schedule, plan(schedule)).circuit
    assert cycles(circuit).cycles <= most
    multipliers = {
        each.unit or str(number)
        for pipe in circuit.pipes
        for number, each in enumerate(pipe.nodes)
        if isinstance(each, Operate) and each.operator == "mul"
    }
    assert 2 * len(multipliers) <= 140
