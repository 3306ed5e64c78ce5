"""The rules of AXI on anybody's Verilog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from amaranth.hdl import ClockSignal, Value

from axiloom.base.errors import BuildError
from axiloom.base.wording.names import hint
from axiloom.cosim.build import verilator
from axiloom.hw.axi.rules import protocols
from axiloom.hw.axi.rules.language import Side
from axiloom.prove import abc, design
from axiloom.prove.axi import assumed, ports, watched
from axiloom.prove.axi.assumed import Assumed
from axiloom.prove.bench import Bench

RESET_CYCLES = 2
"""At the start; after them a reset may come in any cycle, as on the wire."""


@dataclass(frozen=True)
class User:
    """A module of a user with what is said of its other inputs."""

    module: ports.Module
    design: design.Design
    tied: Mapping[str, int]
    assumed: tuple[Assumed, ...]
    fair: tuple[Assumed, ...]
    simulated: tuple[tuple[str, str], ...]
    """Verilog for a simulator: name and text."""

    @property
    def sources(self) -> tuple[tuple[str, str], ...]:
        """For the prover, in Yosys' language: name and text."""
        designs = [self.design, *(one.design for one in (*self.assumed, *self.fair))]
        return tuple((f"{one.name}.il", one.rtlil) for one in designs)

    @property
    def told(self) -> list[str]:
        """What the proof rests on, in lines."""
        lines = [f"{port.name}: {port.protocol.name}, {port.side}" for port in self.module.axi]
        for what, names in (("clock", self.module.clocks), ("reset", [*self.module.resets])):
            if len(names) > 1:
                lines.append(f"{', '.join(names)}: taken as one {what}")
        lines += [f"{name} = {value}: tied" for name, value in self.tied.items()]
        lines += [f"{text}: assumed" for one in self.assumed for text in one.outputs.values()]
        lines += [f"{text}: again and again" for one in self.fair for text in one.outputs.values()]
        lines += [f"{claim}: left out, neither proved nor assumed" for claim in self.design.left_out]
        for name, bits, place in self.design.memories:
            if bits > abc.LARGE:
                lines.append(
                    f"{name}: {bits:,} bits ({place}): may hold anything; --parameter may make it smaller"
                )
        if self.free:
            lines.append(f"{', '.join(self.free)}: any value in any cycle")
        return lines

    @property
    def registers(self) -> list[str]:
        """Ports on which a host writes registers, if it likes."""
        return [
            port.name
            for port in self.module.axi
            if port.side is Side.SUBORDINATE and port.protocol is protocols.PROTOCOLS["axi4-lite"]
        ]

    @property
    def free(self) -> list[str]:
        """Inputs of no AXI port that may do what they like."""
        return [name for name in self.module.free if name not in self.tied]


def read(
    files: Sequence[Path],
    top: str,
    clocks: Sequence[str] = (),
    resets: Sequence[str] = (),
    *,
    given: design.VerilogOptions | None = None,
    tied: Mapping[str, int] | None = None,
    assume: Sequence[Path] = (),
    fair: Sequence[Path] = (),
) -> User:
    """The module with its sources. Raises BuildError if a file is missing, faulty, or has no single clock."""
    given = given or design.VerilogOptions()
    made = design.read(files, top, given)
    module = ports.understand(top, made.ports, clocks, resets)
    design.check_clocks(made, module.clocks)
    for name, value in (tied or {}).items():
        if name not in module.inputs:
            raise BuildError(
                f"module {top}: --tie {name}: no input of that name{hint(name, module.inputs)}; there are "
                f"{', '.join(module.inputs)}"
            )
        if value >> module.inputs[name]:
            raise BuildError(f"module {top}: --tie {name}={value}: it has {module.inputs[name]} bits")
    looking, often = assumed.read_all({"--assume": assume, "--fair": fair}, module)
    simulated = verilator.read_sources(design.verilog(files, top, given), given.includes, given.defines)
    beside = tuple(one.source for one in (*looking, *often))
    return User(module, made, dict(tied or {}), looking, often, (*simulated, *beside))


def bench(
    user: User,
    outstanding: int = watched.OUTSTANDING,
    within: int = watched.WITHIN,
    *,
    live: bool = False,
) -> Bench:
    """All rules of all its AXI ports, `live` those of what happens at last; other inputs may be anything."""
    module = user.module
    made = Bench()
    if not module.resets:  # nothing resets it: nothing is said of a reset
        made.assume(~made.reset)
    else:
        made.reset_first(RESET_CYCLES)
    signals = made.verilog(
        module.name,
        module.inputs,
        module.outputs,
        clocks=module.clocks,
        resets=module.resets,
        tied=user.tied,
    )
    seen: dict[str, Value] = {**signals, **dict.fromkeys(module.clocks, ClockSignal())}
    seen |= {name: ~made.reset if low else made.reset for name, low in module.resets.items()}
    for one in user.assumed:
        held = made.beside(one.design.name, {name: seen[name] for name in one.inputs}, one.outputs)
        for name, text in one.outputs.items():
            made.assume(held[name], name=text)
    for one in user.fair:
        often = made.beside(one.design.name, {name: seen[name] for name in one.inputs}, one.outputs)
        for name, happens in often.items():
            made.fair(~happens, f"{one.design.name}_{name}")
    constants = user.design.constants
    for port in module.axi:
        named = {name: signals[own.name] for name, own in port.signals.items()}
        ids = {constants.get(port.signals[one].name) for one in ("arid", "awid") if one in port.signals}
        only = next(iter(ids)) if len(ids) == 1 else None
        watched.watch(made, port.name, named, port.side, outstanding=outstanding, only_id=only)
    watched.answered(made, within)
    if live:
        watched.live(made)
    return made
