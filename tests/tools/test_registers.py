"""What is printed of the DMA's map for other languages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tools import registers

from axiloom.isa.contract.dma_registers import DMACR, DMASR, REGISTERS, Channel


def test_no_file_differs_from_the_map() -> None:
    assert registers.stale() == [], "python -m tools.registers --write"


def test_a_file_that_differs_is_named_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(registers, "ROOT", tmp_path)
    for name in registers.FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    python = tmp_path / "sw/python/accelerator.py"
    python.write_text(f"before\n{registers.BEGIN}DMACR = 0x99\n{registers.END}after\n", encoding="utf-8")
    assert registers.main([]) == 1
    assert "sw/src/dma_registers.h: is not as isa/contract/dma_registers.py has it" in capsys.readouterr().out
    assert registers.main(["--write"]) == 0
    assert registers.main([]) == 0
    text = python.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "0x99" not in text
    with pytest.raises(ValueError, match="are wanted once, not 0 times"):
        registers.python_block("no marks")


def test_c_means_the_same_numbers(tmp_path: Path) -> None:
    """Through a compiler: it refuses the file unless each name has the map's value."""
    expected = {one.name: int(one) for one in Channel} | {one.name: one.offset for one in REGISTERS}
    expected |= {
        f"{register.name}_{field.name.upper()}": 1 << field.low
        for register in (DMACR, DMASR)
        for field in register.fields
        if field.name != "Reserved"
    }
    expected["DMASR_ERRORS"] = 0x770
    checks = "".join(f'_Static_assert({name} == {value}, "{name}");\n' for name, value in expected.items())
    source = tmp_path / "check.c"

    def compiled(checks: str) -> subprocess.CompletedProcess[str]:
        source.write_text(registers.c_header() + checks, encoding="utf-8")
        command = [sys.executable, "-m", "ziglang", "cc", "-c", "-o", str(tmp_path / "check.o"), str(source)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    done = compiled(checks)
    assert done.returncode == 0, done.stderr
    assert compiled(checks + '_Static_assert(LENGTH == 0x18, "");\n').returncode != 0


def test_verilog_has_each_register_of_each_channel() -> None:
    found = dict(re.findall(r"localparam \[9:0\] (\w+) = 10'h(\w+);", registers.verilog_header()))
    assert {name: int(value, 16) for name, value in found.items()} == {
        f"{channel.name}_{one.name}": channel + one.offset for channel in Channel for one in REGISTERS
    }
