# amaranth: UnusedElaboratable=no
"""The convolution engine against the functional model of the same specification, NumPy and torch."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hw.matmul_bench import Program, check
from tests.isa.conv_strategies import conv_ill_formed, conv_specs, conv_well_formed, conv_word_program

from axiloom.isa.kernels import IMAGE

STALLS = {"stall_in": 0.3, "stall_out": 0.4}


@settings(max_examples=10)
@given(data=st.data(), seed=st.integers(0, 99), post=st.booleans())
def test_any_specification_and_words(data: st.DataObject, seed: int, post: bool) -> None:
    spec = data.draw(conv_specs(IMAGE, post=post))
    first, _ = data.draw(conv_word_program(spec))
    second, _ = data.draw(conv_well_formed(spec, longest=6))
    third, _ = data.draw(conv_ill_formed(spec))
    cut = data.draw(st.integers(0, first.size))
    programs = (Program(first, reset=True), Program(first, reset_after=cut), Program(second), Program(third))
    check(spec, *programs, seed=seed, **STALLS)
