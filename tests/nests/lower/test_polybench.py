"""PolyBench's kernels as they are written in C, at a quarter of its least size: bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.polybench import sizes
from benchmarks.polybench.measure import has_schedule
from tests.nests.lower.programs import random_values, raw, run
from tests.some import slow

from axiloom.nests.affine.interpret import interpret
from axiloom.nests.lower import lower
from axiloom.nests.read import c
from axiloom.nests.schedule import Schedule

# Those without a schedule are run as written, in Verilator, by tests/benchmarks/test_polybench.py.
DEFAULT = ("gemm", "symm", "trmm", "lu", "durbin", "gramschmidt", "nussinov", "jacobi-2d")


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "kernel",
    [*DEFAULT, *(slow(kernel) for kernel in sizes.MINI if has_schedule(kernel) and kernel not in DEFAULT)],
)
def test_as_written(kernel: str) -> None:
    defines = {name: str(max(4, size // 4)) for name, size in sizes.MINI[kernel].items()}
    program = c.read(sizes.source(kernel), defines=defines).program
    lowered = lower(Schedule.of(program))
    # Positive: some of them take square roots.
    values = {name: np.abs(each) for name, each in random_values(program).items()}
    wanted = interpret(program, values)
    found, _ = run(lowered, program, values)
    assert found
    for name, array in found.items():
        np.testing.assert_array_equal(raw(array), raw(np.asarray(wanted[name])), name)
