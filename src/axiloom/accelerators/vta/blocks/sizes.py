"""Sizes of a text's blocks and memories."""

from __future__ import annotations

from dataclasses import dataclass

from axiloom.base.errors import CompileError
from axiloom.isa.instructions.tree import InstructionSet

_WANTED = ("load_uop", "load_inp", "load_wgt", "load_acc", "gemm", "alu", "store")


@dataclass(frozen=True)
class Sizes:
    """`block` elements of a vector; how many micro-ops, vectors and blocks the memories hold; bytes of the
    host's memory."""

    block: int
    uops: int
    inps: int
    wgts: int
    accs: int
    dram: int

    @classmethod
    def of(cls, isa: InstructionSet) -> Sizes:
        """Raises CompileError for a text without VTA's memories and instructions."""
        memories = {name: isa.memories.get(name) for name in ("uop", "inp", "wgt", "acc", "dram")}
        missing = [name for name, memory in memories.items() if memory is None]
        missing += [name for name in _WANTED if name not in isa.instructions]
        if missing:
            raise CompileError(f"{isa.name} has no {', '.join(missing)}: a text like vta.isa is wanted")
        shapes = {name: memory.shape for name, memory in memories.items() if memory is not None}
        rows = {f"{name}s": shapes[name][0] for name in ("uop", "inp", "wgt", "acc")}
        return cls(block=shapes["wgt"][1], dram=shapes["dram"][0], **rows)


def divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]


def blocks_of(what: str, size: int, block: int) -> int:
    """Raises CompileError for what is no whole number of blocks."""
    if size <= 0 or size % block:
        raise CompileError(f"{what} must be a multiple of {block}, not {size}: fill it up with zeros")
    return size // block
