"""The protocol monitor against the functional models: any specification, any words that break no rule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.isa.conv_strategies import conv_specs, conv_well_formed
from tests.isa.strategies import specs, well_formed

from axiloom import boards, isa
from axiloom.cosim import native
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.core import Core, library
from axiloom.isa.kernels.forms import IMAGE, WINDOW
from axiloom.isa.opcode_map.model import FunctionalModel

BOARD = boards.load(boards.DEFAULT)


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a program that does nothing: a fault needs one to end."""
    folder = tmp_path_factory.mktemp("elf")
    (folder / "idle.c").write_text("int main(void) { for (;;) {} }")
    return compile_bare([folder / "idle.c"], folder / "idle.elf", board=BOARD)


def follow(elf: Path, spec: isa.AcceleratorSpec, words: np.ndarray) -> None:
    """Words in and out as the model has them: the monitor knows at every beat how many are due, where TLAST
    must come, and at the end that nothing is missing."""
    core, lib = Core(BOARD, spec), native.bind(library())
    core.begin(elf)
    core.reset_protocol()
    model = FunctionalModel(spec)
    for at in range(0, words.size, spec.link.beat_words):
        beat = words[at : at + spec.link.beat_words]
        for word in beat:
            lib.axl_stream_in(int(np.int32(np.uint32(word))), 0)
        sent = model.feed(beat)
        assert lib.axl_protocol().contents.store_left == sent.size, core.protocol_text()
        for last in model.tlast:
            lib.axl_stream_out(0, int(last))
    assert model.code == 0, model.error
    endless = None in {opcode.literal for opcode in spec.opcodes.values()}
    assert endless or not words.size or "is complete" in core.protocol_text()
    assert lib.axl_protocol().contents.store_left == 0
    assert core.state.fault is None
    lib.axl_stream_out(0, 1)
    assert "which no opcode asks for" in str(core.state.fault)


QUIETLY = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@QUIETLY
@given(data=st.data(), post=st.booleans())
def test_matmul(elf: Path, data: st.DataObject, post: bool) -> None:
    spec = data.draw(specs(largest=8, post=post))
    follow(elf, spec, data.draw(well_formed(spec))[0])


@QUIETLY
@given(data=st.data(), post=st.booleans())
def test_images(elf: Path, data: st.DataObject, post: bool) -> None:
    spec = data.draw(conv_specs(form=IMAGE, post=post))
    follow(elf, spec, data.draw(conv_well_formed(spec))[0])


@QUIETLY
@given(data=st.data())
def test_windows(elf: Path, data: st.DataObject) -> None:
    spec = data.draw(conv_specs(form=WINDOW))
    follow(elf, spec, data.draw(conv_well_formed(spec))[0])
