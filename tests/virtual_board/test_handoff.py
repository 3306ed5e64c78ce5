"""What PYNQ reads of a design: written, read back, and a design of somebody else's Vivado."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from axiloom import isa
from axiloom.base.errors import UsageError
from axiloom.cosim.system import System
from axiloom.isa import AcceleratorSpec, place
from axiloom.virtual_board import handoff
from axiloom.virtual_board.address_map import AddressMap, InFabric, own_design

SPEC = isa.builtin("v1", 4)
LEDS = ("leds=axi_gpio",)


class Nothing:
    """A fabric that is not asked."""

    def read(self, address: int) -> int:
        raise NotImplementedError(address)

    def write(self, address: int, value: int) -> None:
        raise NotImplementedError(address, value)


def system(*specs: AcceleratorSpec, ip: Sequence[str] = ()) -> System:
    return System(specs or SPEC, board="pynq-z2", ip=ip)


def written(folder: Path, system: System) -> list[Path]:
    return handoff.write(folder, "mine", system.blocks, system.profile, system.profile.part)


def test_the_files_say_the_same(tmp_path: Path) -> None:
    blocks = system(ip=LEDS).blocks
    hwh, bit, xsa = written(tmp_path, system(ip=LEDS))
    back = handoff.read(hwh)
    assert [(b.name, b.vlnv, b.base, b.size) for b in back] == [
        (b.name, b.vlnv, b.base, b.size) for b in blocks
    ]
    assert back[0].parameters["c_include_sg"] == "0"
    offsets = {r.get("NAME"): r[0].get("VALUE") for r in fromstring(hwh.read_text()).iter("REGISTER")}
    assert offsets["MM2S_DMASR"] == "0x4"
    assert offsets["S2MM_LENGTH"] == "0x58"
    with zipfile.ZipFile(xsa) as archive:
        assert archive.read("mine.hwh") == hwh.read_bytes()
        assert archive.read("mine.bit") == bit.read_bytes()
    again = written(tmp_path / "again", system(ip=LEDS))
    assert [path.read_bytes() for path in again] == [hwh.read_bytes(), bit.read_bytes(), xsa.read_bytes()]


def test_an_mpsoc_s_blocks_are_behind_its_own_port() -> None:
    mpsoc = System((SPEC,), board="zcu104", ip=LEDS)
    blocks = own_design(mpsoc)
    assert [block.base for block in blocks] == [0xA0000000, 0xA0010000]
    table = AddressMap.of(blocks, mpsoc, Nothing())
    behind, at = table.at(0xA0000030, 4)
    assert isinstance(behind, InFabric)
    assert (behind.base, at) == (SPEC.link.dma.address, 0x30)
    leds, _ = table.at(0xA0010000, 16)
    assert isinstance(leds, InFabric)
    assert leds.base == mpsoc.at("leds").base


def test_the_bitstream_is_as_a_board_takes_it_and_differs_with_the_design(tmp_path: Path) -> None:
    _, bit, _ = written(tmp_path, system())
    _, other, _ = written(tmp_path / "other", system(ip=LEDS))
    assert bit.read_bytes() != other.read_bytes()
    data = bit.read_bytes()
    at = data.index(b"e", data.index(b"c\0")) + 1
    size = int.from_bytes(data[at : at + 4], "big")
    content = data[at + 4 :]
    assert size == len(content)
    assert size % 4 == 0
    assert handoff.design_of(handoff.swapped(content)) == "mine"
    assert handoff.design_of(b"\xff" * 100) is None
    assert b"xc7z020clg400-1\0" in data


VIVADO = """<?xml version="1.0"?>
<EDKSYSTEM><SYSTEMINFO NAME="theirs"/><MODULES>
<MODULE FULLNAME="/ps7" INSTANCE="ps7" MODTYPE="processing_system7"
 VLNV="xilinx.com:ip:processing_system7:5.5">
 <PARAMETERS><PARAMETER NAME="PCW_FPGA0_PERIPHERAL_FREQMHZ" VALUE="125"/></PARAMETERS>
 <MEMORYMAP>
  <MEMRANGE BASEVALUE="0x41E10000" HIGHVALUE="0x41E1FFFF" INSTANCE="hier_dma_b" MEMTYPE="REGISTER"/>
  <MEMRANGE BASEVALUE="0x41E00000" HIGHVALUE="0x41E0FFFF" INSTANCE="hier_dma_a" MEMTYPE="REGISTER"/>
  <MEMRANGE BASEVALUE="0x41600000" HIGHVALUE="0x4160FFFF" INSTANCE="iic" MEMTYPE="REGISTER"/>
  <MEMRANGE BASEVALUE="0x00000000" HIGHVALUE="0x1FFFFFFF" INSTANCE="ps7" MEMTYPE="MEMORY"/>
 </MEMORYMAP></MODULE>
