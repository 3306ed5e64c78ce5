"""VTAs beside the simulator of their text: the same streams, bit for bit, and the cycles foretold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any
from unittest.mock import patch

import numpy as np

from axiloom.accelerators.vta.rtl.cycles import Cycles
from axiloom.accelerators.vta.rtl.device import Device
from axiloom.accelerators.vta.rtl.meanings import Machine, machine
from axiloom.base.errors import DriverError
from axiloom.device import streams
from axiloom.device.streams import Outcome, Segment, run
from axiloom.hw.verilog.emit import convert
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import parse
from axiloom.isa.instructions.simulator.simulate import Simulator
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.drive.tokens import of_command, tokens_of
from axiloom.selection.program.program import Command as Plain

TOP = "device"
UOP, WGT, INP, ACC, OUT, ACC_8BIT = range(6)
LOAD, STORE, GEMM, FINISH, ALU = range(5)
MIN, MAX, ADD, SHR, MUL = range(5)
ROWS = {"INPS": 2048, "WGTS": 1024, "ACCS": 2048}


def text_of(overlaps: bool = False) -> str:
    """The built-in text. Without `overlaps` it has no tokens."""
    text = targets()["vta"].read_text(encoding="utf-8")
    if not overlaps:
        text, found = re.subn(r"    tokens = word\[3:7\]\n", "", text)
        assert found == 9
    return text


def word(m: int, kind: str, **fields: int) -> int:
    """A command's 128 bits by hand, as hardware/xilinx/src/vta.h of apache/tvm-vta has them."""
    places: dict[str, tuple[int, int]] = {"opcode": (0, 3), "tokens": (3, 4)}
    if kind == "memory":
        places |= {
            "type": (7, m),
            "sram": (7 + m, 16),
            "base": (23 + m, 32),
            "rows": (64, 16),
            "count": (80, 16),
        }
        places |= {
            "stride": (96, 16),
            "above": (112, 4),
            "below": (116, 4),
            "left": (120, 4),
            "right": (124, 4),
        }
    else:
        places |= {"reset": (7, 1), "first": (8, 13), "last": (21, 14), "outer": (35, 14), "inner": (49, 14)}
        places |= {"dst_outer": (64, 11), "dst_inner": (75, 11), "src_outer": (86, 11), "src_inner": (97, 11)}
        if kind == "gemm":
            places |= {"wgt_outer": (108, 10), "wgt_inner": (118, 10)}
        else:
            places |= {"op": (108, m), "immediate": (108 + m, 1), "constant": (109 + m, 16)}
    found = 0
    for name, value in fields.items():
        at, bits = places[name]
        assert 0 <= value < 1 << bits, (name, value)
        found |= value << at
    return found


