"""The opcodes of the flow take the place of the tiled op, each at its loop."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen import dialect as accel
from axiloom.drivergen.match import operand_loops
from axiloom.drivergen.mlir import fail, index
from axiloom.drivergen.trait import Trait, is_annotated
from axiloom.isa.framing import padded
from axiloom.isa.types import WORD_BITS, HostAction, Recv, Scope, Send, SendDim, SendLiteral

WORD_BYTES = WORD_BITS // 8
BEFORE_LOOPS = -1
"""The level of the init opcodes."""


_OpT = TypeVar("_OpT", bound=Operation)


class _Site:
    """Where an opcode goes: the ops are inserted in order, the first one carries its name."""

    def __init__(self, opcode: str, before: Operation, level: int, *, loads: bool = False) -> None:
        self.opcode = opcode
        self.loads = loads
        self.level = level
        self._before = before
        self._begun = False
        block = before.parent_block()
        assert block is not None
        self.block = block

    def insert(self, op: _OpT) -> _OpT:
        if not self._begun and isinstance(op, accel.StageOp | accel.StartRecvOp):
            op.attributes["opcode"] = StringAttr(self.opcode)
            if self.loads:
                op.attributes["loads"] = UnitAttr()
            self._begun = True
        self.block.insert_op_before(op, self._before)
        return op

    def index(self, value: int) -> SSAValue:
        return index(self.block, value)


class _Nest:
    """A tiled op, its trait and the loops around it; level i is the body of loop i from outside."""

    def __init__(self, op: linalg.GenericOp) -> None:
        self.op = op
        self.trait = Trait.of(op)
        self.loops: list[scf.ForOp] = []
        parent = op.parent_op()
        while isinstance(parent, scf.ForOp) and len(self.loops) < len(self.trait.dims):
            self.loops.insert(0, parent)
            parent = parent.parent_op()
        if len(self.loops) < len(self.trait.dims):
            fail(op, f"it is not tiled: {len(self.loops)} loops around it, not {len(self.trait.dims)}")
        if not all(isinstance(v.owner, memref.SubviewOp) for v in op.operands):
            fail(op, "it is not tiled: its operands are no subviews")
        self.views: dict[tuple[Block, int], SSAValue] = {}
        self.mode = "accumulate"

    def place(self) -> None:
        trait = self.trait
        if trait.flow.depth > len(self.loops):
            fail(self.op, f"flow {trait.flow} has {trait.flow.depth} scopes for {len(self.loops)} loops")
        self._choose_mode()
        for name, _ in trait.init.opcodes() if trait.init else ():
            self._opcode(_Site(name, self.loops[0], BEFORE_LOOPS))
        self._scope(trait.flow, len(self.loops) - trait.flow.depth)
        self.loops[0].attributes["comment"] = StringAttr(self._comment())
        views = [view.owner for view in self.op.operands]
        Rewriter.erase_op(self.op)
        for view in views:
            assert isinstance(view, Operation)
            Rewriter.erase_op(view)

    # --- what is sent where -------------------------------------------------------------------------

    def _scope(self, scope: Scope, level: int) -> None:
        """Opcodes in front of the inner scope go in front of the next loop, the others behind it."""
        inner = [item for item in scope.items if isinstance(item, Scope)]
        if len(inner) > 1:
            fail(self.op, f"flow scope {scope} has {len(inner)} inner scopes; at most one is supported")
        point: Operation | None = self.loops[level + 1] if inner else self.op
        for item in scope.items:
            if isinstance(item, Scope):
                self._scope(item, level + 1)
                point = self.loops[level].body.block.last_op
            else:
                assert point is not None
                self._opcode(_Site(item, point, level, loads=item in self.trait.loads))

    def _opcode(self, site: _Site) -> None:
        """One blocking transfer: receive armed, words staged, sent and waited for, result stored."""
        beat_words = self.trait.stream_width // WORD_BITS
        actions = list(padded(self.trait.opcodes[site.opcode], beat_words))
        recvs = [a for a in actions if isinstance(a, Recv)]
        armed = self._arm(recvs[0], site) if recvs else None
        begin = end = site.index(0)
        words = 0
        for action in actions:
            if not isinstance(action, Recv):
                stage = site.insert(self._stage(action, site, end))
                if isinstance(action, Send) and stage.words() % beat_words:
                    width = self.trait.stream_width
                    fail(self.op, f"opcode {site.opcode}: {stage.words()} words are no beats of {width} bits")
                end, words = stage.end, words + stage.words()
        if words:
            window = self.trait.dma.input_buffer_size
            self._check_length(f"opcode {site.opcode} sends", words, window, "input")
            site.insert(accel.WaitOp(site.insert(accel.StartSendOp(begin, end)).token))
        for recv in recvs:
            armed = armed or self._arm(recv, site)
            site.insert(accel.WaitOp(armed.token))
            number = self.trait.operand(recv.operand)
            shape, turned = self.trait.tile_of(self.trait.operands[number]), self._permutation(number)
            site.insert(accel.RecvOp(self._view(number, site), shape, turned, site.index(0), self.mode))
            armed = None

    def _arm(self, recv: Recv, site: _Site) -> accel.StartRecvOp:
        words = prod(self.trait.tile_of(self.trait.operands[self.trait.operand(recv.operand)]))
        window = self.trait.dma.output_buffer_size
        self._check_length(f"opcode {site.opcode} receives", words, window, "output")
        return site.insert(accel.StartRecvOp(site.index(0), site.index(words)))

    def _stage(self, action: HostAction, site: _Site, offset: SSAValue) -> accel.StageOp:
        if isinstance(action, SendLiteral):
            return accel.SendLiteralOp(action.value, offset)
        if isinstance(action, SendDim):
            return self._send_dim(action, site, offset)
        if isinstance(action, Send):
            number = self.trait.operand(action.operand)
            shape = self.trait.tile_of(self.trait.operands[number])
            return accel.SendOp(self._view(number, site), shape, self._permutation(number), offset)
        assert not isinstance(action, Recv)
        loop = self._loop(self.trait.dim(action.dim), site, f"sends the index of {action.dim}")
        return accel.SendIdxOp(loop.body.block.args[0], offset)

    def _send_dim(self, action: SendDim, site: _Site, offset: SSAValue) -> accel.SendDimOp:
        tile = [self.trait.tile[self.trait.dim(field.dim)] for field in action.fields]
        for field, size in zip(action.fields, tile, strict=True):
            bits = action.field_bits(field)
            if size >> bits:
                fail(self.op, f"opcode {site.opcode}: size {size} of {field.dim} overflows its {bits} bits")
        return accel.SendDimOp([site.index(size) for size in tile], [f.shift for f in action.fields], offset)

    def _loop(self, loop: int, site: _Site, what: str) -> scf.ForOp:
        """The loop over dim number `loop`, which must be around `site`."""
        level = self.trait.order.index(loop)
        if level > site.level:
            fail(self.op, f"opcode {site.opcode} {what} outside the loop over {self.trait.dims[loop]}")
        return self.loops[level]

    def _permutation(self, number: int) -> list[int]:
        """For each dim of an operand's tile as it travels, the dim of the memref."""
        axes = [self.trait.dims[loop] for loop in operand_loops(self.op, number)]
        return [axes.index(d) for d in self.trait.operands[number].dims]

    def _view(self, number: int, site: _Site) -> SSAValue:
        """The current tile of an operand, as seen at `site`."""
        for loop in operand_loops(self.op, number):
            self._loop(loop, site, f"moves {self.trait.operands[number].operand}")
        if (site.block, number) not in self.views:
            view = self.op.operands[number].owner
            assert isinstance(view, memref.SubviewOp)
            self.views[site.block, number] = site.insert(view.clone()).result
        return self.views[site.block, number]

    def _check_length(self, what: str, words: int, window: int, side: str) -> None:
        size, width = words * WORD_BYTES, self.trait.dma.length_width
        if size >= 1 << width:
            fail(self.op, f"{what} {size} bytes; a LENGTH register of {width} bits takes {(1 << width) - 1}")
        if size > window:
            fail(self.op, f"{what} {size} bytes; the {side} window has {window}")

    def _comment(self) -> str:
        dims = [self.trait.dims[loop] for loop in self.trait.order]
        tile = " x ".join(str(self.trait.tile[loop]) for loop in self.trait.order)
        return f"Tiles of {tile} ({', '.join(dims)}), flow {self.trait.flow}."

    # --- accumulate or overwrite --------------------------------------------------------------------

    def _choose_mode(self) -> None:
        """Overwrite a zeroed output whose tiles come back once each; then no zeros are written at all."""
        fill = self._zero_fill()
        if fill is not None and self._received_once():
            self.mode = "overwrite"
            Rewriter.erase_op(fill)

    def _zero_fill(self) -> linalg.FillOp | None:
        """The fill with zeros that nothing stands between and the loops, as far as the output goes."""
        view = self.op.outputs[0].owner
        assert isinstance(view, memref.SubviewOp)
        before = self.loops[0].prev_op
        while before is not None:
            if isinstance(before, linalg.FillOp) and before.outputs[0] is view.source:
                return before if accel.constant(before.inputs[0]) == 0 else None
            if any(view.source in o.operands for o in before.walk()):
                return None
            before = before.prev_op
        return None

    def _received_once(self) -> bool:
        output = len(self.op.operands) - 1
        levels = [
            len(self.loops) - self.trait.flow.depth + depth - 1
            for name, depth in self.trait.flow.opcodes()
            for action in self.trait.opcodes[name]
            if isinstance(action, Recv) and self.trait.operand(action.operand) == output
        ]
        if len(levels) != 1:
            return False
        around = self.trait.order[: levels[0] + 1]
        dims = self.trait.operands[output].dims
        return all(self.trait.dims[loop] in dims or self._trips(loop) == 1 for loop in around)

    def _trips(self, loop: int) -> int:
        """Number of iterations of a loop of the tiled nest; such loops start from 0."""
        bounds = self.loops[self.trait.order.index(loop)]
        end, step = accel.constant(bounds.ub), accel.constant(bounds.step)
        if end is None or step is None:
            fail(bounds, "its bounds are not constant")
        return -(-end // step)


def _drop_unused(op: ModuleOp) -> None:
    """Constants that only the replaced ops used."""
    for constant in [o for o in op.walk() if isinstance(o, arith.ConstantOp)]:
        if constant.result.first_use is None:
            Rewriter.erase_op(constant)


@dataclass(frozen=True)
class PlaceFlow(ModulePass):
    """Replace each tiled op by the opcodes of its flow, and add the function that initialises the DMA.

    ::

        scf.for %m ... { scf.for %n ... { scf.for %k ... {
          %A_tile = memref.subview %A[%m, %k] ...
          linalg.generic {...} ins(%A_tile, %B_tile : ...) outs(%C_tile : ...) attrs = {...} {...}
        } } }

        scf.for %m ... {
          scf.for %n ... {
            scf.for %k ... {
              %A_tile = memref.subview %A[%m, %k] ...
              %0 = accel.send_literal 1 at %c0 {opcode = "sA"}
              %1 = accel.send %A_tile as [4, 4] permutation [0, 1] at %0 : ...
              %2 = accel.start_send %c0 to %1 : !accel.token<"send">
              accel.wait %2 : !accel.token<"send">
              ...
            }
            %3 = accel.start_recv %c0 to %c16 {opcode = "rC"} : !accel.token<"recv">
            %4 = accel.send_literal 8 at %c0
            %5 = accel.start_send %c0 to %4 : !accel.token<"send">
            accel.wait %5 : !accel.token<"send">
            accel.wait %3 : !accel.token<"recv">
            %C_tile = memref.subview %C[%m, %n] ...
            accel.recv %C_tile as [4, 4] permutation [0, 1] at %c0 mode "accumulate" : ...
          }
        }

    The scopes of the flow are the bodies of the innermost loops. Each opcode is one blocking transfer, as
    published: literal, dims and payload in one; a receive is armed before the send that triggers it.
    """

    name = "accel-place-flow"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [o for o in op.ops if isinstance(o, func.FuncOp) and not o.is_declaration]:
            configs: dict[accel.DmaInitConfigAttr, None] = {}
            for generic in [o for o in function.walk() if isinstance(o, linalg.GenericOp)]:
                if is_annotated(generic):
                    nest = _Nest(generic)
                    configs[accel.DmaInitConfigAttr(nest.trait.dma)] = None
                    if len(configs) > 1:
                        fail(generic, "its dma_init_config differs from that of the ops before it")
                    nest.place()
            for config in configs:
                init = func.FuncOp(f"{function.sym_name.data}_init", ((), ()))
                init.body.block.add_ops([accel.InitDmaOp(config), func.ReturnOp()])
                Rewriter.insert_op(init, InsertPoint.before(function))
        _drop_unused(op)
