"""The SoC between registers is whole Verilog, with every port of the SoC connected."""

from __future__ import annotations

import pytest

from axiloom import isa
from axiloom.boards.ecp5.enclosure import TOP, enclose
from axiloom.hw.rtl_files.lint import lint


@pytest.mark.slow
def test_every_port_is_connected() -> None:
    sources = enclose(isa.builtin("v1", 4))
    text = "".join(text for _, text in sources)
    faults = [
        line for line in lint(text, TOP) if "PINMISSING" in line or "WIDTH" in line or "PINNOTFOUND" in line
    ]
    assert faults == []
