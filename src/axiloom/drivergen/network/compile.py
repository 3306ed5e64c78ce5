"""From the text of a network to C: canonicalise, cut into layers, compile each, plan memory, call them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.ir import Operation, SSAValue

from axiloom import __version__
from axiloom.base.errors import CompileError, UsageError
from axiloom.drivergen.c import emit as emit_c
from axiloom.drivergen.c.driver import Arg, Call, Driver, arguments
from axiloom.drivergen.c.driver import entry_name as c_name
from axiloom.drivergen.dialects.mlir import fail, only_function, parse
from axiloom.drivergen.match.by_hand import check_input
from axiloom.drivergen.nest.packed import CONSTANT, argument_attributes
from axiloom.drivergen.network import constants, cpu, emit, estimate
from axiloom.drivergen.network.estimate import Clocks
from axiloom.drivergen.network.layers import Layer, Use, kernel_of
from axiloom.drivergen.network.lives import Lives, assign, dtype_of
from axiloom.drivergen.network.memory import MemoryPlan
from axiloom.drivergen.network.neon import kernel
from axiloom.drivergen.network.offers import Answer, Choose, Offer, Plan, Step, network, steps
from axiloom.drivergen.network.outline import DEVICE, PLACE, as_layer, device_of, outline
from axiloom.drivergen.network.passes.fold_casts import FoldCasts
from axiloom.drivergen.network.passes.fold_constants import fold_constants, weight_names
from axiloom.drivergen.network.passes.fold_transposes import FoldTransposes
from axiloom.drivergen.network.passes.fuse_elementwise import FuseElementwise
from axiloom.drivergen.network.passes.own_inits import OwnInits
from axiloom.drivergen.passes.frontend.bufferise import Bufferise
from axiloom.drivergen.passes.frontend.generalise import Generalise
from axiloom.drivergen.passes.lowering.collapse_loops import CollapseLoops
from axiloom.drivergen.passes.lowering.lower_to_loops import LowerToLoops
from axiloom.drivergen.pipeline.compile import compile_mlir, config_hash, run_passes
from axiloom.drivergen.pipeline.pipelines import PIPELINES
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.isa import AcceleratorSpec
from axiloom.plan.caches import ZYNQ_7000, Caches

Array = np.ndarray[Any, Any]


Schedules = Callable[[AcceleratorSpec, str, str], Schedule]
"""How an accelerator is to execute the layer in the MLIR text; the last argument is what messages call it."""


Makers = Mapping[int, Callable[[str, str], Driver]]
"""By number of an accelerator: who makes the driver of a layer (its MLIR, and what messages call it), instead
of the compiler's own passes. Raises CompileError for a layer that it does not take."""


@dataclass
class NetworkDriver(Driver):
    """A compiled network. `c` is ``network.c``; `args` are inputs and results, weights are apart."""

    sources: dict[str, str] = field(default_factory=dict)
    """All C files but the harness, by name."""
    weights: dict[str, Array] = field(default_factory=dict)
    """By symbol of the harness: what is put there before the network runs."""
    weight_args: list[Arg] = field(default_factory=list)
    layers: list[Layer] = field(default_factory=list)
    memory: MemoryPlan = field(default_factory=MemoryPlan)
    lives: Lives = field(default_factory=Lives)
    """Where each tensor between layers lies."""
    cut: ModuleOp = field(default_factory=lambda: ModuleOp([]))
    """``stages["layers"]`` itself: not all of its ops can be read again as they are printed."""
    tensors: dict[str, Array] = field(default_factory=dict)
    """Its weights, by their names in ``axiloom.weight``, as they are in the model."""
    uses: dict[str, list[Call]] = field(default_factory=dict)
    """How each function of the accelerator uses it."""
    texts: dict[str, str] = field(default_factory=dict)
    """Each function of the accelerator in MLIR, as the accelerators were asked about it."""
    on_cpu: dict[str, tuple[Step, ...]] = field(default_factory=dict)
    """What each function of the CPU does."""
    embedded: bool = False
    """The weights are in the program (``weights.S``), not to be put there."""


def canonicalise(module: ModuleOp, weights: dict[str, Array], name: str = "input.mlir") -> None:
    """Everything before the cut; `weights` gets what was computed from weights alone."""
    function = only_function(module, name)
    run_passes(module, [Generalise(), OwnInits()])
    fold_constants(function, weights)
    run_passes(module, [FoldCasts(), OwnInits(), FoldTransposes(), FuseElementwise()])


