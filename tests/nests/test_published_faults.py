"""Every fault of a published system that we know of, and the test that shows it refused, or right here.

The list is the index: a test that is renamed or lost fails here. What has no better place is tested below.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
import numpy.typing as npt
import pytest

from axiloom.hw.nest.circuit import Operate
from axiloom.nests.affine.interpret import interpret
from axiloom.nests.hls import hls
from axiloom.nests.lower import lower
from axiloom.nests.poly.checks import faults, warnings
from axiloom.nests.program import Program, Role
from axiloom.nests.program.builder import Builder
from axiloom.nests.schedule import Schedule

CHECKS, PRIMITIVES = "tests.nests.poly.test_checks", "tests.nests.schedule.test_primitives"
HERE = __name__
PUBLISHED = {
    # what others generate (RTL "Pass" meant that the simulation ended)
    "POM 2mm: the second product runs k to the first one's bound": (
        CHECKS, "test_iterator_of_another_loop_reads_out_of_bounds"),
    "POM: iterators are shared by name, with the bounds of the first": (
        PRIMITIVES, "test_an_iterator_that_is_used_again_keeps_its_own_bounds"),
    "POM gesummv: (beta + alpha * tmp) * y instead of alpha * tmp + beta * y": (
        HERE, "test_gesummv_is_what_numpy_says"),
    "ScaleHLS gesummv: odd columns of B are dropped": (HERE, "test_columns_that_are_dropped"),
    "ScaleHLS gesummv: partial sums are overwritten": (
        CHECKS, "test_pool_that_keeps_the_last_and_sums_that_are_dropped"),
    "HeteroCL atax: sums begin with what is in memory": (CHECKS, "test_uninitialised_accumulator_of_atax"),
    "Allo jacobi-2d: the window is off by one": (CHECKS, "test_offset_of_a_window"),
    # POM's programs
    "POM VGG-16 and ResNet-18: windows read out of bounds": (
        CHECKS, "test_vgg_without_padding_reads_out_of_bounds"),
    "POM VGG-16: max-pool overwrites": (CHECKS, "test_pool_that_keeps_the_last_and_sums_that_are_dropped"),
    "POM ResNet-18: projections are not initialised": (CHECKS, "test_uninitialised_projection_of_resnet"),
    # POM's schedules
    "POM: no primitive checks legality; Seidel's skew swaps a dependence": (
        PRIMITIVES, "test_wavefront_of_seidel_is_legal_and_the_published_one_is_not"),
    "POM: skewed bounds lose the last iteration": (HERE, "test_a_skewed_loop_executes_all"),
    "POM: fusion looks at neither WAR nor WAW": (
        PRIMITIVES, "test_fusion_of_a_pair_that_only_writes_after_it_reads_or_writes"),
    "POM: split on its own works on the outermost loops and leaves subscripts": (
        HERE, "test_split_of_an_inner_loop"),
    "POM: loops that share a nest need not have the same bounds": (
        PRIMITIVES, "test_loops_of_other_bounds_are_fused_with_guards"),
    "POM: tiles that do not divide lose their guards (an `if` becomes `k == 0`)": (
        HERE, "test_guards_are_kept"),
    # POM's numbers and names
    "POM: integers are emitted as floats": (HERE, "test_integers_stay_integers"),
    "POM: constants are arguments whose values are never used": (HERE, "test_literals_are_used"),
    "POM: programs share global state": (
        "tests.nests.program.test_builder", "test_two_builders_share_nothing"),
    "POM: an array called A is partitioned in another way": (HERE, "test_names_decide_nothing"),
    # Stream-HLS
    "Stream-HLS: FIFOs as deep as the tensor": (
        "tests.nests.dataflow.test_streams_rtl", "test_the_smallest_depths_are_few"),
    "Stream-HLS: only tiles that divide": (
        PRIMITIVES, "test_split_of_a_size_that_does_not_divide_is_guarded"),
    "Prometheus: trmm and symm are rewritten without their dependences": (
        "tests.nests.read.test_polybench", "test_same_bits_as_numpy"),
}  # fmt: skip


@pytest.mark.parametrize("fault", PUBLISHED)
def test_each_has_its_test(fault: str) -> None:
    module, name = PUBLISHED[fault]
    found = import_module(module)
    assert callable(getattr(found, name)), f"{module} has no {name} any more"


# --- those without a better place ---------------------------------------------------------------------------


def gesummv(n: int = 6, step: int = 1) -> Program:
    """PolyBench's, with every `step`-th column of B."""
    p = Builder("gesummv")
    A, B, x = p.input("A", (n, n)), p.input("B", (n, n)), p.input("x", (n,))
    y, alpha, beta = p.output("y", (n,)), p.input("alpha"), p.input("beta")
    tmp = p.local("tmp", (n,))
    with p.loop("i", 0, n) as i:
        tmp[i] = 0.0
        y[i] = 0.0
        with p.loop("j", 0, n) as j:
            tmp[i] += A[i, j] * x[j]
        with p.loop("j", 0, n, step) as j:
            y[i] += B[i, j] * x[j]
        y[i] = alpha * tmp[i] + beta * y[i]
    return p.program()


