"""Each primitive: what it gives, and what it refuses with which words."""

from __future__ import annotations

import time

import pytest
from tests.nests.schedule.enumeration import scheduled_order
from tests.nests.schedule.programs import gemm, jacobi, pair, results, seidel, two_mm

from axiloom.nests.program import Program
from axiloom.nests.program.builder import Builder
from axiloom.nests.schedule import Cyclic, Hyperplane, Schedule, Storage
from axiloom.nests.schedule.errors import LegalityError, ScheduleError
from axiloom.nests.schedule.legality import distances, incomplete, swap


def refusal(schedule: Schedule, primitive: str, *args: str | int) -> str:
    with pytest.raises(ScheduleError) as caught:
        getattr(schedule, primitive)(*args)
    return str(caught.value)


def test_split_of_a_size_that_does_not_divide_is_guarded() -> None:
    done = Schedule.of(gemm()).split("S2", "j", 4)
    placed = done.placed("S2")
    assert placed.order == (1, "i", 0, "jo", 0, "ji", 0, "k", 0)
    assert [str(each) for each in placed.instance] == ["i", "ji + 4*jo", "k"]
    assert scheduled_order(done) == scheduled_order(Schedule.of(gemm()))
    assert done.log == ("split S2 j 4",)


def test_tile_puts_points_within_tiles() -> None:
    start = Schedule.of(gemm())
    done = start.tile("S2", "i", "j", "k", 2, 3, 1)
    assert done.placed("S2").loops == ("io", "jo", "k", "ii", "ji")
    assert results(done) == results(start)


def test_names_of_new_loops_are_new() -> None:
    done = Schedule.of(gemm()).tile("S1", "i", "j", 2, 2).tile("S2", "i", "j", 2, 2)
    assert done.placed("S2").loops == ("io2", "jo2", "ii2", "ji2", "k")
    assert (
        refusal(done, "split", "S2", "k", 2, "io", "x") == "there is a loop io already: choose another name"
    )


def test_a_loop_that_others_share_is_changed_for_all() -> None:
    done = Schedule.of(gemm()).fuse("S2", "S1", "j").tile("S1", "i", "j", 2, 2)
    assert done.placed("S1").order == (0, "io", 0, "jo", 0, "ii", 0, "ji", 0)
    assert done.placed("S2").order == (0, "io", 0, "jo", 0, "ii", 0, "ji", 1, "k", 0)


def test_an_interchange_that_would_part_statements_is_refused() -> None:
    done = Schedule.of(gemm()).fuse("S2", "S1", "j")
    assert refusal(done, "interchange", "S2", "j", "k") == (
        "interchange S2 j k: S1 stands in loop j too, but not in loop k: part them first (fission S2 j), or "
        "put it into all these loops (sink)"
    )
    parted = done.fission("S2", "j").interchange("S2", "j2", "k")
    assert parted.placed("S2").order == (0, "i", 1, "k", 0, "j2", 0)


def test_sink_puts_a_statement_at_one_iteration() -> None:
    start = Schedule.of(gemm())
    done = start.sink("S1", "S2", "k").reorder("S2", "k", "i", "j")
    assert done.placed("S1").order == (1, "k", 0, "i", 0, "j", 0)
    assert done.placed("S2").order == (1, "k", 0, "i", 0, "j", 1)
    assert results(done) == results(start)
    assert refusal(start, "sink", "S1", "S2", "k", "last") == (
        "sink S1 S2 k last: S2(0, 0, 0) would read C[0][0] before S1(0, 0) has written it (RAW); legal: "
        "sink S1 S2 k first"
    )


def test_sink_at_the_first_iteration_of_a_triangle() -> None:
    p = Builder("triangle")
    A, s = p.input("A", (6, 6), "int32"), p.output("s", (6,), "int32")
    with p.loop("i", 0, 6) as i:
        s.set((i,), 0, "S1")
        with p.loop("j", i, 6) as j:
            s.set((i,), s[i] + A[i, j], "S2")
    start = Schedule.of(p.program())
    done = start.sink("S1", "S2", "j")
    assert done.placed("S1").loops == ("i", "j")
    assert results(done) == results(start)


