"""Circuits of small programs compute what the programs say, in the cycles their pipes say."""

from __future__ import annotations

from tests.nests.lower.programs import Maker, box, check, reorder, split, unroll

from axiloom.hw.nest.operators import latencies
from axiloom.nests.program import Program, Role
from axiloom.nests.schedule import Schedule


def gemm(ni: int, nj: int, nk: int, number: str = "int32", sunk: bool = False) -> Program:
    maker = Maker(
        "gemm", number,
        A=((ni, nk), Role.IN), B=((nk, nj), Role.IN), C=((ni, nj), Role.INOUT),
        alpha=((), Role.IN), beta=((), Role.IN),
    )  # fmt: skip
    at, op = maker.at, maker.op
    c = at("C", "i", "j")
    where = box(i=(0, ni), j=(0, nj))
    if sunk:
        maker.add((0, 0, 0), where, c, op("mul", c, at("beta")), "i", "j")
    else:
        maker.add((0, 0, 0), where, c, op("mul", c, at("beta")), "i", "j")
    product = op("mul", op("mul", at("alpha"), at("A", "i", "k")), at("B", "k", "j"))
    maker.add((1, 0, 0, 0), (*where, *box(k=(0, nk))), c, op("add", c, product), "i", "j", "k")
    return maker.done()


def test_gemm_as_written_is_two_pipes_one_after_the_other() -> None:
    lowered = check(Schedule.of(gemm(3, 4, 5)))
    assert all(each.interval <= 3 for each in lowered.circuit.pipes)


def test_few_tiles_in_flight_wait_for_the_adder() -> None:
    schedule = Schedule.of(gemm(6, 10, 5, "float32"))
    for name in ("S0", "S1"):
        schedule = split(split(schedule, name, "i", 2), name, "j", 4)
    schedule = reorder(schedule, "S0", "i1", "j1", "i0", "j0")
    schedule = reorder(schedule, "S1", "i1", "k", "j1", "i0", "j0")
    lowered = check(unroll(schedule, "i0", "j0"))
    cycles = min(latencies("add", "float32", "float32")) + 2  # the read of a sum, the sum, its write
    assert lowered.circuit.pipes[1].interval == -(-cycles // 3)
    assert "over 3 iterations: read C -> add" in lowered.built[1].timing.why


def test_gemm_with_seven_tiles_in_flight_is_one_iteration_a_cycle() -> None:
    """Order i1, k, j1: five columns of tiles, and an adder of 5 cycles, one read and one write: 7 needed."""
    schedule = Schedule.of(gemm(3, 27, 4, "float32"))
    schedule = reorder(split(schedule, "S1", "j", 4), "S1", "i", "k", "j1", "j0")
    schedule = reorder(split(schedule, "S0", "j", 4), "S0", "i", "j1", "j0")
    lowered = check(unroll(schedule, "j0"))
    pipe = lowered.circuit.pipes[1]
    assert (pipe.interval, pipe.iterations) == (1, 3 * 4 * 7)
    assert lowered.layouts["C"].banks == 4


def test_triangles_are_counted_exactly() -> None:
    maker = Maker("trmm", A=((9, 9), Role.IN), B=((9, 5), Role.INOUT))
    b = maker.at("B", "i", "j")
    maker.add(
        (0, 0, 0, 0), box(i=(0, 9), j=(0, 5), k=("i + 1", 9)), b,
        maker.op("add", b, maker.op("mul", maker.at("A", "k", "i"), maker.at("B", "k", "j"))), "i", "j", "k",
    )  # fmt: skip
    maker.add((0, 0, 1), box(i=(0, 9), j=(0, 5)), b, maker.op("mul", b, maker.lit(3)), "i", "j")
    program = maker.done()
    lowered = check(Schedule.of(program))
    # i = 8 has no k: there S1 alone.
    assert lowered.circuit.pipes[0].iterations == 5 * 36 + 45


def test_jacobi_is_one_pipe_over_two_inner_nests() -> None:
    maker = Maker("jacobi", A=((14,), Role.INOUT), B=((14,), Role.INOUT))
    for number, (target, source) in enumerate((("B", "A"), ("A", "B"))):
        at = maker.at
        total = maker.op("add", maker.op("add", at(source, "i"), at(source, "i + 1")), at(source, "i + 2"))
        maker.add(
            (0, number, 0), box(t=(0, 3), i=(0, 12)),
            at(target, "i + 1"), maker.op("mul", total, maker.lit(7)), "t", "i",
        )  # fmt: skip
    lowered = check(Schedule.of(maker.done()))
    assert len(lowered.circuit.pipes) == 1
    assert lowered.circuit.pipes[0].iterations == 3 * 2 * 12


def test_atax_has_two_phases_in_one_pipe() -> None:
    check(Schedule.of(atax(6, 10)))


def atax(m: int, n: int, number: str = "int32") -> Program:
    maker = Maker(
        "atax", number,
        A=((m, n), Role.IN), x=((n,), Role.IN), y=((n,), Role.OUT), tmp=((m,), Role.LOCAL),
    )  # fmt: skip
    at, op = maker.at, maker.op
    tmp, y = at("tmp", "i"), at("y", "j")
    maker.add((0, 0), box(j=(0, n)), y, maker.lit(0), "j")
    maker.add((1, 0), box(i=(0, m)), tmp, maker.lit(0), "i")
    where = box(i=(0, m), j=(0, n))
    maker.add((1, 1, 0), where, tmp, op("add", tmp, op("mul", at("A", "i", "j"), at("x", "j"))), "i", "j")
    maker.add((1, 2, 0), where, y, op("add", y, op("mul", at("A", "i", "j"), tmp)), "i", "j")
    return maker.done()
