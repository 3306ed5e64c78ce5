"""`select`: an application becomes a validated program of an instruction set, with the costs of its RTL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from axiloom.base.accelerators import parts
from axiloom.base.errors import CompileError
from axiloom.device.known import derive, known
from axiloom.device.rtl import DeviceRtl
from axiloom.graph.graph import Graph
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.compile.cover import Made
from axiloom.selection.compile.graphs import Compiled, compile_graph
from axiloom.selection.compile.layout import HostMemoryError
from axiloom.selection.compile.offered import Offers
from axiloom.selection.compile.target import Cost, Target
from axiloom.selection.egraph.saturated import SaturationError
from axiloom.selection.machine.derive import Meanings
from axiloom.selection.program.program import Program
from axiloom.selection.validate import Verdict, by_text, validate

Progress = Callable[[str], None]
Read = Callable[[Mapping[str, int]], InstructionSet]
"""The text with these constants."""


@dataclass(frozen=True)
class Selected:
    """A program that computes `graph`: `verdict` says in which sense. `constants`: of the text, beside those
    that were asked for."""

    graph: Graph
    isa: InstructionSet
    compiled: Compiled
    verdict: Verdict
    constants: Mapping[str, int]

    @property
    def program(self) -> Program:
        return self.compiled.program

    def lines(self) -> list[str]:
        """What was chosen and how sure that is, for people."""
        compiled, placement = self.compiled, self.compiled.placement
        counted: dict[str, int] = {}
        for command in self.program.commands:
            counted[command.instruction] = counted.get(command.instruction, 0) + 1
        chosen = ", ".join(f"{many} {name}" for name, many in counted.items())
        bound = (
            "no program of the same instructions is faster"
            if placement.bound >= placement.cycles
            else f"none of the same instructions takes fewer than {placement.bound:,}"
        )
        saturated = compiled.cover.saturated
        rules = {node.rule for nodes in saturated.classes for node in nodes if node.rule}
        computed = sum(isinstance(way, Made) for way in compiled.cover.ways.values())
        best = "the cheapest" if compiled.cover.bound >= compiled.cover.cost else "the cheapest found"
        forms = f"{saturated.nodes} forms of {len(saturated.types)} values by {len(rules)} rules"
        lines = [
            f"Commands: {len(self.program.commands)} ({chosen})",
            f"Choice: {computed} instructions, {best} of {forms} ({saturated.stopped}); "
            f"{placement.cycles:,} cycles, {bound}",
            f"Validated: {self.verdict}",
        ]
        if placement.refusal is not None:
            lines.insert(2, f"Put aside in the host's memory and loaded again: {placement.refused}")
        times = {**compiled.seconds, "validate": self.verdict.seconds}
        lines.append("Time: " + ", ".join(f"{name} {1000 * s:.0f} ms" for name, s in times.items()))
        return lines


def _offers(isa: InstructionSet) -> Offers | None:
    """Of the first accelerator that lowers layers to commands of `isa`."""
    of_accelerators: Iterable[Callable[[InstructionSet], Offers | None]] = parts("offers").values()
    return next((offered for offers in of_accelerators if (offered := offers(isa)) is not None), None)


def select(
    graph: Graph,
    read: Read,
    device: Callable[[InstructionSet], DeviceRtl | None],
    progress: Progress,
    named: str = "",
) -> Selected:
    """`named`: what the program calls its instruction set, if that is a file.

    Raises CompileError, SaturationError; ProgramFaultError where what was made is another application."""
    constants: dict[str, int] = {}
    isa = read(constants)
    for _ in range(2):
        blocks = _offers(isa)
        meanings = Meanings(isa) if blocks is not None else _derived(isa, graph, progress)
        rtl = device(isa)
        progress(f"selecting instructions of {isa.name}")
        target = Target(isa, meanings, _cost(rtl), blocks, _whole(rtl))
        try:
            compiled = compile_graph(graph, target)
            if named:
                compiled = replace(compiled, program=replace(compiled.program, target=named))
        except HostMemoryError as error:
            name = isa.memories[target.host].sized_by
            if not name or constants:
                raise CompileError(str(error)) from None
            constants[name] = 1 << (error.bytes - 1).bit_length()
            isa = read(constants)
            continue
        except SaturationError as error:
            if blocks is None and (refused := meanings.refused()):
                lines = "".join(f"\n  {reason}" for reason in refused.values())
                why = f"{error}\nnot understood as a whole were{lines}"
                raise SaturationError(why) from None
            raise
        progress("validating the program")
        program = compiled.program
        verdict = validate(program, graph, isa) if blocks is None else by_text(program, graph, isa)
        return Selected(graph, isa, compiled, verdict, constants)
    raise AssertionError("a memory was made as large as it has to be, twice")


def _derived(isa: InstructionSet, graph: Graph, progress: Progress) -> Meanings:
    meanings = known(isa)
    rows = {node.type.shape[0] for node in graph.nodes() if len(node.type.shape) == 2}
    if not meanings.found:
        progress(f"deriving what each instruction of {isa.name} computes (once)")
    most = max(memory.shape[0] for memory in isa.memories.values() if not memory.host)
    derive(meanings, (row for row in rows if 0 < row <= most))
    return meanings


def _cost(device: DeviceRtl | None) -> Cost | None:
    if device is None or device.cycles is None:
        return None
    cycles = device.cycles
    # A program takes a cycle more than its commands.
    nothing = cycles([])
    return lambda instruction, fields: cycles([(instruction, fields)]) - nothing


def _whole(device: DeviceRtl | None) -> Callable[[Program], int] | None:
    if device is None or device.cycles is None:
        return None

    def cycles(program: Program) -> int:
        count = device.foretold(program)
        assert count is not None
        return count

    return cycles
