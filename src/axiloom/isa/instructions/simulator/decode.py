"""Which instruction comes: a function that looks at the bits all of them ask for, else at each condition."""

from __future__ import annotations

from collections.abc import Sequence

from axiloom.isa.instructions.simulator.code import Expressions, Shared
from axiloom.isa.instructions.simulator.linear import names
from axiloom.isa.instructions.simulator.nests import reads
from axiloom.isa.instructions.simulator.values import Env, Writer
from axiloom.isa.instructions.tree import Apply, Bits, Const, Expr, Instruction, InstructionSet, Name


def command_source(isa: InstructionSet, shared: Shared) -> str:
    """A function ``_command`` that takes the state and the inputs, executes what comes and returns its name.

    `_functions` has by name what executes an instruction; `_unknown` and `_several` are called where none
    or more than one comes, `_wide` where an input has too many bits.
    """
    writer = Writer()
    for input_ in isa.inputs.values():
        writer.line(f"{input_.name} = _int({input_.name})")
        with writer.inside(f"if {input_.name} >> {input_.bits}:"):
            writer.line(f"_wide({input_.name!r}, {input_.name})")
    every = ", ".join(isa.inputs)
    arguments = f"_state, {every}" if every else "_state"
    instructions = [*isa.instructions.values()]
    values = Expressions(isa, writer, shared)
    key = _key(instructions)
    if key is None:
        _choose(instructions, values, writer, arguments, every)
    else:
        writer.line(f"_key = {values.code(key, Env()).text}")
        groups: dict[int, list[Instruction]] = {}
        for instruction in instructions:
            groups.setdefault(_wanted(instruction, key), []).append(instruction)
        simple = {value: group[0].name for value, group in groups.items() if _alone(group, key)}
        shared.keys = simple
        with writer.inside("if _key in _by_key:"):
            writer.line("_name = _by_key[_key]")
            writer.line(f"_functions[_name]({arguments})")
            writer.line("return _name")
        for value, group in groups.items():
            if value not in simple:
                with writer.inside(f"if _key == {value}:"):
                    _choose(group, values, writer, arguments, every)
        writer.line(f"_unknown(({every}{',' if every else ''}))")
    body = "\n".join(writer.lines)
    state = [*isa.registers, *isa.memories]
    loaded = [f"    {name} = _state[{name!r}]" for name in state if name in _names(instructions, isa)]
    defaults = ", ".join(["_state", *(f"{name}=0" for name in isa.inputs)])
    return "\n".join([f"def _command({defaults}):", *loaded, body])


def _choose(
    group: Sequence[Instruction], values: Expressions, writer: Writer, arguments: str, every: str
) -> None:
    writer.line("_found = []")
    for instruction in group:
        values.statement(instruction.line)
        with writer.inside(f"if {values.code(instruction.when, Env()).text}:"):
            writer.line(f"_found.append({instruction.name!r})")
    inputs = f"({every}{',' if every else ''})"
    with writer.inside("if not _found:"):
        writer.line(f"_unknown({inputs})")
    with writer.inside("if _len(_found) > 1:"):
        writer.line(f"_several(_found, {inputs})")
    writer.line(f"_functions[_found[0]]({arguments})")
    writer.line("return _found[0]")


def _parts(when: Expr) -> list[Expr]:
    if isinstance(when, Apply) and when.operation == "and":
        return [part for argument in when.arguments for part in _parts(argument)]
    return [when]


def _compared(part: Expr) -> tuple[Bits, int] | None:
    """The bits of an input that are compared with a constant."""
    if isinstance(part, Apply) and part.operation == "eq":
        match part.arguments:
            case (Bits(value=Name(), low=Const()) as field, Const(value=value)):
                return field, value
            case (Const(value=value), Bits(value=Name(), low=Const()) as field):
                return field, value
    return None


def _key(instructions: Sequence[Instruction]) -> Bits | None:
    """Bits that every instruction compares with a constant; the widest."""
    common: set[Bits] | None = None
    for instruction in instructions:
        here = {compared[0] for part in _parts(instruction.when) if (compared := _compared(part))}
        common = here if common is None else common & here
    return max(common, key=lambda bits: bits.width) if common else None


def _wanted(instruction: Instruction, key: Bits) -> int:
    return next(
        compared[1]
        for part in _parts(instruction.when)
        if (compared := _compared(part)) and compared[0] == key
    )


def _alone(group: Sequence[Instruction], key: Bits) -> bool:
    """Whether the key says it all."""
    return len(group) == 1 and len(_parts(group[0].when)) == 1


def _names(instructions: Sequence[Instruction], isa: InstructionSet) -> set[str]:
    """Registers and memories that conditions look at."""
    looked_at: set[str] = set()
    for instruction in instructions:
        looked_at |= names(instruction.when) & {*isa.registers}
        looked_at |= {read.memory.name for read in reads(instruction.when)}
    return looked_at
