"""The printed Verilog: ports of the contract, the same bytes every time, clean, and equal to Yosys' own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Fragment, Module, Shape, signed, unsigned
from amaranth.lib.memory import Memory

from axiloom import isa
from axiloom.base.errors import BuildError
from axiloom.hw.dma.axi_dma import AxiDma
from axiloom.hw.dma.registers import ChannelRegisters
from axiloom.hw.dma.s2mm import S2mm
from axiloom.hw.rtl_files import yosys
from axiloom.hw.rtl_files.lint import lint
from axiloom.hw.verilog import emit as verilog
from axiloom.hw.verilog.names import plain_names

STREAM = {"tdata": 32, "tvalid": 1, "tready": 1, "tlast": 1}
LITE = """awaddr:10 awprot:3 awvalid:1 awready:1 wdata:32 wstrb:4 wvalid:1 wready:1 bresp:2 bvalid:1 bready:1
    araddr:10 arprot:3 arvalid:1 arready:1 rdata:32 rresp:2 rvalid:1 rready:1"""
READ = """araddr:32 arlen:8 arsize:3 arburst:2 arprot:3 arcache:4 arvalid:1 arready:1
    rdata:32 rresp:2 rlast:1 rvalid:1 rready:1"""
WRITE = """awaddr:32 awlen:8 awsize:3 awburst:2 awprot:3 awcache:4 awvalid:1 awready:1
    wdata:32 wstrb:4 wlast:1 wvalid:1 wready:1 bresp:2 bvalid:1 bready:1"""


def prefixed(prefix: str, signals: str | dict[str, int]) -> dict[str, int]:
    if isinstance(signals, str):
        signals = {name: int(width) for name, width in (s.split(":") for s in signals.split())}
    return {f"{prefix}_{name}": width for name, width in signals.items()}


DEBUG = {"debug_compute": 1, "debug_error": 4}
PORTS = {
    "soc": {
        "aclk": 1,
        "aresetn": 1,
        **prefixed("s_axi_lite", LITE),
        **prefixed("m_axi_mm2s", READ),
        **prefixed("m_axi_s2mm", WRITE),
        "mm2s_introut": 1,
        "s2mm_introut": 1,
        "debug_idle": 1,
        **prefixed("debug_in", STREAM),
        **prefixed("debug_out", STREAM),
        **DEBUG,
        "debug_mm2s_busy": 1,
        "debug_s2mm_busy": 1,
    },
    "accelerator": {
        "aclk": 1,
        "aresetn": 1,
        **prefixed("s_axis", STREAM),
        **prefixed("m_axis", STREAM),
        **DEBUG,
        "debug_busy": 1,
    },
}


def ports_of(text: str, module: str) -> dict[str, int]:
    header = re.search(rf"^module {module} \(\n(.*?)^\);", text, re.MULTILINE | re.DOTALL)
    assert header, f"no module {module}"
    declared = re.findall(r"^  (?:input|output) +(?:wire|reg) +(?:\[(\d+):0\] )?(\w+)", header[1], re.M)
    return {name: int(high or 0) + 1 for high, name in declared}


@pytest.mark.every(2)
@pytest.mark.parametrize("top", ["soc", "accelerator"])
def test_ports_and_banner(top: str) -> None:
    spec = isa.builtin("v3_4")
    text = verilog.emit(spec, top)
    assert list(ports_of(text, f"axiloom_{top}").items()) == list(PORTS[top].items())
    banner = text[: text.index("module")]
    assert banner.startswith("// axiloom ")
    assert f"specification v3_4, configuration {verilog.config_hash(spec)}" in banner
    assert f"axiloom_{top}" == re.findall(r"^module (\w+)", text, re.MULTILINE)[0]


def test_configuration_hash_follows_the_specification() -> None:
    spec = isa.builtin("v3_4")
    assert verilog.config_hash(spec) == verilog.config_hash(isa.builtin("v3_4"))
    assert verilog.config_hash(spec) != verilog.config_hash(spec.replace(macs=4))
    assert verilog.config_hash(spec) != verilog.config_hash(isa.builtin("v3_4", encoding="literals"))


@pytest.mark.slow
def test_the_same_bytes_in_another_process() -> None:
    """Whatever the order of sets and dicts is there; that of this process is another."""
    program = (
        "from axiloom import isa; from axiloom.hw.verilog import emit; "
        "print(end=emit.emit(isa.builtin('v2_4')))"
    )
    here = os.environ.get("PYTHONHASHSEED")
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "1" if here == "0" else "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == verilog.emit(isa.builtin("v2_4"))


@pytest.mark.slow
def test_names_are_plain_and_nothing_is_left_of_the_tools() -> None:
    text = verilog.emit(isa.builtin("v3_4"))
    code = text[text.index("module") :]
    assert "\\" not in code
    assert "__" not in code
    assert "$auto" not in code
    assert "(*" not in code.replace("(* no_rw_check = 32'd1 *) reg ", "")
    assert "/*" not in code


LINTED = {
    "v1_4": isa.builtin("v1_4"),
    "v4_16": isa.builtin("v4_16"),
    "v3_8 of int8": isa.builtin("v3_8", data_type="int8"),
    "v3_8 of int16": isa.builtin("v3_8", data_type="int16"),
    "64 bits, descriptors": isa.revise(
        isa.builtin("v2_4"), stream_width=64, dma=replace(isa.builtin("v2_4").link.dma, scatter_gather=True)
    ),
    "128 bits, requantised": isa.revise(isa.builtin("v3_4", data_type="int8", post=True), stream_width=128),
    "v4_16, requantised": isa.builtin("v4_16", data_type="int8", post=True),
}


@pytest.mark.every(4)
@pytest.mark.parametrize("name", LINTED)
def test_lint_is_clean(name: str) -> None:
    for top in ("soc", "accelerator"):
        assert lint(verilog.emit(LINTED[name], top), f"axiloom_{top}") == []


def test_golden_s2mm(golden: Callable[[str, str], None]) -> None:
    golden(verilog.convert(S2mm(), "s2mm"), "s2mm.v")


def test_golden_registers(golden: Callable[[str, str], None]) -> None:
    golden(verilog.convert(ChannelRegisters(26, alignment=4), "channel_registers"), "channel_registers.v")


@pytest.mark.parametrize("shape", [unsigned(5), signed(7)])
def test_memories_are_written_as_amaranth_writes_them(shape: Shape) -> None:
    """While it prints, `verilog` puts a function of its own in the place of a private one, for speed only."""

    def text() -> str:
        m = Module()
        m.submodules.memory = memory = Memory(shape=shape, depth=3, init=[1, -2 if shape.signed else 2])
        port = memory.read_port()
        ports = {"data": (port.data, None), "addr": (port.addr, None)}
        return str(rtlil.convert_fragment(Fragment.get(m, None), ports, "top", emit_src=False)[0])

    theirs = rtlil.ModuleEmitter.emit_memory
    with verilog._quick_memories():
        assert rtlil.ModuleEmitter.emit_memory is not theirs
        ours = text()
    assert rtlil.ModuleEmitter.emit_memory is theirs
    assert ours == text()
    assert "$meminit_v2" in ours


@pytest.mark.slow
def test_what_yosys_prints_is_there_too() -> None:
    """The same modules and ports; not tidied."""
    spec = isa.builtin("v1_4")
    raw, tidied = (verilog.emit(spec, "accelerator", readable=readable) for readable in (False, True))
    assert raw.splitlines()[:2] == tidied.splitlines()[:2]
    ports = ports_of(tidied, "axiloom_accelerator")
    assert all(re.search(rf"^  (in|out)put (\[\d+:0\] )?{name};", raw, re.MULTILINE) for name in ports)
    assert "always @*" in raw
    assert len(raw) > 2 * len(tidied)


def test_refuses_another_top() -> None:
    with pytest.raises(BuildError, match=r"^top must be one of soc, accelerator, not 'chip'$"):
        verilog.emit(isa.builtin("v1_4"), "chip")


@pytest.mark.synth
@pytest.mark.slow
def test_tidy_is_proven_equal_to_what_yosys_prints(tmp_path: Path) -> None:
    """A formal proof, register by register, that making it readable changed nothing."""
    raw = verilog.convert(AxiDma(scatter_gather=True), "dma", readable=False)
    (tmp_path / "gold.v").write_text(plain_names(raw))
    (tmp_path / "gate.v").write_text(verilog.convert(AxiDma(scatter_gather=True), "dma"))
    script = "".join(
        f"read_verilog {side}.v; hierarchy -top dma; proc; flatten; memory_dff; memory_collect; opt_clean; "
        f"rename dma {side}; design -stash {side}\n"
        for side in ("gold", "gate")
    )
    script += "".join(f"design -copy-from {side} -as {side} {side}\n" for side in ("gold", "gate"))
    script += (
        "memory_map; opt_expr; opt_clean; equiv_make gold gate equiv; cd equiv; opt_clean; equiv_struct; "
        "equiv_simple -undef; equiv_induct -undef; equiv_status -assert\n"
    )
    (tmp_path / "proof.ys").write_text(script)
    subprocess.run(yosys.command("proof.ys"), cwd=tmp_path, check=True)


def test_most_signals_have_names() -> None:
    text = verilog.convert(AxiDma(), "dma")
    nameless = re.findall(r"^  wire (?:\[\d+:0\] )?_\d+;", text, re.MULTILINE)
    named = re.findall(r"^  (?:wire|reg ) ?(?:\[\d+:0\] )?[a-z]\w*", text, re.MULTILINE)
    assert len(nameless) < len(named) / 4
