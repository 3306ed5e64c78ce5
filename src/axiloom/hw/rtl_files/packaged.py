"""A packaged core: the ``component.xml`` of IP-XACT (IEEE 1685-2009 and 1685-2014) beside its files."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path

from axiloom.base.errors import BuildError, UsageError
from axiloom.base.files import read_text

ENDING = ".xml"
LANGUAGES = ("verilogSource", "systemVerilogSource", "vhdlSource")
"""How the type of a file that is read begins; a standard's year may follow."""
_SYNTHESIS, _IMPLEMENTATION = ":synthesis", "implementation"


def sources(files: tuple[Path, ...], top: str | None) -> tuple[tuple[Path, ...], str | None]:
    """Files of RTL and their top module, as they are, or those of the one ``component.xml`` that is there.

    Raises UsageError for another file beside that, and as :func:`packaged`.
    """
    if not any(file.suffix == ENDING for file in files):
        return files, top
    if len(files) > 1:
        raise UsageError(f"{', '.join(map(str, files))}: a packaged core has all its files: give it alone")
    files, own = packaged(files[0])
    return files, top or own


def packaged(path: Path) -> tuple[tuple[Path, ...], str]:
    """The files of a core's synthesis view, without those that others include, and its top module.

    Raises BuildError for what is no such core, and for files that are not there.
    """
    try:
        root = ET.fromstring(read_text(path, BuildError))
    except ET.ParseError as error:
        raise BuildError(f"{path}: is not XML: {error}") from None
    for element in root.iter():  # two standards, two namespaces, the same names
        element.tag = str(element.tag).rpartition("}")[2]
    if root.tag != "component":
        raise BuildError(f"{path}: is a <{root.tag}>; expected is an IP-XACT <component>")
    for top, sets in _views(root):
        wanted = [item for item in root.iterfind("fileSets/fileSet") if item.findtext("name") in sets]
        files = tuple(path.parent / name for name in _files(wanted))
        if files:
            if missing := [str(file) for file in files if not file.is_file()]:
                raise BuildError(f"{path}: names files that are not there: {', '.join(missing)}")
            return files, top
        if core := next((item for element in wanted for item in element.iter("subCoreRef")), None):
            said = {key.rpartition("}")[2]: value for item in core for key, value in item.items()}
            name = said.get("name", "which it does not name")
            raise BuildError(f"{path}: is made of another core ({name}), whose files are not in it")
    raise BuildError(f"{path}: has no view for synthesis with a module and its files in Verilog or VHDL")


def _views(root: ET.Element) -> Iterator[tuple[str, Sequence[str | None]]]:
    """Top module and sets of files of each view for synthesis."""
    instantiations = {item.findtext("name"): item for item in root.iter("componentInstantiation")}  # of 2014
    for view in root.iter("view"):
        tools = [item.text or "" for item in view.iterfind("envIdentifier")]
        if not any(_SYNTHESIS in tool for tool in tools) or _IMPLEMENTATION in (view.findtext("name") or ""):
            continue
        source = instantiations.get(view.findtext("componentInstantiationRef"), view)
        top = source.findtext("modelName") or source.findtext("moduleName")
        if top:
            yield top, [item.findtext("localName") for item in source.iterfind("fileSetRef")]


def _files(sets: Sequence[ET.Element]) -> Iterator[str]:
    for file in (file for item in sets for file in item.iterfind("file")):
        kinds = [kind.text or "" for kind in file.iterfind("fileType")]
        if file.findtext("isIncludeFile") != "true" and any(kind.startswith(LANGUAGES) for kind in kinds):
            yield file.findtext("name") or ""
