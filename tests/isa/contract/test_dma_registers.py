"""The DMA's map against the numbers of PG021, which stand here a second time; docs/driver.md against it."""

from __future__ import annotations

import itertools
import re

import pytest
from tests.pages import section

from axiloom.isa.contract.dma_registers import DMACR, DMASR, REGISTERS, Channel, registers

DIRECT = {  # PG021, "Direct Register Mode Register Address Map"
    "MM2S_DMACR": 0x00, "MM2S_DMASR": 0x04, "MM2S_SA": 0x18, "MM2S_LENGTH": 0x28,
    "S2MM_DMACR": 0x30, "S2MM_DMASR": 0x34, "S2MM_DA": 0x48, "S2MM_LENGTH": 0x58,
}  # fmt: skip
SCATTER_GATHER = {  # "Scatter/Gather Mode Register Address Map"
    "MM2S_DMACR": 0x00, "MM2S_DMASR": 0x04, "MM2S_CURDESC": 0x08, "MM2S_TAILDESC": 0x10,
    "S2MM_DMACR": 0x30, "S2MM_DMASR": 0x34, "S2MM_CURDESC": 0x38, "S2MM_TAILDESC": 0x40,
}  # fmt: skip


@pytest.mark.parametrize(("scatter_gather", "expected"), [(False, DIRECT), (True, SCATTER_GATHER)])
def test_offsets_are_those_of_the_core(scatter_gather: bool, expected: dict[str, int]) -> None:
    found = {
        one.name_of(channel): one.at(channel)
        for channel in Channel
        for one in registers(scatter_gather)
        if not one.extension
    }
    assert found == expected


def test_what_is_ours_lies_where_the_core_has_nothing() -> None:
    ours = {one.at(channel) for channel in Channel for one in REGISTERS if one.extension}
    assert ours == {0x20, 0x50}
    assert not ours & {*DIRECT.values(), *SCATTER_GATHER.values(), 0x0C, 0x14, 0x1C, 0x2C, 0x3C, 0x44, 0x4C}


def test_reset_values_are_those_of_the_core() -> None:
    assert (DMACR.reset, DMASR.reset) == (0x0001_0002, 0x0000_0001)  # the pages of DMACR and DMASR
    assert DMASR.errors == 1 << 4 | 1 << 5 | 1 << 6 | 1 << 8 | 1 << 9 | 1 << 10


def test_no_two_fields_share_a_bit() -> None:
    for register in REGISTERS:
        fields = sorted(register.fields, key=lambda one: one.low)
        assert list(register.fields) == fields, register.name
        assert sum(one.mask for one in fields) == sum(1 << bit for one in fields for bit in _bits(one.mask))
        assert all(a.low + a.width <= b.low for a, b in itertools.pairwise(fields)), register.name


def _bits(mask: int) -> list[int]:
    return [bit for bit in range(32) if mask >> bit & 1]


def test_the_page_of_the_dma_has_the_same_map() -> None:
    text = section("driver", "The DMA")
    rows = re.findall(r"^\| (0x\w\w) \|([^|]*)\|([^|]*)\| (.*) \|$", text, re.MULTILINE)
    table = {int(offset, 16): (direct.strip(), sg.strip(), bits) for offset, direct, sg, bits in rows}
    for register in REGISTERS:
        direct, sg, bits = table[register.offset]
        names = ", ".join(register.documented) if register.documented[0] else register.name
        assert (direct, sg) == (names if register.direct else "", names if register.scatter_gather else "")
        for field in register.fields:
            place = str(field.low) if field.width == 1 else f"{field.low + field.width - 1}:{field.low}"
            assert field.name == "Reserved" or f"{place} {field.name}" in bits, (register.name, field.name)
