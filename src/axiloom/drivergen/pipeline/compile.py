"""From MLIR text to a driver: the passes in their order, the stages, and what is said when one fails."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.passes import ModulePass

from axiloom import __version__, isa
from axiloom.base.errors import AxiloomError, CompileError, UsageError
from axiloom.drivergen.c import emit as emit_c
from axiloom.drivergen.c.driver import Call, Driver, arguments, entry_name, harness, init_name
from axiloom.drivergen.c.reserved import renamed
from axiloom.drivergen.cost.stream_words import stream_words
from axiloom.drivergen.dialects.mlir import context, fail, only_function, parse
from axiloom.drivergen.dialects.product import is_lean, merged, requantises
from axiloom.drivergen.match import by_hand, foreign
from axiloom.drivergen.match.in_place import starts_from_zero
from axiloom.drivergen.match.matmul import MATMUL_DIMS, sizes
from axiloom.drivergen.match.trait import Trait, is_annotated
from axiloom.drivergen.nest.packed import packings, sources
from axiloom.drivergen.nest.results import Results
from axiloom.drivergen.passes.frontend.annotate import Annotate
from axiloom.drivergen.passes.frontend.bufferise import Bufferise
from axiloom.drivergen.passes.frontend.fuse_in_place import FuseInPlace
from axiloom.drivergen.passes.frontend.generalise import Generalise
from axiloom.drivergen.passes.frontend.interchange import Interchange
from axiloom.drivergen.passes.frontend.unsigned_arguments import UnsignedArguments
from axiloom.drivergen.passes.lowering.lower_to_calls import LowerToCalls
from axiloom.drivergen.passes.lowering.lower_to_loops import LowerToLoops
from axiloom.drivergen.pipeline.decisions import decide
from axiloom.drivergen.pipeline.pipelines import (
    LOCAL,
    PIPELINES,
    optimisations,
    prepare,
    transfers,
)
from axiloom.isa import AcceleratorSpec
from axiloom.plan.caches import ZYNQ_7000, Caches

STAGES = ("linalg", "accel", "calls", "c")
"""Where compilation can stop: annotated linalg, transfers in loops, calls of the runtime, C."""


def compile_mlir(
    text: str,
    spec: AcceleratorSpec | None,
    *,
    flow: str | None = None,
    order: Sequence[str] | None = None,
    tile: Sequence[int] | None = None,
    pipeline: str = "published",
    stop: str | None = None,
    name: str = "input.mlir",
    caches: Caches = ZYNQ_7000,
    layer: bool = False,
    remarks: Sequence[str] = (),
) -> Driver:
    """Compile the function in `text` to a driver of the accelerator `spec`.

    `flow`, `order` (loops, outermost first) and `tile` (m, n, k) default to the accelerator's. `spec` may
    be None if every op carries its trait. `pipeline` is one of PIPELINES, `stop` the last of STAGES wanted.
    `name` stands in messages; `caches` are those of the board that the driver is for. `layer`: it is called
    with the arrays of a network, which are all signed. `remarks` stand in the banner of the C.

    Raises CompileError (with file, line and column) for what does not parse or cannot be offloaded, and
    UsageError for a flow, order or pipeline that does not exist.
    """
    last = stop or STAGES[-1]
    if last not in STAGES:
        raise UsageError(f"unknown stage `{last}`; there are {', '.join(STAGES)}")
    chosen = optimisations(pipeline)
    if chosen and spec is not None and spec.has_registers:
        raise UsageError(
            f"pipeline {pipeline}: {spec.name} accesses registers between its transfers, which no pass may "
            "move: take `published`"
        )
    joining = [chosen_pass for chosen_pass in chosen if chosen_pass not in LOCAL]
    if joining and spec is not None and spec.link.rtl.starts_on_tlast:
        raise UsageError(
            f"pipeline {pipeline}: {', '.join(joining)} would join packets, and {spec.name} starts on "
            "TLAST: take --pipeline published; if it counts words instead, say `starts_on_tlast`: false in "
            "`rtl` of its specification"
        )
    if spec is not None and not spec.form.multiplies and not spec.keeps_packets:
        pipeline = "coalesced"  # what comes back does so before the next words leave
        chosen = PIPELINES[pipeline]
    module = parse(text, name)
    foreign.translate(module, spec, flow)
    by_hand.check_input(module)
    traits = by_hand.annotated(module)
    if traits and spec is not None and not spec.form.multiplies:
        fail(traits[0], f"a trait is for a product; {spec.name} copies: leave the trait out")
    for trait in traits:
        by_hand.check_options(trait, flow=flow, order=order or None, tile=tile or None)
    annotate = Annotate(spec, flow, tuple(order) if order else None, tuple(tile) if tile else None)
    function = only_function(module, name)
    run_passes(module, prepare(spec))
    if len(by_hand.annotated(module)) < len(traits):
        fail(
            function,
            f"for {spec.name if spec else 'the driver'} an op with a trait is rewritten, which loses it",
        )
    run_passes(module, [annotate, *([] if layer else [UnsignedArguments()])])
    decided = decide(module, spec, chosen, caches, flow=flow, ordered=bool(order or traits))
    if decided.order is not None:
        run_passes(module, [Interchange(decided.order)])
    driver = Driver(entry_name(function), arguments(function), {"linalg": str(module) + "\n"})
    driver.passes, driver.note = decided.passes, decided.note
    driver.calls = [
        _call(op, spec) for op in function.walk() if isinstance(op, linalg.GenericOp) and is_annotated(op)
    ]
    if not driver.calls:
        fail(function, "it has no operation to offload")
    # Layers of a network share a DMA, which follows the descriptors of one driver alone.
    tables = bool(spec and spec.link.dma.coherent and not layer)
    for stage, passes in (
        ("accel", transfers(decided.passes, caches, tables=tables)),
        ("calls", [LowerToLoops(), LowerToCalls()]),
    ):
        if last in driver.stages:
            return driver
        run_passes(module, passes)
        driver.stages[stage] = str(module) + "\n"
    driver.args, driver.origins = arguments(function), sources(function)
    driver.packings = packings(function)
    if last == "c":
        what = f"driver of {spec.name if spec else 'the accelerator in its MLIR'}"
        banner = _banner(driver, what, spec, pipeline, function.sym_name.data, remarks)
        _write_c(driver, module, banner, init_name(function))
    return driver


def compile_cpu(text: str, *, name: str = "input.mlir") -> Driver:
    """The same function as plain C loops for the CPU, void and with pointers that must not overlap."""
    module = parse(text, name)
    function = only_function(module, name)
    run_passes(module, [Generalise(), Bufferise(), LowerToLoops()])
    driver = Driver(
        entry_name(function), arguments(function), {"loops": str(module) + "\n"}, header_name="cpu.h"
    )
    banner = f"{driver.function} on the CPU.\nGenerated by axiloom {__version__}."
    driver.c = driver.stages["c"] = emit_c.emit(module, banner, driver.header_name, restrict=True)
    driver.header = emit_c.header(module, banner, "AXILOOM_CPU_H", "<stdint.h>", restrict=True)
    driver.harness = harness(driver, banner, init=None)
    return driver


def config_hash(link: isa.AcceleratorSpec) -> str:
    """Short hash of what is known of a device, the one that all generated files carry."""
    return hashlib.sha256(isa.dumps(link).encode()).hexdigest()[:16]


def _call(op: linalg.GenericOp, spec: AcceleratorSpec | None) -> Call:
    trait = Trait.of(op)
    number = 0
    if spec is not None:
        number = next((at for at, part in enumerate(spec.parts) if _is_for(trait, part)), 0)
        spec = spec.parts[number]
    problem = dict(zip(trait.dims, sizes(op), strict=True))
    tile = dict(zip(trait.dims, trait.tile, strict=True))
    flows = {flow: name for name, flow in spec.flows.items()} if spec else {}
    own = spec.dims if spec else tuple(MATMUL_DIMS)
    host = [dim for dim in trait.dims if dim not in own]
    order = tuple(trait.dims[loop] for loop in trait.order)
    return Call(
        {dim: problem[dim] for dim in (*host, *own)},
        tuple(tile[dim] for dim in own),
        flows.get(trait.flow, str(trait.flow)),
        order,
        _one_row(op, trait, problem),
        stream_words(op, trait),
        is_lean(op),
        merged(op),
        number,
        _results(op, trait),
    )


def _results(op: linalg.GenericOp, trait: Trait) -> Results:
    rounds = requantises(op) is not None
    return Results(rounds or trait.overwrites or starts_from_zero(op), 8 if rounds else None)


def _is_for(trait: Trait, part: AcceleratorSpec) -> bool:
    """Whether the opcodes of a trait are those of a kernel of the accelerator."""
    own = {name: opcode.host for name, opcode in part.opcodes.items()}
    return all(own.get(name) == host for name, host in trait.opcodes.items())


def _one_row(op: linalg.GenericOp, trait: Trait, problem: Mapping[str, int]) -> bool:
    """Filters of 1x1 that step by one over an image without padding: each pixel by itself."""
    taps = [problem.get(dim, 1) for dim in ("fh", "fw")]
    steps = [trait.settings.get(name, 1) for name in ("sh", "sw")]
    if "ow" not in problem or taps + steps != [1] * 4:
        return False
    pixels = [problem["oh"], problem["ow"]]
    for name, rows in (("I", "ih"), ("O", "oh")):
        number = [operand.operand for operand in trait.operands].index(name)
        axes = [trait.axis(number, expression) for expression in op.indexing_maps.data[number].data.results]
        kind = op.operands[number].type
        assert isinstance(kind, MemRefType)
        if rows not in axes or list(kind.get_shape()[axes.index(rows) :][:2]) != pixels:
            return False
    return True


def _banner(
    driver: Driver,
    what: str,
    spec: AcceleratorSpec | None,
    pipeline: str,
    name: str,
    remarks: Sequence[str],
) -> str:
    lines = [f"{driver.function}: {what}.", *filter(None, [renamed(name, driver.function)])]
    for call in driver.calls:
        tile = " x ".join(map(str, call.tile))
        order, problem = ", ".join(call.order), " x ".join(map(str, call.sizes.values()))
        lines.append(
            f"{problem} ({', '.join(call.sizes)}), tiles of {tile}, flow {call.flow}, loops {order}."
        )
    configuration = f", configuration {config_hash(spec)}" if spec else ""
    passes = f", pipeline {pipeline}" if optimisations(pipeline) else ""
    return "\n".join([*lines, *remarks, f"Generated by axiloom {__version__}{configuration}{passes}."])


def _write_c(driver: Driver, module: ModuleOp, banner: str, init: str) -> None:
    driver.c = driver.stages["c"] = emit_c.emit(module, banner, driver.header_name)
    driver.header = emit_c.header(module, banner, "AXILOOM_DRIVER_H", '"axiloom.h"')
    driver.harness = harness(driver, banner, init=init)


def run_passes(module: ModuleOp, passes: Sequence[ModulePass]) -> None:
    """Run passes; whatever one raises that is not meant for the user says which pass it was, on what IR.

    To verify and to print the IR at every pass would take half of the compiler's time: it is verified at the
    end, and only where something is wrong the passes run again, one at a time.
    """
    if not passes:
        return
    ctx = context()
    first = module.clone()
    try:
        for module_pass in passes:
            module_pass.apply(ctx, module)
        module.verify()
    except AxiloomError:
        raise
    except Exception as error:
        raise _fault(first, passes, error) from error


def _fault(module: ModuleOp, passes: Sequence[ModulePass], error: Exception) -> CompileError:
    """Names the first of `passes` that fails on `module`, or leaves what is no IR."""
    ctx, failed, before = context(), passes[-1], str(module)
    for module_pass in passes:
        failed, before = module_pass, str(module)
        try:
            module_pass.apply(ctx, module)
            module.verify()
        except Exception as first:
            error = first
            break
    with tempfile.NamedTemporaryFile("w", prefix="axiloom-", suffix=".mlir", delete=False) as file:
        file.write(before)
    what = " ".join(str(error).split()) or type(error).__name__
    return CompileError(
        f"pass {failed.name} failed: {what}; this is a fault of Axiloom. "
        f"To repeat it: axiloom-opt -p '{_command(failed, Path(file.name))}' {file.name}"
    )


def _command(module_pass: ModulePass, ir: Path) -> str:
    """The pass as it is written on the command line; a specification goes to a file beside the IR."""
    if isinstance(module_pass, Annotate | FuseInPlace) and isinstance(
        module_pass.accelerator, AcceleratorSpec
    ):
        path = ir.with_suffix(".json")
        path.write_text(isa.dumps(module_pass.accelerator), encoding="utf-8")
        module_pass = replace(module_pass, accelerator=str(path))
    return str(module_pass)
