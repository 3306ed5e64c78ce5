"""PolyBench's kernels, as they are read from C, against an evaluation in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.polybench import sizes
from benchmarks.polybench.reference import REFERENCE, inputs

from axiloom.nests.affine.interpret import interpret
from axiloom.nests.poly.checks import faults
from axiloom.nests.program import Program
from axiloom.nests.read.c import read

SMALL = {"adi": 6, "cholesky": 9, "seidel-2d": 7, "heat-3d": 5, "nussinov": 12, "floyd-warshall": 8}


def small(kernel: str) -> dict[str, int]:
    """Sizes below PolyBench's, which no two dimensions share."""
    if kernel in SMALL:
        return {name: 2 if name == "TSTEPS" else SMALL[kernel] for name in sizes.MINI[kernel]}
    return {name: 3 if name.startswith("T") else 5 + n for n, name in enumerate(sizes.MINI[kernel])}


def loaded(kernel: str, given: dict[str, int]) -> Program:
    return read(sizes.source(kernel), "", {name: str(value) for name, value in given.items()}).program


def shapes(program: Program) -> dict[str, tuple[tuple[int, ...], str]]:
    return {each.name: (each.shape, each.number) for each in program.arrays if each.role.is_given}


@pytest.mark.every(4)
@pytest.mark.parametrize("kernel", sizes.MINI)
def test_same_bits_as_numpy(kernel: str) -> None:
    given = small(kernel)
    program = loaded(kernel, given)
    assert faults(program) == []
    arrays = inputs(kernel, shapes(program))
    expected = REFERENCE[kernel](given, arrays)
    found = interpret(program, arrays)
    assert set(expected) == {each.name for each in program.arrays if each.role.is_result}
    for name, values in expected.items():
        np.testing.assert_array_equal(
            found[name].view(np.uint32), values.astype(found[name].dtype).view(np.uint32)
        )
        assert np.isfinite(values).all(), name


@pytest.mark.every(4)
@pytest.mark.parametrize("kernel", sizes.MEDIUM)
def test_medium_has_no_faults(kernel: str) -> None:
    assert faults(loaded(kernel, dict(sizes.MEDIUM[kernel]))) == []


def test_every_kernel_has_a_file_sizes_and_a_reference() -> None:
    files = {each.stem for each in sizes.FOLDER.glob("*.c")}
    assert files == set(sizes.MINI) == set(sizes.MEDIUM) == set(REFERENCE)
