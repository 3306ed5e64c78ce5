"""Ops that the accelerator can execute get the trait that says how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, ArrayAttr, ModuleOp, ShapedType, StringAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import NamedOperation
from xdsl.ir import Operation
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from axiloom import isa
from axiloom.base.errors import CompileError, UnfitError, UsageError
from axiloom.base.wording.names import hint
from axiloom.drivergen.cost.conv_tiles import Choice, NoTileError, choose
from axiloom.drivergen.dialects.accel import OperandAttr
from axiloom.drivergen.dialects.mlir import fail
from axiloom.drivergen.dialects.product import ProductOp, requantises
from axiloom.drivergen.match import by_hand
from axiloom.drivergen.match.conv import GroupsError, image_shape, match_conv
from axiloom.drivergen.match.generic import UNUSED, match_kernel
from axiloom.drivergen.match.in_place import applied
from axiloom.drivergen.match.matmul import MATMUL, Match, NoMatchError, element, extension, match, sizes
from axiloom.drivergen.match.plan_generic import settings_of, take_over_start, tile_of
from axiloom.drivergen.match.registers import registers
from axiloom.drivergen.match.trait import WORDS, Trait, is_annotated
from axiloom.drivergen.passes.frontend.fuse_epilogue import PACKING
from axiloom.drivergen.passes.frontend.im2col import WINDOWS
from axiloom.drivergen.passes.frontend.merge_groups import DIAGONAL
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import Load, Opcode, Scope, SendDim, SetDims, Skip
from axiloom.isa.kernels.forms import CHANNEL_WORDS, CHANNELS, POST_SETTINGS
from axiloom.isa.kernels.language.kernel import Kernel
from axiloom.isa.kernels.named import KERNELS
from axiloom.isa.numerics import FLOAT32, INT8, INT32, UINT8


@dataclass(frozen=True)
class Annotate(ModulePass):
    """Give every `linalg.generic` that the accelerator executes its trait; refuse all others.

    ::

        linalg.generic {...} ins(%A, %B : ...) outs(%C : ...) {...}

        linalg.generic {...} ins(%A, %B : ...) outs(%C : ...)
            attrs = {opcode_map = #accel.opcode_map<sA = [send_literal(1), send(A)], ...>,
                     opcode_flow = #accel.opcode_flow<((sA sB cC) rC)>, accel_dim = ..., ...} {...}

    An op that has a trait already, written by hand, keeps it; what is optional and missing is filled in.

    Options: `accelerator` (name of a built-in one, path of a specification, or the specification itself),
    `flow` (default: the selected one), `order` of the loops, outermost first (default: the first that the
    flow allows), `tile` (default: the accelerator's; a flexible one no larger than the problem). Those of
    convolutions are chosen so that few words travel (:mod:`axiloom.drivergen.cost.conv_tiles`).
    """

    name = "accel-annotate"

    accelerator: str | AcceleratorSpec | None = None
    flow: str | None = None
    order: tuple[str, ...] | None = None
    tile: tuple[int, ...] | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        by_hand.check_attributes(op)
        spec = isa.find(self.accelerator) if isinstance(self.accelerator, str) else self.accelerator
        plans = [] if spec is None else self._plans(spec)
        for candidate in [o for o in op.walk() if o.name.startswith("linalg.") or isinstance(o, ProductOp)]:
            if isinstance(candidate, linalg.FillOp | linalg.YieldOp | linalg.IndexOp) or _is_packing(
                candidate
            ):
                continue
            if not isinstance(candidate, linalg.GenericOp):
                named = isinstance(candidate, NamedOperation)
                fail(candidate, "accel-generalise comes first" if named else "no accelerator executes it")
            _check_types(candidate)
            if is_annotated(candidate):
                by_hand.check_options(candidate, flow=self.flow, order=self.order, tile=self.tile)
                _complete(candidate, spec)
            elif not plans:
                fail(candidate, "it has no opcode_map, and no accelerator was given")
            else:
                _annotate(candidate, plans)

    def _plans(self, spec: AcceleratorSpec) -> list[_Plan]:
        """One for each kernel of the accelerator."""
        if len(spec.parts) == 1:
            return [_Plan(spec, self.flow, self.order, self.tile)]
        for name, value in (("order", self.order), ("tile", self.tile)):
            if value is not None:
                raise UsageError(f"--{name} is for one kernel, and {spec.name} has {len(spec.parts)} of them")
        flows = {flow: part.name for part in spec.parts for flow in part.flows}
        if self.flow is not None and self.flow not in flows:
            known = f"{spec.name} has {', '.join(flows)}"
            raise UsageError(f"unknown flow `{self.flow}`{hint(self.flow, flows)}; {known}")
        return [
            _Plan(part, self.flow if self.flow in part.flows else None, None, None) for part in spec.parts
        ]


def _annotate(op: linalg.GenericOp, plans: Sequence[_Plan]) -> None:
    """The first kernel that `op` is executes it."""
    why = []
    for plan in plans:
        try:
            plan.annotate(op)
            return
        except CompileError as error:
            if len(plans) == 1:
                raise
            why.append(str(error).split(": ", 2)[-1])  # without file and op
    fail(op, f"no kernel of the accelerator is it: {'; '.join(why)}")


def _check_types(op: linalg.GenericOp) -> None:
    for number, value in enumerate(op.operands):
        kind = value.type
        if not isinstance(kind, ShapedType):
            fail(op, f"operand {number} is {kind}, not a matrix")
        if any(size == DYNAMIC_INDEX for size in kind.get_shape()):
            fail(op, f"operand {number} has a dynamic size ({kind}); sizes must be known")
        if any(size == 0 for size in kind.get_shape()):
            fail(op, f"operand {number} has no elements ({kind})")
    if any(output in op.inputs for output in op.outputs):
        fail(op, "its output is also one of its inputs")


def _match(
    op: linalg.GenericOp,
    accelerator: str,
    how: Callable[[linalg.GenericOp], Match] = match,
    *,
    sums: bool = True,
) -> Match:
    try:
        for value in op.operands:
            element(value)
        matched = how(op)
    except NoMatchError as error:
        fail(op, f"{accelerator} cannot execute it: {error}", UnfitError)
    total = element(op.outputs[0])
    if sums and requantises(op) is None and total not in (INT32.name, FLOAT32.name):
        fail(op, f"its output has elements of {total}; accumulation is in int32 or float32")
    return matched


def _check_elements(op: linalg.GenericOp, match: Match, spec: AcceleratorSpec) -> None:
    """The types of the operands are the accelerator's, and the body says the same of their bits."""
    kind = spec.data_type
    for value, operand in zip(op.operands, match.operands, strict=True):
        if operand == UNUSED:
            continue
        wanted = spec.operand_type(operand)
        if operand == spec.form.output and requantises(op) is not None:
            wanted = INT8
        if wanted.mlir != str(value.type.element_type):  # type: ignore[attr-defined]
            fail(op, f"operand {operand} has elements of {element(value)}; {spec.name} takes {wanted}")
    if not kind.in_mlir:
        fail(op, f"{spec.name} cannot execute it: it computes in {kind}, and MLIR has no products of that")
    try:
        how = extension(op)
    except NoMatchError as error:
        fail(op, f"{spec.name} cannot execute it: {error}")
    if how != kind.extend and (how is not None or kind == UINT8):
        widened = kind.extend or "nothing"
        fail(op, f"its body widens inputs by {how or 'nothing'}; {spec.name} takes {kind}, so {widened}")


def _match_matmul(op: linalg.GenericOp) -> Match:
    """As `match`, but a convolution in groups is called what it is: no pass makes a matmul of it."""
    try:
        return match(op)
    except NoMatchError:
        try:
            match_conv(op)
        except GroupsError as groups:
            raise groups from None
        except NoMatchError:
            pass
        raise


def _complete(op: linalg.GenericOp, spec: AcceleratorSpec | None) -> None:
    """The optional part of a trait written by hand; `spec`, where it is given, must execute it."""
    match = _match(op, spec.name if spec else "an accelerator for matmul")
    shapes = spec.data if spec is not None and spec.form.of_matrices else MATMUL
    loops = len(match.dims)
    op.attributes.setdefault("permutation_map", AffineMapAttr(AffineMap.identity(loops)))
    op.attributes.setdefault("accel_dims", ArrayAttr([StringAttr(d) for d in match.dims]))
    named = [OperandAttr((o, shapes[o])) for o in match.operands]
    op.attributes.setdefault("accel_operands", ArrayAttr(named))
    if spec is None:
        Trait.of(op)
        return
    by_hand.check_fit(op, spec)
    _check_elements(op, match, spec)


def _is_packing(op: Operation) -> bool:
    """Puts words, windows or filters together for an op behind it: that is for the CPU."""
    return (
        isinstance(op, linalg.GenericOp)
        and op.doc is not None
        and op.doc.data in (PACKING, WINDOWS, DIAGONAL)
    )


def _only_loads(opcode: Opcode) -> bool:
    """Sent once more or once less with the same tile, it makes no difference."""
    silent = all(isinstance(action, Load | SetDims | Skip) for action in opcode.device)
    return silent and any(isinstance(action, Load) for action in opcode.device)


def _is_post(opcode: Opcode) -> bool:
    """Is it about post-processing?"""
    named = {CHANNELS, *(setting.name for setting in POST_SETTINGS)}
    fields = {f.dim for action in opcode.host if isinstance(action, SendDim) for f in action.fields}
    return bool(named & {*opcode.sends, *fields}) or opcode.requantises


def _rounds(spec: AcceleratorSpec, flow: str) -> bool:
    return any(spec.opcodes[name].requantises for name, _ in spec.flows[flow].opcodes())


def _images(kernel: Kernel) -> dict[str, str]:
    """Dims that are no iterators, each with one that occurs in no other dim of its operand."""
    images = {}
    for dims in kernel.maps.values():
        for dim, index in dims.items():
            if dim in kernel.derived:
                others = {term for other, own in dims.items() if other != dim for term in own.terms}
                images[dim] = next(
                    (term for term in index.terms if term not in others), next(iter(index.terms))
                )
    return images


class _Plan:
    """How an accelerator is to be used, checked once."""

    def __init__(
        self,
        spec: AcceleratorSpec,
        flow: str | None,
        order: tuple[str, ...] | None,
        tile: tuple[int, ...] | None,
    ) -> None:
        self.spec = spec
        name = flow or spec.selected_flow
        if name not in spec.flows:
            known = ", ".join(spec.flows)
            raise UsageError(f"unknown flow `{name}`{hint(name, spec.flows)}; {spec.name} has {known}")
        self.flow_name = name
        self.given = flow is not None
        self.order = order
        self.tile = tile
        if tile is not None and spec.form.of_matrices and (faults := isa.check_tile(spec, tile)):
            raise CompileError("; ".join(faults))

    def annotate(self, op: linalg.GenericOp) -> None:
        spec = self.spec
        if spec.form.computes is not None:
            self._generic(op, spec.form.computes)
            return
        if not spec.form.multiplies:
            self._copy(op)
            return
        conv = spec.form.convolves
        if not (conv or spec.form.of_matrices):
            fail(op, f"{spec.name} cannot execute it: nothing is known of ops for {spec.kernel}")
        match = _match(op, spec.name, partial(match_conv, groups=True) if conv else _match_matmul)
        _check_elements(op, match, spec)
        problem = dict(zip(match.dims, sizes(op), strict=True))
        post = requantises(op)
        flow, orders = self._flow(op, post)
        settings: dict[str, int] = {}
        if conv:
            settings = {setting.name: match.settings.get(setting.name, 1) for setting in spec.form.settings}
            choice = self._conv(op, match, problem, flow)
            sizes_, order = choice.tile, choice.order
        else:
            sizes_, order = self.tile or self._default_tile(problem), self.order or orders[0]
        tile = dict(zip(spec.dims, sizes_, strict=True))
        if "ih" in settings:
            values = spec.sizes(sizes_, {k: v for k, v in settings.items() if k not in ("ih", "iw")})
            settings |= {"ih": values["ih"], "iw": values["iw"], **choice.image}
        shapes = dict(spec.data)
        if post is not None:
            settings |= {WORDS: CHANNEL_WORDS, **{name: value & 0xFF for name, value in post.items()}}
            shapes[CHANNELS] = (spec.form.channel, WORDS)
        opcodes = {name: opcode.host for name, opcode in spec.opcodes.items() if post or not _is_post(opcode)}
        init = tuple(name for name in spec.init_opcodes if name in opcodes)
        Trait(
            opcodes,
            spec.flows[flow],
            Scope(init) if init else None,
            spec.link.dma,
            tuple(tile.get(d, 1) for d in match.dims),
            tuple(match.dims.index(d) for d in (*(d for d in match.host if problem[d] > 1), *order)),
            match.dims,
            tuple(OperandAttr((o, shapes[o])) for o in match.operands),
            spec.link.stream_width,
            tuple(name for name in opcodes if _only_loads(spec.opcodes[name])),
            settings,
            {o: spec.form.rows.get(o, 0) for o in shapes} if conv else {},
            registers=registers(spec),
            saves=spec.buffers[spec.form.output] if spec.form.saves else 0,
            overwrites=bool(applied(op)) and take_over_start(op, spec),
        ).write(op)

    def _generic(self, op: linalg.GenericOp, kernel: Kernel) -> None:
        """The trait of an op that is a kernel that is data."""
        spec = self.spec
        match = _match(op, spec.name, lambda candidate: match_kernel(candidate, kernel), sums=False)
        _check_elements(op, match, spec)
        problem = dict(zip(match.dims, sizes(op), strict=True))
        flow, orders = self._flow(op, None)
        settings = settings_of(op, spec, match.settings)
        tile = tile_of(op, spec, problem, match, self.tile)
        named = dict(zip(spec.dims, tile, strict=True))
        settings |= kernel.extents({**named, **settings})
        overwrites = take_over_start(op, spec)
        order = self.order or next(iter(orders), None)
        if order is None:
            fail(op, f"flow {flow} of {spec.name} computes a wrong result in every order of its loops")
        shapes = {UNUSED: tuple(d for d in spec.dims if d not in spec.form.loops), **spec.data}
        opcodes = {name: opcode.host for name, opcode in spec.opcodes.items()}
        Trait(
            opcodes,
            spec.flows[flow],
            Scope(spec.init_opcodes) if spec.init_opcodes else None,
            spec.link.dma,
            tuple(named.get(d, 1) for d in match.dims),
            tuple(match.dims.index(d) for d in (*(d for d in match.host if problem[d] > 1), *order)),
            match.dims,
            tuple(OperandAttr((o, shapes[o])) for o in match.operands),
            spec.link.stream_width,
            tuple(name for name in opcodes if _only_loads(spec.opcodes[name])),
            settings,
            {o: spec.form.rows.get(o, 0) for o in spec.data},
            images=_images(kernel),
            registers=registers(spec),
            overwrites=overwrites,
        ).write(op)

    def _copy(self, op: linalg.GenericOp) -> None:
        """The trait of an op whose words come back as they went."""
        spec = self.spec
        kernel = KERNELS[spec.kernel]
        match = _match(op, spec.name, lambda candidate: match_kernel(candidate, kernel), sums=False)
        _check_elements(op, match, spec)
        flow, orders = self._flow(op, None)
        tile = dict(zip(spec.dims, self.tile or spec.tile.size, strict=True))
        Trait(
            {name: opcode.host for name, opcode in spec.opcodes.items()},
            spec.flows[flow],
            Scope(spec.init_opcodes) if spec.init_opcodes else None,
            spec.link.dma,
            tuple(tile.get(d, 1) for d in match.dims),
            tuple(match.dims.index(d) for d in (*match.host, *(self.order or orders[0]))),
            match.dims,
            tuple(OperandAttr((o, spec.data[o])) for o in match.operands),
            spec.link.stream_width,
            tuple(name for name, opcode in spec.opcodes.items() if _only_loads(opcode)),
            registers=registers(spec),
            overwrites=True,
        ).write(op)

    def _flow(
        self, op: linalg.GenericOp, post: Mapping[str, int] | None
    ) -> tuple[str, list[tuple[str, ...]]]:
        """The flow for `op` and its orders: one that rounds where it does, and is called alike."""
        spec, name = self.spec, self.flow_name
        behind = applied(op)
        if spec.applied(spec.flows[name]) != behind:
            fitting = [flow for flow, scope in spec.flows.items() if spec.applied(scope) == behind]
            if not fitting:
                what = (
                    f"applies {', '.join(behind)} to the result" if behind else "leaves the result as it is"
                )
                fail(op, f"{spec.name} cannot execute it: none of its flows {what}")
            alike = next((flow for flow in fitting if flow.startswith(name)), None)
            if self.given and alike is None:
                own = ", ".join(spec.applied(spec.flows[name])) or "nothing"
                wanted = f"the op wants {', '.join(behind) or 'nothing'}: take {' or '.join(fitting)}"
                fail(op, f"flow {name} of {spec.name} applies {own} to the result, and {wanted}")
            name = alike or fitting[0]
        if post is not None and not _rounds(spec, name):
            rounding = [flow for flow in spec.flows if _rounds(spec, flow)]
            if not rounding:
                fail(op, f"{spec.name} cannot execute it: none of its flows rounds sums")
            name = next((flow for flow in rounding if flow.startswith(name)), rounding[0])
        elif post is None and _rounds(spec, name):
            fail(op, f"flow {name} of {spec.name} rounds sums to int8, and nothing behind it asks for that")
        orders = isa.loop_orders(spec, name)
        if self.order is not None and self.order not in orders:
            known = " or ".join(",".join(o) for o in orders)
            raise UsageError(
                f"flow {name} of {spec.name} computes a wrong result in the order {','.join(self.order)};"
                f" it takes {known}"
            )
        return name, orders

    def _conv(self, op: linalg.GenericOp, match: Match, problem: dict[str, int], flow: str) -> Choice:
        """Tile and order of a convolution."""
        spec = self.spec
        if any(match.settings[name] for name in ("pt", "pl")) and not spec.sets("pt"):
            fail(op, f"{spec.name} cannot execute it: it makes no padding")
        for dim, other in spec.tied.items():
            if problem[dim] != problem[other]:
                what = f"windows of {problem['fh']}x{problem['fw']} are not square"
                fail(op, f"{spec.name} cannot execute it: {what}, and no word sets {dim}")
        settings = {
            k: v
            for k, v in match.settings.items()
            if any(k == setting.name for setting in spec.form.settings)
        }
        if self.tile is not None:
            self._check_tile(op, problem, settings)
        try:
            rows = image_shape(op, match)
            return choose(
                spec,
                problem,
                settings,
                flow,
                order=self.order,
                tile=self.tile,
                image={"ih": rows["oh"], "iw": rows["ow"]},
                result_bytes=1 if requantises(op) is not None else 4,
            )
        except NoTileError as error:
            fail(op, f"{spec.name} cannot execute it: {error}")

    def _check_tile(self, op: linalg.GenericOp, problem: dict[str, int], settings: dict[str, int]) -> None:
        assert self.tile is not None
        inner = {**settings, "pt": 0, "pl": 0} if "pt" in settings else settings
        if faults := isa.check_tile(self.spec, self.tile, settings=inner):
            raise CompileError("; ".join(faults))
        for dim, size in zip(self.spec.dims, self.tile, strict=True):
            if dim not in self.spec.form.loops and size != problem[dim]:
                fail(op, f"a tile has the whole of {dim}, {problem[dim]}, not {size}")

    def _default_tile(self, problem: dict[str, int]) -> tuple[int, ...]:
        """The accelerator's own; a flexible one not larger than the problem rounded up to the granule."""
        rule = self.spec.tile
        if rule.granule is None:
            return rule.size
        named = zip(self.spec.dims, rule.size, rule.granule, strict=True)
        return tuple(min(size, -(-problem[dim] // unit) * unit) for dim, size, unit in named)
