"""The plan of the arena: no two live buffers overlap, and sharing never costs memory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from axiloom.drivergen.network.memory import ALIGNMENT, Buffer, plan


@st.composite
def buffers(draw: st.DrawFn) -> list[Buffer]:
    found = []
    for number in range(draw(st.integers(0, 20))):
        first = draw(st.integers(0, 15))
        found.append(Buffer(f"b{number}", draw(st.integers(0, 5000)), first, first + draw(st.integers(0, 6))))
    return found


@given(buffers())
def test_no_two_live_buffers_overlap(given_: list[Buffer]) -> None:
    found = plan(given_)
    assert [place.buffer for place in found.places] == given_
    for place in found.places:
        assert place.offset % ALIGNMENT == 0
        assert place.end <= found.peak
        for other in found.places:
            apart = place.end <= other.offset or other.end <= place.offset
            assert place is other or apart or not place.buffer.lives_with(other.buffer)


@given(buffers())
def test_the_peak_is_between_what_lives_at_once_and_all(given_: list[Buffer]) -> None:
    found = plan(given_)
    alive = [sum(b.size for b in given_ if b.first <= t <= b.last) for t in range(25)]
    assert max(alive) <= found.peak <= found.total


def test_a_chain_takes_turns() -> None:
    """Two buffers of a chain are enough, whatever its length."""
    chain = [Buffer(f"b{n}", 128, n, n + 1) for n in range(10)]
    assert plan(chain).peak == 256


def test_the_smallest_gap_is_taken() -> None:
    """Between the two large ones that stay there is room of 64 and of 256; 64 bytes go into the first."""
    large = [Buffer("a", 1024, 0, 9), Buffer("gap", 512, 0, 1), Buffer("b", 768, 0, 9)]
    small = Buffer("c", 64, 2, 3)
    found = plan([*large, small])
    assert found.peak == plan(large).peak
