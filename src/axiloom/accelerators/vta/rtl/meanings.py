"""What an instruction of a text does, in the hardware's words: it is compared with what units do.

A unit is described in the language of texts (:class:`axiloom.hw.command.same.Same`). The sizes of blocks and
memories are the text's, and so are the encodings of commands; micro-ops have VTA's fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from axiloom.base.errors import SpecError
from axiloom.hw.command.meaning import Meaning, meaning_of, meanings
from axiloom.isa.instructions.engines import BITS, TOKENS
from axiloom.isa.instructions.read import parse
from axiloom.isa.instructions.tree import (
    Expr,
    Instruction,
    InstructionSet,
    Memory,
    Read,
    Statement,
    Write,
    signed,
    unsigned,
)
from axiloom.isa.instructions.walk import blocks, parts

ACCUMULATOR = 32
"""Bits."""
UOP = 32
MIN, MAX, ADD, SHR, MUL = range(5)
"""Operations of an ALU."""

_HEAD = """
word = input(128)
host = memory(1 << 31, type=uint8, host=True)
uop = memory(8192, type=uint32)
inp = memory(2048, {B}, type=int8)
wgt = memory(1024, {B}, {B}, type=int8)
acc = memory(2048, {B}, type=int32)
out = memory(2048, {B}, type=int8)
done = register(uint1)

def shifted(value: int32, by: int5) -> int32:
    return value >> max(by, 0) if by >= 0 else int32(value << max(-by, 0))

def product(a: int32, b: int32) -> int32:
    return int32(a * uint16(b) + (int32(a * (b >> 16)) << 16))

@instruction(word[0:3] == 0)
def load_uops():
    sram = word[10:26]
    base = word[26:58]
    count = word[80:96]
    for x in range(count):
        at = 4 * (base + x)
        uop[sram + x] = cat(host[at], host[at + 1], host[at + 2], host[at + 3])

@instruction(word[0:3] == 1)
def store():
    sram = word[10:26]
    base = word[26:58]
    rows = word[64:80]
    count = word[80:96]
    stride = word[96:112]
    for y in range(rows):
        for x in range(count):
            at = {B} * (base + y * stride + x)
            for lane in lanes({B}):
                host[at + lane] = uint8(out[sram + y * count + x, lane])

@instruction(word[0:3] == 2)
def gemm():
    reset = word[7:8]
    first = word[8:21]
    last = word[21:35]
    outer = word[35:49]
    inner = word[49:63]
    dst_outer = word[64:75]
    dst_inner = word[75:86]
    src_outer = word[86:97]
    src_inner = word[97:108]
    wgt_outer = word[108:118]
    wgt_inner = word[118:128]
    for i in range(outer):
        for j in range(inner):
            for u in range(first, last):
                dst = uint{ACC}(uop[u][0:11] + i * dst_outer + j * dst_inner)
                src = uint{INP}(uop[u][11:22] + i * src_outer + j * src_inner)
                w = uint{WGT}(uop[u][22:32] + i * wgt_outer + j * wgt_inner)
                for o in lanes({B}):
                    total = int32(acc[dst, o] + sum(wgt[w, o, k] * inp[src, k] for k in range({B})))
                    acc[dst, o] = 0 if reset == 1 else total
                    out[dst, o] = int8(total)

@instruction(word[0:3] == 4)
def alu():
    first = word[8:21]
    last = word[21:35]
    outer = word[35:49]
    inner = word[49:63]
    dst_outer = word[64:75]
    dst_inner = word[75:86]
    src_outer = word[86:97]
    src_inner = word[97:108]
    op = word[108:111]
    immediate = word[111:112]
    constant = int16(word[112:128])
    for i in range(outer):
        for j in range(inner):
            for u in range(first, last):
                dst = uint{ACC}(uop[u][0:11] + i * dst_outer + j * dst_inner)
                src = uint{ACC}(uop[u][11:22] + i * src_outer + j * src_inner)
                for o in lanes({B}):
                    a = acc[dst, o]
                    b = constant if immediate == 1 else acc[src, o]
                    value = (
                        min(a, b) if op == 0
                        else max(a, b) if op == 1
                        else int32(a + b) if op == 2
                        else shifted(a, int5(b)) if op == 3
                        else product(a, b)
                    )
                    acc[dst, o] = value
                    out[dst, o] = int8(value)

