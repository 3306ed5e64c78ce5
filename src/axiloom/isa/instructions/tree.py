"""Instruction sets as trees: memories, registers, functions, and what each instruction does.

Every expression is an integer with a range: sums and products grow, nothing wraps unless the text says so
(``int32(x)``). So all that executes or proves a tree computes the same, without a word about overflow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

MOST_BITS = 64
"""Of a value that is computed with; an input may be wider, and its bits are taken."""
MOST_STORED = 63
"""Of a register, an element or an entry of a table."""
RTL_SIZES = "lanes", "stream_width"
"""What the RTL of a text has besides the text's constants: elements at once, bits of its streams."""


@dataclass(frozen=True, order=True)
class Range:
    """The integers from `low` to `high`, both included."""

    low: int
    high: int

    @property
    def signed(self) -> bool:
        return self.low < 0

    @property
    def bits(self) -> int:
        """Bits that hold every value, two's complement where one is negative; at least one."""
        if self.signed:
            return max((~self.low).bit_length(), max(self.high, 0).bit_length()) + 1
        return max(1, self.high.bit_length())

    def holds(self, other: Range) -> bool:
        return self.low <= other.low and other.high <= self.high

    def joined(self, other: Range) -> Range:
        return Range(min(self.low, other.low), max(self.high, other.high))

    def __str__(self) -> str:
        return _said(self.low) if self.low == self.high else f"{_said(self.low)} to {_said(self.high)}"


def _said(value: int) -> str:
    return str(value) if value.bit_length() <= 64 else f"a number of {value.bit_length()} bits"


def unsigned(bits: int) -> Range:
    return Range(0, (1 << bits) - 1)


def signed(bits: int) -> Range:
    return Range(-(1 << bits - 1), (1 << bits - 1) - 1)


BOOL = Range(0, 1)


# --- expressions ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Const:
    value: int

    @property
    def range(self) -> Range:
        return Range(self.value, self.value)


@dataclass(frozen=True)
class Name:
    """An input, a register, a local or an iterator."""

    name: str
    range: Range


@dataclass(frozen=True)
class Read:
    """An element of a memory."""

    memory: Memory
    index: tuple[Expr, ...]

    @property
    def range(self) -> Range:
        return self.memory.type


@dataclass(frozen=True)
class Apply:
    """One of :data:`OPERATIONS`."""

    operation: str
    arguments: tuple[Expr, ...]
    range: Range


@dataclass(frozen=True)
class Bits:
    """`width` bits of `value` from bit `low` on, as an unsigned number."""

    value: Expr
    low: Expr
    width: int

    @property
    def range(self) -> Range:
        return unsigned(self.width)


@dataclass(frozen=True)
class Wrapped:
    """The low bits of `value`, read as a number of `range`."""

    value: Expr
    range: Range


@dataclass(frozen=True)
class Choice:
    condition: Expr
    yes: Expr
    no: Expr

    @property
    def range(self) -> Range:
        return self.yes.range.joined(self.no.range)


@dataclass(frozen=True)
class Lookup:
    """An entry of a table of constants."""

    table: Table
    index: Expr

    @property
    def range(self) -> Range:
        return Range(min(self.table.values), max(self.table.values))


@dataclass(frozen=True)
class Fold:
    """`operation` (``add``, ``min``, ``max``, ``and``, ``or``) over `body` for all values of an iterator."""

    operation: str
    iterator: str
    count: int
    body: Expr
    range: Range


@dataclass(frozen=True)
class Call:
    function: Function
    arguments: tuple[Expr, ...]

    @property
    def range(self) -> Range:
        return self.function.result


Expr: TypeAlias = Const | Name | Read | Apply | Bits | Wrapped | Choice | Lookup | Fold | Call