def compile_network(
    text: str,
    spec: AcceleratorSpec | Sequence[AcceleratorSpec] | None,
    weights: Mapping[str, Array] | None = None,
    *,
    schedule: Schedules | None = None,
    name: str = "input.mlir",
    caches: Caches = ZYNQ_7000,
    embed: bool = False,
    least: int = 0,
    neon: Path | None = None,
    clocks: Clocks | None = None,
    choose: Choose | None = None,
    makers: Makers | None = None,
) -> NetworkDriver:
    """Compile a function on tensors, of any number of ops, for `spec` and the CPU (None: the CPU alone).

    `spec` may be several accelerators of one system: a layer goes to the first that takes it, those of its
    kind before others. `weights`: arrays of the arguments with `axiloom.weight`, by its value. `schedule`
    says how each layer on an accelerator uses it (default: the specification's own flow and tile). With
    `embed` weights are a part of the program. Products of fewer than `least` multiply-adds stay on the CPU.
    With the `clocks` of a board, neither do those that are slower on the accelerator by an estimate.
    With `neon`, a folder of kernels by hand, products on the CPU are those, where there is one, instead of
    loops. With `choose` all accelerators are asked, and it says who gets what; `least` then has no say, and
    `clocks` only in what it is told of the places without a choice. `makers`: of accelerators whose layers
    others make, with what is behind a product.
    Raises CompileError with the place of an op that has no C, UsageError for weights that are missing or
    have another shape.
    """
    specs = () if spec is None else (spec,) if isinstance(spec, AcceleratorSpec) else tuple(spec)
    module = parse(text, name)
    function = only_function(module, name)
    check_input(module)
    known = _checked_weights(function, weights or {}, name)
    canonicalise(module, known, name)
    stages = {"network": str(module) + "\n"}
    offload = _Offload(specs, schedule, caches, clocks, makers or {})
    post = bool(makers) or any(part.post or part.in_place for spec in specs for part in spec.parts[:1])
    plan = offload.planned(function, choose, post=post) if choose and specs else None
    layers = outline(module, offload.accepts if specs else None, post=post, least=least, plan=plan)
    stages["layers"] = str(module) + "\n"
    entry = only_function_named(module, function.sym_name.data)
    functions = [f for f in module.ops if isinstance(f, func.FuncOp) and f is not entry]
    banner = _banner(entry_name(entry), specs, layers)
    own = [callee for callee in functions if DEVICE in callee.attributes]
    drivers = {callee.sym_name.data: offload.driver(callee) for callee in own}
    texts = {callee.sym_name.data: _module_text(callee) for callee in own}
    first = len(entry.args)  # results are called alike, whatever is packed for an accelerator
    plain, cut = dict(known), module.clone()
    constants.prepare(entry, drivers, known)
    fixed = {callee.sym_name.data for callee in own if _has_constant_matrix(callee)}
    layers = [
        replace(_used(layer, specs, drivers[layer.function]), constant=layer.function in fixed)
        if layer.function in drivers
        else layer
        for layer in layers
    ]
    callees = {label: driver.args for label, driver in drivers.items()}
    uses = {label: driver.calls for label, driver in drivers.items()}
    sources = {
        f"{label}.c": driver.c.replace(f'"{driver.header_name}"', f'"{emit.HEADER}"')
        for label, driver in drivers.items()
    }
    inits: dict[int, str] = {}
    for callee in own:
        inits.setdefault(device_of(callee), f"{callee.sym_name.data}_init")
    on_cpu = [callee for callee in functions if DEVICE not in callee.attributes]
    steps_on_cpu = {callee.sym_name.data: steps(callee) for callee in on_cpu}
    by_hand: list[func.FuncOp] = []
    for callee in on_cpu:
        source = cpu.source_of(callee, emit.HEADER, cpu.FORMS)
        source = source or (kernel(callee, emit.HEADER, neon) if neon else None)
        if source is not None:
            by_hand.append(callee)
            sources[f"{callee.sym_name.data}.c"] = source
    callees |= {f.sym_name.data: arguments(f) for f in _functions(_bufferised(by_hand))}
    rest = _compile_cpu([callee for callee in on_cpu if callee not in by_hand])
    loops = _functions(rest)
    if loops:
        callees |= {f.sym_name.data: arguments(f) for f in loops}
        what = f"Layers of {entry_name(entry)} on the CPU.\nGenerated by axiloom {__version__}."
        sources["cpu.c"] = emit_c.emit(rest, what, emit.HEADER, restrict=True)
    passed, weight_args = _arguments(entry)
    outputs = _results(entry, first)
    ordered = {arg.symbol: arg for arg in (*passed, *weight_args)}
    lives = assign(entry, [*(ordered[symbol] for symbol in _symbols(entry)), *outputs], callees)
    weight_args = [arg for arg in weight_args if constants.is_read(entry, arg.name)]
    driver = NetworkDriver(
        entry_name(entry),
        [*passed, *outputs],
        stages,
        [call for layer in layers for call in uses.get(layer.function, [])],
        header_name=emit.HEADER,
        weights={arg.symbol: known[arg.name] for arg in weight_args},
        weight_args=weight_args,
        layers=layers,
        memory=lives.plan,
        lives=lives,
        cut=cut,
        tensors=plain,
        uses=uses,
        texts=texts,
        on_cpu=steps_on_cpu,
        embedded=embed,
    )
    prototypes = [
        emit.layer_prototype(label, args, accelerator=label in uses) for label, args in callees.items()
    ]
    prototypes += [f"dma_status {init}(void);" for init in inits.values()]
    filled = [] if embed else weight_args
    driver.c = emit.network(banner, driver.function, driver.args, layers, lives, several=len(specs) > 1)
    driver.header = emit.header(banner, driver.function, driver.args, weight_args, prototypes, len(layers))
    driver.harness = emit.harness(
        banner, driver.function, driver.args, filled, len(layers), inits, select=len(specs) > 1
    )
    driver.sources = {"network.c": driver.c, **sources}
    if embed and weight_args:
        hashes = [hashlib.sha256(driver.weights[a.symbol].tobytes()).hexdigest()[:16] for a in weight_args]
        driver.sources["weights.S"] = emit.embedded(banner, weight_args, hashes)
    stages["c"] = driver.c
    return driver


