"""Faults of AXI planted in RTL of three styles, and designs that are right.

Designs of ``rules/`` have a parameter FAULT, which breaks one rule of their ports; others, and the RTL of
``examples/``, are right. A fault is named if the run ends with an error that has the words beside it; a right
design is accused if its run ends with any error.
``python -m benchmarks bus_rules icarus fsm_master 41``: with Icarus (default: a quick build of Verilator, a
fourth of the time), and of these designs and faults alone.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axiloom import isa
from axiloom.base.errors import AxiloomError
from axiloom.cosim.build.verilator import QUICK_BUILDS
from axiloom.cosim.system import STALLS, System
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import report_of

FOLDER = Path(__file__).parent / "rules"
EXAMPLES = Path(__file__).parents[2] / "examples"
WATCHDOG = 5_000
LONG = 2048
"""Elements of which some bursts of 64 words cross 4 KiB."""

STREAM: Mapping[int, tuple[str, str]] = {
    1: ("TVALID falls", "tvalid falls"),
    2: ("TDATA moves while it waits", "tdata changes"),
    3: ("TVALID is high in reset", "tvalid is high in reset"),
    4: ("TVALID waits for TREADY", "tvalid waits for|tvalid falls"),
    5: ("TLAST falls while it waits", "tdata changes"),
    6: ("TKEEP is 0", "tkeep is 0"),
    7: ("TKEEP has a gap", "tkeep of a beat has a gap"),
    8: ("TKEEP cuts a beat in the middle", "tkeep keeps"),
    9: ("TLAST never comes", "no TLAST"),
    13: ("TKEEP cuts the last beat", "tkeep keeps"),
    15: ("TLAST comes early", "TLAST on word"),
}
"""Of all three streams: number to what is wrong and the words of the message, any of those between |."""
BUFFERED = {
    10: ("72 words are sent", "no TLAST on word 64"),
    11: ("60 words are sent", "TLAST on word 60"),
    12: ("65 words are wanted", "sends nothing"),
    14: ("the first word is lost", "sends nothing"),
}
REGISTERS = {
    21: ("BVALID falls", "bvalid falls"),
    22: ("RVALID falls", "rvalid falls"),
    23: ("B comes before W", "bvalid comes before"),
    24: ("RDATA moves while it waits", "rvalid changes|what comes with"),
    25: ("BVALID waits for BREADY", "bvalid waits|bvalid falls"),
    26: ("RVALID waits for RREADY", "rvalid waits|rvalid falls"),
    27: ("BVALID is high in reset", "bvalid is high in reset"),
    28: ("B is lost", "bvalid|waiting for a write"),
    29: ("R comes unasked", "rvalid comes before"),
}
MASTER = {
    31: ("ARVALID falls", "arvalid falls"),
    32: ("AWVALID falls", "awvalid falls"),
    33: ("WVALID falls", "wvalid falls"),
    34: ("WDATA moves while it waits", "what comes with"),
    35: ("AWADDR moves while it waits", "what comes with"),
    36: ("a read crosses 4 KiB", "4 KiB"),
    37: ("a write crosses 4 KiB", "4 KiB"),
    38: ("WLAST never comes", "wlast is missing"),
    39: ("WLAST comes early", "wlast is high before"),
    40: ("WSTRB drops bytes", "wstrb leaves out"),
    41: ("WVALID waits for AWREADY", "wvalid waits for"),
    42: ("done before B", "says done|not answered"),
    43: ("AWVALID waits for AWREADY", "awvalid waits|awvalid falls"),
    44: ("ARVALID is high in reset", "arvalid is high in reset"),
    46: ("ARBURST is reserved", "arburst is 3|kind reserved"),
}


@dataclass(frozen=True)
class Design:
    """A module, its files, and the faults that it can have."""

    top: str
    kernel: str
    opcodes: str
    faults: Mapping[int, tuple[str, str]]
    more: tuple[str, ...] = ()
    registers: tuple[tuple[str, int], ...] = ()
    reset: str = ""
    """A reset that is active high, or is said to be."""
    width: int = 32
    """Bits of the streams."""

    def spec(self, fault: int, folder: Path) -> isa.AcceleratorSpec:
        kernel = "linalg.copy" if self.kernel == "copy" else self.kernel
        accelerator: dict[str, Any] = {
            "name": self.top,
            "kernel": kernel,
            "accel_size": [64],
            "data_type": "int32",
            "stream_width": self.width,
            "dims": ["n"],
            "data": {"A": ["n"], "C": ["n"]},
            "opcode_map": f"opcode_map<all = [{self.opcodes}]>",
            "device": {"all": ["load A", "clear C", "compute", "store C"]},
            "opcode_flow_map": {"plain": "opcode_flow<(all)>"},
            "selected_flow": "plain",
            "rtl": {
                "parameters": {"FAULT": fault},
                "registers": {name: f"{at:#x}" for name, at in self.registers},
            },
        }
        if self.reset:
            accelerator["rtl"] |= {"reset": self.reset, "reset_active_low": False}
        if not self.registers:
            del accelerator["rtl"]["registers"]
        file = folder / f"{self.top}.json"
        file.write_text(json.dumps({"accelerators": [accelerator]}), encoding="utf-8")
        return isa.load(file)

    def workload(self, fault: int) -> Workload:
        elements = LONG if fault in (36, 37) else 256
        return Workload.of(f"{self.kernel}:{'' if self.kernel == 'copy' else 'n='}{elements}")

    @property
    def files(self) -> list[Path]:
        return [file for name in (self.top, *self.more) for file in FOLDER.glob(f"{name}.*v")]


@dataclass(frozen=True)
class Example:
    """RTL of a folder of ``examples/``, with the specification and the problem there."""

    folder: str
    top: str
    problem: str = ""
    """Empty: the file of MLIR beside it."""
    faults: Mapping[int, tuple[str, str]] = field(default_factory=dict)

    def spec(self, fault: int, folder: Path) -> isa.AcceleratorSpec:
        (file,) = (EXAMPLES / self.folder).glob(f"{self.top}.json")
        return isa.load(file)

    def workload(self, fault: int) -> Workload:
        if self.problem:
            return Workload.of(self.problem)
        (file,) = (EXAMPLES / self.folder).glob("*.mlir")
        return Workload(file.name, file.read_text(encoding="utf-8"))

    @property
    def files(self) -> list[Path]:
        return sorted((EXAMPLES / self.folder).glob("*.*v"))


_CONTROL = (("control", 0), ("a", 0x10), ("c", 0x1C))
_STARTS = "write(control, 1), send(A), recv(C), wait(control, 2)"
_POINTERS = "send(A, a), recv(C, c), write(control, 1), wait(control, 2)"
DESIGNS = (
    Design("fsm_stream", "copy", "send(A), recv(C)", {**STREAM, **BUFFERED}),
    Design("fifo_stream", "copy", "send(A), recv(C)", {**STREAM, 14: BUFFERED[14]}),
    Design("hls_stream", "relu", _STARTS, {**STREAM, **REGISTERS}, ("hls_control",), _CONTROL[:1]),
    Design("fsm_master", "relu", _POINTERS, {**MASTER, **REGISTERS}, (), _CONTROL),
    Design("hls_master", "relu", _POINTERS, MASTER, ("hls_control",), _CONTROL),
    Design("fifo_master", "relu", _POINTERS, {**MASTER, **REGISTERS}, ("fifo_stream",), _CONTROL),
    Design("id_master", "relu", _POINTERS, {}, ("hls_control",), _CONTROL),
    Design("beat_master", "relu", _POINTERS, {}, ("hls_control",), _CONTROL),
    Design("loose_stream", "relu", _STARTS, {}, (), _CONTROL[:1]),
    Design("wide_stream", "copy", "send(A), recv(C)", {}, width=128),
    Design("credit_stream", "copy", "send(A), recv(C)", {}),
    Example("verilog_accelerator", "rowmul", "matmul:10x12x14"),
    Example("elementwise", "add"),
    Example("pooling", "maxpool"),
    Example("hardware/stream_matmul", "matmul_stream", "matmul:4x8x6"),
    Example("hardware/start_matmul", "matmul_start", "matmul:8x8x9"),
    Example("hardware/two_streams", "multiply_pairs"),
    Example("hardware/gain16", "gain16"),
    Example("hardware/fir16", "fir16"),
    Example("hardware/vadd_m_axi", "vadd"),
)


def said(design: Design | Example, fault: int, sim: str = "verilator", stall: int | str = STALLS) -> str:
    """What a run of the design with that fault (0: without) says: its error, or nothing."""
    with tempfile.TemporaryDirectory(prefix="axiloom-rules-") as folder:
        try:
            spec = design.spec(fault, Path(folder))
            system = System(
                spec,
                sim=sim,
                user_rtl=UserRtl(design.files, design.top, spec.link.rtl),
                watchdog_cycles=WATCHDOG,
                stall=stall,
            )
            report = report_of(ProblemRun(design.workload(fault), system))
        except AxiloomError as error:
            return f"{type(error).__name__}: {error}"
    result = report["result"]
    return "" if result["matches"] else f"MismatchError: {result['first']}"


def chosen(words: Sequence[str]) -> Iterator[tuple[Design | Example, int]]:
    """Designs and faults by their names and numbers; where none is named, all."""
    faults = {int(word) for word in words if word.isdecimal()}
    tops = {word for word in words if not word.isdecimal()}
    for design in DESIGNS:
        if not tops or design.top in tops:
            yield from ((design, fault) for fault in (0, *design.faults) if not faults or fault in faults)


def main(words: Sequence[str] = ()) -> None:
    os.environ.setdefault(QUICK_BUILDS, "1")
    sim = "icarus" if "icarus" in words else "verilator"
    seen, longest = {True: [0, 0], False: [0, 0]}, 0.0
    for design, fault in chosen([word for word in words if word != sim]):
        what, words_of = design.faults.get(fault, ("right", ""))
        begin = sum(os.times()[:4])
        text = said(design, fault, sim)
        took = sum(os.times()[:4]) - begin
        longest = max(longest, took)
        good = bool(re.search(words_of, text, re.IGNORECASE)) if fault else not text
        seen[bool(fault)][good] += 1
        verdict = ("named" if fault else "silent") if good else ("MISSED" if fault else "ACCUSED")
        print(f"{design.top:14} {fault:2} {what:31} {verdict:8} {took:5.1f} s  {text[:150]}", flush=True)
    missed, named = seen[True]
    accused, silent = seen[False]
    print(f"{named} of {named + missed} faults named; {accused} of {accused + silent} right designs accused")
    print(f"at most {longest:.0f} s of CPU each")


if __name__ == "__main__":
    main(sys.argv[1:])