def test_unroll_moves_the_loop_inwards_and_counts_from_zero() -> None:
    done = Schedule.of(gemm()).unroll("S2", "j", 3)
    assert done.placed("S2").loops == ("i", "jo", "k", "ji")
    assert done.unrolled == {"ji"}
    assert refusal(done, "reorder", "S2", "ji", "k") == (
        "reorder S2 ji k: loop k of S2 would stand within loop ji, which is unrolled: unrolled loops are "
        "innermost"
    )


def test_an_unrolled_loop_has_a_name_of_its_own() -> None:
    done = Schedule.of(gemm()).unroll("S2", "j")
    assert done.unrolled == {"j2"}
    assert done.placed("S1").loops == ("i", "j")


def test_unroll_that_would_reorder_a_sum_names_what_to_unroll_first() -> None:
    p = Builder("sum")
    A, s = p.input("A", (3, 3), "int32"), p.inout("s", (), "int32")
    with p.loop("i", 0, 3) as i, p.loop("j", 0, 3) as j:
        s.set((), s[()] + A[i, j], "S1")
    with pytest.raises(LegalityError) as caught:
        Schedule.of(p.program()).unroll("S1", "i")
    assert caught.value.alternative == ("unroll S1 j", "unroll S1 i")


def test_an_illegal_interchange_names_the_skew_that_makes_it_legal() -> None:
    assert refusal(Schedule.of(seidel()), "interchange", "S1", "i", "j") == (
        "interchange S1 i j: S1(0, 1, 0) would read A[1][2] before S1(0, 0, 1) has written it (RAW); legal: "
        "skew S1 j i 1, then interchange S1 i j"
    )


def test_reorder_names_the_nearest_legal_order() -> None:
    p = Builder("carried")
    A = p.inout("A", (6, 6, 6), "int32")
    with p.loop("i", 1, 5) as i, p.loop("j", 0, 5) as j, p.loop("k", 0, 5) as k:
        A.set((i, j, k), A[i - 1, j + 1, k], "S1")
    with pytest.raises(LegalityError) as caught:
        Schedule.of(p.program()).reorder("S1", "j", "k", "i")
    assert caught.value.alternative == ("reorder S1 k i j",)


def test_tiles_of_a_stencil_in_time_need_a_skew() -> None:
    start = Schedule.of(jacobi())
    together = start.shift("S2", "i1", 1).fuse("S2", "S1", "i")
    with pytest.raises(LegalityError) as caught:
        together.tile("S1", "t", "i", 2, 3)
    assert caught.value.alternative == ("skew S1 i t 2", "tile S1 t i 2 3")
    done = together.skew("S1", "i", "t", 2).tile("S1", "t", "i", 2, 3)
    assert results(done) == results(start)


def test_an_illegal_fusion_names_the_smallest_shift() -> None:
    with pytest.raises(LegalityError) as caught:
        Schedule.of(jacobi()).fuse("S2", "S1", "i")
    assert caught.value.alternative == ("shift S2 i1 1", "fuse S2 S1 i")


def test_a_fusion_that_no_shift_makes_legal_names_how_deep_it_can_be() -> None:
    """All of a row of the first product is needed before the second one can begin with it."""
    with pytest.raises(LegalityError) as caught:
        Schedule.of(two_mm(200)).fuse("S3", "S1").fuse("S4", "S2", "j")
    assert caught.value.alternative == ("fuse S4 S2 i",)
    start = Schedule.of(two_mm(5)).fuse("S3", "S1")
    assert results(start.fuse("S4", "S2", "i")) == results(start)


