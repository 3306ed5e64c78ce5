"""POM's kernels under their schedules: the interpreter against NumPy, one in Verilator, cycles."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.pom.__main__ import SMALL, data, execute, model, sized
from benchmarks.pom.kernels import KERNELS
from benchmarks.pom.network import Network
from benchmarks.pom.published import OWN_SIZE, PUBLISHED
from benchmarks.pom.reference import REFERENCE
from benchmarks.pom.schedules import networks, scheduled

from axiloom.nests.affine.interpret import interpret
from axiloom.nests.lower import lower
from axiloom.nests.poly.counting import count
from axiloom.nests.program import Role
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.errors import LegalityError
from axiloom.nests.schedule.replay import replay


@pytest.mark.parametrize("name", ["bicg", "gesummv", "blur"])
def test_scheduled_program_is_the_reference(name: str) -> None:
    program = KERNELS[name](**SMALL[name])
    arrays = data(program)
    found = interpret(scheduled(program, name, "pom"), arrays)
    steps = {"steps": SMALL[name]["steps"]} if "steps" in SMALL[name] else {}
    for array, expected in REFERENCE[name](arrays, **steps).items():
        assert np.array_equal(found[array].view(np.uint32), expected.view(np.uint32))


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_all_small_kernels_in_verilator(name: str) -> None:
    ran = execute(name, "pom", SMALL[name])
    assert ran.equal
    assert ran.predicted == ran.simulated


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bicg", "gesummv", "jacobi_1d", "heat", "blur", "edge_detect"])
def test_cycles_at_poms_size_are_at_most_poms(name: str) -> None:
    assert model(name, "pom", OWN_SIZE[name])[0] <= PUBLISHED[name].cycles * 1.001


def test_large_arrays_lie_outside_of_the_circuit() -> None:
    """As POM's do, whose arrays are all its caller's; small ones stay inside."""
    roles = {each.name: each.role for each in sized("blur", OWN_SIZE["blur"]).arrays}
    assert roles == {"source": Role.IN, "across": Role.OUT, "out": Role.OUT}
    assert sized("blur", SMALL["blur"]).array("across").role is Role.LOCAL


def test_a_pool_starts_an_iteration_every_cycle() -> None:
    """With its window innermost each maximum would wait for the one before, and all layers with it."""
    net = Network("vgg16", 8)
    net.pool(net.relu(net.convolve(net.input, 2)), "out")
    program = net.p.program()
    text = networks.text(program, "vgg16", "pom")
    innermost = text.replace("reorder S4 p q o y x\n", "")
    assert innermost != text
    intervals = [
        [each.interval for each in lower(replay(program, lines)).circuit.pipes] for lines in (text, innermost)
    ]
    assert intervals == [[1], [2]]


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
