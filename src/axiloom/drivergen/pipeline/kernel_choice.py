"""Flow, order and tile for the largest op in a module that a kernel which is data executes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.linalg import ops as linalg

from axiloom import isa
from axiloom.base.errors import CompileError, UsageError
from axiloom.drivergen.cost.kernel_words import Choice, Problem, choose
from axiloom.drivergen.dialects.mlir import fail, parse
from axiloom.drivergen.match.generic import match_kernel
from axiloom.drivergen.match.in_place import applied
from axiloom.drivergen.match.matmul import Match, NoMatchError, sizes
from axiloom.drivergen.match.plan_generic import whole_dims
from axiloom.drivergen.pipeline.compile import run_passes
from axiloom.drivergen.pipeline.pipelines import prepare
from axiloom.isa import AcceleratorSpec


def best(
    text: str,
    spec: AcceleratorSpec,
    *,
    order: Sequence[str] | None = None,
    tile: Sequence[int] | None = None,
    name: str = "input.mlir",
) -> Choice:
    """What moves fewest words; `order` and `tile`, where they are given, are kept.

    Raises CompileError where no op is the kernel of `spec`, or none of its flows can do it, and UsageError
    for an order that no flow allows.
    """
    assert spec.form.computes is not None
    module = parse(text, name)
    run_passes(module, prepare(spec))
    matches: list[tuple[int, linalg.GenericOp, Match]] = []
    for op in module.walk():
        if isinstance(op, linalg.GenericOp):
            try:
                matches.append((prod(sizes(op)), op, match_kernel(op, spec.form.computes)))
            except NoMatchError:
                continue
    if not matches:
        raise CompileError(f"{name}: no op in it is {spec.kernel}, which {spec.name} executes")
    _, op, match = max(matches, key=lambda counted: counted[0])
    flows = [flow for flow, scope in spec.flows.items() if spec.applied(scope) == applied(op)]
    if order is not None and not any(tuple(order) in isa.loop_orders(spec, flow) for flow in flows):
        raise UsageError(f"no flow of {spec.name} can be used with loops {','.join(order)}")
    problem = dict(zip(match.dims, sizes(op), strict=True))
    repeats = prod(problem[dim] for dim in match.host)
    what = Problem(problem, match.settings, whole_dims(op, spec), repeats)
    chosen = choose(spec, what, flows, order=order, tile=tile)
    if chosen is None:
        fail(op, f"{spec.name} cannot execute it: no tile of it fits its buffers")
    return chosen
