"""The RTL of a text: the first accelerator that has units for all its instructions builds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from axiloom.base.accelerators import parts
from axiloom.base.errors import SpecError
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa import AcceleratorSpec
from axiloom.isa.check.link import link
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.drive.tokens import tokened
from axiloom.selection.program.program import Program

DEFAULT_LANES = 16


@dataclass(frozen=True)
class DeviceRtl:
    """`verilog` has the module `top`, with ``s_axis``, ``m_axis``, ``debug_busy`` and ``debug_error``."""

    isa: InstructionSet
    top: str
    verilog: str
    stream_width: int
    multipliers: int
    cycles: Callable[[Iterable[tuple[str, Mapping[str, int]]]], int] | None = None
    """Of commands with their fields, while the streams do not pause; None where nobody has foretold them."""

    @property
    def spec(self) -> AcceleratorSpec:
        """Other compilers use it."""
        connection = link(
            self.isa.name,
            stream_width=self.stream_width,
            multipliers=self.multipliers,
            description="executes commands",
        )
        return AcceleratorSpec(connection)

    def foretold(self, program: Program) -> int | None:
        """Cycles of a program of this device."""
        if self.cycles is None:
            return None
        commands = tokened(program, self.isa).commands
        return self.cycles((command.instruction, command.fields) for command in commands)

    def rtl(self, folder: Path) -> UserRtl:
        """The Verilog in `folder`, as a SoC takes Verilog."""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self.top}.v"
        file.write_text(self.verilog, encoding="utf-8")
        return UserRtl([file], self.top)


@dataclass(frozen=True)
class Maker:
    """`make` takes an instruction set, lanes, bits of a beat and rows at once, as :func:`device` does. It
    raises SpecError for a text that is none of its. `builds` names its texts in messages."""

    builds: str
    make: Callable[[InstructionSet, int, int, int], DeviceRtl]


def device(
    isa: InstructionSet, lanes: int = DEFAULT_LANES, stream_width: int = 64, rows: int = 1
) -> DeviceRtl:
    """`rows`: of a product at once, `lanes` multipliers each. Raises SpecError with what each maker says
    where none builds it."""
    faults: list[str] = []
    makers: list[Maker] = [*parts("rtl").values()]
    for maker in makers:
        try:
            return maker.make(isa, lanes, stream_width, rows)
        except SpecError as error:
            first, *more = error.faults
            faults.append(f"as {maker.builds}: {first}{f' (and {len(more)} more)' if more else ''}")
    raise SpecError(faults)