@instruction(word[0:3] == 3)
def finish():
    done = 1
"""
_LOAD = """
@instruction(word[0:3] == 0)
def {name}():
    sram = word[10:26]
    base = word[26:58]
    rows = word[64:80]
    count = word[80:96]
    stride = word[96:112]
    above = word[112:116]
    left = word[120:124]
    width = word[64:80]
    height = word[80:96]
    for y in range(height):
        for x in range(width):
            if above <= y < above + rows and left <= x < left + count:
                at = {bytes} * (base + (y - above) * stride + x - left)
                for {lanes} in lanes({shape}):
                    {value}
            else:
                for {lanes} in lanes({shape}):
                    {to} = 0
"""
_WIDE = """first = at + 4 * lane
                    acc[sram + y * width + x, lane] = int32(
                        cat(host[first], host[first + 1], host[first + 2], host[first + 3])
                    )"""
LOADS = ("load_wgt", "load_inp", "load_acc", "load_acc_8bit")
MEMORIES = ("uop", "inp", "wgt", "acc", "out")


@dataclass(frozen=True)
class Machine:
    """A text as hardware: vectors of `block` elements, `depths` of the memories by the description's names,
    its meanings by unit."""

    isa: InstructionSet
    block: int
    depths: Mapping[str, int]
    meanings: Mapping[str, Meaning]
    tokens: Expr | None = None
    """Of any command's words, what it waits for and what it leaves (``tokens.py``); None:
    commands come one after the other."""

    @property
    def operations(self) -> int:
        """Codes of operations that the encoding has room for."""
        return 1 << self.meanings["alu"].values["op"].range.bits


def machine(isa: InstructionSet) -> Machine:
    """Raises SpecError with each instruction and memory that no unit can be."""
    memories = _memories(isa)
    block = memories["wgt"].shape[1]
    depths = {name: memory.shape[0] for name, memory in memories.items()}
    units = parse(_described(block, depths), "units", "units").instructions
    by_unit: dict[str, Meaning] = {}
    faults: list[str] = []
    for where, meaning in meanings(isa, units, faults, partial(_meaning, memories)):
        if meaning.unit in by_unit:
            faults.append(f"{where} does what {by_unit[meaning.unit].instruction} does; keep one")
        else:
            by_unit[meaning.unit] = meaning
    missing = {"load_uops", *LOADS[:3], "gemm", "alu", "store"} - set(by_unit)
    if missing and not faults:
        faults.append(f"{isa.place}: no instruction does what the units {', '.join(sorted(missing))} do")
    tokens = _tokens(isa, faults)
    if faults:
        raise SpecError(faults)
    return Machine(isa, block, depths, by_unit, tokens)


def _tokens(isa: InstructionSet, faults: list[str]) -> Expr | None:
    """The field of that name: all instructions have it in the same bits, or none has it."""
    instructions = isa.instructions.values()
    there = [let.value for instruction in instructions for let in instruction.fields if let.name == TOKENS]
    if not there:
        return None
    if len(there) < len(isa.instructions) or any(value != there[0] for value in there[1:]):
        faults.append(
            f"{isa.place}: {len(there)} of {len(isa.instructions)} instructions have {TOKENS}; all have them "
            f"in the same bits, or none"
        )
    elif there[0].range != unsigned(BITS):
        faults.append(f"{isa.place}: {TOKENS} are {BITS} bits without a sign, not {there[0].range}")
    return there[0]


def _memories(isa: InstructionSet) -> dict[str, Memory]:
    """The text's, by the description's names: known by their shapes, `inp` by what loads it."""
    own = [memory for memory in isa.memories.values() if not memory.host]
    cubes = [
        memory
        for memory in own
        if len(memory.shape) == 3 and memory.shape[1] == memory.shape[2] and memory.type == signed(8)
    ]
    if len(cubes) != 1:
        raise SpecError([f"{isa.place}: {len(cubes)} memories have square blocks of int8; a GEMM has one"])
    block = cubes[0].shape[1]
    rows = [memory for memory in own if memory.shape[1:] == (block,)]
    bytes_ = [row for row in rows if row.type == signed(8)]
    words = [row for row in rows if row.type == signed(ACCUMULATOR)]
    uops = [memory for memory in own if len(memory.shape) == 1 and memory.type == unsigned(UOP)]
    faults = [
        f"{isa.place}: {len(group)} memories have {what}, not {count}"
        for what, group, count in (
            (f"rows of {block} int8", bytes_, 2),
            (f"rows of {block} int32", words, 1),
            ("single uint32", uops, 1),
        )
        if len(group) != count
    ]
    if not faults and len(own) != 5:
        faults.append(
            f"{isa.place}: {len(own)} memories; a VTA has weights, inputs, accumulators, outputs, micro-ops"
        )
    if not faults:
        sizes = [memory.shape[0] for memory in (*cubes, *rows)]
        faults += [
            f"{isa.place}: a memory of {size} rows; powers of two are built"
            for size in sizes
            if size & size - 1
        ]
    if faults:
        raise SpecError(faults)
    stored = {memory.name for memory in bytes_ if _is_stored(isa, memory)}
    inputs, outputs = (
        [memory for memory in bytes_ if (memory.name in stored) is is_out] for is_out in (False, True)
    )
    if len(outputs) != 1:
        raise SpecError([f"{isa.place}: one memory of bytes is stored to the host, not {len(outputs)}"])
    return {"uop": uops[0], "inp": inputs[0], "wgt": cubes[0], "acc": words[0], "out": outputs[0]}


def _is_stored(isa: InstructionSet, memory: Memory) -> bool:
    def stores(statements: Iterable[Statement]) -> Iterator[bool]:
        for statement in statements:
            if isinstance(statement, Write) and statement.memory.host:
                yield any(isinstance(part, Read) and part.memory == memory for part in parts(statement.value))
            for inner in blocks(statement):
                yield from stores(inner)

    return any(any(stores(instruction.body)) for instruction in isa.instructions.values())


def _described(block: int, depths: Mapping[str, int]) -> str:
    bits = {name.upper(): (depths[name] - 1).bit_length() for name in ("acc", "inp", "wgt")}
    text = _HEAD.format(B=block, **bits)
    vector, square = ("lane", str(block)), ("o, i", f"{block}, {block}")
    row = "{}[sram + y * width + x, lane]"
    cell = "wgt[sram + y * width + x, o, i]"
    loads = (
        ("load_wgt", block * block, square, cell, f"{cell} = int8(host[at + {block} * o + i])"),
        ("load_inp", block, vector, row.format("inp"), f"{row.format('inp')} = int8(host[at + lane])"),
        ("load_acc", 4 * block, vector, row.format("acc"), _WIDE),
        ("load_acc_8bit", block, vector, row.format("acc"), f"{row.format('acc')} = int8(host[at + lane])"),
    )
    for name, bytes_, (lanes, shape), to, value in loads:
        text += _LOAD.format(name=name, bytes=bytes_, lanes=lanes, shape=shape, to=to, value=value)
    return text


def _meaning(
    memories: Mapping[str, Memory], instruction: Instruction, units: Iterable[Instruction]
) -> Meaning | None:
    for meaning in (meaning_of(instruction, [unit]) for unit in units):
        if meaning is not None and meaning.memories.items() <= memories.items():
            return meaning
    return None
