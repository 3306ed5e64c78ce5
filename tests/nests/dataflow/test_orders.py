"""Orders are found in which arrays pass through FIFOs, and they are legal."""

from __future__ import annotations

from hypothesis import event, given, settings
from tests.nests.dataflow.programs import NUMBER, add, array, box, chains, load, mul, run, sequential
from tests.nests.dataflow.test_planner import two_products

from axiloom.base.affine import Affine
from axiloom.nests.dataflow import decide, plan
from axiloom.nests.dataflow.orders import agree, agreements
from axiloom.nests.program import Literal, Program, Role, Statement
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.legality import swap


@given(chains())
@settings(max_examples=25, deadline=None)
def test_agreeing_is_legal_and_gives_no_fewer_fifos(schedule: Schedule) -> None:
    found = agree(schedule)
    assert swap(found) is None
    before, after = plan(schedule), plan(found)
    event(f"{len(after.streams) - len(before.streams)} more FIFOs")
    assert len(after.streams) >= len(before.streams)
    assert run(found, after, max) == sequential(schedule)


def test_a_reader_of_columns_makes_the_writer_write_columns() -> None:
    i, j = Affine.name("i"), Affine.name("j")
    statements = (
        Statement("W", ("i", "j"), box(i=4, j=5), load("X", i, j), Literal(2, NUMBER), (0, 0, 0)),
        Statement(
            *("R", ("j", "i"), box(i=4, j=5), load("Y", j)),
            *(add(load("Y", j), load("X", i, j)), (1, 0, 0)),
        ),
    )
    arrays = (array("X", 4, 5), array("Y", 5, role=Role.INOUT))
    schedule = Schedule.of(Program("columns", arrays, statements))
    assert not plan(schedule).streams
    found = agreements(schedule, "X")
    assert [each.orders for each in found] == [(("R", ("i", "j")),), (("W", ("j", "i")),)]
    for each in found:
        (stream,) = plan(each.schedule).streams
        assert (stream.array, stream.depth) == ("X", 20)


def test_a_product_is_read_in_the_order_in_which_it_is_written() -> None:
    found = agreements(two_products("ijk"), "tmp")
    assert found[0].orders == (("S2", ("i", "k", "j")),)
    assert [each.kind for each in decide(found[0].schedule).notes] == ["fifo"]


def test_an_order_that_breaks_a_dependence_is_not_proposed() -> None:
    i, j = Affine.name("i"), Affine.name("j")
    statements = (
        Statement(
            *("W", ("i", "j"), (i - 1, 3 - i, j, 2 - j), load("X", i, j)),
            *(add(load("X", i - 1, j + 1), mul(load("X", i, j), Literal(2, NUMBER))), (0, 0, 0)),
        ),
        Statement("R", ("j", "i"), (i - 1, 3 - i, j, 2 - j), load("Y", i, j), load("X", i, j), (1, 0, 0)),
    )
    arrays = (array("X", 4, 4), array("Y", 4, 4, role=Role.OUT))
    schedule = Schedule.of(Program("wavefront", arrays, statements))
    assert [each.orders for each in agreements(schedule, "X")] == [(("R", ("i", "j")),)]