def some(program: Program) -> dict[str, npt.NDArray[np.float32]]:
    """Small whole numbers: sums of floats are exact."""
    rng = np.random.default_rng(0)
    return {
        each.name: rng.integers(-4, 5, each.shape).astype(np.float32)
        for each in program.arrays
        if each.role is Role.IN
    }


def test_gesummv_is_what_numpy_says() -> None:
    program = gesummv()
    v = {**some(program), "alpha": np.array(2, np.float32), "beta": np.array(3, np.float32)}
    found = interpret(Schedule.of(program).split("S2", "j", 4), v)["y"]
    meant = v["alpha"] * (v["A"] @ v["x"]) + v["beta"] * (v["B"] @ v["x"])
    np.testing.assert_array_equal(found, meant)
    published = (v["beta"] + v["alpha"] * (v["A"] @ v["x"])) * (v["B"] @ v["x"])
    assert not np.array_equal(found, published)


def test_columns_that_are_dropped() -> None:
    """A schedule executes each instance once, or is refused; a program that drops columns computes what it
    says, and differs."""
    program = gesummv()
    whole = interpret(program, some(program))["y"]
    lanes = Schedule.of(program).unroll("S3", "j1", 4)
    np.testing.assert_array_equal(interpret(lanes, some(program))["y"], whole)
    assert not np.array_equal(interpret(gesummv(step=2), some(program))["y"], whole)


def running(n: int = 7) -> Program:
    """A[i][j] from its left and upper neighbour: every skew of i by j has partial wavefronts."""
    p = Builder("running")
    A = p.inout("A", (n, n), "int32")
    with p.loop("i", 1, n) as i, p.loop("j", 1, n) as j:
        A[i, j] = A[i - 1, j] + A[i, j - 1]
    return p.program()


def test_a_skewed_loop_executes_all() -> None:
    program = running()
    start = {"A": np.arange(49, dtype=np.int32).reshape(7, 7)}
    meant = interpret(program, start)["A"]
    for factor in (1, 2, 3):
        done = Schedule.of(program).skew("S0", "j", "i", factor).interchange("S0", "i", "j")
        np.testing.assert_array_equal(interpret(done, start)["A"], meant)


def test_split_of_an_inner_loop() -> None:
    program = running()
    done = Schedule.of(program).split("S0", "j", 4)
    assert done.placed("S0").loops == ("i", "jo", "ji")
    assert [str(each) for each in done.placed("S0").instance] == ["i", "ji + 4*jo + 1"]
    assert done.placed("S0").subscripts(program.statement("S0").target.subscripts)[1].names == ("ji", "jo")


def test_guards_are_kept() -> None:
    """7 in tiles of 4: the second one is cut, in the interpreter, the circuit and the C++."""
    program = running(8)
    done = Schedule.of(program).tile("S0", "i", "j", 4, 4)
    start = {"A": np.arange(64, dtype=np.int32).reshape(8, 8)}
    np.testing.assert_array_equal(interpret(done, start)["A"], interpret(program, start)["A"])
    (pipe,) = lower(done).circuit.pipes
    assert pipe.iterations == 49


def integers() -> Program:
    p = Builder("integers")
    x, y = p.input("x", (4,), "int32"), p.output("y", (4,), "int32")
    with p.loop("i", 0, 4) as i:
        y[i] = x[i] * x[i] + 3
    return p.program()


def test_integers_stay_integers() -> None:
    """2^24 + 1 is no float32."""
    program = integers()
    x = np.array([4097, 16777217, -5, 0], np.int32)
    meant = (x.astype(np.int64) ** 2 + 3).astype(np.int32)
    np.testing.assert_array_equal(interpret(program, {"x": x})["y"], meant)
    text = hls(Schedule.of(program))
    assert "float" not in text
    nodes = lower(Schedule.of(program)).circuit.pipes[0].nodes
    assert {each.number for each in nodes if isinstance(each, Operate)} == {"int32"}


def test_literals_are_used() -> None:
    found = interpret(integers(), {"x": np.zeros(4, np.int32)})["y"]
    assert found.tolist() == [3, 3, 3, 3]


def test_names_decide_nothing() -> None:
    def product(a: str, b: str) -> Program:
        p = Builder("product")
        first, second, third = p.input(a, (4, 4)), p.input(b, (4, 4)), p.inout("C", (4, 4))
        with p.loop("k", 0, 4) as k, p.loop("i", 0, 4) as i, p.loop("j", 0, 4) as j:
            third[i, j] += first[i, k] * second[k, j]
        return p.program()

    one, other = (lower(Schedule.of(product(*names)).unroll("S0", "j")) for names in (("A", "B"), ("M", "A")))
    banks = [[each.banks for each in found.layouts.values()] for found in (one, other)]
    assert banks[0] == banks[1]


def test_what_is_left_is_no_fault() -> None:
    for program in (gesummv(), running(), integers()):
        assert faults(program) == warnings(program) == []
