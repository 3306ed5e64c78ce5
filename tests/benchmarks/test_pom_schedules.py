"""POM's kernels under their schedules: the interpreter against NumPy, one in Verilator, cycles."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.pom.__main__ import SMALL, data, execute, model
from benchmarks.pom.kernels import KERNELS
from benchmarks.pom.published import OWN_SIZE, PUBLISHED
from benchmarks.pom.reference import REFERENCE
from benchmarks.pom.schedules import scheduled

from axiloom.nests.affine.interpret import interpret
from axiloom.nests.poly.counting import count
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.errors import LegalityError

LOOPS = [each for each in KERNELS if each not in ("vgg16", "resnet18")]


@pytest.mark.parametrize("name", LOOPS)
def test_scheduled_program_is_the_reference(name: str) -> None:
    program = KERNELS[name](**SMALL[name])
    arrays = data(program)
    found = interpret(scheduled(program, name, "pom"), arrays)
    steps = {"steps": SMALL[name]["steps"]} if "steps" in SMALL[name] else {}
    for array, expected in REFERENCE[name](arrays, **steps).items():
        assert np.array_equal(found[array].view(np.uint32), expected.view(np.uint32))


def test_small_kernel_in_verilator() -> None:
    ran = execute("heat", "pom", SMALL["heat"])
    assert ran.equal
    assert ran.predicted == ran.simulated


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_all_small_kernels_in_verilator(name: str) -> None:
    ran = execute(name, "pom", SMALL[name])
    assert ran.equal
    assert ran.predicted == ran.simulated


@pytest.mark.parametrize("name", ["bicg", "gesummv", "jacobi_1d", "heat"])
def test_cycles_at_poms_size_are_at_most_poms(name: str) -> None:
    assert model(name, "pom", OWN_SIZE[name])[0] <= PUBLISHED[name].cycles * 1.001


def test_multiply_adds() -> None:
    size = {"n": 10, "taps": 3}
    program = KERNELS["gaussian"](**size)
    products = [each for each in program.statements if "kernel" in str(each.value)]
    total = sum(count(each.iterators, each.domain) for each in products)
    # Here the first pass covers the columns that the second reads: more than POM's.
    assert total - PUBLISHED["gaussian"].work(size) == 3 * 7 * 3 * 2


def test_poms_schedule_of_seidel_is_refused() -> None:
    """Its wavefront i + 2j: the instance above to the right would come too late."""
    schedule = Schedule.of(KERNELS["seidel"](n=8, steps=2))
    with pytest.raises(LegalityError, match=r"S0\(0, \d, \d\) would .* A\[\d\]\[\d\] before S0\(0, \d, \d\)"):
        schedule.skew("S0", "i", "j", 2).interchange("S0", "i", "j")
    schedule.skew("S0", "j", "i", 2).interchange("S0", "i", "j")
