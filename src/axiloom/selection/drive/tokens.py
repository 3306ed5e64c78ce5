"""Tokens of a program whose device has engines: each command waits for what it needs, and for nothing else.

Commands mean what they mean one after the other. Two of different engines need an order if one writes places
of the device's memories that the other reads or writes. Places are taken from a command's fields, and for
loops from the micro-ops that are there: of those, the range from the first to the last.

Tokens come from addresses, not from a schedule. A generator that writes tokens by hand is right for
its own loops only. Places of loads and stores stand in their fields, those of loops follow from
micro-ops, which are constants. So tokens are found for any program, by hand or chosen, and a second piece
of code follows them and refuses an order that is left open. The text stays one command after the other:
what is proved and validated of a program holds of the device that overlaps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from axiloom.base.errors import CompileError
from axiloom.isa.instructions.engines import COMPUTE, COUNT_BITS, ENGINES, LOAD, QUEUES, STORE, TOKENS
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.program.program import Command, Program, array_bytes

ENGINE: Mapping[str, str] = {"load_wgt": LOAD, "load_inp": LOAD, "store": STORE}
"""By instruction; all others compute."""
_BITS = {"dst": (0, 11), "src": (11, 22), "wgt": (22, 32)}
"""Of a micro-op."""
_UNKNOWN = -1


@dataclass(frozen=True)
class Use:
    """Of a memory: places from `low` up to `high`, which is not one of them."""

    memory: str
    low: int
    high: int
    writes: bool = False

    def meets(self, other: Use) -> bool:
        """Whether the order matters."""
        return (
            self.memory == other.memory
            and (self.writes or other.writes)
            and self.low < other.high
            and other.low < self.high
        )


def tokened(program: Program, isa: InstructionSet) -> Program:
    """With tokens, where the text has some and the program has none. Tokens that are there are checked.

    Raises CompileError for two commands whose order tokens leave open, and for one that waits for ever.
    """
    if not all(
        TOKENS in {let.name for let in instruction.fields} for instruction in isa.instructions.values()
    ):
        return program
    known = {*_RECTANGLES, *_LOOPS, *_NOTHING}
    for name in isa.instructions:
        if name not in known:  # what it uses is not known, so no order could be seen
            raise CompileError(
                f"{isa.name}: {name} has tokens, and its places in the memories are not known; known are "
                f"those of {', '.join(sorted(known))}"
            )
    used = list(uses(program, isa))
    if any(command.fields.get(TOKENS) for command in program.commands):
        check(program.commands, used)
        return program
    tokens = tokens_of(program.commands, used)
    commands = tuple(
        Command(command.instruction, {**command.fields, TOKENS: bits}) if bits else command
        for command, bits in zip(program.commands, tokens, strict=True)
    )
    check(commands, used)
    return replace(program, commands=commands)


def engine(command: Command) -> str:
    return ENGINE.get(command.instruction, COMPUTE)


def tokens_of(commands: Sequence[Command], used: Sequence[Sequence[Use]]) -> list[int]:
    """A command waits for the last one of another engine that its order with matters, once."""
    bits = [0] * len(commands)
    before: dict[str, list[int]] = {name: [] for name in ENGINES}
    waited = dict.fromkeys(QUEUES, -1)
    for at, command in enumerate(commands):
        for queue in QUEUES:
            if queue.target != engine(command):
                continue
            for other in reversed(before[queue.source]):
                if other <= waited[queue]:
                    break
                if _meet(used[at], used[other]):
                    bits[other] |= 1 << queue.push
                    bits[at] |= 1 << queue.pop
                    waited[queue] = other
                    break
        before[engine(command)].append(at)
    return bits


def _meet(some: Sequence[Use], others: Sequence[Use]) -> bool:
    return any(use.meets(other) for use in some for other in others)


def check(commands: Sequence[Command], used: Sequence[Sequence[Use]]) -> None:
    """Follows the tokens: what has ended for certain when a command begins. Raises CompileError."""
    left: dict[object, list[int]] = {queue: [] for queue in QUEUES}
    taken = dict.fromkeys(QUEUES, 0)
    ended: list[dict[str, int]] = []
    """Before each command: the last one of each engine that has ended."""
    before: dict[str, list[int]] = {name: [] for name in ENGINES}
    for at, command in enumerate(commands):
        own, tokens = engine(command), command.fields.get(TOKENS, 0)
        known = dict.fromkeys(ENGINES, -1)

        def learn(other: int, known: dict[str, int] = known) -> None:
            for name, last in (*ended[other].items(), (engine(commands[other]), other)):
                known[name] = max(known[name], last)

        if before[own]:
            learn(before[own][-1])
        for queue in QUEUES:
            if queue.target == own and tokens >> queue.pop & 1:
                if taken[queue] == len(left[queue]):
                    raise CompileError(
                        f"command {at}, {command.instruction}, waits for a token that no {queue.source} "
                        f"before it leaves: it would wait for ever"
                    )
                learn(left[queue][taken[queue]])
                taken[queue] += 1
        for name in ENGINES:
            late = (other for other in reversed(before[name]) if other > known[name])
            for other in late:
                if name != own and _meet(used[at], used[other]):
                    raise CompileError(
                        f"command {at}, {command.instruction}, does not wait for command {other}, "
                        f"{commands[other].instruction}, which uses the same places"
                    )
        ended.append(known)
        before[own].append(at)
        for queue in QUEUES:
            if queue.source == own and tokens >> queue.push & 1:
                left[queue].append(at)
                if len(left[queue]) - taken[queue] >= 1 << COUNT_BITS:
                    raise CompileError(
                        f"command {at}: {queue.source} leaves {1 << COUNT_BITS} tokens at once"
                    )


def uses(program: Program, isa: InstructionSet) -> Iterator[tuple[Use, ...]]:
    """Of each command, in order."""
    micro_ops = np.full(isa.memories["uop"].shape[0], _UNKNOWN, np.int64)
    for command in program.commands:
        if command.instruction == "load_uop":
            _load(program, command.fields, micro_ops)
        yield tuple(of_command(command, isa, micro_ops))


def of_command(command: Command, isa: InstructionSet, micro_ops: NDArray[np.int64]) -> Iterator[Use]:
    """`micro_ops` are those that are there; -1: not known."""
    fields, name = command.fields, command.instruction
    if name in _RECTANGLES:
        yield _rectangle(_RECTANGLES[name], fields, name != "store")
    for field, memory, writes in _LOOPS.get(name, ()):
        among = micro_ops[fields.get("first", 0) : fields.get("last", 0)]
        yield from _range(memory, isa.memories[memory].shape[0], among, field, fields, writes)


_RECTANGLES = {
    "load_inp": "inp",
    "load_wgt": "wgt",
    "load_acc": "acc",
    "load_acc_8bit": "acc",
    "store": "out",
}
_NOTHING = ("load_uop", "finish")
"""What has its places in no memory that another engine uses."""
_RESULTS = (("dst", "acc", True), ("dst", "out", True))
_LOOPS: Mapping[str, Sequence[tuple[str, str, bool]]] = {
    "gemm": (*_RESULTS, ("src", "inp", False), ("wgt", "wgt", False)),
    "alu": (*_RESULTS, ("src", "acc", False)),
}


def _rectangle(memory: str, fields: Mapping[str, int], writes: bool) -> Use:
    width = fields.get("left", 0) + fields.get("count", 0) + fields.get("right", 0)
    height = fields.get("above", 0) + fields.get("rows", 0) + fields.get("below", 0)
    return Use(memory, fields.get("sram", 0), fields.get("sram", 0) + width * height, writes)


def _range(
    memory: str,
    size: int,
    micro_ops: NDArray[np.int64],
    field: str,
    fields: Mapping[str, int],
    writes: bool,
) -> Iterator[Use]:
    turns = {loop: fields.get(loop, 0) for loop in ("outer", "inner")}
    if not micro_ops.size or 0 in turns.values():
        return
    low, high = _BITS[field]
    places = micro_ops >> low & (1 << high - low) - 1
    far = sum((turns[loop] - 1) * fields.get(f"{field}_{loop}", 0) for loop in turns)
    if (micro_ops == _UNKNOWN).any() or int(places.max()) + far >= size:  # it goes round
        yield Use(memory, 0, size, writes)
    else:
        yield Use(memory, int(places.min()), int(places.max()) + far + 1, writes)


def _load(program: Program, fields: Mapping[str, int], micro_ops: NDArray[np.int64]) -> None:
    """Micro-ops that are a constant are known."""
    first, count, sram = 4 * fields.get("base", 0), fields.get("count", 0), fields.get("sram", 0)
    micro_ops[sram : sram + count] = _UNKNOWN
    for array in program.arrays:
        inside = array.base <= first and first + 4 * count <= array.base + array_bytes(array)
        if array.role == "constant" and inside:
            words = np.ascontiguousarray(program.constants[array.name]).view(np.uint8)
            own = words.ravel()[first - array.base :][: 4 * count]
            micro_ops[sram : sram + count] = own.view(np.uint32)
