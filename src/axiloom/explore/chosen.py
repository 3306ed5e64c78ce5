"""What somebody leaves open, chosen: a built-in accelerator, its hardware, and how it is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from axiloom import boards
from axiloom.base.errors import CompileError, SpecError, UsageError
from axiloom.drivergen.dialects.mlir import parse
from axiloom.drivergen.network import compile_network
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.drivergen.problems.kinds import kernel_problem
from axiloom.explore import default
from axiloom.explore.asked import Asked
from axiloom.explore.default import CLOSE, Default
from axiloom.explore.hardware import has_room
from axiloom.isa import AcceleratorSpec
from axiloom.report.build import choice_line
from axiloom.run.compare import Arrays
from axiloom.run.resolve import BEST, resolve

PRODUCTS: tuple[str, ...] = ("v3", "v4")
CONVOLUTIONS: tuple[str, ...] = ("conv_v4",)
"""Those of which a problem takes the fastest where nobody names one; those of another kind where none of its
own takes it, as cost models of different kinds are not exact enough beside each other."""
_CONVOLUTIONS = "linalg.conv", "linalg.depthwise"
OF_LAYERS = ("conv_v4", "v4")
"""Those of which a network takes the one that has most to do in it: together they do not fit the boards."""


@dataclass(frozen=True)
class Task:
    """What is to run, and how, as far as somebody says it."""

    problem: str
    """As the user names it; errors begin with it."""
    mlir: str
    data_type: str | Sequence[str]
    """Of the operands; of a network's accelerators one for each, where they differ."""
    asked: Asked
    schedule: Schedule
    calls: int = 1
    """Of the driver, by one program."""
    weights: Arrays = field(default_factory=dict)

    @property
    def is_free(self) -> bool:
        """Whether nothing says which accelerator."""
        published = self.schedule.pipeline == default.PUBLISHED
        return self.asked.is_free and not kernel_problem(self.problem) and not published

    def is_open(self, spec: AcceleratorSpec) -> bool:
        """A built-in accelerator of ours, which a model knows."""
        return self.asked.is_builtin and spec.form.multiplies and spec.form.computes is None

    def on(self, accel: str) -> Task:
        return replace(self, asked=self.asked.named(accel))

    def spec(self) -> AcceleratorSpec:
        data_type = self.data_type if isinstance(self.data_type, str) else None
        return self.asked.spec(data_type, self.problem)


def of_problem(task: Task) -> Default:
    """For one problem. What a file and RTL bring stays as it is, but for what is asked for."""
    if not task.is_free:
        return _of_problem(task)
    own, others = PRODUCTS, CONVOLUTIONS
    if any(op.name.startswith(_CONVOLUTIONS) for op in parse(task.mlir, task.problem).walk()):
        own, others = others, own
    first: CompileError | SpecError | UsageError | None = None
    unknown: Default | None = None  # to the model, or wrong in a way that the compiler says best
    for kind in (own, others):
        best: Default | None = None
        for accel in kind:
            try:
                candidate = _of_problem(task.on(accel))
            except (CompileError, SpecError, UsageError) as error:
                first = first or error
                continue
            if candidate.choice is None:
                unknown = unknown or candidate
                continue
            faster = best is None or _ms(candidate) < _ms(best) * (1 - CLOSE)
            if faster and has_room(candidate.spec, task.asked.board):
                best = candidate
        if best is not None:
            return _named(best, accel=best.spec.name)
        if unknown is not None:
            return unknown
    if first is not None:
        raise first
    return _of_problem(task)  # the part has room for none of them


def _of_problem(task: Task) -> Default:
    spec, board = task.spec(), task.asked.board
    if not task.is_open(spec):
        schedule = resolve(task.mlir, spec, task.schedule, board=board, name=task.problem, calls=task.calls)
        return Default((spec,), schedule)
    return default.of_problem(
        task.mlir, spec, task.schedule, task.asked.left, board=board, name=task.problem, calls=task.calls
    )


def explored(task: Task) -> AcceleratorSpec:
    """The hardware on which drivers of a problem are ranked: what `of_problem` takes for it."""
    ranked = replace(task, schedule=Schedule(BEST, pipeline=task.schedule.pipeline))
    if task.is_free:
        return of_problem(ranked).spec
    spec = task.spec()
    return _of_problem(ranked).spec if task.is_open(spec) else spec


def of_network(task: Task) -> Default:
    """For all layers of a network."""
    if task.is_free and (chosen := _of_layers(task)) is not None:
        return chosen
    return _of_network(task)


def _of_layers(task: Task) -> Default | None:
    """On the accelerator that has most to do; None where none of `OF_LAYERS` has anything."""
    tasks = [task.on(accel) for accel in OF_LAYERS]
    try:
        specs = [way.spec() for way in tasks]
        layers = compile_network(task.mlir, specs, task.weights, name=task.problem).layers
    except (CompileError, SpecError, UsageError):
        return None  # what is wrong is said of the default
    work = [sum(layer.multiply_adds for layer in layers if layer.device == i) for i in range(len(specs))]
    if not any(work):
        return None
    busiest, asked = tasks[work.index(max(work))], task.asked.post
    for post in (True,) if asked else (True, False):
        try:
            chosen = _of_network(replace(busiest, asked=replace(busiest.asked, post=post)))
        except (CompileError, SpecError, UsageError):
            continue
        if all(has_room(spec, task.asked.board) for spec in chosen.specs):
            return _named(chosen, accel=chosen.spec.name, **({"post": "yes"} if post and not asked else {}))
    return None


def _of_network(task: Task) -> Default:
    specs = task.asked.specs(task.data_type)
    if not all(task.is_open(spec) for spec in specs):
        return Default(tuple(specs), task.schedule)
    return default.of_network(
        task.mlir,
        task.weights,
        specs,
        task.schedule,
        task.asked.left,
        board=task.asked.board,
        name=task.problem,
    )


def remarks(chosen: Default) -> list[str]:
    """For the banner of a driver: what was chosen, and the options that name its hardware."""
    if chosen.choice is None:
        return []
    spec, said = chosen.spec, chosen.choice["chosen"]
    options = [f"--accel {said['accel']}"] if "accel" in said else []
    options += [f"--dma {'sg' if spec.link.dma.scatter_gather else 'simple'}"]
    options += [f"--stream-width {spec.link.stream_width}"]
    options += [f"--memory-port {boards.COHERENT}"] if spec.link.dma.coherent else []
    options += [f"--macs {spec.macs}"] if "macs" in said else []
    return [f"{choice_line(chosen.choice)}.", f"Its hardware: {' '.join(options)}."]


def _ms(chosen: Default) -> float:
    assert chosen.choice is not None
    return chosen.choice["predicted_ms"]


def _named(chosen: Default, **said: str) -> Default:
    """With what else was chosen."""
    if chosen.choice is None:
        return chosen
    return replace(chosen, choice={**chosen.choice, "chosen": {**said, **chosen.choice["chosen"]}})
