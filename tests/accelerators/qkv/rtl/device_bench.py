"""Small QKVs beside the simulator of their text: the same programs, bit for bit, and the cycles foretold."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from axiloom.accelerators.qkv.rtl.cycles import Cycles
from axiloom.accelerators.qkv.rtl.device import Device
from axiloom.accelerators.qkv.rtl.meanings import Machine, machine
from axiloom.device.streams import Outcome, Segment, run
from axiloom.hw.verilog.functions import emit_with_functions
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import parse
from axiloom.isa.instructions.simulator.simulate import Simulator
from axiloom.isa.instructions.tree import InstructionSet

Command = tuple[str, Mapping[str, int]]
TOP = "device"


def small(text: str, columns: int) -> str:
    """The text with rows of `columns`: 64, 128, 192 and 256 become that, twice, three and four times that."""
    kept = text.replace("[32:64]", "[32:§]").replace("input(64)", "input(§)")
    for times in (4, 3, 2, 1):
        kept = re.sub(rf"\b{64 * times}\b", f"_{times * columns}", kept)
    return re.sub(r"\b_(\d)", r"\1", kept).replace("§", "64")


def text_of(name: str) -> str:
    return targets()[name].read_text(encoding="utf-8")


OPCODES: Mapping[str, tuple[str, ...]] = {
    "qkv": ("load_rm", "load_cm", "store_rm", "store_cm", "mov", "gemm", "softmax"),
    "qkv_double": (
        *("load_1", "load_3", "store_1", "store_3", "transpose_13", "mov_21", "mov_23", "gemm", "softmax"),
    ),
    "rows64": (
        *("load_1", "load_2", "store_1", "store_2", "mov_21", "mov_12", "transpose_21", "gemm", "gemm_add"),
        *("softmax", "add_rows", "subtract_rows", "multiply_rows", "maximum_rows", "relu"),
    ),
}
"""Encodings, written by hand: what decoding is tested against."""


def word(isa: str, name: str, fields: Mapping[str, int]) -> int:
    """The command's word."""
    at = {"n": 4, "out": 20, "row": 12, "base": 32, "a": 12, "b": 20, "other": 20}
    if isa == "rows64":
        at["n"] = 5
    if name.startswith("load"):
        at["out"] = 12
    if isa == "rows64" and name.startswith("gemm"):
        at["out"] = 5
    code = OPCODES[isa].index(name) + 1
    return code | sum(value << at[field] for field, value in fields.items())


@dataclass(frozen=True)
class Bench:
    """A device with rows of `columns` elements and so many `lanes`, and so many `rows` of a product at once.
    `text` is another than the built-in one."""

    name: str
    columns: int
    lanes: int
    width: int = 64
    text: str = ""
    rows: int = 1

    @cached_property
    def isa(self) -> InstructionSet:
        return parse(small(self.text or text_of(self.name), self.columns), f"{self.name}.isa", self.name)

    @cached_property
    def machine(self) -> Machine:
        return machine(self.isa)

    @property
    def verilog(self) -> str:
        return _verilog(self)

    @property
    def cycles(self) -> Cycles:
        return Cycles(self.machine, self.lanes, self.width, self.rows)

    def simulator(self) -> Simulator:
        return Simulator(self.isa)

    def beats(self, commands: Sequence[Command], simulator: Simulator) -> tuple[list[int], list[bytes]]:
        """What goes to the device, and what must come back, a packet each. `simulator` executes it."""
        sent: list[int] = []
        packets = []
        for name, fields in commands:
            code = word(self.name, name, fields)
            sent += _words(code.to_bytes(8, "little"), self.width)
            host, base = simulator.state["d0"], fields.get("base", 0)
            size = 2 * self.columns * fields.get("n", 0)
            if name.startswith("load"):
                sent += _words(host[base : base + size].astype(np.uint8).tobytes(), self.width)
            assert simulator.command(word=code) == name
            if name.startswith("store") and size:
                packets.append(host[base : base + size].astype(np.uint8).tobytes())
        return sent, packets

    def run(self, segments: Sequence[Segment], **options: Any) -> list[Outcome]:
        return run(self.verilog, TOP, segments, width=self.width, **options)

    def segment(self, beats: Sequence[int], **options: Any) -> Segment:
        words = -(-self.width // 64)
        parts = [beat >> 64 * word & (1 << 64) - 1 for beat in beats for word in range(words)]
        return Segment(np.array(parts, np.uint64).reshape(len(beats), words), **options)


def _words(data: bytes, width: int) -> list[int]:
    size = width // 8
    return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]


