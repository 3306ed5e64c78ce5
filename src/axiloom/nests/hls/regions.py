"""Which nests become functions of a dataflow region, and which arrays streams between them."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import affine, func, memref
from xdsl.ir import Operation, SSAValue

from axiloom.nests.affine import attributes as at
from axiloom.nests.affine.walk import Function
from axiloom.nests.hls.carried import in_one_order
from axiloom.nests.program import Role


@dataclass(frozen=True)
class Part:
    """A nest: operations, and arrays it touches."""

    name: str
    ops: tuple[Operation, ...]
    memories: tuple[SSAValue, ...]
    written: frozenset[SSAValue]
    read: frozenset[SSAValue]


@dataclass
class Region:
    """`why`: the reason why there is no dataflow though streams were asked for."""

    parts: tuple[Part, ...] = ()
    is_dataflow: bool = False
    streams: frozenset[SSAValue] = frozenset()
    why: str = ""
    big: frozenset[SSAValue] = field(default_factory=frozenset)

    def is_static(self, value: SSAValue) -> bool:
        """Whether a local array is too large for a stack; HLS keeps it in memories either way."""
        return value in self.big and not self.is_dataflow


def region(source: Function) -> Region:
    big = frozenset(value for value, memory in source.memories.items() if _elements(memory.shape) > 1024)
    asked = {value for value, memory in source.memories.items() if at.STREAM in memory.attributes}
    if not asked:
        return Region(big=big)
    parts, problem = _parts(source)
    if problem is None:
        problem = _problem(source, parts)
    if problem is not None:
        return Region(big=big, why=problem)
    streams = frozenset(value for value in asked if _is_stream(source, parts, value))
    return Region(parts, True, streams, "", big)


def _elements(shape: tuple[int, ...]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def _parts(source: Function) -> tuple[tuple[Part, ...], str | None]:
    parts = []
    for op in source.op.body.block.ops:
        if isinstance(op, (memref.AllocOp, func.ReturnOp)):
            continue
        number = at.read_integer(op.attributes, at.NEST)
        if not isinstance(op, affine.ForOp) or number is None:
            return (), "a statement stands outside of loops"
        written = frozenset(store.memref for store in op.walk() if isinstance(store, affine.StoreOp))
        read = frozenset(load.memref for load in op.walk() if isinstance(load, affine.LoadOp))
        memories = tuple(memory for memory in source.memories if memory in written | read)
        parts.append(Part(f"{source.name}_{number}", (op,), memories, written, read))
    return tuple(parts), None


def _problem(source: Function, parts: tuple[Part, ...]) -> str | None:
    """Why the parts are no dataflow region: each array between them has one producer and one consumer
    (UG1399, "Canonical Forms")."""
    for value, memory in source.memories.items():
        writers = [place for place, part in enumerate(parts) if value in part.written]
        readers = [place for place, part in enumerate(parts) if value in part.read]
        between = [place for place in readers if place not in writers]
        if len(writers) > 1 or (writers and len(between) > 1):
            return f"{memory.name} has several producers or consumers"
        if between and writers and between[0] < writers[0]:
            return f"{memory.name} is written after it is read"
    return None


def _is_stream(source: Function, parts: tuple[Part, ...], value: SSAValue) -> bool:
    """Whether its elements are written once each, by one store, and read once each in the same order. Else
    it stays an array, which a dataflow region hands over whole (a ping-pong buffer)."""
    accesses = [op for part in parts for op in part.ops[0].walk() if _touches(op, value)]
    stores = [access for access in accesses if isinstance(access, affine.StoreOp)]
    loads = [access for access in accesses if isinstance(access, affine.LoadOp)]
    if source.memories[value].role is not Role.LOCAL or len(stores) != 1 or not loads:
        return False
    same = {(load.map, *load.indices) for load in loads}
    return len(same) == 1 and len({load.parent for load in loads}) == 1 and in_one_order(stores[0], loads[0])


def _touches(op: Operation, value: SSAValue) -> bool:
    return isinstance(op, (affine.LoadOp, affine.StoreOp)) and op.memref is value


def lanes(source: Function, value: SSAValue) -> int:
    """Elements of `value` that an iteration writes at the same time."""
    total = 1
    for op in source.op.body.walk():
        if isinstance(op, affine.StoreOp) and op.memref is value:
            parent = op.parent_op()
            while parent is not None:
                if isinstance(parent, affine.ForOp) and at.is_unrolled(parent):
                    total *= parent.upperBoundMap.data.eval([], [])[0]
                parent = parent.parent_op()
    return total