<MODULE FULLNAME="/hier/dma_a" INSTANCE="hier_dma_a" MODTYPE="axi_dma" VLNV="xilinx.com:ip:axi_dma:7.1">
 <PARAMETERS><PARAMETER NAME="c_include_sg" VALUE="0"/><PARAMETER NAME="c_sg_length_width" VALUE="{bits}"/>
 </PARAMETERS></MODULE>
<MODULE FULLNAME="/hier/dma_b" INSTANCE="hier_dma_b" MODTYPE="axi_dma" VLNV="xilinx.com:ip:axi_dma:7.1"/>
<MODULE FULLNAME="/iic" INSTANCE="iic" MODTYPE="axi_iic" VLNV="xilinx.com:ip:axi_iic:2.0"/>
</MODULES></EDKSYSTEM>
"""


def test_a_design_of_vivado_s_stands_at_its_own_addresses(tmp_path: Path) -> None:
    file = tmp_path / "theirs.hwh"
    file.write_text(VIVADO.format(bits=26))
    blocks = handoff.read(file)
    both = system(*place([SPEC, isa.builtin("v1", 8)]))
    table = AddressMap.of(blocks, both, Nothing())
    assert [block.name for block, _ in table.blocks][:3] == ["iic", "hier/dma_a", "hier/dma_b"]
    behind, at = table.at(0x41E10030, 0x10)
    assert isinstance(behind, InFabric)
    assert (behind.base, at) == (both.devices[1].link.dma.address, 0x30)
    with pytest.raises(UsageError, match=r"iic \(xilinx.com:ip:axi_iic:2.0\) at 0x41600000 is not simulated"):
        table.at(0x41600000, 4)
    with pytest.raises(UsageError, match=r"has 2 DMAs \(hier/dma_a, hier/dma_b\), and the simulated SoC 1"):
        AddressMap.of(blocks, system(), Nothing())
    file.write_text(VIVADO.format(bits=14))
    with pytest.raises(UsageError, match="the design has c_sg_length_width 14, the simulated DMA of v1_4 26"):
        AddressMap.of(handoff.read(file), both, Nothing())
    several = ('NAME="c_include_sg" VALUE="0"', 'NAME="c_enable_multi_channel" VALUE="1"')
    file.write_text(VIVADO.format(bits=26).replace(*several))
    with pytest.raises(
        UsageError, match=r"c_enable_multi_channel 1, .* of v1_4 0: it has one channel each way"
    ):
        AddressMap.of(handoff.read(file), both, Nothing())
    copy = handoff.repair(file, tmp_path / "copy.hwh", both.profile)
    assert 'NAME="PSU__CRL_APB__PL0_REF_CTRL__ACT_FREQMHZ" VALUE="125"' in copy.read_text()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no xml", "no .hwh: syntax error"),
        ("<EDKSYSTEM/>", "no design with a processing system"),
        ('<A><MODULE INSTANCE="p" MODTYPE="zynq_ultra_ps_e"/></A>', "reaches no registers"),
        (
            '<A><MODULE INSTANCE="p" MODTYPE="processing_system7"><MEMRANGE MEMTYPE="REGISTER" INSTANCE="x" '
            'BASEVALUE="y" HIGHVALUE="z"/></MODULE></A>',
            "MEMRANGE of x: BASEVALUE and HIGHVALUE are no addresses",
        ),
    ],
)
def test_a_file_that_is_no_handoff_is_refused(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "bad.hwh"
    file.write_text(text)
    with pytest.raises(UsageError, match=says):
        handoff.read(file)