@cache
def _verilog(bench: Bench) -> str:
    return emit_with_functions(Device(bench.machine, bench.lanes, bench.width, bench.rows), TOP)


def packets(outcome: Outcome, width: int) -> list[bytes]:
    """As bytes."""
    return [each.astype(f"<u{min(width, 64) // 8}").tobytes() for each in outcome.packets]


def elements(rng: np.random.Generator, count: int) -> Any:
    """bfloat16: mostly of the size of activations, some anything at all."""
    usual = (rng.standard_normal(count).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    wild = rng.integers(0, 1 << 16, count).astype(np.uint16)
    return np.where(rng.random(count) < 0.01, wild, usual)


def random_commands(bench: Bench, rng: random.Random, count: int) -> list[Command]:
    """Legal ones: loads come often enough that memories are full of something."""
    n, found = bench.columns, []
    host = bench.isa.memories["d0"].shape[0]
    for _ in range(count):
        name = rng.choice(OPCODES[bench.name])
        rows = rng.choice([0, 1, rng.randrange(n + 1), n])
        whole = 2 * n * n
        base = 2 * n * rng.randrange((host - whole) // (2 * n))
        if bench.name == "rows64":
            found.append((name, _rows64(name, rng, n, rows, base)))
            continue
        first = rng.randrange(2 * n - n + 1)
        fields = {
            "load": {"n": rows, "out": rng.randrange(2 * n - rows + 1), "base": base},
            "store": {"n": rows, "row": rng.randrange(2 * n - rows + 1), "base": base},
            "mov": {"n": rows, "row": rng.randrange(n - rows + 1), "out": rng.randrange(2 * n - rows + 1)},
            "transpose": {"row": first, "out": rng.randrange(n + 1)},
            "gemm": {"a": first, "b": rng.randrange(n + 1)},
            "softmax": {"n": rows, "row": rng.randrange(n - rows + 1)},
        }[name.split("_")[0]]
        if name in ("load_cm", "store_cm"):
            fields["n"] = n
            where = "out" if name == "load_cm" else "row"
            fields[where] = rng.randrange(n + 1)
        found.append((name, fields))
    return found


def _rows64(name: str, rng: random.Random, n: int, rows: int, base: int) -> Mapping[str, int]:
    """Legal fields; d1 has four times `n` rows, d2 twice as many."""
    in_1, in_2 = rng.randrange(4 * n - rows + 1), rng.randrange(2 * n - rows + 1)
    if name.startswith("gemm"):
        a, b = (rng.randrange(3 * n + 1) for _ in range(2))
        return {"a": a, "b": b, "out": rng.randrange(n + 1)}
    if name == "transpose_21":
        return {"row": rng.randrange(n + 1), "out": rng.randrange(3 * n + 1)}
    if name.startswith(("load", "store")):
        return {
            "n": rows,
            "out" if name[0] == "l" else "row": in_1 if name[-1] == "1" else in_2,
            "base": base,
        }
    if name.startswith("mov"):
        row, out = (in_1, in_2) if name == "mov_12" else (in_2, in_1)
        return {"n": rows, "row": row, "out": out}
    operand = {"other": in_1} if name.endswith("_rows") else {}
    return {"n": rows, "row": in_2, **operand}
