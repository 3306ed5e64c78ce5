# amaranth: UnusedElaboratable=no
"""Which engine a specification gets."""

from __future__ import annotations

import pytest

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.hw.conv.engine import Conv
from axiloom.hw.copy.engine import CopyEngine
from axiloom.hw.matmul.engine import MatMul
from axiloom.hw.soc.accelerator import ENGINES, build
from axiloom.hw.window.engine import WindowConv


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        ("v1_4", MatMul),
        ("v4_16", MatMul),
        ("conv_v3", WindowConv),
        ("conv_v4", Conv),
        ("loopback", CopyEngine),
        ("identity", CopyEngine),
    ],
)
def test_each_form_has_its_engine(name: str, engine: type) -> None:
    spec = isa.builtin(name)
    built = build(spec)
    assert type(built) is engine
    assert built.spec is spec


def test_every_form_of_the_specifications_is_known() -> None:
    shipped = [name for kernel in isa.KERNELS for name in isa.builtins(kernel)]
    assert {isa.builtin(name).form.name for name in shipped} == set(ENGINES)


def test_what_the_engine_cannot_be_is_refused() -> None:
    with pytest.raises(SpecError, match="matmul macs must be a power of two, not 3"):
        build(isa.builtin("v3_4").replace(macs=3))