OPERATIONS = (
    "add", "sub", "mul", "floordiv", "mod", "shl", "shr", "bitand", "bitor", "bitxor", "invert", "neg", "abs",
    "min", "max", "eq", "ne", "lt", "le", "and", "or", "not", "cat",
)  # fmt: skip
"""``cat``: the first argument in the low bits."""


# --- declarations -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Memory:
    """Elements of `type` in `shape`. Of a host's memory the accelerator has only the address."""

    name: str
    shape: tuple[int, ...]
    type: Range
    host: bool = False
    sized_by: str = ""
    """The constant of the text that is its size, where one name says it."""
    reset: int = 0
    """What each element is after a reset."""


@dataclass(frozen=True)
class Register:
    name: str
    type: Range
    init: int | None = 0
    """After a reset; None: any."""


@dataclass(frozen=True)
class Input:
    """What comes with a command: a word, an address."""

    name: str
    bits: int

    @property
    def type(self) -> Range:
        return unsigned(self.bits)


@dataclass(frozen=True)
class Table:
    name: str
    values: tuple[int, ...]


@dataclass(frozen=True)
class Function:
    """A function without state. `external`: of :mod:`axiloom.isa.instructions.externals`, else `result_of`.

    `opaque` ones stay uninterpreted in proofs, as external ones do.
    """

    name: str
    parameters: Mapping[str, Range]
    result: Range
    lets: tuple[Let, ...] = ()
    value: Expr | None = None
    external: str = ""
    opaque: bool = False
    text: str = ""
    line: int = 0

    def __hash__(self) -> int:
        return hash((self.name, self.line))


# --- statements -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Let:
    name: str
    value: Expr
    line: int = 0


@dataclass(frozen=True)
class SetRegister:
    register: Register
    value: Expr
    line: int = 0


@dataclass(frozen=True)
class Write:
    memory: Memory
    index: tuple[Expr, ...]
    value: Expr
    line: int = 0


@dataclass(frozen=True)
class For:
    """`body` for each value of `iterator` from `low` to before `high`, one after the other."""

    iterator: Name
    low: Expr
    high: Expr
    body: tuple[Statement, ...]
    line: int = 0


@dataclass(frozen=True)
class Lanes:
    """`body` for all values of the iterators at once: it reads what was there before any of its writes."""

    iterators: Mapping[str, int]
    body: tuple[Statement, ...]
    line: int = 0


@dataclass(frozen=True)
class If:
    condition: Expr
    then: tuple[Statement, ...]
    other: tuple[Statement, ...]
    line: int = 0


@dataclass(frozen=True)
class Requirement:
    """What must hold for an instruction to be legal, with what the instruction has read off its words.

    As a statement of a body it is looked at where it stands: what is before it has been done.
    """

    condition: Expr
    text: str = ""
    line: int = 0
    code: int | None = None
    """What the device reports where it does not hold; texts have no codes."""
    message: str = ""
    """The same for people: ``{m}`` is what register or local m holds then, ``{opcode}`` what people call the
    instruction."""


Statement: TypeAlias = Let | SetRegister | Write | For | Lanes | If | Requirement


@dataclass(frozen=True)
class Instruction:
    """`fields` are read off the inputs and registers first; `legal` is of them; then `body`."""

    name: str
    when: Expr
    fields: tuple[Let, ...]
    legal: tuple[Requirement, ...]
    body: tuple[Statement, ...]
    text: str = ""
    line: int = 0


@dataclass(frozen=True)
class InstructionSet:
    """All of it. `place` is the file, for messages."""

    name: str
    text: str
    place: str
    inputs: Mapping[str, Input] = field(default_factory=dict)
    memories: Mapping[str, Memory] = field(default_factory=dict)
    registers: Mapping[str, Register] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    instructions: Mapping[str, Instruction] = field(default_factory=dict)
    small: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)
    """Constants, and sizes of its RTL (:data:`RTL_SIZES`), with which proofs of the RTL end soon. Empty if
    the text says none; what the text means does not hang on them."""
