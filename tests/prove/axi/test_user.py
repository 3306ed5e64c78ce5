"""``axiloom prove axi --rtl``: other people's Verilog, faults planted in it, and their replays."""

from __future__ import annotations

import json
import re
import shutil
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
    (verdict,) = (one for one in verdicts.values() if one["answer"] != "seen")
    assert verdict["answer"] == "violated"
    assert str(verdict["text"]) in capsys.readouterr().out


@pytest.mark.slow
def test_a_replay_fails_on_the_fault_and_passes_on_the_mended_module(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, verdicts = prove(EXAMPLES / "gpio.v", tmp_path, "--rule", "r_stable", "--waves")
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
        (
            ["--top", "gpio"],
            2,
            "axiloom prove axi has no option `--top`, which is of `axiloom prove verilog`",
        ),
        (
            ["stream_skid", "--rtl", str(EXAMPLES / "gpio.v")],
            2,
            "axiloom prove verilog does not know what to do with `stream_skid`",
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


CASES = Path(__file__).parent / "rtl"
BUSY = """module busy (input clk, input s_tvalid, output s_tready, output m_tvalid, input m_tready);
    reg [39:0] count = 0;
    always @(posedge clk) count <= count * 5 + 12345 + s_tvalid;
    reg sent = 0;  // something moves: else its rules say nothing
    always @(posedge clk) sent <= sent || m_tready;
    assign s_tready = 1, m_tvalid = !sent || count == 40'h123456789a;
endmodule
"""


@pytest.mark.slow
def test_what_is_looked_at_for_some_cycles_is_not_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "busy.v").write_text(BUSY)
    words = ("--rule", "t_held", "--limit", "3", "--depth", "6")
    code, verdicts = prove(tmp_path / "busy.v", tmp_path, *words)
    assert (code, verdicts["m.t_held"]["bounded"]) == (1, True)
    said = capsys.readouterr().out
    assert re.search(r"t_held +bounded +\d+ cycles", said)
    assert "0 hold without a bound, 1 not proved, looked at to a bound" in said
    code, _ = prove(tmp_path / "busy.v", tmp_path, *words, "--enough", "2")
    assert code == 0


SLICE = """library ieee; use ieee.std_logic_1164.all;
entity slice is port (clk, rst, s_tvalid, m_tready : in std_logic; s_tready, m_tvalid : out std_logic;
  s_tdata : in std_logic_vector(7 downto 0); m_tdata : out std_logic_vector(7 downto 0)); end;
architecture rtl of slice is signal full : std_logic := '0'; begin
  s_tready <= not full or m_tready; m_tvalid <= full;
  process (clk) begin if rising_edge(clk) then
    if rst = '1' then full <= '0';
    elsif (not full or m_tready) = '1' then full <= s_tvalid; m_tdata <= s_tdata; end if;
  end if; end process;
end;
"""


@pytest.mark.skipif(shutil.which("ghdl") is None, reason="needs ghdl")
@pytest.mark.parametrize(
    ("old", "new", "broken"),
    [("", "", []), ("end if;\n  end", "end if; m_tdata <= s_tdata;\n  end", ["m.t_stable"])],
)
def test_vhdl(old: str, new: str, broken: list[str], tmp_path: Path) -> None:
    assert old in SLICE
    (tmp_path / "slice.vhd").write_text(SLICE.replace(old, new, 1))
    code, verdicts = prove(tmp_path / "slice.vhd", tmp_path, "--live")
    assert code == bool(broken)
    assert [name for name, verdict in verdicts.items() if verdict["answer"] == "violated"] == broken


@pytest.mark.slow
def test_ties_and_assumptions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, verdicts = prove(CASES / "control.v", tmp_path, "--rule", "r_answered")
    assert (code, verdicts["bus.r_answered"]["answer"]) == (1, "violated")
    assert "free to stop it: ACLK_EN, ap_done (--tie PORT=VALUE)" in capsys.readouterr().out
    (tmp_path / "lines.txt").write_text("// the enable\nACLK_EN == 1\n\n!ARESET || !ap_done; // nothing\n")
    (tmp_path / "looks.v").write_text(
        "module looks (input ACLK, input ACLK_EN, output ok);\nreg one = 1;\n"
        "always @(posedge ACLK) one <= ACLK_EN;\nassign ok = ACLK_EN & one;\nendmodule\n"
    )
    (tmp_path / "more.txt").write_text("ARREADY || !ARREADY\n")
    for words in (
        ["--tie", "ACLK_EN=1"],
        *(["--assume", str(tmp_path / file)] for file in ("lines.txt", "looks.v")),
        ["--assume", str(tmp_path / "lines.txt"), "--assume", str(tmp_path / "more.txt")],
        ["--assume", str(tmp_path / "more.txt"), "--assume", str(tmp_path / "lines.txt")],
    ):
        code, verdicts = prove(CASES / "control.v", tmp_path, "--rule", "r_answered", *words)
        assert (code, verdicts["bus.r_answered"]["certified"]) == (0, "cadical195")
    said = capsys.readouterr().out
    assert "lines.txt:2: ACLK_EN == 1: assumed" in said
    assert "control: ACLK_EN = 1: tied" in said


SINK = """module sink (input clk, input rst, input go, input s_tvalid, output s_tready, {control});
reg runs;
always @(posedge clk) runs <= !rst & (go | (runs & !s_tvalid));
assign s_tready = runs;
{more}endmodule
"""
REGISTERS = ", ".join(
    f"{way} {width} c_{name}"
    for way, width, names in (
        ("input", "", "awvalid wvalid bready arvalid rready"),
        ("input", "[3:0]", "awaddr araddr"),
        ("input", "[31:0]", "wdata"),
        ("output", "", "awready wready bvalid arready rvalid"),
        ("output", "[31:0]", "rdata"),
    )
    for name in names.split()
)


OUTPUTS = ("awready", "wready", "bvalid", "arready", "rvalid", "rdata")


def test_what_waits_for_a_command_waits_until_it_comes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    idle = "".join(
        f"assign c_{one} = 0;\n" for one in ["awready", "wready", "bvalid", "arready", "rvalid", "rdata"]
    )
    (tmp_path / "sink.v").write_text(SINK.format(control=REGISTERS, more=idle))
    words = ["--live", "--rule", "t_taken_live"]
    code, verdicts = prove(tmp_path / "sink.v", tmp_path, *words)
    assert (code, verdicts["s.t_taken_live"]["answer"]) == (1, "violated")
    assert "if it waits for a command on c: --fair FILE" in capsys.readouterr().out
    (tmp_path / "fair.txt").write_text("go && !rst\n")
    code, verdicts = prove(tmp_path / "sink.v", tmp_path, *words, "--fair", str(tmp_path / "fair.txt"))
    assert (code, verdicts["s.t_taken_live"]["certified"]) == (0, "cadical195")
    assert "fair.txt:1: go && !rst: again and again" in capsys.readouterr().out
    assert main(["prove", "axi", "--rtl", str(tmp_path / "sink.v"), "--fair", "fair.txt"]) == 2
    assert "give --live too" in capsys.readouterr().err


READER = """module reader (input clk, input rst, output arvalid, input arready, output [3:0] araddr,
  output [7:0] arlen, output arid, input rvalid, output rready, input [31:0] rdata, input rlast, input rid);
reg asks, waits, id;
assign arvalid = asks, araddr = 0, arlen = 1, arid = {id}, rready = waits{less};
always @(posedge clk) begin
  asks <= !rst & (asks ? !arready : !waits);
  waits <= !rst & (waits ? !(rvalid & rlast) : asks & arready);
  if (asks & arready) id <= !id;
end
endmodule
"""


@pytest.mark.parametrize("id_", ["1'd1", "id"])
def test_answers_have_an_id_that_was_asked_for(id_: str, tmp_path: Path) -> None:
    words = ["--live", "--rule", "r_taken_live", "--outstanding", "2"]
    (tmp_path / "reader.v").write_text(READER.format(id=id_, less=" & !rid"))
    code, verdicts = prove(tmp_path / "reader.v", tmp_path, *words)
    assert (code, verdicts["bus.r_taken_live"]["answer"]) == (1, "violated")
    (tmp_path / "reader.v").write_text(READER.format(id=id_, less=""))
    code, verdicts = prove(tmp_path / "reader.v", tmp_path, *words)
    assert (code, verdicts["bus.r_taken_live"]["certified"]) == (0, "cadical195")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--tie", "ACLK_EM=1"], "--tie ACLK_EM: no input of that name; did you mean `ACLK_EN`?"),
        (["--tie", "ACLK_EN=2"], "--tie ACLK_EN=2: it has 1 bits"),
        (["--parameter", "W=3"], "no parameter W"),
        (["--assume", "none.txt"], "--assume none.txt: no such file"),
        (["--assume", "LINES"], "lines.txt:1: control has no port ACLK_EM"),
        (["--assume", "LOOKS", "--assume", "LOOKS"], "module looks is in "),
        (["--live", "--assume", "LOOKS", "--fair", "LOOKS"], "module looks is in "),
        (["--clock", "ACLK_EN"], "control.v:21: a register on ACLK, a second clock beside ACLK_EN"),
        (["-I", "none"], "-I none: no such folder"),
    ],
)
def test_said_of_inputs_that_there_are_not(
    words: list[str], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lines.txt").write_text("ACLK_EM == 1\n")
    (tmp_path / "looks.v").write_text("module looks (input ACLK, output ok);\nassign ok = 1;\nendmodule\n")
    files = {"LINES": str(tmp_path / "lines.txt"), "LOOKS": str(tmp_path / "looks.v")}
    words = [files.get(word, word) for word in words]
    assert main(["prove", "axi", "--rtl", str(CASES / "control.v"), *words]) == 5
    assert why in capsys.readouterr().err


def test_nothing_that_a_contradiction_says_is_taken_for_right(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("ARVALID != ARVALID\n")
    words = ("--tie", "ACLK_EN=1", "--assume", str(tmp_path / "lines.txt"), "--rule", "ar_moves")
    code, verdicts = prove(CASES / "control.v", tmp_path, *words)
    assert (code, verdicts["bus.ar_moves"]["answer"]) == (1, "never seen")


def test_verdicts_are_told_when_it_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "busy.v").write_text(BUSY)
    command = [sys.executable, "-m", "axiloom", "prove", "axi", "--rtl", "busy.v", "--limit", "400"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if "t_reset" in line or "t_moves" in line:
                break
        running.terminate()
        rest = running.stdout.read()
    assert running.returncode == 143
    assert re.search(r"stopped with [1-9] not decided; \d properties:", rest)


LARGE = """module deep (input clk, input rst, input s_tvalid, input [7:0] s_tdata, output s_tready,
        output reg m_tvalid, output reg [7:0] m_tdata, input m_tready);
    reg [8:0] words [0:4095];
    reg [11:0] head, tail;
    reg stops;
    assign s_tready = 1;
    always @(posedge clk) begin
        if (s_tvalid) begin words[head] <= {FLAG, s_tdata}; head <= head + 1; end
        if (!m_tvalid || m_tready) begin
            m_tvalid <= head != tail && !stops;
            {stops, m_tdata} <= words[tail];
            if (head != tail) tail <= tail + 1;
        end
        if (stops) m_tvalid <= 0;
        if (rst) begin head <= 0; tail <= 0; m_tvalid <= 0; stops <= 0; end
    end
endmodule
"""


@pytest.mark.parametrize(
    ("flag", "answer"), [("s_tdata == 7 && s_tdata == 8", "not decided"), ("s_tdata == 7", "violated")]
)
def test_a_large_memory_may_hold_anything_until_the_simulator_is_asked(
    flag: str, answer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deep.v").write_text(LARGE.replace("FLAG", flag))
    code, verdicts = prove(tmp_path / "deep.v", tmp_path, "--rule", "t_held", "--rule", "t_reset")
    assert code == 1
    assert verdicts["m.t_held"]["answer"] == answer
    assert verdicts["m.t_reset"]["answer"] == "holds"
    assert "words: 36,864 bits" in capsys.readouterr().out


def test_a_register_without_a_first_value_begins_with_any(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "module first (input clk, input rst, output m_tvalid, input m_tready);\nreg x, y;\n"
    text += "always @(posedge clk) begin y <= !rst; if (rst) y <= 0; end\n"
    (tmp_path / "first.v").write_text(
        text + "assign m_tvalid = y | x;\nalways @(posedge clk) x <= x;\nendmodule\n"
    )
    code, verdicts = prove(tmp_path / "first.v", tmp_path, "--rule", "t_reset")
    assert (code, verdicts["m.t_reset"]["answer"]) == (1, "violated")
    assert "a memory holds" not in capsys.readouterr().out