@dataclass(frozen=True)
class Command:
    """Its words, which instruction it is, its fields by the names of the text."""

    word: int
    name: str
    fields: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Bench:
    """A device of one edition of the encoding (M = A = `m`). `text` is another than the built-in one."""

    m: int = 2
    block: int = 16
    width: int = 64
    divided: int = 1
    text: str = ""
    dram: int = 1 << 16
    overlaps: bool = False

    @cached_property
    def isa(self) -> InstructionSet:
        constants = {"M": self.m, "A": self.m, "DRAM": self.dram, "BLOCK": self.block}
        constants |= {name: size // self.divided for name, size in ROWS.items()}
        return parse(self.text or text_of(self.overlaps), "vta.isa", "vta", constants)

    @cached_property
    def machine(self) -> Machine:
        return machine(self.isa)

    @property
    def verilog(self) -> str:
        return _verilog(self)

    @cached_property
    def cycles(self) -> Cycles:
        return Cycles(self.machine, self.width)

    def simulator(self) -> Simulator:
        return Simulator(self.isa)

    def __str__(self) -> str:
        return f"m{self.m}-block{self.block}-width{self.width}" + f"-divided{self.divided}" * (
            self.divided > 1
        )

    def beats(self, commands: Sequence[Command], simulator: Simulator) -> tuple[list[int], list[bytes]]:
        """What goes to the device, and what must come back, a packet each. `simulator` executes it."""
        sent: list[int] = []
        packets = []
        host = simulator.state["dram"]
        for one in commands:
            known = dict(one.fields)
            sent += _words(one.word.to_bytes(16, "little"), self.width)
            at = self._touched(one.name, known)
            if one.name.startswith("load"):
                sent += _words(host[at].astype(np.uint8).tobytes(), self.width)
            assert simulator.command(word=one.word) == one.name
            if one.name == "store" and at.size:
                packets.append(host[at].astype(np.uint8).tobytes())
        return sent, packets

    def tokened(self, commands: Sequence[Command], simulator: Simulator) -> list[Command]:
        """With tokens for the order that the text has, from `simulator`'s state on, which stays."""
        copy = self.simulator()
        for name, value in simulator.state.items():
            copy.state[name] = value
        used = []
        plain = [Plain(one.name, dict(one.fields)) for one in commands]
        for one, command in zip(commands, plain, strict=True):
            used.append(tuple(of_command(command, self.isa, copy.state["uop"].astype(np.int64))))
            copy.command(word=one.word)
        return [
            Command(one.word & ~(15 << 3) | bits << 3, one.name, (*one.fields, ("tokens", bits)))
            for one, bits in zip(commands, tokens_of(plain, used), strict=True)
        ]

    def _touched(self, name: str, fields: dict[str, int]) -> Any:
        """Bytes of the host's memory, in order, by hand."""
        if name == "load_uop":
            return 4 * fields["base"] + np.arange(4 * fields["count"])
        size = {"load_wgt": self.block**2, "load_acc": 4 * self.block}.get(name, self.block)
        if not (name.startswith("load") or name == "store"):
            return np.zeros(0, int)
        y, x, b = np.ix_(np.arange(fields["rows"]), np.arange(fields["count"]), np.arange(size))
        return (size * (fields["base"] + y * fields.get("stride", 0) + x) + b).ravel()

    def run(self, segments: Sequence[Segment], verilog: str = "", **options: Any) -> list[Outcome]:
        return run(verilog or self.verilog, TOP, segments, width=self.width, **options)

    def agrees(self, commands: Sequence[Command], verilog: str = "", seed: int = 0, pauses: int = 0) -> bool:
        """Whether the device, or another `verilog`, stores what the text does; without pauses in the cycles
        that are foretold. All memories are filled before, and stored behind."""
        generator = Generator(self, np.random.default_rng(seed))
        simulator = self.simulator()
        simulator.state["dram"][:] = generator.host()
        whole = [*generator.filled(), *commands, *generator.everything()]
        if self.overlaps:
            whole = self.tokened(whole, simulator)
        sent, stored = self.beats(whole, simulator)
        segments, options = [self.segment(sent)], {"pause_in": pauses, "pause_out": pauses}
        try:
            with patch.object(streams, "LIMIT", 1000 + 30 * self.foretold(whole)):
                (outcome,) = self.run(segments, verilog, **options)
        except DriverError:  # it does not end
            return False
        in_time = bool(pauses) or outcome.cycles == self.foretold(whole)
        return outcome.error == 0 and packets(outcome, self.width) == stored and in_time

    def mutant(self, pattern: str, instead: str) -> str:
        """The device's Verilog with something else in one place."""
        found, count = re.subn(pattern, instead, self.verilog)
        assert count >= 1, pattern
        return found

    def segment(self, beats: Sequence[int], **options: Any) -> Segment:
        words = -(-self.width // 64)
        parts = [[beat >> 64 * n & (1 << 64) - 1 for n in range(words)] for beat in beats]
        return Segment(np.array(parts, np.uint64).reshape(len(beats), words), **options)

    def foretold(self, commands: Sequence[Command]) -> int:
        return self.cycles.program((one.name, dict(one.fields)) for one in commands)


def _words(data: bytes, width: int) -> list[int]:
    size = width // 8
    data += bytes(-len(data) % size)
    return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]


def _words_of(rows: int, count: int, above: int, below: int, left: int, right: int) -> int:
    """Of the device's memory, pads among them."""
    return (above + rows + below) * (left + count + right)


@cache
def _verilog(bench: Bench) -> str:
    return convert(Device(bench.machine, bench.width), TOP)


def packets(outcome: Outcome, width: int) -> list[bytes]:
    """As bytes."""
    words = -(-width // 64)
    size = min(width, 64) // 8
    return [each.reshape(-1, words).astype(f"<u{size}").tobytes() for each in outcome.packets]


@dataclass
class Generator:
    """Random legal commands for `bench`: short ones that meet, pads, ends of memories, indices that wrap."""

    bench: Bench
    rng: np.random.Generator

    def below(self, end: int) -> int:
        return int(self.rng.integers(end))

    def place(self, size: int) -> int:
        near = self.below(4)
        return [near, size - 1 - near, self.below(size)][int(self.rng.choice(3, p=[0.6, 0.25, 0.15]))]

    def uops(self, count: int) -> np.ndarray:
        depths = self.bench.machine.depths
        words = [
            self.place(depths["acc"]) | self.place(depths["inp"]) << 11 | self.place(depths["wgt"]) << 22
            for _ in range(count)
        ]
        return np.array(words, "<u4").view(np.uint8)

    def host(self) -> np.ndarray:
        """Micro-ops in the lowest 256 bytes, anything elsewhere."""
        found = np.frombuffer(self.rng.bytes(self.bench.dram), np.uint8).copy()
        found[:256] = self.uops(64)
        return found

    def commands(self, count: int) -> list[Command]:
        chosen = self.rng.choice(
            np.array([self.load, self.store, self.gemm, self.alu, self.load_uop, self.finish], object),
            size=count,
            p=[0.25, 0.1, 0.25, 0.3, 0.08, 0.02],
        )
        return [make() for make in chosen]

    def filled(self) -> list[Command]:
        """Every word of every memory gets something: `out` by sums with 0."""
        depths = self.bench.machine.depths
        found = [self.moved("load_uop", 0, 16, 0), self.moved("load_uop", depths["uop"] - 8, 8, 16)]
        for name, memory in (("load_wgt", "wgt"), ("load_inp", "inp"), ("load_acc", "acc")):
            depth = depths[memory]
            count = min(depth, 32)
            rows = depth // count
            found.append(self.moved(name, 0, count, self.below(8), rows, self.below(3)))
        command = {"first": 0, "last": 1, "outer": depths["acc"], "inner": 1, "dst_outer": 1, "src_outer": 1}
        return [*found, self.computed("alu", {**command, "op": ADD, "immediate": 1})]

    def everything(self) -> list[Command]:
        """Stores of what is in `acc`, byte by byte, and in `out`."""
        depth = self.bench.machine.depths["acc"]
        store = self.moved("store", 0, depth, 0)
        shift = {"first": 0, "last": 1, "outer": depth, "inner": 1, "dst_outer": 1, "src_outer": 1}
        shifted = self.computed("alu", {**shift, "op": SHR, "immediate": 1, "constant": 8})
        added = self.computed("alu", {**shift, "op": ADD, "immediate": 1, "constant": 0})
        return [store, added, store, *([shifted, store] * 3)]

    def moved(
        self, name: str, sram: int, count: int, base: int, rows: int = 1, stride: int = 0, **pads: int
    ) -> Command:
        kinds = {
            "load_uop": UOP,
            "load_wgt": WGT,
            "load_inp": INP,
            "load_acc": ACC,
            "load_acc_8bit": ACC_8BIT,
        }
        kind = kinds.get(name, OUT if self.bench.m == 3 else self.below(4))
        fields = {"sram": sram, "base": base, "rows": rows, "count": count, "stride": stride, **pads}
        opcode = STORE if name == "store" else LOAD
        tokens = self.below(16)
        bits = word(self.bench.m, "memory", opcode=opcode, tokens=tokens, type=kind, **fields)
        return Command(bits, name, tuple(fields.items()))

    def load_uop(self) -> Command:
        count = self.below(9)
        return self.moved(
            "load_uop", self.below(4), count, self.below(64 - count), stride=self.below(1 << 16)
        )

    def _rectangle(self, name: str, memory: str, size: int, pads: bool) -> Command:
        rows, count, stride = self.below(4), self.below(4), self.below(7)
        if name == "store":
            stride += count  # rows that do not meet: what came can be read off the host's memory
        around = {
            side: self.below(3) if pads and self.below(2) else 0
            for side in ("above", "below", "left", "right")
        }
        depth = self.bench.machine.depths[memory]
        if _words_of(rows, count, **around) > depth:  # divided memories have no room for every pad
            around = dict.fromkeys(around, 0)
        used = _words_of(rows, count, **around)
        last = max(rows - 1, 0) * stride + count
        base = self.below(self.bench.dram // size - last + 1)
        return self.moved(name, min(self.place(depth), depth - used), count, base, rows, stride, **around)

    def load(self) -> Command:
        block = self.bench.block
        kinds = [
            ("load_wgt", block**2),
            ("load_inp", block),
            ("load_acc", 4 * block),
            ("load_acc_8bit", block),
        ]
        name, size = kinds[self.below(3 + (self.bench.m == 3))]
        return self._rectangle(name, name.split("_")[1], size, True)

    def store(self) -> Command:
        return self._rectangle("store", "out", self.bench.block, False)

    def _factor(self, size: int) -> int:
        return [0, 1, self.below(4), self.below(size)][self.below(4)]

    def _loops(self) -> dict[str, int]:
        end = self.bench.machine.depths["uop"]
        first = self.below(3) if self.below(8) else end - 1 - self.below(3)
        fields = {"first": first, "last": min(max(0, first + self.below(6) - (self.below(8) == 0)), end)}
        fields |= {
            name: int(self.rng.choice(5, p=[0.06, 0.34, 0.3, 0.2, 0.1])) for name in ("outer", "inner")
        }
        return fields | {
            f"{which}_{loop}": self._factor(2048) for which in ("dst", "src") for loop in ("outer", "inner")
        }

    def gemm(self) -> Command:
        fields = {"reset": int(self.below(5) == 0), **self._loops()}
        fields |= {"wgt_outer": self._factor(1024), "wgt_inner": self._factor(1024)}
        return self.computed("gemm", fields)

    def alu(self) -> Command:
        op = self.below(4 + (self.bench.m == 3))
        small = (self.below(40) - 20) % (1 << 16)
        constant = small if self.below(2) else self.below(1 << 16)
        fields = {**self._loops(), "op": op, "immediate": self.below(2), "constant": constant}
        return self.computed("alu", fields)

    def computed(self, name: str, fields: dict[str, int]) -> Command:
        opcode = GEMM if name == "gemm" else ALU
        bits = word(self.bench.m, name, opcode=opcode, tokens=self.below(16), **fields)
        known = {key: value for key, value in fields.items() if key != "constant"}
        return Command(bits, name, tuple(known.items()))

    def finish(self) -> Command:
        return Command(FINISH | self.below(1 << 20) << 7, "finish", ())
