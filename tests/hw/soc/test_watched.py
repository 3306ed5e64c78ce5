"""What watches channels stands in the SoC of a simulation, and in no other."""

from __future__ import annotations

import re
from pathlib import Path

from axiloom import isa
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.hw.verilog import emit as verilog
from axiloom.isa.contract.interfaces import CHANNELS, PORT_CONTROL, PORT_IN, PORT_MASTER, PORT_OUT

EXAMPLES = Path(__file__).parents[3] / "examples" / "hardware"


def watched(text: str) -> list[tuple[int, str]]:
    """Port and channel of each watch."""
    found = re.findall(r"axl_channel #\((.*?)\)\s*\w+ \(", text, re.DOTALL)
    value = lambda part, name: int(re.search(rf"\.{name}\((?:32'd)?(\d+)\)", part)[1])  # noqa: E731
    return sorted((value(part, "PORT"), CHANNELS[value(part, "CHANNEL")]) for part in found)


def test_both_streams_of_an_accelerator_are_watched() -> None:
    spec = isa.builtin("v1", 4)
    assert watched(verilog.emit(spec, watched=True)) == [(PORT_IN, "t"), (PORT_OUT, "t")]
    assert "axl_" not in verilog.emit(spec)


def test_all_channels_of_a_users_module_are_watched() -> None:
    folder = EXAMPLES / "vadd_m_axi"
    (file,) = folder.glob("*.json")
    spec = isa.load(file)
    rtl = UserRtl(sorted(folder.glob("*.v")), file.stem, spec.link.rtl)
    text = verilog.emit(spec, user_rtl=rtl, watched=True)
    assert watched(text) == [
        (port, channel) for port in (PORT_CONTROL, PORT_MASTER) for channel in sorted(CHANNELS[1:])
    ]
    assert all(name in text for name in ("axl_registers", "axl_writes", "axl_reset"))
    assert "axl_" not in verilog.emit(spec, user_rtl=rtl)
