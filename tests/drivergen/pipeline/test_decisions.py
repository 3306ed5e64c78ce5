"""Decisions are properties of the annotated ops: what the driver does, without making it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.drivergen.convolutions import Conv, convs
from tests.drivergen.epilogues import Rounded
from tests.drivergen.placed import nests
from tests.drivergen.programs import generics
from tests.drivergen.test_constants import constant
from tests.drivergen.test_epilogues import matmul, rounded
from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import BlockArgument, Operation, SSAValue

from axiloom import isa
from axiloom.base.errors import AxiloomError, CompileError
from axiloom.drivergen import matmul_mlir
from axiloom.drivergen.dialects import accel, queue
from axiloom.drivergen.dialects.mlir import parse
from axiloom.drivergen.dialects.views import array_of
from axiloom.drivergen.match.trait import is_annotated
from axiloom.drivergen.nest.packed import CONSTANT, argument_attributes
from axiloom.drivergen.passes.frontend.annotate import Annotate
from axiloom.drivergen.passes.lowering.place import Place
from axiloom.drivergen.pipeline.compile import run_passes
from axiloom.drivergen.pipeline.decisions import SMALL, decide, reads_in_place
from axiloom.drivergen.pipeline.pipelines import (
    ORDERED,
    optimisations,
    placing,
    prepare,
    split,
)
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import DmaConfig
from axiloom.plan import Plan
from axiloom.plan.caches import ZYNQ_7000, Caches, nest_cost, queue_cost

EXAMPLES = Path(__file__).parents[3] / "examples"
TINY = Caches(l2_size=8192, l2_ways=8)


# --- as drivers do it --------------------------------------------------------------------------


def in_place_by_driver(module: ModuleOp, annotate: Annotate, chosen: Sequence[str]) -> bool:
    copy = module.clone()
    place = Place(residency="residency" in chosen, queue=True)
    run_passes(copy, [*prepare(annotate.accelerator), annotate, split(())])
    try:
        run_passes(copy, [place])
    except CompileError as error:
        if "there is no descriptor" in str(error):
            return False
        raise
    sent = [call for op in copy.walk() if isinstance(op, func.CallOp) for call in sent_by(op)]
    most = sum(size for size, *_ in sent) // SMALL if any(known for *_, known in sent) else 0
    return sum(size for size, copied, _ in sent if copied) <= most


def sent_by(op: func.CallOp) -> Iterator[tuple[int, bool, bool]]:
    """Bytes in all, whether they are copied, whether they are constant."""
    callee, arguments = op.callee.root_reference.data, list(op.arguments)
    if callee == "dma_queue_rows":
        size = (accel.constant(arguments[1]) or 0) * (accel.constant(arguments[2]) or 0)
    elif callee.startswith(("dma_queue_matrix_", "dma_queue_tile_")):
        rows, cols = (accel.constant(value) or 0 for value in arguments[-2:])
        size = rows * cols * int(callee.rsplit("_", 1)[1].lstrip("iuf")) // 8
    else:
        return
    pointer = arguments[0]
    while isinstance(pointer.owner, queue.BytesOp | memref.CastOp):
        pointer = pointer.owner.operands[0]
    yield size * trips_around(op), "_tile_" in callee, is_constant(pointer)


def trips_around(op: Operation) -> int:
    trips, parent = 1, op.parent_op()
    while parent is not None:
        if isinstance(parent, scf.ForOp):
            begin, end, step = (accel.constant(v) or 0 for v in (parent.lb, parent.ub, parent.step))
            trips *= max(1, -(-(end - begin) // max(step, 1)))
        parent = parent.parent_op()
    return trips


def is_constant(tile: SSAValue) -> bool:
    array = array_of(tile)
    function = array.owner.parent_op() if isinstance(array, BlockArgument) else None
    return (
        isinstance(array, BlockArgument)
        and isinstance(function, func.FuncOp)
        and CONSTANT in argument_attributes(function)[array.index]
    )


class _Blocking(Place):
    """Loops are placed as for packets, and transfers block: that can be read."""

    def sent(self, plan: Plan, dma: DmaConfig) -> Plan:
        return plan


def order_by_passes(
    module: ModuleOp, spec: AcceleratorSpec, annotate: Annotate, chosen: Sequence[str], caches: Caches
) -> tuple[str, ...] | None:
    flow = annotate.flow or spec.selected_flow
    orders = isa.loop_orders(spec, flow)
    if len(orders) < 2 or spec.form.dense or not any(name in chosen for name in ORDERED):
        return None
    how = placing(chosen, caches)
    place = _Blocking(**vars(replace(how, queue=False, join=False)))
    memory = caches if "cache-tiling" in chosen else None
    costs = []
    for order in orders:
        copy = module.clone()
        one = replace(annotate, order=order)
        run_passes(copy, [*prepare(spec), one, split(chosen), place])
        found = [(nest.plan(), nest.dma) for _, nest in nests(copy)]
        if "zero-copy" in chosen:
            costs.append(sum(queue_cost(plan, spec.link.stream_width // 32) for plan, _ in found))
        else:
            cost = partial(nest_cost, caches=memory, buffers=how.buffers, keep=how.keep, loops=how.loops)
            costs.append(sum(cost(plan, dma) for plan, dma in found))
    return orders[costs.index(min(costs))]


# --- the same from properties -----------------------------------------------------------------------


def compare(
    text: str,
    spec: AcceleratorSpec,
    *,
    flow: str | None = None,
    tile: tuple[int, ...] | None = None,
    pipeline: str = "all",
    caches: Caches = ZYNQ_7000,
) -> tuple[bool | None, tuple[str, ...] | None]:
    """Both ways; what they say, None where the accelerator does not execute it."""
    module = parse(text, "test")
    annotate, chosen = Annotate(spec, flow, None, tile), optimisations(pipeline)
    ready = module.clone()
    try:
        run_passes(ready, [*prepare(spec), annotate])
        run_passes(ready.clone(), [split(()), Place()])
    except AxiloomError:
        return None, None
    ops = [op for op in ready.walk() if isinstance(op, linalg.GenericOp) and is_annotated(op)]
    before = str(ready)
    expected = in_place_by_driver(module, annotate, chosen)
    assert reads_in_place(ops, chosen) == expected
    decided = decide(ready, spec, chosen, caches, flow=flow)
    assert decided.passes == tuple(one for one in chosen if expected or one not in ("zero-copy", "tables"))
    assert decided.order == order_by_passes(module, spec, annotate, decided.passes, caches)
    assert str(ready) == before
    return expected, decided.order


def device(name: str, dtype: str = "int8", width: int = 32, **options: bool) -> AcceleratorSpec:
    spec = isa.builtin(name, None, dtype, "bitmask", **options)
    return isa.revise(spec, stream_width=width, dma=replace(spec.link.dma, scatter_gather=True))


WIDTHS = st.sampled_from([32, 64, 128])
MATMULS = st.sampled_from(["v1_4", "v1_8", "v2_8", "v3_4", "v3_16", "v4_16"])
CHOSEN = st.sampled_from(
    ["all", "zero-copy,coalesce", "zero-copy,coalesce,keep-packed", "copying", "residency"]
)
CACHES = st.sampled_from([ZYNQ_7000, TINY])


def flow_of(data: st.DataObject, spec: AcceleratorSpec) -> str:
    return str(data.draw(st.sampled_from(list(spec.flows))))


@given(
    MATMULS,
    st.tuples(st.integers(1, 70), st.integers(1, 140), st.integers(1, 70)),
    st.sampled_from(["int8", "int16", "int32"]),
    WIDTHS,
    st.integers(1, 16),
    CHOSEN,
    CACHES,
    st.data(),
)
@settings(max_examples=16)
def test_matmuls(
    name: str,
    shape: tuple[int, int, int],
    dtype: str,
    width: int,
    unit: int,
    pipeline: str,
    caches: Caches,
    data: st.DataObject,
) -> None:
    M, N, K = (-(-size // unit) * unit for size in shape)
    spec = device(name, dtype, width)
    text = matmul_mlir(M, N, K, dtype)
    compare(text, spec, flow=flow_of(data, spec), pipeline=pipeline, caches=caches)


@pytest.mark.slow
@given(generics, st.sampled_from(["v1_4", "v3_4", "v4_16"]), WIDTHS, CHOSEN, st.data())
@settings(max_examples=12)
def test_matmuls_in_every_form(
    program: object, name: str, width: int, pipeline: str, data: st.DataObject
) -> None:
    """Transposed, on sums that are there or on zeros."""
    spec = device(name, program.dtype, width)  # type: ignore[attr-defined]
    compare(program.text, spec, flow=flow_of(data, spec), pipeline=pipeline)  # type: ignore[attr-defined]


@pytest.mark.slow
@given(
    convs, st.sampled_from(["conv_v3", "conv_v4", "v3_16", "v4_16"]), WIDTHS, st.booleans(), CHOSEN, st.data()
)
@settings(max_examples=16)
def test_convolutions(
    conv: Conv, name: str, width: int, packed: bool, pipeline: str, data: st.DataObject
) -> None:
    spec = device(name, conv.dtype, width)
    text = constant(conv.text, "F") if packed else conv.text
    compare(text, spec, flow=flow_of(data, spec), pipeline=pipeline)


@pytest.mark.slow
@given(convs, st.sampled_from(["conv_v4", "v4_16"]), WIDTHS, st.booleans(), CHOSEN)
@settings(max_examples=12)
def test_sums_that_are_rounded(conv: Conv, name: str, width: int, packed: bool, pipeline: str) -> None:
    text = rounded(replace(conv, dtype="int8")).text
    text = constant(text, "F", "B", "M", "S") if packed else text
    compare(text, device(name, "int8", width, post=True), pipeline=pipeline)


@pytest.mark.every(3)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("shape", [(1, 100, 64), (48, 70, 32), (72, 80, 96), (200, 33, 64)])
@pytest.mark.parametrize(
    "width", [pytest.param(one, marks=[pytest.mark.slow] * (one != 64)) for one in (32, 64, 128)]
)
def test_weights(shape: tuple[int, int, int], width: int, packed: bool) -> None:
    """One row beside weights; rows of odd bytes."""
    text = constant(matmul(*shape), "W") if packed else matmul(*shape)
    for name in ("v3_16", "v4_16"):
        compare(text, device(name, "int8", width))
    text = constant(Rounded(matmul(*shape), shape[:2], 1).text, *(["W", "B", "M", "S"] if packed else []))
    compare(text, device("v4_16", "int8", width, post=True))


@pytest.mark.parametrize("example", ["pooling/maxpool", "elementwise/add"])
@pytest.mark.parametrize("width", [32, 64])
def test_kernels_that_are_data(example: str, width: int) -> None:
    path = EXAMPLES / f"{example}.json"
    spec = isa.load(path)
    spec = isa.revise(spec, stream_width=width, dma=replace(spec.link.dma, scatter_gather=True))
    place, _ = compare(path.with_suffix(".mlir").read_text(), spec)
    assert place is not None


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["v2_16", "v3_16", "v4_16"])
def test_both_answers_occur(name: str) -> None:
    """Several orders are the best, and some operands are read in place: else nothing was compared."""
    spec = device(name, "int32", 64)
    found = [
        compare(matmul_mlir(M, N, K), spec, flow=flow, caches=TINY)
        for M, N, K in [(64, 64, 64), (50, 70, 33), (256, 64, 128), (64, 256, 32)]
        for flow in spec.flows
    ]
    assert {place for place, _ in found} == {True, False}
    assert len({order for _, order in found}) > 1