@dataclass
class _Offload:
    """Layers that have been offered to the accelerators, and their drivers."""

    specs: tuple[AcceleratorSpec, ...]
    schedule: Schedules | None
    caches: Caches
    clocks: Clocks | None = None
    makers: Makers = field(default_factory=dict)
    drivers: dict[tuple[int, str], Driver] = field(default_factory=dict)
    answers: dict[str, int | str] = field(default_factory=dict)
    """To what has been asked before: equal layers are compiled once."""
    asked: dict[tuple[int, str], Answer | str] = field(default_factory=dict)
    """The same for a plan, which asks all accelerators: by number and text."""

    def accepts(self, function: func.FuncOp, title: str) -> int | str:
        """The number of the accelerator that takes a layer, or why that of its own kind does not."""
        text = _module_text(function)
        if text not in self.answers:
            self.answers[text] = self._ask(text, title)
        return self.answers[text]

    def _ask(self, text: str, title: str) -> int | str:
        own = kernel_of(title)
        kernels = [[part.kernel for part in spec.parts[:1]] for spec in self.specs]
        order = sorted(range(len(kernels)), key=lambda number: own not in kernels[number])
        reasons = []
        for number in order:
            try:
                driver = self._compile(number, text, title)
                if slower := self._slower(driver, self.specs[number]):
                    reasons.append(slower)
                    continue
                self.drivers[number, text] = driver
                return number
            except (CompileError, UsageError) as error:
                reasons.append(_PLACE.sub("", str(error)))
        return reasons[0]

    def _compile(self, number: int, text: str, title: str) -> Driver:
        if number in self.makers:
            return self.makers[number](text, title)
        spec, *_ = self.specs[number].parts
        compile_mlir(text, spec, stop="linalg", name=title, caches=self.caches)
        return self._with(self._how(spec, text, title), spec, text, title)

    def _how(self, spec: AcceleratorSpec, text: str, title: str) -> Schedule:
        return self.schedule(spec, text, title) if self.schedule else Schedule(pipeline="published")

    def _with(self, how: Schedule, spec: AcceleratorSpec, text: str, title: str) -> Driver:
        try:
            return self._as(how, spec, text, title)
        except CompileError as error:
            if how.pipeline == COPYING:
                raise
            # Not all passes know all that an accelerator can do; it is offloaded all the same.
            driver = self._as(replace(how, pipeline=COPYING), spec, text, title)
            driver.note = f"not {how.pipeline}: {_PLACE.sub('', str(error))}"
            return driver

    def _as(self, how: Schedule, spec: AcceleratorSpec, text: str, title: str) -> Driver:
        return compile_mlir(
            text,
            spec,
            **how.options(),
            name=title,
            caches=self.caches,
            layer=True,
        )

    def planned(self, function: func.FuncOp, choose: Choose, *, post: bool) -> Plan:
        """What `choose` says, with the drivers of what it chose. An offer that turns out to have no driver is
        withdrawn, and `choose` is asked again."""
        withdrawn: dict[tuple[int, str], str] = {}

        def ask(function: func.FuncOp, title: str, device: int) -> Answer | str:
            key = device, _module_text(function)
            if key not in self.asked:
                self.asked[key] = self._answer(*key, title)
            return withdrawn.get(key, self.asked[key])

        def cut(group: Sequence[Operation]) -> func.FuncOp:
            return as_layer(group, function)

        while True:
            before = len(withdrawn)
            plan = choose(network(function, len(self.specs), ask, cut, self.accepts, post=post))
            for chosen in plan.values():
                if chosen.offer is not None:
                    self._compiled(chosen.offer, withdrawn)
            if len(withdrawn) == before:
                return plan

    def _answer(self, device: int, text: str, title: str) -> Answer | str:
        spec, *_ = self.specs[device].parts
        try:
            how = self._how(spec, text, title)
            compiled = compile_mlir(
                text, spec, **how.options(), stop="linalg", name=title, caches=self.caches, layer=True
            )
        except (CompileError, UsageError) as error:
            return _PLACE.sub("", str(error))
        return Answer(text, tuple(compiled.calls), how, compiled.passes)

    def _compiled(self, offer: Offer, withdrawn: dict[tuple[int, str], str]) -> None:
        key = offer.device, offer.text
        if key in self.drivers:
            return
        try:
            spec, *_ = self.specs[offer.device].parts
            self.drivers[key] = self._with(offer.schedule, spec, offer.text, offer.title)
        except (CompileError, UsageError) as error:
            withdrawn[key] = _PLACE.sub("", str(error))

    def _slower(self, driver: Driver, spec: AcceleratorSpec) -> str | None:
        """Why a layer is better left to the CPU, if it is."""
        return None if self.clocks is None else estimate.slower(driver, spec, self.clocks)

    def driver(self, function: func.FuncOp) -> Driver:
        """That of an accepted layer, under the layer's name."""
        driver, name = self.drivers[device_of(function), _module_text(function)], function.sym_name.data
        return replace(driver, function=name, c=re.sub(r"\blayer(?=_init\b|\b)", name, driver.c))


