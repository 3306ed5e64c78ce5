"""``#accel.packing`` as text."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from xdsl.parser import Parser

from axiloom.drivergen.dialects.mlir import context
from axiloom.drivergen.dialects.packing import Packing, PackingAttr, Piece


def tiles(rank: int) -> st.SearchStrategy[Piece]:
    dims = st.tuples(*[st.integers(1, 99)] * rank)
    return st.builds(
        Piece,
        st.just(0),
        dims,
        dims,
        dims,
        st.permutations(range(rank)).map(tuple),
        st.integers(0, rank),
        st.sampled_from([32, 64, 128]),
    )


@st.composite
def packings(draw: st.DrawFn) -> Packing:
    """Some kinds of tiles, each in many places: as the loops of a nest go through an array."""
    pieces: list[Piece] = []
    for form in draw(st.lists(st.integers(1, 4).flatmap(tiles), min_size=1, max_size=3)):
        for begin in draw(st.lists(st.integers(0, 40), min_size=1, max_size=12)):
            pieces.append(replace(form, begin=begin))
    return Packing(tuple(pieces))


@given(packings())
def test_it_parses_as_it_prints(packing: Packing) -> None:
    attribute = PackingAttr(packing)
    assert Parser(context(), str(attribute)).parse_attribute() == attribute


def test_tiles_of_a_nest_are_a_few_runs() -> None:
    form = Piece(0, (4, 4), (512, 1), (4, 4), (0, 1), 0, 32)
    pieces = [replace(form, begin=m * 2048 + k * 4) for m in range(16) for k in range(128)]
    assert str(PackingAttr(Packing(tuple(pieces)))).count("times") == 16
