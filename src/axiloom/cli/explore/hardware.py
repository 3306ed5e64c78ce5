"""``axiloom hardware``: hardware and drivers chosen together, for one problem or a whole network."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from axiloom import boards, drivergen, isa
from axiloom.base.errors import UsageError
from axiloom.base.files import write_whole
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, Group, option, output_file
from axiloom.cli.explore.tables import as_csv, table
from axiloom.cli.explore.where import SHOW, Where, ranked
from axiloom.cli.kinds import Kind
from axiloom.drivergen.cost.model import FORMS
from axiloom.drivergen.network import is_network, network_data_type
from axiloom.drivergen.problems.matmul import Problem
from axiloom.explore import estimate, hardware_report
from axiloom.explore.asked import Asked
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


@dataclass(frozen=True)
class Choosing:
    """For which part, how carefully, and what is kept of it."""

    device: str
    clock: float | None = None
    route: bool = False

    def __post_init__(self) -> None:
        if self.route and not estimate.is_routed(self.device):
            routed = ", ".join(name for name in estimate.DEVICES if estimate.is_routed(name))
            raise UsageError(f"--route: no open tool routes {self.device}; {routed} can be routed")

    def hardware(
        self, work: Work, spec: AcceleratorSpec, asked: Asked, pipeline: str | None, count: int
    ) -> HardwareChoice:
        progress = told()
        choice = choose_hardware(
            work,
            spec,
            self.device,
            board=asked.board,
            clock_hz=self.clock * 1e6 if self.clock else None,
            pipelines=(pipeline,) if pipeline else None,
            route=self.route,
            count=count,
            kept=asked.kept,
            progress=progress,
        )
        progress("")
        return choice


def execute(
    problem: str,
    asked: Asked,
    choosing: Choosing,
    where: Where,
    words: Sequence[str],
    pipeline: str | None = None,
    board: str = boards.DEFAULT,
    show: int | None = None,
    confirm_first: int = 0,
    save_spec: Path | None = None,
    json_file: Path | None = None,
    output: Path | None = None,
    report: Path | None = None,
) -> int:
    asked = replace(asked, board=board)
    if models.is_model(problem):
        if output or show:
            name = "--output" if output else "--show"
            raise UsageError(f"{name}: of drivers, which are for one problem: a network has --json")
        choice, runs, explorations, outcomes = _network(
            problem, asked, choosing, where, pipeline, confirm_first
        )
    else:
        of = drivergen.parse_problem(problem)
        choice = choosing.hardware(of_problem(of), asked.spec(of.dtype), asked, pipeline, 1)
        explorations = _explored(choice, of, pipeline, max(show or SHOW, confirm_first))
        if confirm_first:
            explorations = confirm(explorations, confirm_first, **vars(where))
        runs = {
            exploration.spec.name: Simulated(exploration.chosen.simulated, exploration.chosen.error)
            for exploration in explorations
            if exploration.chosen.simulated is not None or exploration.chosen.error
        }
        outcomes = [outcome for exploration in explorations for outcome in exploration.outcomes]
    print(hardware_report.table(choice, runs), end="\n\n" if explorations else "\n")
    if explorations:
        print("\n\n".join(table(exploration) for exploration in explorations))
    if save_spec:
        write_whole(save_spec, isa.dumps(hardware_report.taken(choice, runs).variant.spec))
    if json_file:
        told = {
            "hardware": hardware_report.as_json(choice, runs),
            "drivers": [as_json(exploration) for exploration in explorations],
        }
        write_whole(json_file, json.dumps(told, indent=2) + "\n")
    if output:
        write_whole(output, as_csv(explorations))
    if report:
        designs = hardware_report.as_json(choice, runs)
        front.write([*map(as_json, explorations)], designs, shlex.join(["axiloom", *words]), report)
    return exit_code(outcomes)


def _explored(choice: HardwareChoice, problem: Problem, pipeline: str | None, top: int) -> list[Exploration]:
    """Drivers of the chosen design and of the specification as it was."""
    pipelines = (pipeline,) if pipeline else None
    return [
        explore(problem, tried.variant.spec, pipelines=pipelines, board=choice.board_of(tried), top=top)
        for tried in (choice.chosen, choice.base)
    ]


def _network(
    text: str, asked: Asked, choosing: Choosing, where: Where, pipeline: str | None, count: int
) -> tuple[HardwareChoice, dict[str, Simulated], list[Exploration], list[Outcome]]:
    model = models.load(text)
    if not is_network(model.mlir, text):
        raise UsageError(f"{text}: no network (a function on tensors with many ops); give matmul:MxNxK")
    data_type = network_data_type(model.mlir, model.weights, text)
    spec = asked.spec(data_type)
    told()("compiling the network")
    work = of_network(text, model.mlir, model.weights, spec)
    choice = choosing.hardware(work, spec, asked, pipeline, max(1, count))
    outcomes = _confirmed(where, choice, model, Path(text).name) if count else {}
    return choice, {name: _simulated(outcome) for name, outcome in outcomes.items()}, [], [*outcomes.values()]


def _confirmed(where: Where, choice: HardwareChoice, model: Model, name: str) -> dict[str, Outcome]:
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
        where.store or default_store(),
        jobs=where.jobs,
        dask=where.dask,
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


KIND = Kind(
    Applet(
        "hardware",
        HELP["hardware"],
        execute,
        (
            option("problem", metavar="PROBLEM", help="matmul:MxNxK[:TYPE], or a network: FILE.mlir, ..."),
            Group(
                "hardware",
                (
                    option(
                        "--device",
                        choices=tuple(estimate.DEVICES),
                        required=True,
                        first=True,
                        help="the part",
                    ),
                    option(
                        "--clock",
                        type=shared.megahertz,
                        metavar="MHZ",
                        first=True,
                        help="of the fabric, if the design reaches it (default: the board's)",
                    ),
                    option(
                        "--route",
                        action="store_true",
                        first=True,
                        help="ask nextpnr which clock each design reaches (ecp5-85k; minutes for each)",
                    ),
                ),
                "choosing",
                Choosing,
            ),
            option(
                "--save-spec",
                type=output_file,
                metavar="FILE.json",
                first=True,
                help="write the specification that was chosen",
            ),
            shared.without(shared.accelerator(), "rtl", "top"),
            option("--pipeline", choices=tuple(FORMS), help="only this one (default: choose)"),
            shared.BOARD,
            *ranked(
                "rows of drivers",
                "simulate the best N too; of a network, the best N designs",
                "write the rows of drivers as CSV",
                first=False,
            ),
        ),
        "Chooses array, buffers, stream and DMA, the fastest that fit the part by Yosys; --macs, "
        "--stream-width and --dma stay as given.",
    ),
    lambda said: "--device chooses hardware" if "device" in said else "",
)
APPLETS = (KIND.applet,)
