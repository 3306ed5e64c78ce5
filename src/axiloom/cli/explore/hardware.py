"""``axiloom explore --device``: hardware and drivers chosen together, for one problem or a whole network."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path

from axiloom import drivergen, isa
from axiloom.base.errors import UsageError
from axiloom.base.files import write_whole
from axiloom.cli import options as shared
from axiloom.cli.explore.tables import as_csv, table
from axiloom.cli.given import Refusal, lacks, output_file, refuse, reject
from axiloom.drivergen.network import is_network, network_data_type
from axiloom.drivergen.problems.matmul import Problem
from axiloom.explore import estimate, hardware_report
from axiloom.explore.driver_report import as_json
from axiloom.explore.explore import Exploration, confirm, explore
from axiloom.explore.hardware import HardwareChoice, Tried, choose_hardware
from axiloom.explore.hardware_report import Simulated
from axiloom.explore.products import Work, of_network, of_problem
from axiloom.isa import AcceleratorSpec
from axiloom.library.progress import told
from axiloom.read import models
from axiloom.read.context.model import Model
from axiloom.report.page import front
from axiloom.run.resolve import BEST
from axiloom.sweep import networks
from axiloom.sweep.networks import fingerprint
from axiloom.sweep.points import default_store
from axiloom.sweep.store import key
from axiloom.sweep.sweep import Outcome, exit_code, sweep


def add_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("hardware")
    group.add_argument(
        "--device",
        choices=tuple(estimate.DEVICES),
        help="choose array, buffers, stream and DMA too, the fastest that fit this device by Yosys; --macs, "
        "--stream-width and --dma stay as given",
    )
    group.add_argument(
        "--clock",
        type=shared.megahertz,
        metavar="MHZ",
        help="of the fabric, if the design reaches it (default: the board's)",
    )
    group.add_argument(
        "--route",
        action="store_true",
        help="ask nextpnr which clock each design reaches (ecp5-85k; minutes for each); without, what it "
        "said before counts",
    )
    group.add_argument(
        "--save-spec", type=output_file, metavar="FILE.json", help="write the specification that was chosen"
    )
    refuse(command, Refusal("save_spec clock route", lacks("device"), "for choosing hardware: give --device"))


def execute(options: argparse.Namespace) -> int:
    if len(options.problems) > 1:
        raise UsageError("--device chooses hardware for one problem or one network: give one")
    if options.route and not estimate.is_routed(options.device):
        routed = ", ".join(name for name in estimate.DEVICES if estimate.is_routed(name))
        raise UsageError(f"--route: no open tool routes {options.device}; {routed} can be routed")
    (text,) = options.problems
    if models.is_model(text):
        return _network(options, text)
    problem = drivergen.parse_problem(text)
    choice = _choose(options, of_problem(problem), shared.asked(options).spec(problem.dtype), 1)
    explorations = _explored(options, choice, problem)
    runs = {
        exploration.spec.name: Simulated(exploration.chosen.simulated, exploration.chosen.error)
        for exploration in explorations
        if exploration.chosen.simulated is not None or exploration.chosen.error
    }
    print(hardware_report.table(choice, runs), end="\n\n")
    print("\n\n".join(table(exploration) for exploration in explorations))
    _write(options, choice, runs, explorations)
    return exit_code(outcome for exploration in explorations for outcome in exploration.outcomes)


def _explored(
    options: argparse.Namespace, hardware_choice: HardwareChoice, problem: Problem
) -> list[Exploration]:
    """Drivers of the chosen design and of the specification as it was."""
    pipelines = (options.pipeline,) if options.pipeline else None
    top = max(options.show, options.confirm)
    explorations = [
        explore(
            problem, tried.variant.spec, pipelines=pipelines, board=hardware_choice.board_of(tried), top=top
        )
        for tried in (hardware_choice.chosen, hardware_choice.base)
    ]
    if not options.confirm:
        return explorations
    return confirm(explorations, options.confirm, store=options.store, jobs=options.jobs, dask=options.dask)


def _network(options: argparse.Namespace, text: str) -> int:
    if options.output:
        raise UsageError("--output writes tables of drivers, which are for one problem: a network has --json")
    reject(
        options, [Refusal("show", lambda _: True, "rows of drivers are of one problem; a network has none")]
    )
    model = models.load(text)
    if not is_network(model.mlir, text):
        raise UsageError(f"{text}: no network (a function on tensors with many ops); give matmul:MxNxK")
    data_type = network_data_type(model.mlir, model.weights, text)
    spec = shared.asked(options).spec(data_type)
    told()("compiling the network")
    work = of_network(text, model.mlir, model.weights, spec)
    choice = _choose(options, work, spec, max(1, options.confirm))
    outcomes = _confirmed(options, choice, model, Path(text).name) if options.confirm else {}
    runs = {name: _simulated(outcome) for name, outcome in outcomes.items()}
    print(hardware_report.table(choice, runs))
    _write(options, choice, runs, [])
    return exit_code(outcomes.values())


def _confirmed(
    options: argparse.Namespace, choice: HardwareChoice, model: Model, name: str
) -> dict[str, Outcome]:
    """The network simulated whole on what was found and on the base, by the names of their specifications."""
    kept = networks.keep(model)

    def point(tried: Tried) -> networks.Point:
        spec, board = tried.variant.spec, choice.board_of(tried)
        return networks.on_soc(
            kept, name, spec, code=fingerprint(board), flow=BEST, pipeline=None, board=board
        )

    points = {tried.variant.spec.name: point(tried) for tried in (*choice.found, choice.base)}
    done = sweep(
        points.values(),
        _measure,
        options.store or default_store(),
        jobs=options.jobs,
        dask=options.dask,
        title="simulating",
    )
    by_key = {key(outcome.point): outcome for outcome in done}
    return {name: by_key[key(point)] for name, point in points.items()}


def _measure(batch: list[networks.Point]) -> list[networks.Figures]:
    """Worker: the figures of each network."""
    return [networks.measure(point) for point in batch]


def _simulated(outcome: Outcome) -> Simulated:
    if outcome.error:
        return Simulated(None, f"{outcome.error['class']}: {outcome.error['message']}")
    return Simulated(outcome.result["counters"]["task-clock"] / 1e9)


def _choose(options: argparse.Namespace, work: Work, spec: AcceleratorSpec, count: int) -> HardwareChoice:
    progress = told()
    choice = choose_hardware(
        work,
        spec,
        options.device,
        board=options.board,
        clock_hz=options.clock * 1e6 if options.clock else None,
        pipelines=(options.pipeline,) if options.pipeline else None,
        route=options.route,
        count=count,
        kept=shared.asked(options).kept,
        progress=progress,
    )
    progress("")
    return choice


def _write(
    options: argparse.Namespace,
    hardware_choice: HardwareChoice,
    runs: hardware_report.Runs,
    explorations: list[Exploration],
) -> None:
    """The files that were asked for."""
    if options.save_spec:
        best = hardware_report.taken(hardware_choice, runs).variant
        write_whole(options.save_spec, isa.dumps(best.spec))
    if options.json:
        told = {
            "hardware": hardware_report.as_json(hardware_choice, runs),
            "drivers": [as_json(exploration) for exploration in explorations],
        }
        write_whole(options.json, json.dumps(told, indent=2) + "\n")
    if options.output:
        write_whole(options.output, as_csv(explorations))
    if options.report:
        designs = hardware_report.as_json(hardware_choice, runs)
        command = shlex.join(["axiloom", *options.words])
        front.write([*map(as_json, explorations)], designs, command, options.report)
