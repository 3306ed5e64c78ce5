"""Waveforms: the right signals, in the window asked for, in virtual time; FST without libraries for it."""

from __future__ import annotations

import re
import struct
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from tests.some import slow

from axiloom import boards, isa
from axiloom.cosim.build import verilator
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System

SPEC = isa.builtin("v3_4")
PERIOD_PS = 10_000
DRIVERS = Path(__file__).parents[1] / "system" / "drivers"


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    board = boards.load(boards.DEFAULT)
    out = tmp_path_factory.mktemp("elf") / "right.elf"
    return compile_bare([DRIVERS / "right.c"], out, board=board, include=[DRIVERS])


def vcd(text: str) -> tuple[set[str], list[int], dict[str, list[tuple[int, str]]]]:
    """Names, times, and the changes of each name."""
    declared = re.findall(r"\$var \S+\s+\d+ (\S+) ([\w\[\]:]+)", text)
    ids: dict[str, str] = {}
    for code, name in declared:
        ids.setdefault(code, name)
    changes: dict[str, list[tuple[int, str]]] = {name: [] for name in ids.values()}
    times = []
    for line in text[text.index("$enddefinitions") :].splitlines():
        if line.startswith("#"):
            times.append(int(line[1:]))
        elif times and line[:1] in "01xz" and line[1:] in ids:
            changes[ids[line[1:]]].append((times[-1], line[0]))
        elif times and line[:1] == "b" and line.split()[1] in ids:
            changes[ids[line.split()[1]]].append((times[-1], line.split()[0][1:]))
    return {name for _, name in declared}, times, changes


@pytest.mark.parametrize("sim", [slow("verilator"), pytest.param("icarus", marks=pytest.mark.icarus)])
def test_a_vcd_shows_the_window_in_virtual_time(tmp_path: Path, elf: Path, sim: str) -> None:
    whole = Soc(System(SPEC, sim=sim)).run(elf).fabric
    begin, end = whole["cycles"] // 2, whole["cycles"]
    trace = tmp_path / "run.vcd"
    traced = Soc(System(SPEC, sim=sim, trace=trace, trace_window=(begin, end))).run(elf).fabric
    assert traced == whole  # looking changes nothing
    names, times, changes = vcd(trace.read_text())
    assert {"ctl_go", "s_axis_tdata", "m_axis_tvalid", "debug_in_tvalid"} <= names
    inside = [
        time for time in times if time >= begin * PERIOD_PS
    ]  # Icarus dumps all values once, at the start
    assert len(times) - len(inside) <= 2
    assert max(times) <= (end + 50) * PERIOD_PS
    now = [
        (time, int(value, 2)) for time, value in changes["now"] if "x" not in value and int(value, 2) > begin
    ]
    assert len(now) > 50
    offsets = {time - value * PERIOD_PS for time, value in now}
    assert len(offsets) == 1  # `now` and the waveform's time run together, jumps included
    assert any(b - a > 5 * PERIOD_PS for (a, _), (b, _) in pairwise(now))


def blocks(data: bytes) -> dict[int, list[bytes]]:
    """The blocks of an FST file by type (format: GTKWave, fstapi.c). All of the file must be blocks."""
    found: dict[int, list[bytes]] = {}
    at = 0
    while at < len(data):
        kind, size = data[at], int.from_bytes(data[at + 1 : at + 9], "big")
        found.setdefault(kind, []).append(data[at + 9 : at + 1 + size])
        at += 1 + size
    assert at == len(data)
    return found


def lz4_block(data: bytes) -> bytes:
    """Decompress by the rules of lz4_Block_format.md."""
    out = bytearray()
    at = 0

    def length(nibble: int) -> int:
        nonlocal at
        total = nibble
        while nibble == 15 or (total >= 15 and data[at - 1] == 255):
            nibble = 0
            total += data[at]
            at += 1
            if data[at - 1] != 255:
                break
        return total

    while at < len(data):
        token = data[at]
        at += 1
        literals = length(token >> 4)
        out += data[at : at + literals]
        at += literals
        if at == len(data):
            break
        distance = int.from_bytes(data[at : at + 2], "little")
        assert 0 < distance <= len(out)
        at += 2
        for _ in range(length(token & 15) + 4):
            out.append(out[-distance])
    return bytes(out)


@pytest.mark.slow
def test_an_fst_is_whole(tmp_path: Path, elf: Path) -> None:
    trace = tmp_path / "run.fst"
    end = Soc(System(SPEC)).run(elf).fabric["cycles"]
    begin = end // 2
    assert Soc(System(SPEC, trace=trace, trace_window=(begin, end))).run(elf).fabric["cycles"] == end
    found = blocks(trace.read_bytes())
    first, last = struct.unpack(">QQ", found[0][0][:16])  # FST_BL_HDR
    assert begin * PERIOD_PS <= first < last <= (end + 50) * PERIOD_PS
    (hierarchy,) = found[6]  # FST_BL_HIER_LZ4
    text = lz4_block(hierarchy[8:])
    assert len(text) == int.from_bytes(hierarchy[:8], "big")
    for name in (b"axiloom_tb", b"s_axis_tdata", b"m_axi_mm2s_araddr"):
        assert name in text


@pytest.mark.slow
def test_an_fst_of_a_window_in_which_the_hardware_stands_still(tmp_path: Path, elf: Path) -> None:
    """At the start only the CPU runs."""
    trace = tmp_path / "run.fst"
    Soc(System(SPEC, trace=trace, trace_window=(500, 600))).run(elf)
    found = blocks(trace.read_bytes())
    first, last = struct.unpack(">QQ", found[0][0][:16])
    assert first == last > 600 * PERIOD_PS


def test_our_lz4_gives_back_what_it_got(tmp_path: Path) -> None:
    source = tmp_path / "lz4.cpp"
    source.write_text(
        """
        #include <cstdio>
        #include <iterator>
        #include <string>
        #include "lz4.h"
        int main() {
            std::string in, out;
            for (int c; (c = std::getchar()) != EOF;) in.push_back(static_cast<char>(c));
            out.resize(LZ4_compressBound(in.size()));
            const int size = LZ4_compress_default(in.data(), &out[0], in.size(), out.size());
            std::fwrite(out.data(), 1, size, stdout);
        }
        """
    )
    verilator.compile_cxx(["-O1", f"-I{verilator.RTL / 'compat'}", source, "-o", tmp_path / "lz4"], "lz4")
    texts = [
        b"",
        b"a",
        b"abcdefghijklm",
        b"a" * 100_000,
        bytes(range(256)) * 700,
        b"wave " * 9 + bytes(70_000) + b"form",
    ]
    for text in texts:
        packed = subprocess.run([tmp_path / "lz4"], input=text, capture_output=True, check=True).stdout
        assert lz4_block(packed) == text
        assert len(packed) <= len(text) + len(text) // 255 + 16
    assert len(packed) < 500
