"""An accelerator from a schedule: its RTL behind ports, its link, its packets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from axiloom.hw.nest.circuit import Circuit, Operate
from axiloom.hw.nest.units import Find
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.hw.verilog.nest import NestVerilog, emit_accelerator
from axiloom.isa import Link
from axiloom.isa.check.link import link
from axiloom.nests.lower.iteration.narrow import narrowed
from axiloom.nests.poly import sets
from axiloom.nests.ports import Packet, compile_ports
from axiloom.nests.program import Expression, Op, Program
from axiloom.nests.schedule import Schedule


@dataclass(frozen=True)
class Accelerator:
    """`program` is the user's; `circuit` has ports; `link` is how a SoC and a driver reach it.

    `deadlock`: why it is in the plain form although the overlapped one was asked for; else empty.
    """

    program: Program
    packets: tuple[Packet, Packet]
    circuit: Circuit
    link: Link
    find: Find
    deadlock: str = ""

    def verilog(self) -> NestVerilog:
        return emit_accelerator(self.circuit, self.find)

    def rtl(self, folder: Path) -> UserRtl:
        """The Verilog in `folder`, as the SoC takes Verilog."""
        verilog = self.verilog()
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{verilog.top}.v"
        file.write_text(verilog.text, encoding="utf-8")
        return UserRtl([file], verilog.top)


def accelerator(
    schedule: Schedule,
    width: int = 64,
    *,
    plain: bool = False,
    scatter_gather: bool = True,
    find: Find | None = None,
) -> Accelerator:
    """`schedule` behind ports of `width` bits, `plain` or overlapped (:func:`compile_ports`).

    Raises CompileError and SpecError for what cannot be one.
    """
    if find is None:
        from axiloom.hw.nest.operators import operator

        find = operator
    ports = compile_ports(schedule, width, plain=plain)
    circuit, program = ports.circuit, schedule.program
    into, back = ports.packets
    reached = link(
        program.name,
        packets=(into.words, back.words),
        stream_width=width,
        multipliers=multipliers(circuit),
        scatter_gather=scatter_gather,
        description="from loop nests",
    )
    return Accelerator(program, ports.packets, circuit, reached, find, ports.deadlock)


def multipliers(circuit: Circuit) -> int:
    """Multipliers of all pipes together."""
    total = 0
    for pipe in circuit.pipes:
        multiplies = [node for node in pipe.nodes if isinstance(node, Operate) and node.operator == "mul"]
        total += len({node.unit for node in multiplies if node.unit}) + sum(
            not node.unit for node in multiplies
        )
    return total


def multiply_adds(program: Program) -> int:
    """Sums with a product in them, of all instances. A product by a power of two is a shift, and none."""
    total = 0
    for statement in program.statements:
        count = (
            int(sets.domain(statement.iterators, statement.domain).count_val().to_python())
            if statement.iterators
            else 1
        )
        total += count * _sums(narrowed(statement.value))
    return total


def _sums(expression: Expression) -> int:
    if not isinstance(expression, Op):
        return 0
    here = expression.name in ("add", "sub") and any(
        isinstance(operand, Op) and operand.name == "mul" for operand in expression.operands
    )
    return here + sum(map(_sums, expression.operands))
