"""What the options leave open, chosen: the hardware of a built-in accelerator, and how it is used."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from axiloom import boards, frontend
from axiloom.cli import options as shared
from axiloom.cli.given import is_given
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.explore import default
from axiloom.explore.default import Default, Open
from axiloom.isa import AcceleratorSpec
from axiloom.report.build import choice_line
from axiloom.run.choice import ranks
from axiloom.run.resolve import BEST, resolve


def of_problem(options: argparse.Namespace, mlir: str, data_type: str) -> Default:
    """For one problem. What --spec and --rtl bring stays as it is, but for what the options say."""
    spec, asked = shared.accelerator(options, data_type), shared.schedule(options)
    if not _is_open(options, spec):
        return Default((spec,), resolve(mlir, spec, asked, board=_board(options), name=options.problem))
    return default.of_problem(mlir, spec, asked, _left(options), board=_board(options), name=options.problem)


def explored(options: argparse.Namespace, data_type: str) -> AcceleratorSpec:
    """The hardware on which drivers of `options.problem` are ranked: what `of_problem` takes for it."""
    spec = shared.accelerator(options, data_type)
    if not _is_open(options, spec) or not ranks(spec):
        return spec
    asked = Schedule(BEST, pipeline=options.pipeline)
    mlir, _ = shared.problem(options.problem)
    found = default.of_problem(mlir, spec, asked, _left(options), board=_board(options), name=options.problem)
    return found.spec


def of_network(options: argparse.Namespace, model: frontend.Model, data_type: Sequence[str] | str) -> Default:
    """For all layers of a network."""
    specs, asked = shared.accelerators(options, data_type), shared.schedule(options)
    if not all(_is_open(options, spec) for spec in specs):
        return Default(tuple(specs), asked)
    return default.of_network(
        model.mlir, model.weights, specs, asked, _left(options), board=_board(options), name=options.problem
    )


def remarks(found: Default) -> list[str]:
    """For the banner of a driver: what was chosen, and the options that name its hardware."""
    if found.choice is None:
        return []
    spec = found.spec
    options = [f"--dma {'sg' if spec.dma.scatter_gather else 'simple'}"]
    options += [f"--stream-width {spec.stream_width}"]
    options += [f"--memory-port {boards.COHERENT}"] if spec.dma.coherent else []
    options += [f"--macs {spec.macs}"] if "macs" in found.choice["chosen"] else []
    return [f"{choice_line(found.choice)}.", f"Its hardware: {' '.join(options)}."]


def _is_open(options: argparse.Namespace, spec: AcceleratorSpec) -> bool:
    """A built-in accelerator of ours, which a model knows."""
    own = options.spec is None and options.rtl is None
    return own and spec.form.multiplies and spec.form.computes is None


def _left(options: argparse.Namespace) -> Open:
    return Open(*(not is_given(options, name) for name in ("dma", "stream_width", "macs", "memory_port")))


def _board(options: argparse.Namespace) -> str:
    board: str = getattr(options, "board", boards.DEFAULT)
    return board
