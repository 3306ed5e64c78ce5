"""Faults planted in the RTL, each with the rule that must catch it.

``python -m tests.prove.axi.mutants [RULE ...]`` plants them all and prints what caught each, in which cycle.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import time
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from axiloom.prove import abc
from axiloom.prove.axi import ours
from axiloom.prove.verdict import Verdict

INTERCONNECT, STREAM = "axiloom.hw.axi.interconnect", "axiloom.hw.axi.stream"
MM2S, S2MM, SG_PORT = "axiloom.hw.dma.mm2s", "axiloom.hw.dma.s2mm", "axiloom.hw.dma.sg_port"
REGISTERS, WINDOW, BRIDGE = "axiloom.hw.dma.registers", "axiloom.hw.serial.memory", "axiloom.hw.serial.bridge"
PACKER, SENDER, COPY = "axiloom.hw.axi.packer", "axiloom.hw.matmul.sender", "axiloom.hw.copy.engine"


@dataclass(frozen=True)
class Mutant:
    """`old` is replaced by `new` in a module of the RTL; then rule `rule` of `port` is broken on `target`."""

    target: str
    port: str
    rule: str
    module: str
    edits: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        return f"{self.target}.{self.port}.{self.rule}"


def _one(target: str, place: str, module: str, old: str, new: str, *more: str) -> Mutant:
    port, rule = place.split(".")
    return Mutant(target, port, rule, module, ((old, new), *zip(more[::2], more[1::2], strict=True)))


FREE = " & (~bus.awvalid | bus.awready)"
ALL = (
    # --- streams ---
    _one("stream_skid", "o.t_held", STREAM, "self.i.tvalid | full", "self.i.tvalid & ~full"),
    _one(
        "stream_skid",
        "o.t_stable",
        STREAM,
        "tdata.eq(Mux(full, held, self.i.tdata))",
        "tdata.eq(self.i.tdata)",
    ),
    _one("stream_skid", "o.t_stable", STREAM, "eq(Mux(full, held_last, self.i.tlast))", "eq(self.i.tlast)"),
    _one(
        "stream_skid",
        "o.t_reset",
        STREAM,
        "        full = Signal()\n",
        "        full = Signal(reset_less=True)\n",
    ),
    _one("stream_input", "words.t_held", STREAM, "~self.words.valid | self.words.ready", "1"),
    _one("stream_input", "words.t_stable", STREAM, "moves.eq(~self", "moves.eq(arrives | ~self"),
    _one("packer", "m_axis.t_held", PACKER, "~self.m_axis.tvalid | self.m_axis.tready", "1"),
    _one("packer", "m_axis.t_stable", PACKER, "self.i.ready.eq(flows & ~rest)", "self.i.ready.eq(~rest)"),
    _one("matmul_sender", "m_axis.t_held", SENDER, "~self.m_axis.tvalid | self.m_axis.tready", "1"),
    _one("matmul_sender_post", "m_axis.t_stable", SENDER, "elements.ready.eq(moves)", "elements.ready.eq(1)"),
    _one("copy_engine", "m_axis.t_held", COPY, "fetched & self.m_axis.tready", "fetched"),
    # --- reads ---
    _one("mm2s", "bus.ar_held", MM2S, "with m.If(bus.arready)", "with m.If(bus.arready | self.stop)"),
    _one("mm2s", "bus.ar_stable", MM2S, "                & (~bus.arvalid | bus.arready)\n", ""),
    _one("mm2s", "bus.ar_4k", MM2S, "Mux(last_of_page, self._burst - in_burst, self._burst)", "self._burst"),
    _one("mm2s", "bus.ar_size", MM2S, "arsize.eq(word_shift)", "arsize.eq(word_shift + 1)"),
    _one("mm2s", "bus.ar_length", MM2S, "arburst.eq(BURST_INCR)", "arburst.eq(3)"),
    _one(
        "mm2s",
        "bus.ar_wrap",
        MM2S,
        "arburst.eq(BURST_INCR)",
        "arburst.eq(2)",
        "eq(address),",
        "eq(address + 1),",
    ),
    _one(
        "mm2s",
        "stream.t_held",
        MM2S,
        "fifo.r_rdy & ~self.stop)",
        "fifo.r_rdy & ~self.stop & ~self.bus.rvalid)",
    ),
    _one("mm2s", "stream.t_stable", MM2S, "tdata.eq(fifo.r_data)", "tdata.eq(fifo.r_data ^ self.bus.rdata)"),
    _one("sg_port", "bus.ar_outstanding", SG_PORT, "readers.w_rdy & ~self.stop", "~self.stop"),
    _one("sg_port", "bus.ar_held", SG_PORT, "with m.If(bus.arready)", "with m.If(1)"),
    _one("read_arbiter", "bus.ar_stable", INTERCONNECT, "(~bus.arvalid | bus.arready) & owners", "owners"),
    _one("read_arbiter", "bus.ar_outstanding", INTERCONNECT, " & owners.w_rdy)", ")"),
    _one("read_arbiter", "master0.r_asked", INTERCONNECT, "& (owners.r_data == i)", "& (owners.r_data != i)"),
    _one("read_arbiter", "master1.r_last", INTERCONNECT, "rlast.eq(bus.rlast)", "rlast.eq(~bus.rlast)"),
    _one("serial_input", "axi.r_asked", WINDOW, "active.eq(left != 0)", "active.eq(1)"),
    _one("serial_input", "axi.r_last", WINDOW, "rlast.eq(left == 0)", "rlast.eq(left == 1)"),
    _one("serial_input", "axi.r_resp", WINDOW, "rresp.eq(missed * DECERR)", "rresp.eq(missed * 1)"),
    _one("serial_input", "axi.r_stable", WINDOW, "active & (~axi.rvalid | axi.rready)", "active"),
    _one("lite_slave", "bus.r_held", REGISTERS, "with m.If(bus.rready)", "with m.If(1)"),
    _one("lite_slave", "bus.r_stable", REGISTERS, "~bus.rvalid | bus.rready", "1"),
    _one("lite_decoder", "bus.r_reset", INTERCONNECT, "bus.rvalid.eq(reading & ", "bus.rvalid.eq("),
    _one("lite_decoder", "slave0.ar_reset", INTERCONNECT, "bus.arvalid & ~reading & hit", "~reading & hit"),
    _one("serial_bridge", "bus.ar_stable", BRIDGE, "araddr.eq(address)", "araddr.eq(address ^ byte)"),
    # --- writes ---
    _one(
        "s2mm", "bus.aw_held", S2MM, "awvalid.eq(commands.r_rdy)", "awvalid.eq(commands.r_rdy & ~self.stop)"
    ),
    _one(
        "s2mm", "bus.aw_stable", S2MM, "awlen).eq(commands.r_data)", "awlen).eq(commands.r_data ^ fifo.level)"
    ),
    _one("s2mm", "bus.aw_4k", S2MM, " | page_ends | line_ends", " | line_ends"),
    _one("s2mm", "bus.aw_size", S2MM, "awsize.eq(exact_log2(self._data_width // 8))", "awsize.eq(7)"),
    _one("s2mm", "bus.aw_length", S2MM, "awburst.eq(BURST_INCR)", "awburst.eq(2)"),
    _one(
        "s2mm",
        "bus.aw_wrap",
        S2MM,
        "awburst.eq(BURST_INCR)",
        "awburst.eq(2)",
        "address, burst_",
        "address + 1, burst_",
    ),
    _one("s2mm", "bus.w_held", S2MM, "fifo.r_rdy & may_send", "fifo.r_rdy & may_send & ~self.stop"),
    _one(
        "s2mm",
        "bus.w_stable",
        S2MM,
        "wdata.eq(fifo.r_data)",
        "wdata.eq(fifo.r_data ^ stream.tdata)",
        "bus = self.bus\n        address_accepted",
        "bus, stream = self.bus, self.stream\n        address_accepted",
    ),
    _one("s2mm", "bus.w_last", S2MM, "ends.w_data.eq(burst_ends)", "ends.w_data.eq(command_ends)"),
    _one("s2mm", "bus.w_strobes", S2MM, "Mux(beat == 0, address, ", "Mux(beat == 0, address + 1, "),
    _one("s2mm_strided", "bus.aw_4k", S2MM, "page_ends.eq(next_row", "page_ends.eq(0 & next_row"),
    _one("s2mm_strided", "bus.w_last", S2MM, "beat.eq(0),\n", "beat.eq(1),\n"),
    _one("sg_port", "bus.aw_outstanding", SG_PORT, "writers.w_rdy & ~self.stop", "~self.stop"),
    _one(
        "sg_port",
        "bus.w_early",
        SG_PORT,
        "(~bus.awvalid | bus.awready) & ",
        "",
        "writers.w_rdy & ~self.stop",
        "1",
    ),
    _one("sg_port", "bus.w_stable", SG_PORT, "(~bus.wvalid | bus.wready) & ", ""),
    _one("sg_port", "bus.w_held", SG_PORT, "with m.If(bus.wready)", "with m.If(1)"),
    _one("write_arbiter", "bus.w_last", INTERCONNECT, "bus.wready & bus.wlast", "bus.wready"),
    _one("write_arbiter", "bus.aw_stable", INTERCONNECT, "(~bus.awvalid | bus.awready) & ", ""),
    _one("write_arbiter", "bus.aw_held", INTERCONNECT, "with m.If(ready):", "with m.If(1):"),
    _one("write_arbiter", "bus.aw_outstanding", INTERCONNECT, " & sending.w_rdy & awaiting.w_rdy", ""),
    _one(
        "write_arbiter", "master0.b_asked", INTERCONNECT, "(awaiting.r_data == i)", "(awaiting.r_data != i)"
    ),
    _one(
        "serial_output",
        "axi.b_stable",
        WINDOW,
        "axi.awready.eq(~active & ~axi.bvalid)",
        "axi.awready.eq(~active)",
    ),
    _one("serial_output", "axi.b_resp", WINDOW, "bresp.eq(missed * DECERR)", "bresp.eq(missed * 1)"),
    _one("serial_output", "axi.b_asked", WINDOW, "with m.If(axi.wlast)", "with m.If(1)"),
    _one("lite_slave", "bus.b_held", REGISTERS, "with m.If(bus.bready)", "with m.If(1)"),
    _one("lite_slave", "bus.b_asked", REGISTERS, "bus.awvalid & bus.wvalid & (", "bus.awvalid & ("),
    _one("lite_decoder", "bus.b_reset", INTERCONNECT, "bus.bvalid.eq(writing & ", "bus.bvalid.eq("),
    _one(
        "lite_decoder",
        "slave0.aw_reset",
        INTERCONNECT,
        "awvalid.eq(request & hit)",
        "awvalid.eq(hit & ~writing)",
    ),
    _one(
        "lite_decoder",
        "slave0.w_reset",
        INTERCONNECT,
        "wvalid.eq(request & hit)",
        "wvalid.eq(hit & ~writing)",
    ),
    _one("serial_bridge", "bus.aw_held", BRIDGE, "with m.If(bus.awready)", "with m.If(1)"),
    _one("serial_bridge", "bus.w_held", BRIDGE, "with m.If(bus.wready)", "with m.If(1)"),
)


@contextmanager
def planted(mutant: Mutant) -> Iterator[None]:
    """Everything that uses the module uses the mutant of it meanwhile."""
    original = importlib.import_module(mutant.module)
    text = Path(str(original.__file__)).read_text(encoding="utf-8")
    for old, new in mutant.edits:
        assert old in text, f"{mutant.name}: {mutant.module} has no `{old}`"
        text = text.replace(old, new)
    other = types.ModuleType(mutant.module)
    exec(compile(text, str(original.__file__), "exec"), other.__dict__)
    twins = {
        id(value): getattr(other, name)
        for name, value in vars(original).items()
        if getattr(value, "__module__", None) == mutant.module
    }
    changed = []
    for module in [one for name, one in sys.modules.items() if name.startswith("axiloom.") and one]:
        if module is original:
            continue
        for name, value in list(vars(module).items()):
            if id(value) in twins:
                changed.append((module, name, value))
                setattr(module, name, twins[id(value)])
    try:
        yield
    finally:
        for module, name, value in changed:
            setattr(module, name, value)


def hunt(mutant: Mutant) -> Verdict:
    """What the prover says of its rule."""
    with planted(mutant):
        bench = ours.TARGETS[mutant.target].bench(with_lemmas=False)
        bench.alone(mutant.port, mutant.rule)
        ((verdict, _),) = abc.prove(mutant.target, bench, tried=abc.COVER, jobs=1)
    return verdict


def main(rules: list[str]) -> int:
    warnings.simplefilter("ignore")
    chosen = [one for one in ALL if not rules or {one.name, one.rule, one.target} & set(rules)]
    missed = 0
    for mutant in chosen:
        begun = time.perf_counter()
        verdict = hunt(mutant)
        caught = verdict.answer.value == "violated"
        missed += not caught
        said = f"caught {verdict.how_far}" if caught else f"MISSED: {verdict.answer.value} {verdict.how_far}"
        print(f"{mutant.name:<40} {said:<24} {time.perf_counter() - begun:5.1f} s", flush=True)
    print(f"{len(chosen)} mutants of {len({one.rule for one in chosen})} rules, {missed} missed")
    return missed


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