def test_loops_of_other_bounds_are_fused_with_guards() -> None:
    """POM shares loops of other bounds without a look at them."""
    p = Builder("bounds")
    A, B = p.output("A", (5,), "int32"), p.output("B", (9,), "int32")
    with p.loop("i", 0, 5) as i:
        A.set((i,), i, "S1")
    with p.loop("i", 2, 9) as i:
        B.set((i,), i, "S2")
    start = Schedule.of(p.program())
    for where in ("after", "before"):
        done = start.fuse("S2", "S1", "i", where).unroll("S1", "i", 4)
        assert sorted(scheduled_order(done)) == sorted(scheduled_order(start))
        assert results(done) == results(start)


def test_shift_names_the_nearest_legal_amount() -> None:
    together = Schedule.of(jacobi()).shift("S2", "i1", 1).fuse("S2", "S1", "i")
    with pytest.raises(LegalityError) as caught:
        together.shift("S2", "i", -3)
    assert caught.value.alternative == ("shift S2 i 1",)


def test_fission_of_what_depends_backwards_is_refused() -> None:
    with pytest.raises(
        LegalityError, match=r"fission S2 t: S1\(1, 0\) would write A\[1\] before S2\(0, 0\) has read it"
    ):
        Schedule.of(jacobi()).fission("S2", "t")


def test_nests_keep_their_intervals_when_others_come_between() -> None:
    done = Schedule.of(two_mm(5)).pipeline("S4", 3).pipeline("S1", 2).fuse("S2", "S1")
    assert {each.statements[0].statement.name: each.interval for each in done.nests} == {
        "S1": 2, "S2": 1, "S3": 1, "S4": 3,
    }  # fmt: skip
    done = done.fuse("S2", "S1", "j").fission("S2", "i")
    assert done.intervals[int(done.placed("S4").order[0])] == 3


def test_share_joins_sets() -> None:
    done = Schedule.of(two_mm(5)).share("S1", "S2").share("S2", "S4")
    assert done.shared == (frozenset({0, 1, 3}),)
    assert refusal(done, "share", "S1") == "share S1: name statements of two nests or more"


def test_layouts() -> None:
    done = Schedule.of(gemm()).partition("A", "cyclic", 2, 1).storage("A", "registers", 2)
    assert done.layouts["A"].partition == Cyclic((2, 1))
    assert (done.layouts["A"].storage, done.layouts["A"].ports) == (Storage.REGISTERS, 2)
    done = done.partition("B", "hyperplane", 4, 1, 1).partition("C", "complete", 1)
    assert done.layouts["B"].partition == Hyperplane((1, 1), 4)
    assert done.layouts["C"].partition == Cyclic((1, 7))
    assert done.partition("C", "block", 2, 1).layouts["C"].partition == Cyclic((2, 1), frozenset({0}))
    assert refusal(done, "partition", "A", "cyclic", 8, 1) == (
        "partition A cyclic 8 1: a factor is from 1 to the extent 7, not 8"
    )
    assert refusal(done, "partition", "A", "cyclik", 8, 1) == (
        "partition A cyclik 8 1: no kind 'cyclik': did you mean cyclic?"
    )


def test_a_stream_has_one_nest_on_each_side() -> None:
    start = Schedule.of(two_mm(5))
    assert refusal(start, "stream", "T") == (
        "stream T: a stream has one nest that writes it and a later one that reads it, T is written by nests "
        "[0, 1] and read by nests [1, 3]"
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("tile", "S3", "i", 2), "no statement 'S3': there are S1, S2"),
        (("split", "S1", "k", 2), "no loop of S1 'k': there are i, j"),
        (("split", "S1", "i", 0), "split S1 i 0: a factor is a whole number from 1, not 0"),
        (("split", "S1", "i", 2, "a", "a"), "split S1 i 2: both new loops would be a: choose two names"),
        (("tile", "S1", "i", "j", 2), "tile S1 i j 2: a size is a whole number from 1, not 'j'"),
        (("fuse", "S1", "S1", "i"), "fuse S1 S1 i: a statement is put into the loops of another one"),
        (("fuse", "S1", "S2", "k"), "sink S1 S2 k puts it at one iteration of the others"),
        (("fission", "S1", "i"), "nothing stands before S1 in loop i: name a later statement"),
        (("split", "S1", "i"), "use: split STATEMENT LOOP FACTOR [outer=] [inner=]"),
    ],
)
def test_faults_name_what_would_be_accepted(line: tuple[str | int, ...], message: str) -> None:
    assert message in refusal(Schedule.of(gemm()), str(line[0]), *line[1:])