COPYING = "copying"
"""The pipeline in which the CPU copies tiles: it takes every layer that an accelerator does."""


def _used(layer: Layer, specs: Sequence[AcceleratorSpec], driver: Driver) -> Layer:
    """With how its driver uses the accelerator; pipelines that have a name are called by it."""
    names = {passes: name for name, passes in PIPELINES.items()}
    call = driver.calls[0]
    pipeline = names.get(driver.passes) or ",".join(driver.passes)
    assert layer.device is not None
    cycles = sum(called.array_cycles(specs[layer.device]) for called in driver.calls)
    return replace(layer, use=Use(call.flow, tuple(call.tile), pipeline, driver.note), array_cycles=cycles)


def _has_constant_matrix(function: func.FuncOp) -> bool:
    """Whether a layer's function is passed a weight that is a matrix (a bias is none)."""
    return any(
        CONSTANT in attributes and isinstance(arg.type, TensorType) and arg.type.get_num_dims() > 1
        for arg, attributes in zip(function.args, argument_attributes(function), strict=True)
    )


_PLACE = re.compile(r"^[^\s:]+(:\d+:\d+)?: ")
"""In front of a message: the place in the layer's text, which nobody has seen."""


def only_function_named(module: ModuleOp, name: str) -> func.FuncOp:
    """The function of a cut network that calls the others."""
    (entry,) = [f for f in module.ops if isinstance(f, func.FuncOp) and f.sym_name.data == name]
    return entry


