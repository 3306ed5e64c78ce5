"""``axiloom network run``: a function of many ops, its layers on accelerators and the CPU."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from axiloom.base.errors import CompileError, UsageError
from axiloom.base.files import check_file
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, Group, option
from axiloom.cli.kinds import Kind, Said, filled
from axiloom.cli.shown import SHOWN, Shown
from axiloom.cosim.soc import judge
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.explore.asked import Asked
from axiloom.explore.chosen import Task
from axiloom.library.plans import Layers, Plan, Simulated, of_network
from axiloom.library.works import Work, of_model
from axiloom.read import models
from axiloom.read.context.model import weights_file
from axiloom.report.types import Kernel
from axiloom.run.network import ALL, CHANGED, LAYERS, WEIGHTS, NetworkRun
from axiloom.run.selection import EGRAPH, MATCHING

BY_RUN = "A network becomes many files: axiloom run {} --keep DIR writes its C, and runs it"
AGAINST: dict[str, Kernel] = {"cpu": "loops", "neon": "neon"}
"""Values of --against: the kernels that run on the CPU alone."""


def execute(
    model: str,
    shown: Shown,
    around: Simulated,
    layers: Layers,
    asked: Asked,
    use: Schedule,
    words: Sequence[str],
    against: str | None = None,
    input: Path | None = None,
    output: Path | None = None,
    define: Sequence[str] = (),
) -> int:
    whole = {"output": output, "trace": around.trace, "report": shown.report, "perfetto": shown.perfetto}
    asked_for = [f"--{name}" for name, file in whole.items() if file is not None]
    if layers.layers is None:
        layers = replace(layers, layers=ALL if asked_for else CHANGED)
    elif asked_for and layers.layers != ALL:
        raise UsageError(
            f"--layers {layers.layers}: for {', '.join(asked_for)} all layers are simulated together: "
            "leave --layers out"
        )
    with filled(model, define):
        work = _work(model, tuple(define))
        if not work.is_network:
            raise UsageError(
                f"{model}: no network (a function on tensors with many ops): `axiloom run` has it"
            )
        task = Task(model, work.mlir, work.data_type, replace(asked, board=around.board), use)
        plan = of_network(work, model, around, task, layers)
        return simulated(plan, shown, words, layers, against, input, output)


def simulated(
    plan: Plan,
    shown: Shown,
    words: Sequence[str],
    layers: Layers,
    against: str | None,
    input: Path | None,
    output: Path | None,
) -> int:
    """Run it, print it, and write its files."""
    if against:
        plan.system.profile.host.check_kernel(AGAINST[against])
    watch = shown.watch()
    watch.progress("comparing with the model itself")
    job: NetworkRun = plan.job(input)
    job.outside  # noqa: B018 (a reading that is wrong ends here, before minutes of simulation)
    run = shown.run(plan, job, words, watch=watch, against=AGAINST[against] if against else None)
    watch.progress("")
    say_selection(job, layers.select, quiet=shown.quiet)
    code = shown.end(run, words, output)
    judge(run.result)
    return code


def say_selection(run: NetworkRun, select: str | None = None, *, quiet: bool = False) -> None:
    """How products were given to accelerators: all of it where it was asked for by `select`."""
    if reason := run.why_matching:
        print(f"Selection: {MATCHING}, because {reason}", end="\n\n")
    elif run.selecting and select == EGRAPH:
        print(*run.chooser.lines(), sep="\n", end="\n\n")
    elif run.selecting and not quiet:
        print(*run.chooser.summary(), sep="\n", end="\n\n")


def read_model(model: str, output: Path | None = None, emit: str = "") -> None:
    """The MLIR of a model from PyTorch or ONNX, and its weights beside it."""
    if emit != "linalg":
        raise CompileError(f"{model}: a model. {BY_RUN.format(model)}; --emit linalg writes its MLIR")
    loaded = models.load(model)
    if output is None:
        shared.write(loaded.mlir, None)
        if loaded.weights:
            print("note: the weights are not in the text; -o FILE.mlir writes FILE.npz, too", file=sys.stderr)
        return
    if output.suffix != ".mlir":
        raise UsageError(f"--output {output}: expected is a name that ends in .mlir")
    if loaded.weights:
        check_file(weights_file(output))
    loaded.write(output)


@lru_cache(maxsize=2)
def _work(model: str, _define: tuple[str, ...]) -> Work:
    """What a file says: it is read to see what it is, and again to run it."""
    return of_model(model, models.load(model))


def _meant(said: Said) -> str:
    problem: str = said.get("problem", "")
    if not models.is_model(problem) or not _work(problem, tuple(said.get("define", ()))).is_network:
        return ""
    return f"{problem} is a network"


def _imported(said: Said) -> str:
    return f"{said['problem']} is a model" if models.is_network(said.get("problem", "")) else ""


MODEL = option("model", metavar="MODEL", help="FILE.mlir, FILE.onnx, FILE.py:FUNCTION, FILE.tflite")
WHOLE = {"stop_after": "--stop-after ends before what it has of a whole run"}
AGAINST_CPU = option(
    "--against",
    choices=tuple(AGAINST),
    first=True,
    excludes=WHOLE,
    help="the same beside it on the CPU alone",
)
INPUT = replace(
    shared.INPUT,
    settings={
        **shared.INPUT.settings,
        "help": "inputs by name, or input0, ...; floats too, where the network has scales (default: random)",
    },
)
OUTPUT = replace(shared.OUTPUT, excludes=WHOLE)
WHERE = (
    option(
        "--weights",
        choices=WEIGHTS,
        help=f"put into memory by the simulator, or a part of the program (default {WEIGHTS[0]})",
    ),
    option("--stop-after", metavar="N|NAME", help="run no further than this layer; nothing is compared then"),
    option(
        "--offload",
        choices=("auto", "all"),
        help="auto (default): products that are faster on the CPU by an estimate stay there; all: none does",
    ),
)
APPLET = Applet(
    "network run",
    "compile a network, simulate it layer by layer on the SoC, compare with the model itself",
    execute,
    (
        MODEL,
        shared.accelerator(chosen=True),
        shared.USE,
        shared.SIMULATION,
        SHOWN,
        AGAINST_CPU,
        INPUT,
        OUTPUT,
        Group(
            "layers",
            (
                *WHERE,
                option(
                    "--layers",
                    choices=tuple(reversed(LAYERS)),
                    help="changed (default): only layers without a cached result. again: all, compared with "
                    "the cache. all: all, cache unused",
                ),
                option(
                    "--offload-from",
                    type=shared.natural,
                    metavar="N",
                    help="products of fewer multiply-adds stay on the CPU (default: all that the accelerator "
                    "takes go to it)",
                ),
                option(
                    "--select",
                    choices=(MATCHING, EGRAPH),
                    help="products are given to accelerators each by its form (matching), or all at once by "
                    "proved rules (egraph, the default where it can be used; else the first lines say why)",
                ),
            ),
            "layers",
            Layers,
        ),
        shared.DEFINE,
    ),
    "Layers that an accelerator takes run there, the others on the CPU. Exit code 0 only if all results are "
    "the model's.",
)
KIND = Kind(APPLET, _meant)
READ = Kind(
    Applet(
        "network read",
        "write a model as MLIR, with its weights beside it",
        read_model,
        (
            option("model", metavar="MODEL", help="FILE.onnx, FILE.py:FUNCTION"),
            option("--emit", help="linalg, the only one for a model"),
            replace(
                shared.TO,
                settings={
                    **shared.TO.settings,
                    "help": "FILE.mlir; FILE.npz beside it has the weights (default: standard output)",
                },
            ),
        ),
    ),
    _imported,
)
APPLETS = (APPLET, READ.applet)
