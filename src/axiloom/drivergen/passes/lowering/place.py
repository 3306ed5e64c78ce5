"""Each annotated op becomes its plan: loops over tiles, and in them the opcodes of its flow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.base.errors import UsageError
from axiloom.drivergen.dialects import accel
from axiloom.drivergen.dialects.mlir import fail
from axiloom.drivergen.dialects.packing import PackingAttr
from axiloom.drivergen.dialects.product import requantises
from axiloom.drivergen.dialects.views import zero_fill
from axiloom.drivergen.match.trait import Trait, is_annotated
from axiloom.drivergen.nest import emit_packets
from axiloom.drivergen.nest.annotated import placement
from axiloom.drivergen.nest.constants import pack, packable
from axiloom.drivergen.nest.emit import emit
from axiloom.drivergen.nest.emit_packets import fit
from axiloom.drivergen.nest.emit_queue import Queues
from axiloom.drivergen.nest.emit_table import Table
from axiloom.drivergen.nest.flow import Placement
from axiloom.drivergen.nest.packed import PACKED, argument_attributes, set_attributes
from axiloom.drivergen.nest.queues import Units, groups
from axiloom.isa.contract.types import DmaConfig, Scope, SendDim
from axiloom.plan import Num, Plan, Window
from axiloom.plan.blocks import best
from axiloom.plan.caches import LINE_BYTES, Caches, nest_cost
from axiloom.plan.packets import PACKET_WORDS, choose
from axiloom.plan.rewrite import resident, tiled


@dataclass(frozen=True)
class Place(ModulePass):
    """Replace each annotated op by loops over its tiles and the opcodes of its flow.

    A function that initialises the DMA is added.

    ::

        linalg.generic {...} ins(%A, %B : ...) outs(%C : memref<60x72xi32>) attrs = {accel_dim = ...} {...}

        scf.for %m = %c0 to %c60 step %c16 {
          %0 = arith.subi %c60, %m : index
          %m_len = arith.minui %c16, %0 : index
          scf.for %k = %c0 to %c80 step %c16 {
            %1 = accel.send_literal 1 at %c0 {opcode = "sA"}
            %A_tile = memref.subview %A[%m, %k] [%m_len, 16] [1, 1] : ...
            %2 = accel.send %A_tile as [16, 16] permutation [0, 1] at %1 : ...
            %3 = accel.start_send %c0 to %2 : !accel.token<"send">
            accel.wait %3 : !accel.token<"send">
            ...

    The scopes of the flow are the bodies of the innermost loops. Each opcode is one blocking transfer, as
    published: literal, dims and payload in one; a receive is armed before the send that triggers it.

    What is placed is the op's plan (:mod:`axiloom.plan`), and options change that:

    - `residency`: a tile that is in the device's buffer is not sent again. A load goes in front of the loops
      that do not change it; dense tiles leave loops of one iteration, too.
    - `l2_size` (bytes; 0: not) and `l2_ways` of the board: a loop runs in blocks where L2 then holds what the
      loops around it read again.
    - `join`: opcodes that follow each other share a transfer where window and LENGTH register hold it. The
      words reach the device in the same order, later; a receive ends a transfer, and is armed before it.
    - `buffers`: iterations of a loop, with the loops inside it, go as one packet of about `words`. With 2 a
      packet is packed while the one before is sent, and what that brings back is taken afterwards. With
      `keep` only what the last packet in the same place has not left there is packed, and cleaned at once.
      With `loops=false` an iteration of the innermost loop is the most that goes in a packet. Which loop
      packets run along is chosen in :mod:`axiloom.plan.packets`. Where not even one iteration, or two tiles
      that come back, fit into their window, transfers block.
    - `queue`: tiles at edges of results begin earlier, so that all are whole, and constants are packed ahead,
      one tile a row; loads of dense tiles leave the outermost loop. Transfers are descriptors of a
      scatter-gather DMA (:mod:`axiloom.drivergen.nest.queues`; `line_bytes` of the board's caches): calls of
      the runtime take the place of transfers. With `tables`, a table of descriptors where all are known
      before the first call (:mod:`axiloom.drivergen.nest.emit_table`).
    """

    name = "accel-place"

    residency: bool = False
    queue: bool = False
    l2_size: int = 0
    l2_ways: int = Caches.l2_ways
    join: bool = False
    buffers: int = 0
    keep: bool = False
    loops: bool = True
    words: int = PACKET_WORDS
    line_bytes: int = LINE_BYTES
    tables: bool = False

    def __post_init__(self) -> None:
        if self.buffers not in (0, 1, 2):
            raise UsageError(f"accel-place: buffers is 0, 1 or 2, not {self.buffers}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [o for o in op.ops if isinstance(o, func.FuncOp) and not o.is_declaration]:
            ops = [o for o in function.walk() if isinstance(o, linalg.GenericOp) and is_annotated(o)]
            placements = [_placement(generic, overlap=self.queue) for generic in ops]
            init = _initialise(function, ops, placements)
            plans = [placement.plan() for placement in placements]
            packed = list(_pack(function, ops, plans)) if self.queue else []
            plans = [self.changed(plan, own.trait.dma) for plan, own in zip(plans, placements, strict=True)]
            traits = [own.trait for own in placements]
            table = None
            if self.queue and init is not None:
                if not traits[0].dma.scatter_gather:
                    ways = "--dma sg, or scatterGather in the dma_config"
                    fail(ops[0], f"zero copy needs scatter-gather: {ways}")
                kept = [argument for argument in function.body.block.args if argument not in packed]
                table = Table(function, init, kept) if self.tables else None
                units = Units(traits[0].stream_width // 8, self.line_bytes)
                Queues(op).emit(groups(ops, traits, plans, units), units, table)
            else:
                for generic, trait, plan in zip(ops, traits, plans, strict=True):
                    sent = self.sent(plan, trait.dma)
                    (emit_packets.emit if sent.transport else emit)(generic, trait, sent, join=self.join)
            for generic in ops:
                Rewriter.erase_op(generic)
            for array in packed:
                _drop(array)
            if table is not None and table.is_filled:
                table.run()
            for constant in [o for o in function.walk() if isinstance(o, arith.ConstantOp)]:
                if constant.result.first_use is None:
                    Rewriter.erase_op(constant)
            inputs = function.body.block.arg_types
            function.function_type = FunctionType.from_lists(inputs, function.function_type.outputs.data)

    def changed(self, plan: Plan, dma: DmaConfig) -> Plan:
        """With the options that concern loops."""
        if self.l2_size and (block := self.block(plan, dma)):
            plan = tiled(plan, *block)
        return resident(plan, outermost=self.queue) if self.residency else plan

    def sent(self, plan: Plan, dma: DmaConfig) -> Plan:
        """In packets; transfers block where none fit, or nothing is sent in front of what comes back."""
        if not self.buffers or not any(level.pre for level in plan.levels) or not fit(plan, dma):
            return plan
        buffers, keep, late = self.buffers, self.keep, self.buffers > 1
        packets = choose(plan, dma, buffers=buffers, keep=keep, target=self.words, loops=self.loops)
        return plan.through(lambda body: Window(body, packets, keep, late)) if packets else plan

    def block(self, plan: Plan, dma: DmaConfig) -> tuple[int, int] | None:
        """The loop and the iterations a block that cost least, None if there is nothing to gain."""
        caches = Caches(self.l2_size, self.l2_ways)

        def cost(plan: Plan) -> Num:
            return nest_cost(plan, dma, caches, buffers=self.buffers, keep=self.keep, loops=self.loops)

        return best(plan, cost)[0]


def _placement(op: linalg.GenericOp, *, overlap: bool) -> Placement:
    """Zeros in front of results that overwrite are dropped. CompileError where the flow has no place."""
    trait = Trait.of(op)
    _check_flow(op, trait)
    own = placement(op, trait, overlap=overlap)
    if not own.receives_once:
        if trait.overwrites:
            fail(op, f"flow {trait.flow} takes results before they are whole")
        if requantises(op) is not None:
            fail(op, f"flow {trait.flow} takes sums before they are whole, and rounds them")
    elif not trait.overwrites and (fill := zero_fill(op, op.outputs[0])) is not None:
        Rewriter.erase_op(fill)
    return own


def _check_flow(op: linalg.GenericOp, trait: Trait) -> None:
    if trait.flow.depth > len(trait.order):
        fail(op, f"flow {trait.flow} has {trait.flow.depth} scopes for {len(trait.order)} loops")
    for scope in _scopes(trait.flow):
        inner = sum(isinstance(item, Scope) for item in scope.items)
        if inner > 1:
            fail(op, f"flow scope {scope} has {inner} inner scopes; at most one is supported")
    for name in (*_opcodes(trait.init), *_opcodes(trait.flow)):
        for action in trait.opcodes[name]:
            for field in action.fields if isinstance(action, SendDim) else ():
                assert isinstance(action, SendDim)
                size, bits = trait.size(field.dim), action.field_bits(field)
                if size >> bits:
                    fail(op, f"opcode {name}: size {size} of {field.dim} overflows its {bits} bits")


def _scopes(scope: Scope) -> Iterator[Scope]:
    yield scope
    for item in scope.items:
        if isinstance(item, Scope):
            yield from _scopes(item)


def _opcodes(scope: Scope | None) -> Iterator[str]:
    yield from (name for name, _ in scope.opcodes()) if scope else ()


def _initialise(
    function: func.FuncOp, ops: Sequence[linalg.GenericOp], placements: Sequence[Placement]
) -> accel.InitDmaOp | None:
    traits = [own.trait for own in placements]
    if not traits:
        return None
    for generic, trait in zip(ops, traits, strict=True):
        if trait.dma != traits[0].dma:
            fail(generic, "its dma_init_config differs from that of the ops before it")
        if trait.stream_width != traits[0].stream_width:
            fail(generic, "its stream_width differs from that of the ops before it")
    init = func.FuncOp(f"{function.sym_name.data}_init", ((), ()))
    op = accel.InitDmaOp(accel.DmaInitConfigAttr(traits[0].dma))
    init.body.block.add_ops([op, func.ReturnOp()])
    Rewriter.insert_op(init, InsertPoint.before(function))
    return op


def _pack(
    function: func.FuncOp, ops: Sequence[linalg.GenericOp], plans: list[Plan]
) -> Iterator[BlockArgument]:
    """Change `plans` so that they take tiles of constants from packed arrays; gives what those replace."""
    attributes, arguments = argument_attributes(function), list(function.body.block.args)
    for array in packable(ops, plans):
        assert isinstance(array, BlockArgument)
        plans[:], packing = pack(array, plans)
        attributes[arguments.index(array)][PACKED] = PackingAttr(packing)
        yield array
    if any(PACKED in own for own in attributes):
        set_attributes(function, attributes)


def _drop(array: SSAValue) -> None:
    """An array that is packed, and its views."""
    for use in list(array.uses):
        _drop(use.operation.results[0])
        Rewriter.erase_op(use.operation)
    if isinstance(array, BlockArgument):
        array.block.erase_arg(array)