def test_distances_follow_the_schedule() -> None:
    done = Schedule.of(gemm()).interchange("S2", "i", "k")
    found = {(each.kind, each.source, each.sink): each for each in distances(done)}
    assert found["RAW", "S2", "S2"].loops == ("k", "j", "i")
    assert found["RAW", "S2", "S2"].vector == ((1, 1), (0, 0), (0, 0))


def test_a_primitive_on_2mm_takes_well_under_a_second() -> None:
    start = Schedule.of(two_mm())
    swap(start)
    began = time.perf_counter()
    done = start.tile("S2", "i", "j", 4, 16).tile("S4", "i", "j", 4, 16).fuse("S2", "S1")
    assert time.perf_counter() - began < 1.5
    assert incomplete(done) is None


def test_wavefront_of_seidel_is_legal_and_the_published_one_is_not() -> None:
    """POM skews to (i + 2j, j). The legal wavefront with the same steps is 2i + j."""
    start = Schedule.of(seidel())
    with pytest.raises(LegalityError) as caught:
        start.skew("S1", "i", "j", 2)
    assert str(caught.value) == (
        "skew S1 i j 2: S1(0, 1, 0) would read A[1][2] before S1(0, 0, 1) has written it (RAW); legal: "
        "skew S1 j i 2, then interchange S1 i j"
    )
    done = start.skew("S1", "j", "i", 2).interchange("S1", "i", "j")
    assert [str(each) for each in done.placed("S1").instance] == ["t", "i", "-2*i + j"]
    carried_inside = [each for each in distances(done) if each.vector[0][0] == 0 and each.vector[1][0] == 0]
    assert not carried_inside, "points of one wavefront are independent"


def programs_of_pom() -> list[tuple[Program, str]]:
    """Pairs that POM fuses, as it looks at what the first stores and the second loads only."""
    return [(pair(0, 1, kind="WAR"), "WAR"), (pair(0, 1, kind="WAW"), "WAW")]


@pytest.mark.parametrize(("program", "kind"), programs_of_pom())
def test_fusion_of_a_pair_that_only_writes_after_it_reads_or_writes(program: Program, kind: str) -> None:
    start = Schedule.of(program)
    with pytest.raises(LegalityError, match=rf"\({kind}\)") as caught:
        start.fuse("S2", "S1", "i")
    assert caught.value.alternative == ("shift S2 i 1", "fuse S2 S1 i")
    done = start.shift("S2", "i", 1).fuse("S2", "S1", "i")
    assert results(done) == results(start)


def test_an_iterator_that_is_used_again_keeps_its_own_bounds() -> None:
    """POM keeps iterators by name, with the bounds of the first: the second product of 2mm ran too far."""
    p = Builder("two")
    A, B = p.output("A", (5,), "int32"), p.output("B", (9,), "int32")
    with p.loop("k", 0, 5) as k:
        A.set((k,), k, "S1")
    with p.loop("k", 0, 9) as k:
        B.set((k,), k, "S2")
    done = Schedule.of(p.program()).tile("S1", "k", 2).tile("S2", "k", 2)
    assert len([each for each, _ in scheduled_order(done) if each == "S2"]) == 9
    assert len([each for each, _ in scheduled_order(done) if each == "S1"]) == 5
