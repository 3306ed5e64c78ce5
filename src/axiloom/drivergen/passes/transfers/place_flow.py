"""The opcodes of the flow take the place of the tiled op, each at its loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import MemRefType, ModuleOp, StridedLayoutAttr, StringAttr, UnitAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.dialects.accel import tile_words
from axiloom.drivergen.dialects.elements import width
from axiloom.drivergen.dialects.mlir import fail, index
from axiloom.drivergen.dialects.product import requantises
from axiloom.drivergen.dialects.views import filled, zero_fill
from axiloom.drivergen.match import registers
from axiloom.drivergen.match.matmul import terms
from axiloom.drivergen.match.trait import Trait, is_annotated
from axiloom.drivergen.nest.flow import BEFORE_LOOPS, Tiles, received_once
from axiloom.isa.contract.framing import padded
from axiloom.isa.contract.types import WORD_BITS, HostAction, Recv, Scope, Send, SendDim, SendLiteral

WORD_BYTES = WORD_BITS // 8
POINTED_BITS = 512
POINTED_WORDS = 1024 // WORD_BITS
"""What a device reads in a window begins on a beat of the widest AXI4 port. In place it is whole beats of
512 bits, which are whole cache lines too."""


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
        while isinstance(parent, scf.ForOp) and len(self.loops) < len(self.trait.order):
            self.loops.insert(0, parent)
            parent = parent.parent_op()
        if len(self.loops) < len(self.trait.order):
            fail(op, f"it is not tiled: {len(self.loops)} loops around it, not {len(self.trait.order)}")
        if not all(isinstance(v.owner, memref.SubviewOp) for v in op.operands):
            fail(op, "it is not tiled: its operands are no subviews")
        maps = [attribute.data for attribute in op.indexing_maps]
        shapes = [self._source(number).get_shape() for number in range(len(op.operands))]
        self.tiles = Tiles(self.trait, maps, shapes)
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
        recvs = [a for a in actions if isinstance(a, Recv) and not self._carried(site, a.operand)]
        armed = self._arm(recvs[0], site) if recvs else None
        self._access(site, "before")
        begin = end = self._carry_in(site, actions)
        words = 0
        for action in actions:
            if not isinstance(action, Recv) and not (
                isinstance(action, Send) and self._carried(site, action.operand)
            ):
                stage = site.insert(self._stage(action, site, end))
                if isinstance(action, Send) and stage.words() % beat_words:
                    width = self.trait.stream_width
                    fail(
                        self.op,
                        f"opcode {site.opcode}: {stage.words()} words are no whole beats of {width} bits",
                    )
                end, words = stage.end, words + stage.words()
        if words:
            window = self.trait.dma.input_buffer_size
            self._check_length(f"opcode {site.opcode} sends", words, window, "input")
            site.insert(accel.WaitOp(site.insert(accel.StartSendOp(begin, end)).token))
        for recv in recvs:
            armed = armed or self._arm(recv, site)
            site.insert(accel.WaitOp(armed.token))
            self._receive(recv, site)
            armed = None
        written = self._point_out(site, actions)
        self._access(site, "after")
        for recv, length in written:
            if not length and (lies := self._in_place(recv.operand, site)) is not None:
                site.insert(accel.TakeInPlaceOp(*lies))
                continue
            site.insert(accel.TakeOutOp(site.index(0), site.index(length)))
            self._receive(recv, site)

    def _receive(self, recv: Recv, site: _Site) -> None:
        """Out of the output window, to its place."""
        number = self.trait.operand(recv.operand)
        shape, turned = self.tiles.shape(number, site.level), self.tiles.permutation(number)
        view = self._view(number, site)
        site.insert(accel.RecvOp(view, shape, turned, site.index(0), self.mode, self.tiles.dense(number)))

    # --- operands that no stream carries --------------------------------------------------------------

    def _carried(self, site: _Site, operand: str) -> tuple[str, int] | None:
        """How registers carry an operand, and the address of the first one; None: a stream does."""
        text = self.trait.registers.get(
            f"{site.opcode} of {self.trait.operands[self.trait.operand(operand)].operand}"
        )
        for how, at, _ in registers.read(text) if text else ():
            return how, at
        return None

    def _carry_in(self, site: _Site, actions: Sequence[HostAction]) -> SSAValue:
        """Inputs by registers and pointers; gives where the window is free then."""
        words = 0
        for action in actions:
            carried = self._carried(site, action.operand) if isinstance(action, Send) else None
            if carried is None:
                continue
            how, at = carried
            assert isinstance(action, Send)
            if how == "pointer" and (lies := self._in_place(action.operand, site)) is not None:
                site.insert(accel.PointAtInputOp(at, *lies))
                continue
            begin = site.index(words)
            stage = site.insert(self._stage(action, site, begin))
            if how == "pointer":
                site.insert(accel.PointInOp(at, begin, site.index(words + stage.words())))
                words += -(-stage.words() // POINTED_WORDS) * POINTED_WORDS
                self._check_length(
                    f"opcode {site.opcode} gives", words, self.trait.dma.input_buffer_size, "input"
                )
            else:
                number = self.trait.operand(action.operand)
                bits = width(self._source(number).element_type)
                count = prod(self.tiles.shape(number, site.level))
                site.insert(accel.WriteElementsOp(at, begin, stage.end, count, bits))
        return site.index(words)

    def _in_place(self, operand: str, site: _Site) -> tuple[SSAValue, int] | None:
        """The tile and its words, where the device may have it as it lies: whole lines, without padding."""
        number = self.trait.operand(operand)
        view = self._view(number, site)
        kind = view.type
        assert isinstance(kind, MemRefType)
        shape, tile = tuple(kind.get_shape()), tuple(self.tiles.shape(number, site.level))
        turned = tuple(self.tiles.permutation(number)) != tuple(range(len(tile)))
        dense = tuple(prod(shape[dim + 1 :]) for dim in range(len(shape)))
        bits = prod(tile) * width(kind.element_type)
        strides = kind.get_strides()
        if strides is None or tuple(strides) != dense or shape != tile or turned or bits % POINTED_BITS:
            return None
        return view, bits // WORD_BITS

    def _point_out(self, site: _Site, actions: Sequence[HostAction]) -> list[tuple[Recv, int]]:
        """The device is told where it writes results: each with its words in the window, 0: in place."""
        pointed = []
        for action in actions:
            carried = self._carried(site, action.operand) if isinstance(action, Recv) else None
            if carried is None:
                continue
            assert isinstance(action, Recv)
            lies = self._in_place(action.operand, site) if self.mode == "overwrite" else None
            if lies is not None:
                site.insert(accel.PointAtResultOp(carried[1], *lies))
                pointed.append((action, 0))
                continue
            words = self._result_words(action, site)
            site.insert(accel.PointOutOp(carried[1], site.index(0), site.index(words)))
            pointed.append((action, words))
        return pointed

    def _access(self, site: _Site, where: str) -> None:
        """The registers of the device that are accessed before or after an opcode."""
        text = self.trait.registers.get(f"{site.opcode} {where}")
        for what, at, value in registers.read(text) if text else ():
            kind = accel.WriteRegisterOp if what == "write" else accel.WaitRegisterOp
            site.insert(kind(at, value))

    def _arm(self, recv: Recv, site: _Site) -> accel.StartRecvOp:
        return site.insert(accel.StartRecvOp(site.index(0), site.index(self._result_words(recv, site))))

    def _result_words(self, recv: Recv, site: _Site) -> int:
        number = self.trait.operand(recv.operand)
        element = self._source(number).element_type
        words = tile_words(self.tiles.shape(number, site.level), width(element), self.tiles.dense(number))
        window = self.trait.dma.output_buffer_size
        self._check_length(f"opcode {site.opcode} receives", words, window, "output")
        return words

    def _stage(self, action: HostAction, site: _Site, offset: SSAValue) -> accel.StageOp:
        if isinstance(action, SendLiteral):
            return accel.SendLiteralOp(action.value, offset)
        if isinstance(action, SendDim):
            return self._send_dim(action, site, offset)
        if isinstance(action, Send):
            number = self.trait.operand(action.operand)
            view, shape = self._view(number, site), self.tiles.shape(number, site.level)
            return accel.SendOp(view, shape, self.tiles.permutation(number), offset, self.tiles.dense(number))
        assert not isinstance(action, Recv)
        loop = self._loop(self.trait.dim(action.dim), site, f"sends the index of {action.dim}")
        return accel.SendIdxOp(loop.body.block.args[0], offset)

    def _send_dim(self, action: SendDim, site: _Site, offset: SSAValue) -> accel.SendDimOp:
        tile = [self.trait.size(field.dim) for field in action.fields]
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

    def _source(self, number: int) -> MemRefType:
        view = self.op.operands[number].owner
        assert isinstance(view, memref.SubviewOp)
        kind = view.source.type
        assert isinstance(kind, MemRefType)
        return kind

    def _view(self, number: int, site: _Site) -> SSAValue:
        """The current tile of an operand, as seen at `site`."""
        inside = self.tiles.inside(number, site.level)
        name = self.trait.operands[number].operand
        for expression in self.op.indexing_maps.data[number].data.results:
            for loop in terms(expression):
                if loop in self.trait.order and self.trait.dims[loop] not in inside:
                    self._loop(loop, site, f"moves {name}")
        if (site.block, number) not in self.views:
            view = self.op.operands[number].owner
            assert isinstance(view, memref.SubviewOp)
            axes = self.tiles.axes(number)
            whole = [axis in inside for axis in axes]
            kept = [dim for dim, axis in enumerate(axes) if axis is not None]
            self.views[site.block, number] = site.insert(_tile(view, whole, kept, site)).result
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
        if self.trait.overwrites:
            if not self._received_once():
                fail(self.op, f"flow {self.trait.flow} takes results before they are whole")
            self.mode = "overwrite"
            return
        view = self.op.outputs[0].owner
        assert isinstance(view, memref.SubviewOp)
        fill = zero_fill(self.loops[0], view.source)
        if fill is not None and self._received_once():
            self.mode = "overwrite"
            Rewriter.erase_op(fill)
        if requantises(self.op) is not None:
            if not self._received_once():
                fail(self.op, f"flow {self.trait.flow} takes sums before they are whole, and rounds them")
            self.mode = "overwrite"

    def _received_once(self) -> bool:
        return received_once(self.trait, self.op.indexing_maps.data[-1].data, self._trips)

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


def _tile(
    view: memref.SubviewOp, whole: Sequence[bool], kept: Sequence[int], site: _Site
) -> memref.SubviewOp:
    """`view` with all of the dims that are `whole`, and only those `kept` in its type.

    The others are one element long.
    """
    source, kind = view.source.type, view.result.type
    assert isinstance(source, MemRefType)
    assert isinstance(kind, MemRefType)
    offsets = filled(view.static_offsets.get_values(), view.offsets)
    starts = [site.index(0) if w else start for w, start in zip(whole, offsets, strict=True)]
    shape = [n if w else m for w, n, m in zip(whole, source.get_shape(), kind.get_shape(), strict=True)]
    strides = kind.get_strides()
    assert strides is not None
    layout = StridedLayoutAttr([strides[dim] for dim in kept], None)
    lengths = filled(view.static_sizes.get_values(), view.sizes)
    sizes = [n if w else length for w, n, length in zip(whole, source.get_shape(), lengths, strict=True)]
    new = memref.SubviewOp.get(
        view.source,
        starts,
        sizes,
        list(view.static_strides.get_values()),
        MemRefType(kind.element_type, [shape[dim] for dim in kept], layout),
    )
    new.result.name_hint = view.source.name_hint if any(whole) else view.result.name_hint
    return new


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
