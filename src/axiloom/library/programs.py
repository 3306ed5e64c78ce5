"""Programs of commands of instruction sets with meaning, as plans."""

from __future__ import annotations

import weakref
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from axiloom.base import processes
from axiloom.base.errors import SpecError, UsageError
from axiloom.base.files import make_folder, read_arrays
from axiloom.cosim.system import System
from axiloom.device.rtl import DeviceRtl
from axiloom.device.values import random_values, raw_values
from axiloom.explore.asked import Asked
from axiloom.graph.evaluate import evaluate
from axiloom.graph.graph import Graph
from axiloom.isa.instructions import library
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.library.accelerators import Device, TextDevice
from axiloom.library.devices import CPU
from axiloom.library.plans import Given, Layers, Plan, Simulated
from axiloom.library.progress import Progress, silent, told
from axiloom.library.works import Work, read
from axiloom.read import models
from axiloom.run.compare import Arrays
from axiloom.run.network import Network, NetworkRun
from axiloom.run.program import BY_TEXT, ProgramRun
from axiloom.run.selected import Selected, select
from axiloom.run.selection import check_extra
from axiloom.run.text_layers import TextLayers
from axiloom.selection.drive.execute import execute as by_simulator
from axiloom.selection.program.program import Program


class ProgramPlan(Plan):
    """Commands of an instruction set, written or found for an application, as they run on its RTL."""

    def __init__(
        self,
        work: Work,
        text: str,
        around: Simulated,
        rtl: DeviceRtl,
        commands: Program,
        chosen: Selected | None,
        keep: Path | None,
    ) -> None:
        place = ExitStack()
        system = _system(around, rtl, keep, place)
        self.commands, self.chosen, self.rtl = commands, chosen, rtl

        def job(arrays: Given) -> ProgramRun:
            given = read_arrays(arrays) if isinstance(arrays, Path) else arrays or {}
            values = {**random_values(commands, around.seed), **raw_values(commands, given)}
            results, reference = by_simulator(commands, rtl.isa, values), BY_TEXT
            if chosen is not None and _same(chosen.graph, values, results):
                reference = "the application, evaluated with NumPy"
            return ProgramRun(commands, rtl, system, values, results, reference, seed=around.seed)

        super().__init__(work, text, system, job)
        weakref.finalize(self, place.close)

    @property
    def arguments(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Name to number and shape. Floats are rounded to the number."""
        return {
            array.name: (array.number, array.shape) for array in self.commands.arrays if array.role == "in"
        }

    def __str__(self) -> str:
        """What was chosen and how sure that is, then the commands."""
        said = self.chosen.lines() if self.chosen else []
        commands = [
            f"{command.instruction} {', '.join(f'{name}={value}' for name, value in command.fields.items())}"
            for command in self.commands.commands
        ]
        return "\n".join([*said, *commands])


def selected(file: str, device: TextDevice, say: Progress, *, with_rtl: bool = True) -> Selected:
    """The application in a file as a validated program. Without its RTL costs are those of the text alone,
    where nothing builds it. Raises CompileError, SpecError, UsageError."""
    check_extra()

    def rtl(isa: InstructionSet) -> DeviceRtl | None:
        say("from the text to RTL")
        try:
            return device.rtl(isa)
        except SpecError:
            if with_rtl:
                raise
            return None

    return select(models.graph(file), device.read, rtl, say, device.called)


def of_program(
    work: Work | str | Path,
    text: str,
    device: TextDevice | None,
    around: Simulated,
    *,
    keep: Path | None = None,
    say: Progress = silent,
) -> ProgramPlan:
    """A file of commands, on the instruction set that it names or `device`, which must be that; or a model,
    whose program is found. RTL goes to `keep`."""
    if isinstance(work, Work) and work.program is not None:
        commands, chosen = work.program, None
        device = device or TextDevice(named(work), Asked())
        if commands.target not in (device.called, device.name):
            raise UsageError(f"{work.name}: is a program of {commands.target}, not of {device.name}")
    else:
        file = work.name if isinstance(work, Work) else str(work)
        if device is None or not models.is_model(file):
            raise UsageError(f"{file}: an instruction set executes a model's file, or commands: FILE.program")
        chosen = selected(file, device, say)
        work, commands = Work(file), chosen.program
    say("from the text to RTL")
    rtl = device.rtl(chosen.isa if chosen else None)
    say("")
    return ProgramPlan(work, text, around, rtl, commands, chosen, keep)


def named(work: Work) -> str:
    """The instruction set of commands: built in, or a file beside theirs."""
    assert work.program is not None
    name = work.program.target
    return str(Path(work.name).parent / name) if name.endswith(library.INSTRUCTIONS) else name


def of_network(
    work: Work,
    text: str,
    device: TextDevice,
    around: Simulated,
    layers: Layers,
    *,
    keep: Path | None = None,
    say: Progress = silent,
) -> tuple[Plan, TextLayers]:
    """A network: each layer that the text's instructions can compute is a program of its own, found by
    equality saturation and validated; the CPU does the rest. With what has made the layers, which says so."""
    check_extra()
    model = work.model
    if model is None:
        raise UsageError(f"{work.name}: an instruction set shares networks with the CPU")
    if around.os == "linux":
        raise UsageError("--os linux is for functions with one op, not for networks")
    say("from the text to RTL")
    rtl = device.rtl()
    by_text = TextLayers(device.read, rtl, say)
    place = ExitStack()
    system = _system(around, rtl, keep, place)

    def job(inputs: Given) -> NetworkRun:
        of = Network(work.name, model.mlir, model.weights, inputs, around.seed, model.referee)
        return NetworkRun(of, system, layers=by_text, **layers.fields)

    compiled = Plan(work, text, system, job)
    weakref.finalize(compiled, place.close)
    return compiled, by_text


def _system(around: Simulated, rtl: DeviceRtl, keep: Path | None, place: ExitStack) -> System:
    """With the RTL in `keep`, or in a folder that `place` removes."""
    folder = Path(keep or place.enter_context(processes.scratch()))
    make_folder(folder)
    return replace(around.system([rtl.spec], Asked()), user_rtl=rtl.rtl(folder))


def _same(graph: Graph, values: Arrays, results: Arrays) -> bool:
    """Whether the application gives the program's results on these values, bit for bit."""
    names = {str(parameter.attributes["name"]) for parameter in graph.parameters}
    if names != set(values):
        return False
    expected = evaluate(graph, values)
    outs = ["y"] if len(expected) == 1 else [f"y{i}" for i in range(len(expected))]
    return all(np.array_equal(results[name], array) for name, array in zip(outs, expected, strict=True))


def planned(
    work: Work | str | Path, on: Any, device: TextDevice | None, text: str, around: Simulated
) -> Plan:
    """On `device` alone, or with the CPU where `on` has that beside it."""
    say = told()
    if device is None and on is not None:
        raise UsageError(f"{text}: commands run on their instruction set: leave `on` out")
    if device is not None and not isinstance(on, (Device, str, Path)) and CPU in on:
        network = work if isinstance(work, Work) else read(work)
        return of_network(network, text, device, around, Layers(), say=say)[0]
    return of_program(work, text, device, around, say=say)
