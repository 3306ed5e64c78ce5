"""Several accelerators in one system: what they must have apart, and what alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.isa import AcceleratorSpec

FIRST, SECOND = isa.place([isa.builtin("v3_8"), isa.builtin("v4_16")])


def moved(**changes: Any) -> AcceleratorSpec:
    return SECOND.replace(dma=replace(SECOND.link.dma, **changes))


def test_built_in_ones_are_moved_apart() -> None:
    assert isa.builtin("v3_8") == FIRST
    dma = SECOND.link.dma
    assert (dma.id, dma.address, dma.input_address, dma.output_address) == (
        1,
        0x40410000,
        0x16800000,
        0x16C00000,
    )
    assert isa.check_together([FIRST, SECOND]) == []
    assert isa.place([FIRST, SECOND]) == [FIRST, SECOND]
    names = ["v1_4", "v2_4", "v3_4", "v1_8", "v2_8", "v3_8", "v3_16", "v4_16"]
    assert isa.check_together(isa.place([isa.builtin(name) for name in names])) == []
    mixed = isa.place([isa.builtin("conv_v3"), isa.builtin("conv_v4"), isa.builtin("v4_16")])
    assert isa.check_together(mixed) == []


def test_one_needs_nothing_and_none_is_no_system() -> None:
    assert isa.check_together([isa.builtin("v4_16")]) == []
    assert isa.check_together([]) == ["a system has at least one accelerator"]
    assert isa.check_together([FIRST] * 9) == ["9 accelerators: a system has at most 8"]


@pytest.mark.parametrize(
    ("second", "fault"),
    [
        (
            SECOND.replace(name="v3_8"),
            "v3_8: two accelerators of one system have this name; give one another `name`",
        ),
        (moved(id=0), "v4_16: dma_config.id: 0 is the DMA of v3_8 too"),
        (
            moved(address=0x40408000),
            "v4_16: dma_config.address: 0x40408000 is not a multiple of 0x10000, the range of each DMA "
            "in a system of several",
        ),
        (
            moved(output_address=0x1600FFF0),
            "v4_16: dma_config.outputAddress: 65536 bytes from 0x1600fff0 overlap what lies at "
            "inputAddress of v3_8; every accelerator has a DMA and windows of its own",
        ),
        (
            SECOND.replace(stream_width=64),
            "v4_16: stream_width: 64 bits, v3_8 has 32: they share memory ports, which have one width",
        ),
        (
            moved(scatter_gather=True),
            "v4_16: dma_config.scatterGather: v4_16 has it and v3_8 has not: the driver's runtime "
            "is compiled for one kind of DMA; set it alike",
        ),
        (
            moved(coherent=True),
            "v4_16: dma_config.coherent: v4_16 has it and v3_8 has not: they share memory ports, which look "
            "into the caches or do not; set it alike",
        ),
    ],
)
def test_what_cannot_share_a_system(second: AcceleratorSpec, fault: str) -> None:
    assert fault in isa.check_together([FIRST, second])
    assert isa.check_together([FIRST, second])[0] == fault


def test_what_placing_cannot_mend_is_an_error() -> None:
    with pytest.raises(SpecError, match="they share memory ports"):
        isa.place([FIRST, SECOND.replace(stream_width=64)])