def _checked_weights(function: func.FuncOp, weights: Mapping[str, Array], name: str) -> dict[str, Array]:
    known: dict[str, Array] = {}
    for arg, label in zip(function.args, weight_names(function), strict=True):
        if not isinstance(arg.type, TensorType):
            fail(function, f"argument {arg.index} is {arg.type}; networks take ranked tensors")
        if any(size < 1 for size in arg.type.get_shape()):
            fail(function, f"argument {arg.index} is {arg.type}; sizes must be known, and at least 1")
        if label is None:
            continue
        if label not in weights:
            have = ", ".join(sorted(weights)) or "none"
            raise UsageError(f"{name}: no array for the weight `{label}`; there are {have}")
        wanted, dtype = tuple(arg.type.get_shape()), dtype_of(function, arg)
        array = weights[label]
        if array.shape != wanted or array.dtype != np.dtype(dtype):
            actual = f"{array.dtype} {array.shape}"
            raise UsageError(f"{name}: weight `{label}` is {actual}, the function takes {dtype} {wanted}")
        known[label] = array
    return known


def _module_text(function: func.FuncOp) -> str:
    """A module of this one function, under the same name whatever it is called."""
    copy = function.clone()
    copy.sym_name = StringAttr("layer")
    for label in (PLACE, DEVICE):
        copy.attributes.pop(label, None)
    return str(ModuleOp([copy])) + "\n"


def _functions(module: ModuleOp) -> list[func.FuncOp]:
    return [op for op in module.ops if isinstance(op, func.FuncOp)]


def _compile_cpu(functions: Sequence[func.FuncOp]) -> ModuleOp:
    """All layers on the CPU as loops."""
    module = _bufferised(functions)
    run_passes(module, [CollapseLoops(), LowerToLoops(preload=True)])
    return module


def _bufferised(functions: Sequence[func.FuncOp]) -> ModuleOp:
    """Copies of these functions on memory."""
    module = ModuleOp([function.clone() for function in functions])
    for function, copy in zip(functions, module.ops, strict=True):
        for old, new in zip(function.walk(), copy.walk(), strict=True):
            new.location = old.location
    run_passes(module, [Generalise(), Bufferise()])
    return module


def _symbols(function: func.FuncOp) -> list[str]:
    """The array in C of each argument: ``axl_arg0`` of an input, ``axl_weight_conv1_bias`` of a weight."""
    found: list[str] = []
    for number, label in enumerate(weight_names(function)):
        plain = None if label is None else f"axl_weight_{re.sub(r'[^0-9A-Za-z]', '_', label)}"
        symbol = plain or f"axl_arg{number}"
        found.append(f"{symbol}_{number}" if symbol in found else symbol)
    return found


def entry_name(function: func.FuncOp) -> str:
    """The network's name in C; torch-mlir calls all of them main."""
    return "network" if function.sym_name.data == "main" else c_name(function)


def _argument(function: func.FuncOp, number: int, value: SSAValue, **more: Any) -> Arg:
    assert isinstance(value.type, TensorType)
    symbols = _symbols(function)
    symbol = symbols[number] if number < len(symbols) else f"axl_arg{number}"
    return Arg(symbol, tuple(value.type.get_shape()), dtype_of(function, value), **more)


def _arguments(function: func.FuncOp) -> tuple[list[Arg], list[Arg]]:
    """Inputs and weights of a network."""
    passed: list[Arg] = []
    weights: list[Arg] = []
    for number, (value, label) in enumerate(zip(function.args, weight_names(function), strict=True)):
        name = label or value.name_hint or ""
        arg = _argument(function, number, value, kind="in", name=name)
        (passed if label is None else weights).append(arg)
    return passed, weights


def _results(function: func.FuncOp, first: int) -> list[Arg]:
    last = function.body.block.last_op
    assert isinstance(last, func.ReturnOp)
    results = []
    for number, value in enumerate(last.arguments):
        if not isinstance(value.type, TensorType):
            fail(function, f"it returns {value.type}; networks return ranked tensors")
        shape, dtype = tuple(value.type.get_shape()), dtype_of(function, value)
        name = value.name_hint or "out"
        results.append(Arg(f"axl_arg{first + number}", shape, dtype, "out", name, number))
    return results


def _banner(function: str, specs: Sequence[AcceleratorSpec], layers: Sequence[Layer]) -> str:
    own = sum(layer.place == "accelerator" for layer in layers)
    names = " and ".join(spec.name for spec in specs)
    where = f"{own} of {len(layers)} layers on {names}" if specs else f"{len(layers)} layers on the CPU"
    configuration = "".join(f", configuration {config_hash(spec)}" for spec in specs)
    return f"{function}: {where}.\nGenerated by axiloom {__version__}{configuration}."
