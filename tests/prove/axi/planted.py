"""Right designs of several styles, and faults planted in them that starve, lose or never end something.

``python -m tests.prove.axi.planted [NAME ...] [--waves]`` proves them all: each fault must be found by its
rule, and with ``--waves`` be seen in the simulator too; no right design may be accused.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tempfile
import time
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from axiloom.cli import main as axiloom

RTL = Path(__file__).parent / "rtl"
EXAMPLES = Path(__file__).parents[3] / "examples"
DEVICES: dict[str, tuple[str, ...]] = {
    "maxpool": ("pooling/maxpool.v",),
    "matmul_stream": ("hardware/stream_matmul/matmul_stream.sv", "hardware/stream_matmul/multiply.sv"),
}
"""Examples in which faults are planted, to their files; that they are right is shown by :mod:`.live`."""
SAID = {"matmul_stream": ("--clock", "S_AXIS_ACLK", "--clock", "M_AXIS_ACLK")}
RIGHT: dict[str, tuple[str, ...]] = {
    "skid": (),
    "slice_async": (),
    "stream_two_clocks": ("--clock", "s00_axis_aclk", "--clock", "m00_axis_aclk"),
    "adder": (),
    "arbiter": (),
    "fifo": (),
    "lite_regs": (),
    "control": ("--tie", "ACLK_EN=1"),
    "template": (),
    "bridge": ("--outstanding", "2"),
    "store": ("--tie", "go=1"),
    "memory": (
        "--outstanding",
        "2",
        "--enough",
        "8",
    ),  # RLAST of bursts of 256 beats is not proved in a minute
}
"""Design to what is said of its inputs."""


@dataclass(frozen=True)
class Planted:
    """In `design` each `old` becomes `new`; then `rule` is broken."""

    design: str
    rule: str
    edits: tuple[tuple[str, str], ...]
    words: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.design}.{self.rule}"


def _fault(design: str, rule: str, *edits: str, words: tuple[str, ...] = ()) -> Planted:
    return Planted(design, rule, tuple(zip(edits[::2], edits[1::2], strict=True)), words)


FAULTS = (
    # --- lost answers ---
    _fault("template", "r_answered", words=("--parameter", "ROUND=0")),
    _fault("template", "b_answered", words=("--parameter", "ROUND=0")),
    _fault("template", "r_answered", words=("--parameter", "ROUND=1")),
    _fault("lite_regs", "r_answered", "s_axi_arready = !s_axi_rvalid || s_axi_rready", "s_axi_arready = 1"),
    _fault("lite_regs", "b_answered", " && (!s_axi_bvalid || s_axi_bready)", ""),
    _fault("lite_regs", "b_answered_live", "s_axi_wready  = !has_data", "s_axi_wready  = 1"),
    _fault("control", "b_answered", "WRDATA:  wnext = WVALID ? WRRESP", "WRDATA:  wnext = WVALID ? WRIDLE"),
    _fault("control", "r_answered", "ARVALID ? RDDATA : RDIDLE", "ARVALID & !ap_start ? RDDATA : RDIDLE"),
    _fault("memory", "b_answered", "<= 0; s_axi_bvalid <= 1", "<= 0; s_axi_bvalid <= wburst != 0"),
    _fault("memory", "r_answered", "reading <= 1; raddr", "reading <= s_axi_arburst != 0; raddr"),
    _fault("bridge", "r_answered", "m_arvalid <= 1; m_araddr", "m_arvalid <= !m_awvalid; m_araddr"),
    _fault("bridge", "b_answered", "writes <= 1; m_awvalid <= 1; m_wvalid <= 1;",
           "writes <= 1; m_awvalid <= 1; m_wvalid <= !m_wvalid && !s_awaddr[7];"),
    _fault("store", "w_follows", "if (m_axi_wlast) sends <= 0", "if (beat[1]) sends <= 0"),
    # --- starved, or stuck ---
    _fault("arbiter", "t_taken_live", "turn <= other ? !turn : turn", "turn <= !a_tvalid"),
    _fault("arbiter", "t_taken_live", "wire other = turn ? a_tvalid : b_tvalid", "wire other = 0"),
    _fault("skid", "t_taken_live", "                s_tready <= 1;\n            end", "            end"),
    _fault("fifo", "t_taken_live", "full = head - tail == 8", "full = head - tail == 8 || head == 15"),
    _fault("fifo", "t_taken_live", "out_tvalid <= !empty;", "out_tvalid <= !empty && tail != 5;",
           "if (!empty) begin {", "if (!empty && tail != 5) begin {"),
    _fault("adder", "t_taken_live", "b_tready   = a_tvalid &&", "b_tready   = a_tvalid && a_tdata[0] &&",
           "a_tready   = b_tvalid &&", "a_tready   = b_tvalid && a_tdata[0] &&"),
    _fault("slice_async", "t_taken_live", "|| m_axis_tready;", "|| (m_axis_tready && !m_axis_tlast);"),
    _fault("lite_regs", "aw_taken_live", "awready = !has_addr", "awready = !has_addr && !s_axi_wvalid"),
    _fault("control", "aw_taken_live", "BREADY ? WRIDLE : WRRESP", "BREADY ? WRRESET : WRRESP",
           "default: wnext = WRIDLE", "default: wnext = WRRESET"),
    _fault("store", "w_follows_live", "m_axi_wvalid = sends &&", "m_axi_wvalid = sends && !m_axi_awvalid &&"),
    _fault("bridge", "b_taken_live", "= writes && s_bready", "= writes && s_bready && !m_bresp[1]"),
    _fault("matmul_stream", "t_taken_live", "(step == 2'd3) begin", "(step == 2'd3 && !S_AXIS_TVALID) begin"),
    _fault("matmul_stream", "t_taken_live", "TREADY = state == TAKE", "TREADY = state == TAKE && word != 3",
           "state == TAKE && S_AXIS_TVALID) begin", "S_AXIS_TREADY && S_AXIS_TVALID) begin"),
    # 64 cycles of computing come before:
    _fault("matmul_stream", "t_taken_live", "out_at <= out_at + 1", "out_at <= out_at + 2"),
    _fault("matmul_stream", "t_taken_live", "== 4'd15) state", "== 4'd15 && !S_AXIS_TVALID) state"),
    _fault("maxpool", "t_taken_live", "j + 12'd1;", "j + (j < 12'd64);"),
    _fault("maxpool", "t_taken_live", "finished ? FETCH : POOL", "finished ? SEND : POOL"),
    _fault("maxpool", "t_taken_live", "if (last_j) i <= last_tap", "if (last_tap) i <= last_tap"),
)  # fmt: skip


def prove(file: Path, *words: str) -> tuple[int, dict[str, dict[str, object]]]:
    """Exit code, and the verdicts by port and rule; every source beside `file` that its design is made of.

    With `--waves` among the words, "shown" says whether the simulator shows the counter-example too.
    """
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()) as said:
        told = Path(folder) / "verdicts.json"
        options = ("--json", str(told), "--replay", f"{folder}/replay", *words)
        others = [
            part
            for name in DEVICES.get(file.stem, ())[1:]
            for part in ("--rtl", str(file.parent / Path(name).name))
        ]
        top = ("--top", file.stem) if others else ()
        code = axiloom(["prove", "axi", "--rtl", str(file), *others, *top, *options])
        verdicts = json.loads(told.read_text())["verdicts"] if told.exists() else []
    for one in verdicts:
        one["shown"] = f"{one['replay']}: the simulator shows it" in said.getvalue()
    return code, {f"{one['port']}.{one['name']}": one for one in verdicts}


def hunt(fault: Planted, *more: str) -> tuple[int, list[dict[str, object]]]:
    """Exit code, and what breaks the rule: on any port of the design with the fault."""
    sources = [EXAMPLES / name for name in DEVICES.get(fault.design, ())] or [RTL / f"{fault.design}.v"]
    text = sources[0].read_text()
    for old, new in fault.edits:
        assert old in text, f"{fault.name}: {sources[0].name} has no `{old}`"
        text = text.replace(old, new)
    with tempfile.TemporaryDirectory() as folder:
        for beside in {path for source in sources for path in source.parent.glob("*.sv*")}:
            shutil.copy(beside, folder)
        file = Path(folder) / sources[0].name
        file.write_text(text)
        said = SAID.get(fault.design, ()) or RIGHT.get(fault.design, ())
        words = (*said, *fault.words, "--live", "--rule", fault.rule, *more)
        code, verdicts = prove(file, *words)
    return code, [one for one in verdicts.values() if one["answer"] == "violated"]


def main(words: list[str]) -> int:
    more = [word for word in words if word.startswith("--")]
    names = [word for word in words if word not in more]
    wrong = 0
    for fault in FAULTS:
        if names and not {fault.name, fault.design, fault.rule, "faults"} & set(names):
            continue
        begun, cpu = time.perf_counter(), sum(os.times()[:4])
        _, broken = hunt(fault, *more)
        wrong += not broken
        said = f"found in cycle {broken[0]['bound']}" if broken else "MISSED"
        if more and broken:
            said += ", simulated" if broken[0]["shown"] else ", NOT simulated"
            wrong += not broken[0]["shown"]
        used = sum(os.times()[:4]) - cpu
        print(
            f"{fault.name:<32} {said:<32} {used:6.1f} s CPU {time.perf_counter() - begun:6.1f} s", flush=True
        )
    for design, words in RIGHT.items():
        if names and not {design, "right"} & set(names):
            continue
        begun, cpu = time.perf_counter(), sum(os.times()[:4])
        code, verdicts = prove(RTL / f"{design}.v", "--live", *words)
        bad = [f"{name} {one['answer']} {one['bound']}" for name, one in verdicts.items() if not one["good"]]
        bad += [f"{name} {one['bound']} cycles" for name, one in verdicts.items() if one["bounded"]]
        accused = [one for one in verdicts.values() if one["answer"] == "violated"]
        wrong += bool(accused)
        used = sum(os.times()[:4]) - cpu
        said = "all hold" if code == 0 else "; ".join(bad)
        print(f"{design:<32} {said:<24} {used:6.1f} s CPU {time.perf_counter() - begun:6.1f} s", flush=True)
    print(f"{wrong} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
