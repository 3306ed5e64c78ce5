"""Ops that the accelerator can execute get the trait that says how."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, ArrayAttr, ModuleOp, ShapedType, StringAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import NamedOperation
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from axiloom import isa
from axiloom.drivergen.dialect import OperandAttr
from axiloom.drivergen.match import MATMUL, Match, NoMatchError, element, match, sizes
from axiloom.drivergen.mlir import fail
from axiloom.drivergen.trait import Trait, is_annotated
from axiloom.errors import CompileError, UsageError
from axiloom.isa import AcceleratorSpec
from axiloom.isa.names import hint
from axiloom.isa.types import Load, Opcode, Scope, SetDims, Skip


@dataclass(frozen=True)
class Annotate(ModulePass):
    """Give every `linalg.generic` that is a matmul the trait of an accelerator; refuse all others.

    ::

        linalg.generic {...} ins(%A, %B : ...) outs(%C : ...) {...}

        linalg.generic {...} ins(%A, %B : ...) outs(%C : ...)
            attrs = {opcode_map = #accel.opcode_map<sA = [send_literal(1), send(A)], ...>,
                     opcode_flow = #accel.opcode_flow<((sA sB cC) rC)>, accel_dim = ..., ...} {...}

    An op that has a trait already, written by hand, keeps it; what is optional and missing is filled in.

    Options: `accelerator` (name of a built-in one, path of a specification, or the specification itself),
    `flow` (default: the selected one), `order` of the loops, outermost first (default: the first that the
    flow allows), `tile` (default: the accelerator's; a flexible one no larger than the problem).
    """

    name = "accel-annotate"

    accelerator: str | AcceleratorSpec | None = None
    flow: str | None = None
    order: tuple[str, ...] | None = None
    tile: tuple[int, ...] | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = isa.find(self.accelerator) if isinstance(self.accelerator, str) else self.accelerator
        plan = None if found is None else _Plan(found, self.flow, self.order, self.tile)
        for candidate in [o for o in op.walk() if o.name.startswith("linalg.")]:
            if isinstance(candidate, linalg.FillOp | linalg.YieldOp | linalg.IndexOp):
                continue
            if not isinstance(candidate, linalg.GenericOp):
                named = isinstance(candidate, NamedOperation)
                fail(candidate, "accel-generalise comes first" if named else "no accelerator executes it")
            _check_types(candidate)
            if is_annotated(candidate):
                _complete(candidate)
            elif plan is None:
                fail(candidate, "it has no opcode_map, and no accelerator was given")
            else:
                plan.annotate(candidate)


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


def _match(op: linalg.GenericOp, accelerator: str) -> Match:
    try:
        for value in op.operands:
            element(value)
        found = match(op)
    except NoMatchError as error:
        fail(op, f"{accelerator} cannot execute it: {error}")
    if element(op.outputs[0]) != "int32":
        fail(op, f"its output has elements of {element(op.outputs[0])}; accumulation is in int32")
    return found


def _complete(op: linalg.GenericOp) -> None:
    """The optional part of a trait written by hand."""
    found = _match(op, "an accelerator for matmul")
    loops = len(found.dims)
    op.attributes.setdefault("permutation_map", AffineMapAttr(AffineMap.identity(loops)))
    op.attributes.setdefault("accel_dims", ArrayAttr([StringAttr(d) for d in found.dims]))
    named = [OperandAttr((o, MATMUL[o])) for o in found.operands]
    op.attributes.setdefault("accel_operands", ArrayAttr(named))
    Trait.of(op)


def _only_loads(opcode: Opcode) -> bool:
    """Sent once more or once less with the same tile, it makes no difference."""
    silent = all(isinstance(action, Load | SetDims | Skip) for action in opcode.device)
    return silent and any(isinstance(action, Load) for action in opcode.device)


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
        self.flow = spec.flows[name]
        orders = isa.loop_orders(spec, name)
        self.order = order or orders[0]
        if self.order not in orders:
            known = " or ".join(",".join(o) for o in orders)
            raise UsageError(
                f"flow {name} of {spec.name} computes a wrong result in the order {','.join(self.order)};"
                f" it takes {known}"
            )
        self.tile = tile
        if tile is not None and (faults := isa.check_tile(spec, tile)):
            raise CompileError("; ".join(faults))

    def annotate(self, op: linalg.GenericOp) -> None:
        spec = self.spec
        found = _match(op, spec.name)
        for value, operand in zip(op.operands, found.operands, strict=True):
            wanted = spec.operand_type(operand).value
            if element(value) != wanted:
                fail(op, f"operand {operand} has elements of {element(value)}; {spec.name} takes {wanted}")
        problem = dict(zip(found.dims, sizes(op), strict=True))
        tile = dict(zip(spec.dims, self.tile or self._default_tile(problem), strict=True))
        Trait(
            {name: opcode.host for name, opcode in spec.opcodes.items()},
            self.flow,
            Scope(spec.init_opcodes) if spec.init_opcodes else None,
            spec.dma,
            tuple(tile.get(d, 1) for d in found.dims),
            tuple(found.dims.index(d) for d in (*found.host, *self.order)),
            found.dims,
            tuple(OperandAttr((o, spec.data[o])) for o in found.operands),
            spec.stream_width,
            tuple(name for name, opcode in spec.opcodes.items() if _only_loads(opcode)),
        ).write(op)

    def _default_tile(self, problem: dict[str, int]) -> tuple[int, ...]:
        """The accelerator's own; a flexible one not larger than the problem rounded up to the granule."""
        rule = self.spec.tile
        if rule.granule is None:
            return rule.size
        named = zip(self.spec.dims, rule.size, rule.granule, strict=True)
        return tuple(min(size, -(-problem[dim] // unit) * unit) for dim, size, unit in named)
