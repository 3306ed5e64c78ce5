"""``axiloom prove axi --rtl``: other people's Verilog, faults planted in it, and their replays."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from axiloom.cli import main

EXAMPLES = Path(__file__).parents[3] / "examples" / "axi_ports"
pytestmark = pytest.mark.synth


def prove(file: Path, folder: Path, *words: str) -> tuple[int, dict[str, dict[str, object]]]:
    """Exit code, and the verdicts by port and rule."""
    result = folder / "verdicts.json"
    code = main(
        [
            "prove",
            "axi",
            "--rtl",
            str(file),
            "--json",
            str(result),
            "--replay",
            str(folder / "replay"),
            *words,
        ]
    )
    verdicts = json.loads(result.read_text())["verdicts"]
    return code, {f"{one['port']}.{one['name']}": one for one in verdicts}


def test_a_reader_keeps_all_rules(tmp_path: Path) -> None:
    code, verdicts = prove(EXAMPLES / "fetch.v", tmp_path)
    assert code == 0
    rules = {name: one for name, one in verdicts.items() if one["answer"] == "holds"}
    assert {"m_axi.ar_held", "m_axi.ar_stable", "m_axi.ar_4k", "m_axi.ar_length", "out.t_stable"} <= set(
        rules
    )
    assert all(one["bound"] is None for one in rules.values())
    for cover in ("m_axi.ar_page", "m_axi.ar_stalls", "m_axi.r_stalls", "m_axi.r_last", "out.t_last"):
        assert verdicts[cover]["answer"] == "seen"
    assert verdicts["m_axi.ar_two"]["answer"] == "never seen"  # it waits for the data of each burst


MUTANTS = {
    "ar_held": ("if (m_axi_arvalid && m_axi_arready) m_axi_arvalid <= 0;", "m_axi_arvalid <= 0;"),
    "ar_stable": ("left != 0 && !waits)", "left != 0 && (!waits || m_axi_arvalid))"),
    "ar_4k": ("(to_page < 10'd15) ? to_page[3:0] : 4'd15", "4'd15"),
    "ar_reset": ("waits         <= 0;\n            m_axi_arvalid <= 0;", "waits         <= 0;"),
    "ar_length": ("m_axi_arburst = 2'd1", "m_axi_arburst = 2'd3"),
    "ar_size": ("m_axi_arsize  = 3'd2", "m_axi_arsize  = 3'd3"),
    "ar_wrap": ("m_axi_araddr  <= {address, 2'd0}", "m_axi_araddr  <= {address, 2'd2}"),
    "t_held": ("out_tvalid   = m_axi_rvalid", "out_tvalid   = m_axi_rvalid && !go"),
    "t_stable": ("out_tdata    = m_axi_rdata", "out_tdata    = m_axi_rdata ^ from"),
}


QUICK = ("ar_held", "ar_4k", "t_stable")


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize(
    "rule", [pytest.param(one, marks=[pytest.mark.slow] * (one not in QUICK)) for one in MUTANTS]
)
def test_a_fault_is_found(rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = MUTANTS[rule]
    text = (EXAMPLES / "fetch.v").read_text()
    assert old in text
    text = text.replace(old, new)
    if rule == "ar_wrap":
        text = text.replace("m_axi_arburst = 2'd1", "m_axi_arburst = 2'd2")
    (tmp_path / "fetch.v").write_text(text)
    code, verdicts = prove(tmp_path / "fetch.v", tmp_path, "--rule", rule)
    assert code == 1
    (verdict,) = verdicts.values()
    assert verdict["answer"] == "violated"
    assert str(verdict["text"]) in capsys.readouterr().out


@pytest.mark.slow
def test_a_replay_fails_on_the_fault_and_passes_on_the_mended_module(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, verdicts = prove(EXAMPLES / "gpio.v", tmp_path, "--rule", "r_stable")
    assert code == 1
    said = capsys.readouterr().out
    assert "what comes with RVALID does not change until RREADY (IHI 0022 A3.2.1): not so in cycle" in said
    assert "does not show it" not in said
    folder = Path(str(verdicts["S_AXI.r_stable"]["replay"]))
    assert (folder / "waves.vcd").stat().st_size > 1000

    def replay() -> int:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            str(folder / "test_replay.py"),
        ]
        return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode

    assert replay() == 1
    mended = (folder / "gpio.v").read_text()
    mended = mended.replace("reg chosen;", "reg [31:0] read;")
    mended = mended.replace("chosen ? PINS_IN : PINS_OUT;", "read;")
    mended = mended.replace(
        "chosen       <= S_AXI_ARADDR[2];", "read <= S_AXI_ARADDR[2] ? PINS_IN : PINS_OUT;"
    )
    (folder / "gpio.v").write_text(mended)
    assert replay() == 0
    code, _ = prove(folder / "gpio.v", tmp_path)
    assert code == 0


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (["--rtl", "none.v"], 5, "user RTL none.v: no such file"),
        (["--top", "gpio"], 2, "--top: is about your Verilog: give --rtl FILE too"),
        (
            ["stream_skid", "--rtl", str(EXAMPLES / "gpio.v")],
            2,
            "is about Axiloom's modules, not about --rtl",
        ),
        (["stream_skit"], 2, "no module `stream_skit`; did you mean `stream_skid`?"),
        (["lite_slave", "--stream-width", "64"], 2, "--stream-width: lite_slave has no streams"),
        (["--list", "--depth", "9"], 2, "--depth: --list names the modules and proves nothing"),
        (["stream_skid", "--rule", "ar_4k"], 2, "--rule ar_4k: no port has a rule of that name"),
        (["--rtl", str(EXAMPLES / "gpio.v"), "--top", "gpoi"], 5, "gpoi"),
    ],
)
def test_refused(words: list[str], code: int, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "axi", *words]) == code
    assert why in capsys.readouterr().err
