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
        designs = [self.design, *(conditions.design for conditions in (*self.assumed, *self.fair))]
        return tuple((f"{source.name}.il", source.rtlil) for source in designs)

    @property
    def told(self) -> list[str]:
        """What the proof rests on, in lines."""
        lines = [f"{port.name}: {port.protocol.name}, {port.side}" for port in self.module.axi]
        for what, names in (("clock", self.module.clocks), ("reset", [*self.module.resets])):
            if len(names) > 1:
                lines.append(f"{', '.join(names)}: taken as one {what}")
        lines += [f"{name} = {value}: tied" for name, value in self.tied.items()]
        lines += [f"{text}: assumed" for conditions in self.assumed for text in conditions.outputs.values()]
        lines += [
            f"{text}: again and again" for conditions in self.fair for text in conditions.outputs.values()
        ]
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
    options: design.VerilogOptions | None = None,
    tied: Mapping[str, int] | None = None,
    assume: Sequence[Path] = (),
    fair: Sequence[Path] = (),
) -> User:
    """The module with its sources. Raises BuildError if a file is missing, faulty, or has no single clock."""
    options = options or design.VerilogOptions()
    circuit = design.read(files, top, options)
    module = ports.understand(top, circuit.ports, clocks, resets)
    design.check_clocks(circuit, module.clocks)
    for name, value in (tied or {}).items():
        if name not in module.inputs:
            raise BuildError(
                f"module {top}: --tie {name}: no input of that name{hint(name, module.inputs)}; there are "
                f"{', '.join(module.inputs)}"
            )
        if value >> module.inputs[name]:
            raise BuildError(f"module {top}: --tie {name}={value}: it has {module.inputs[name]} bits")
    looking, often = assumed.read_all({"--assume": assume, "--fair": fair}, module)
    simulated = verilator.read_sources(design.verilog(files, top, options), options.includes, options.defines)
    beside = tuple(conditions.source for conditions in (*looking, *often))
    return User(module, circuit, dict(tied or {}), looking, often, (*simulated, *beside))


def bench(
    user: User,
    outstanding: int = watched.OUTSTANDING,
    within: int = watched.WITHIN,
    *,
    live: bool = False,
) -> Bench:
    """All rules of all its AXI ports, `live` those of what happens at last; other inputs may be anything."""
    module = user.module
    bench = Bench()
    if not module.resets:  # nothing resets it: nothing is said of a reset
        bench.assume(~bench.reset)
    else:
        bench.reset_first(RESET_CYCLES)
    signals = bench.verilog(
        module.name,
        module.inputs,
        module.outputs,
        clocks=module.clocks,
        resets=module.resets,
        tied=user.tied,
    )
    seen: dict[str, Value] = {**signals, **dict.fromkeys(module.clocks, ClockSignal())}
    seen |= {name: ~bench.reset if low else bench.reset for name, low in module.resets.items()}
    for conditions in user.assumed:
        held = bench.beside(
            conditions.design.name, {name: seen[name] for name in conditions.inputs}, conditions.outputs
        )
        for name, text in conditions.outputs.items():
            bench.assume(held[name], name=text)
    for conditions in user.fair:
        often = bench.beside(
            conditions.design.name, {name: seen[name] for name in conditions.inputs}, conditions.outputs
        )
        for name, happens in often.items():
            bench.fair(~happens, f"{conditions.design.name}_{name}")
    constants = user.design.constants
    for port in module.axi:
        named = {name: signals[own.name] for name, own in port.signals.items()}
        ids = {
            constants.get(port.signals[signal].name) for signal in ("arid", "awid") if signal in port.signals
        }
        only = next(iter(ids)) if len(ids) == 1 else None
        watched.watch(bench, port.name, named, port.side, outstanding=outstanding, only_id=only)
    watched.answered(bench, within)
    if live:
        watched.live(bench)
    return bench
