"""Packaged cores: ``component.xml`` of both standards names a core's files and its top module."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from axiloom.base.errors import BuildError, UsageError
from axiloom.explore.asked import Asked
from axiloom.hw.rtl_files.packaged import packaged

ROWMUL = Path(__file__).parents[3] / "examples" / "verilog_accelerator" / "rowmul.v"
FILES = """<x:fileSets>
    <x:fileSet><x:name>of_synthesis</x:name>
      <x:file><x:name>hdl/defines.vh</x:name><x:fileType>verilogSource</x:fileType>
        <x:isIncludeFile>true</x:isIncludeFile></x:file>
      <x:file><x:name>hdl/rowmul.v</x:name><x:fileType>verilogSource-2005</x:fileType></x:file>
      <x:file><x:name>doc/changes.txt</x:name><x:fileType>text</x:fileType></x:file>
    </x:fileSet>
    <x:fileSet><x:name>of_bench</x:name>
      <x:file><x:name>hdl/bench.v</x:name><x:fileType>verilogSource</x:fileType></x:file>
    </x:fileSet>
  </x:fileSets>"""
OF_2009 = f"""<x:component xmlns:x="http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009">
  <x:model><x:views>
    <x:view><x:name>simulation</x:name><x:envIdentifier>:vivado.xilinx.com:simulation</x:envIdentifier>
      <x:modelName>bench</x:modelName>
      <x:fileSetRef><x:localName>of_bench</x:localName></x:fileSetRef></x:view>
    <x:view><x:name>synthesis</x:name><x:envIdentifier>verilogSource:vivado.xilinx.com:synthesis</x:envIdentifier>
      <x:modelName>rowmul</x:modelName>
      <x:fileSetRef><x:localName>of_synthesis</x:localName></x:fileSetRef></x:view>
  </x:views></x:model>
  {FILES}
</x:component>"""
OF_2014 = f"""<x:component xmlns:x="http://www.accellera.org/XMLSchema/IPXACT/1685-2014">
  <x:model>
    <x:views><x:view><x:name>rtl</x:name><x:envIdentifier>::synthesis</x:envIdentifier>
      <x:componentInstantiationRef>core</x:componentInstantiationRef></x:view></x:views>
    <x:instantiations><x:componentInstantiation><x:name>core</x:name><x:moduleName>rowmul</x:moduleName>
      <x:fileSetRef><x:localName>of_synthesis</x:localName></x:fileSetRef>
    </x:componentInstantiation></x:instantiations>
  </x:model>
  {FILES}
</x:component>"""


def core(folder: Path, text: str = OF_2009) -> Path:
    (folder / "hdl").mkdir()
    shutil.copy(ROWMUL, folder / "hdl")
    (folder / "component.xml").write_text(text)
    return folder / "component.xml"


@pytest.mark.parametrize("text", [OF_2009, OF_2014])
def test_files_and_top_are_those_of_the_synthesis_view(text: str, tmp_path: Path) -> None:
    file = core(tmp_path, text)
    assert packaged(file) == ((tmp_path / "hdl" / "rowmul.v",), "rowmul")
    asked = Asked(rtl=(file,))
    assert (asked.rtl, asked.top) == ((tmp_path / "hdl" / "rowmul.v",), "rowmul")
    assert Asked(rtl=(file,), top="other").top == "other"
    with pytest.raises(UsageError, match="give it alone"):
        Asked(rtl=(file, ROWMUL), top="rowmul")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<x:component ", "<x:design ", "is not XML: mismatched tag"),
        (OF_2009, "<design/>", "is a <design>; expected is an IP-XACT <component>"),
        ("hdl/rowmul.v", "hdl/other.v", "names files that are not there: .*other.v"),
        ("verilogSource-2005", "xci", "has no view for synthesis"),
        (
            "<x:file><x:name>hdl/rowmul.v</x:name><x:fileType>verilogSource-2005</x:fileType></x:file>",
            '<x:subCoreRef><x:componentRef x:vendor="a" x:name="fifo"/></x:subCoreRef>',
            r"is made of another core \(fifo\)",
        ),
    ],
)
def test_what_is_no_core_with_its_files(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in OF_2009
    with pytest.raises(BuildError, match=message):
        packaged(core(tmp_path, OF_2009.replace(old, new)))
