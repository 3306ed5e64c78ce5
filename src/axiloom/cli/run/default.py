"""What the options leave open, chosen: a built-in accelerator, its hardware, and how it is used."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace

from axiloom import boards, frontend
from axiloom.base.errors import CompileError, SpecError, UsageError
from axiloom.cli import options as shared
from axiloom.cli.given import is_given
from axiloom.drivergen.dialects.mlir import parse
from axiloom.drivergen.network import compile_network
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.drivergen.problems.kinds import kernel_problem
from axiloom.explore import default
from axiloom.explore.default import CLOSE, Default, Open
from axiloom.explore.hardware import has_room
from axiloom.isa import AcceleratorSpec
from axiloom.report.build import choice_line
from axiloom.run.resolve import BEST, resolve

PRODUCTS: tuple[str, ...] = ("v3", "v4")
CONVOLUTIONS: tuple[str, ...] = ("conv_v4",)
"""Those of which a problem takes the fastest where nobody names one; those of another kind where none of its
own takes it, as cost models of different kinds are not exact enough beside each other."""
_CONVOLUTIONS = "linalg.conv", "linalg.depthwise"
OF_LAYERS = ("conv_v4", "v4")
"""Those of which a network takes the one that has most to do in it: together they do not fit the boards."""


def of_problem(options: argparse.Namespace, mlir: str, data_type: str) -> Default:
    """For one problem. What --spec and --rtl bring stays as it is, but for what the options say."""
    if not _is_free(options):
        return _of_problem(options, mlir, data_type)
    own, others = PRODUCTS, CONVOLUTIONS
    if any(op.name.startswith(_CONVOLUTIONS) for op in parse(mlir, options.problem).walk()):
        own, others = others, own
    first: CompileError | SpecError | UsageError | None = None
    unknown: Default | None = None  # to the model, or wrong in a way that the compiler says best
    for kind in (own, others):
        best: Default | None = None
        for way in _each(options, kind):
            try:
                taken = _of_problem(way, mlir, data_type)
            except (CompileError, SpecError, UsageError) as error:
                first = first or error
                continue
            if taken.choice is None:
                unknown = unknown or taken
                continue
            faster = best is None or _ms(taken) < _ms(best) * (1 - CLOSE)
            if faster and has_room(taken.spec, _board(options)):
                best = taken
        if best is not None:
            return _named(best, accel=best.spec.name)
        if unknown is not None:
            return unknown
    if first is not None:
        raise first
    return _of_problem(options, mlir, data_type)  # the part has room for none of them


def _of_problem(options: argparse.Namespace, mlir: str, data_type: str) -> Default:
    spec, asked = shared.accelerator(options, data_type), shared.schedule(options)
    if not _is_open(options, spec):
        schedule = resolve(
            mlir, spec, asked, board=_board(options), name=options.problem, calls=_calls(options)
        )
        return Default((spec,), schedule)
    return default.of_problem(
        mlir,
        spec,
        asked,
        _left(options),
        board=_board(options),
        name=options.problem,
        calls=_calls(options),
    )


def explored(options: argparse.Namespace, data_type: str) -> AcceleratorSpec:
    """The hardware on which drivers of `options.problem` are ranked: what `of_problem` takes for it."""
    if _is_free(options):
        ranked = argparse.Namespace(**{**vars(options), "flow": BEST, "order": None, "tile": None})
        mlir, _ = shared.problem(options.problem)
        return of_problem(ranked, mlir, data_type).spec
    spec = shared.accelerator(options, data_type)
    if not _is_open(options, spec):
        return spec
    asked = Schedule(BEST, pipeline=options.pipeline)
    mlir, _ = shared.problem(options.problem)
    taken = default.of_problem(mlir, spec, asked, _left(options), board=_board(options), name=options.problem)
    return taken.spec


def of_network(options: argparse.Namespace, model: frontend.Model, data_type: Sequence[str] | str) -> Default:
    """For all layers of a network."""
    if _is_free(options) and (taken := _of_layers(options, model, data_type)) is not None:
        return taken
    return _of_network(options, model, data_type)


def _of_layers(
    options: argparse.Namespace, model: frontend.Model, data_type: Sequence[str] | str
) -> Default | None:
    """On the accelerator that has most to do; None where none of `OF_LAYERS` has anything."""
    ways = list(_each(options, OF_LAYERS))
    try:
        specs = [shared.accelerator(way, data_type if isinstance(data_type, str) else None) for way in ways]
        layers = compile_network(model.mlir, specs, model.weights, name=options.problem).layers
    except (CompileError, SpecError, UsageError):
        return None  # what is wrong is said of the default
    work = [sum(layer.multiply_adds for layer in layers if layer.device == i) for i in range(len(specs))]
    if not any(work):
        return None
    most = ways[work.index(max(work))]
    asked = is_given(options, "post")
    for post in (True,) if asked else (True, False):
        try:
            taken = _of_network(argparse.Namespace(**{**vars(most), "post": post}), model, data_type)
        except (CompileError, SpecError, UsageError):
            continue
        if all(has_room(spec, _board(options)) for spec in taken.specs):
            return _named(taken, accel=taken.spec.name, **({"post": "yes"} if post and not asked else {}))
    return None


def _of_network(
    options: argparse.Namespace, model: frontend.Model, data_type: Sequence[str] | str
) -> Default:
    specs, asked = shared.accelerators(options, data_type), shared.schedule(options)
    if not all(_is_open(options, spec) for spec in specs):
        return Default(tuple(specs), asked)
    return default.of_network(
        model.mlir, model.weights, specs, asked, _left(options), board=_board(options), name=options.problem
    )


def remarks(taken: Default) -> list[str]:
    """For the banner of a driver: what was chosen, and the options that name its hardware."""
    if taken.choice is None:
        return []
    spec, chosen = taken.spec, taken.choice["chosen"]
    options = [f"--accel {chosen['accel']}"] if "accel" in chosen else []
    options += [f"--dma {'sg' if spec.dma.scatter_gather else 'simple'}"]
    options += [f"--stream-width {spec.stream_width}"]
    options += [f"--memory-port {boards.COHERENT}"] if spec.dma.coherent else []
    options += [f"--macs {spec.macs}"] if "macs" in chosen else []
    return [f"{choice_line(taken.choice)}.", f"Its hardware: {' '.join(options)}."]


def _is_free(options: argparse.Namespace) -> bool:
    """Whether nothing says which accelerator."""
    files = options.accel is not None or options.spec is not None or options.rtl is not None
    said = files or any(is_given(options, name) for name in ("size", "encoding"))
    kernel = isinstance(options.problem, str) and kernel_problem(options.problem)
    return not said and not kernel and options.pipeline != default.PUBLISHED


def _each(options: argparse.Namespace, names: Sequence[str]) -> Iterator[argparse.Namespace]:
    for name in names:
        yield argparse.Namespace(**{**vars(options), "accel": name})


def _ms(taken: Default) -> float:
    assert taken.choice is not None
    return taken.choice["predicted_ms"]


def _named(taken: Default, **chosen: str) -> Default:
    """With what else was chosen."""
    if taken.choice is None:
        return taken
    return replace(taken, choice={**taken.choice, "chosen": {**chosen, **taken.choice["chosen"]}})


def _is_open(options: argparse.Namespace, spec: AcceleratorSpec) -> bool:
    """A built-in accelerator of ours, which a model knows."""
    own = options.spec is None and options.rtl is None
    return own and spec.form.multiplies and spec.form.computes is None


def _left(options: argparse.Namespace) -> Open:
    return Open(*(not is_given(options, name) for name in ("dma", "stream_width", "macs", "memory_port")))


def _board(options: argparse.Namespace) -> str:
    board: str = getattr(options, "board", boards.DEFAULT)
    return board


def _calls(options: argparse.Namespace) -> int:
    calls: int = getattr(options, "calls", 1)
    return calls
