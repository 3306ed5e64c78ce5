"""How to use an accelerator for a convolution: flow, tile and order that its model says are the fastest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.dialects.linalg import ops as linalg

from axiloom import isa
from axiloom.base.errors import CompileError
from axiloom.drivergen.cost.conv import Model
from axiloom.drivergen.cost.conv_tiles import Choice, NoTileError, ranked
from axiloom.drivergen.dialects.mlir import parse
from axiloom.drivergen.dialects.product import requantises
from axiloom.drivergen.match.conv import image_shape, match_conv
from axiloom.drivergen.match.matmul import Match, NoMatchError, sizes
from axiloom.drivergen.pipeline.compile import run_passes
from axiloom.drivergen.pipeline.pipelines import prepare
from axiloom.isa import AcceleratorSpec


@dataclass(frozen=True)
class Flow:
    """A flow with its best tile and order."""

    name: str
    choice: Choice


def flows(
    text: str,
    spec: AcceleratorSpec,
    *,
    order: Sequence[str] | None = None,
    tile: Sequence[int] | None = None,
    name: str = "input.mlir",
    count: int = 1,
) -> list[Flow]:
    """Those that `spec` has for the largest convolution in the MLIR `text`, the fastest first.

    Each with its first `count` tiles and orders. `order` and `tile`, where they are given, are kept. Raises
    CompileError where there is no convolution, or none that any flow can do.
    """
    op, match = _largest(text, spec, name)
    every, why = [], ""
    for flow, scope in spec.flows.items():
        rounds = any(spec.opcodes[opcode].requantises for opcode, _ in scope.opcodes())
        orders = isa.loop_orders(spec, flow)
        if rounds != (requantises(op) is not None) or (order is not None and tuple(order) not in orders):
            continue
        try:
            every += [Flow(flow, choice) for choice in _ranked(spec, op, match, flow, order, tile, count)]
        except NoTileError as error:
            why = f": {error}"
    if not every:
        raise CompileError(f"{name}: no flow of {spec.name} can be used for it{why}")
    return sorted(
        every, key=lambda candidate: (candidate.choice.cycles, candidate.name != spec.selected_flow)
    )


def model(text: str, spec: AcceleratorSpec, flow: str, name: str = "input.mlir") -> Model | None:
    """Of the largest convolution in `text`; None where the accelerator has no images, or the host has loops
    of groups or batches."""
    op, match = _largest(text, spec, name)
    named = dict(zip(match.dims, sizes(op), strict=True))
    if not spec.form.walks or prod(size for dim, size in named.items() if dim in match.host) > 1:
        return None
    rows, result_bytes = image_shape(op, match), 1 if requantises(op) is not None else 4
    image = {"ih": rows["oh"], "iw": rows["ow"]}
    return Model(spec, named, _settings(spec, match), flow, image, result_bytes)


def _largest(text: str, spec: AcceleratorSpec, name: str) -> tuple[linalg.GenericOp, Match]:
    module = parse(text, name)
    run_passes(module, prepare(spec))
    matches: list[tuple[int, linalg.GenericOp, Match]] = []
    for op in module.walk():
        if isinstance(op, linalg.GenericOp):
            try:
                matches.append((_count(op), op, match_conv(op, groups=True)))
            except NoMatchError:
                continue
    if not matches:
        raise CompileError(f"{name}: there is no convolution in it for {spec.name}")
    _, op, match = max(matches, key=lambda counted: counted[0])
    return op, match


def _settings(spec: AcceleratorSpec, match: Match) -> dict[str, int]:
    return {
        k: v for k, v in match.settings.items() if any(k == setting.name for setting in spec.form.settings)
    }


def _count(op: linalg.GenericOp) -> int:
    count = 1
    for size in sizes(op):
        count *= size
    return count


def _ranked(
    spec: AcceleratorSpec,
    op: linalg.GenericOp,
    match: Match,
    flow: str,
    order: Sequence[str] | None,
    tile: Sequence[int] | None,
    count: int,
) -> list[Choice]:
    rows = image_shape(op, match)
    choices = ranked(
        spec,
        dict(zip(match.dims, sizes(op), strict=True)),
        _settings(spec, match),
        flow,
        order=order,
        tile=tile,
        image={"ih": rows["oh"], "iw": rows["ow"]} if spec.form.walks else None,
        result_bytes=1 if requantises(op) is not None else 4,
        count=count,
    )
    times = prod(size for dim, size in zip(match.dims, sizes(op), strict=True) if dim in match.host)
    return [
        replace(choice, cycles=times * choice.cycles, published=times * choice.published)
        for choice in choices
    ]
