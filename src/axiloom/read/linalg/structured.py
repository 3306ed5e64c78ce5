"""Structured ops of linalg by their maps and bodies.

Every operand's map must pick loops, each at most once, or the constant 0. A body over parallel loops becomes
operations element by element. One that adds (or multiplies, or takes the larger) what it makes to its output
becomes a fold, and the sum of products of two inputs a ``dot_general``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from axiloom.graph.graph import Node
from axiloom.graph.numbers import number
from axiloom.graph.ops.reduce import neutral
from axiloom.read.context import Context
from axiloom.read.linalg.scalars import RULES
from axiloom.read.linalg.values import Space, Value


class Reader(Protocol):
    """What the function around an op knows."""

    context: Context

    def node(self, value: Any) -> Node: ...
    def number(self, type_: Any) -> str: ...


FOLDS: Mapping[str, tuple[str, str]] = {
    "arith.addf": ("add", "add"), "arith.addi": ("add", "add"), "arith.mulf": ("mul", "multiply"),
    "arith.muli": ("mul", "multiply"), "arith.maximumf": ("max", "maximum"),
    "arith.maxsi": ("max", "maximum"),
    "arith.minimumf": ("min", "minimum"), "arith.minsi": ("min", "minimum"),
    "arith.maxnumf": ("max", "maximum"), "arith.minnumf": ("min", "minimum"),
}  # fmt: skip
"""Op in a body to the kind of its fold, and the operation of two. NaN within a fold stays NaN, which maxnumf
would drop: such folds are read as IEEE's maximum, as torch-mlir means them."""
_WIDENING = ("arith.extsi", "arith.extf")


def with_initial(context: Context, node: Node, initial: Node, kind: str, op: str) -> Node:
    """The fold, and the value that it starts from unless that changes nothing."""
    of = number(node.type.number)
    if initial.op == "splat":
        value = context.value(initial).reshape(-1)[:1]
        if value.size and (value[0] == neutral(kind, of)):
            return node
    return context.make(op, node, initial)


@dataclass
class Structured:
    """One op, with its loops."""

    reader: Reader
    op: Any
    space: Space
    maps: Sequence[Any]
    reduced: tuple[int, ...]

    @classmethod
    def of(cls, reader: Reader, op: Any) -> Structured:
        maps = [attribute.data for attribute in op.get_indexing_maps().data]
        kinds = [str(kind.data.value) for kind in op.get_iterator_types().data]
        if unknown := set(kinds) - {"parallel", "reduction"}:
            raise reader.context.error(
                f"loops of kind {', '.join(sorted(unknown))}: parallel and reduction are read"
            )
        space = Space(reader.context, tuple(op.get_static_loop_ranges()))
        return cls(reader, op, space, maps, tuple(i for i, kind in enumerate(kinds) if kind == "reduction"))

    def results(self) -> list[Node]:
        block = self.op.body.block
        body = Body(self.reader, self.space)
        operands = [*self.op.inputs, *self.op.outputs]
        for argument, operand, map_ in zip(block.args, operands, self.maps, strict=True):
            body.bind(argument, operand, map_)
        yielded = block.last_op
        count = len(self.op.inputs)
        return [
            self._folded(body, value, i) if self.reduced else self._stored(body.value(value), count + i)
            for i, value in enumerate(yielded.operands)
        ]

    def _stored(self, value: Value, operand: int) -> Node:
        """In the order and shape of the output's map."""
        context, map_ = self.reader.context, self.maps[operand]
        loops = [result.position for result in map_.results if isinstance(result, AffineDimExpr)]
        missing = [loop for loop in value.loops if loop not in loops]
        if missing:
            raise context.error(f"an output without the loops {missing}")
        node = self.space.over(value, sorted(loops))
        permutation = tuple(sorted(loops).index(loop) for loop in loops)
        if permutation != tuple(range(len(loops))):
            node = context.make("transpose", node, permutation=permutation)
        output = self.op.outputs[operand - len(self.op.inputs)]
        return context.reshape(node, output.type.get_shape())

    def _folded(self, body: Body, yielded: Any, i: int) -> Node:
        context, count = self.reader.context, len(self.op.inputs)
        out, step = self.op.body.block.args[count + i], yielded.owner
        name = getattr(step, "name", "")
        uses = list(out.uses)
        if name not in FOLDS or len(uses) != 1 or uses[0].operation is not step:
            raise context.error(
                f"a reduction by {name or 'its input'}: known are {', '.join(sorted(FOLDS))} to the output"
            )
        kind, combine = FOLDS[name]
        other = step.operands[1 - uses[0].index]
        folded = self._product(body, other, i) if kind == "add" else None
        if folded is None:
            loops = tuple(range(len(self.space.sizes)))
            node = self.space.over(body.value(other), loops)
            left = tuple(loop for loop in loops if loop not in self.reduced)
            folded = Value(context.make("reduce", node, kind=kind, dimensions=self.reduced), left)
        initial = self.reader.node(self.op.outputs[i])
        return with_initial(context, self._stored(folded, count + i), initial, kind, combine)

    def _product(self, body: Body, value: Any, i: int) -> Value | None:
        """``dot_general`` where the value is the product of two inputs that share the loops of the sum."""
        product = value.owner
        if getattr(product, "name", "") not in ("arith.mulf", "arith.muli"):
            return None
        sides = [body.value(_inner(operand)) for operand in product.operands]
        a, b = sides
        if not all(loop in a.loops and loop in b.loops for loop in self.reduced) or not (a.loops and b.loops):
            return None
        of = self.reader.number(self.op.outputs[i].type.get_element_type())
        both = [loop for loop in a.loops if loop in b.loops and loop not in self.reduced]
        used = {*a.loops, *b.loops}
        if used != set(range(len(self.space.sizes))):
            return None
        node = self.reader.context.make(
            "dot_general", a.node, b.node, number=of,
            lhs_batch=_places(a, both), rhs_batch=_places(b, both),
            lhs_contracting=_places(a, self.reduced), rhs_contracting=_places(b, self.reduced),
        )  # fmt: skip
        rest = [
            [loop for loop in side.loops if loop not in both and loop not in self.reduced] for side in sides
        ]
        return self.space.sorted(node, [*both, *rest[0], *rest[1]])


def _uncast(node: Node) -> Node:
    """Row numbers before they became indices, which are wider."""
    inner = node.operands[0] if node.op == "convert" else node
    return inner if number(inner.type.number).kind == "integer" else node


def _places(value: Value, loops: Sequence[int]) -> tuple[int, ...]:
    return tuple(value.loops.index(loop) for loop in loops)


def _inner(value: Any) -> Any:
    """What is widened before it is multiplied."""
    while getattr(value.owner, "name", "") in _WIDENING:
        value = value.owner.operands[0]
    return value


class Body:
    """Values of a body, made when they are asked for."""

    def __init__(self, reader: Reader, space: Space) -> None:
        self.reader, self.space = reader, space
        self._values: dict[Any, Value] = {}
        self._bound: dict[Any, tuple[Any, Any]] = {}

    def bind(self, argument: Any, operand: Any, map_: Any) -> None:
        self._bound[argument] = (operand, map_)

    def value(self, wanted: Any) -> Value:
        """Operands first; no recursion, for bodies may be long."""
        stack = [wanted]
        while stack:
            current = stack[-1]
            if current in self._values:
                stack.pop()
                continue
            open_ = [operand for operand in self._needed(current) if operand not in self._values]
            if open_:
                stack += open_
            else:
                self._values[stack.pop()] = self._made(current)
        return self._values[wanted]

    def _needed(self, value: Any) -> list[Any]:
        owner = value.owner
        if value in self._bound or not self._inside(owner):
            return []
        return list(owner.operands[1:] if owner.name == "tensor.extract" else owner.operands)

    def _inside(self, owner: Any) -> bool:
        return (
            hasattr(owner, "operands")
            and owner.parent_op() is not None
            and owner.parent_op().name != "func.func"
        )

    def _made(self, value: Any) -> Value:
        if value in self._bound:
            return self._input(*self._bound[value])
        owner, context = value.owner, self.reader.context
        if not self._inside(owner) or owner.name == "arith.constant":
            return Value(self.reader.node(value), ())
        if owner.name == "linalg.index":
            return self.space.index(owner.dim.value.data)
        operands = [self._values[operand] for operand in self._needed(value)]
        if owner.name == "tensor.extract":
            return self._taken(owner, operands)
        rule = RULES.get(owner.name)
        if rule is None:
            raise context.error(f"{owner.name} in a body is not read; known are {', '.join(sorted(RULES))}")
        return rule(self.space, owner, operands, self.reader.number(value.type))

    def _input(self, operand: Any, map_: Any) -> Value:
        """An operand over the loops of its map; sizes of 1 at the constant 0 go."""
        context, node = self.reader.context, self.reader.node(operand)
        loops, sizes = [], []
        for result, size in zip(map_.results, node.type.shape, strict=True):
            if isinstance(result, AffineDimExpr):
                loops.append(result.position)
                sizes.append(size)
            elif not (isinstance(result, AffineConstantExpr) and result.value == 0 and size == 1):
                raise context.error(f"the map {map_}: loops, and 0 for sizes of 1, are read")
        if len(set(loops)) != len(loops):
            raise context.error(f"the map {map_}: a loop twice is not read")
        return self.space.sorted(context.reshape(node, sizes), loops)

    def _taken(self, owner: Any, indices: list[Value]) -> Value:
        """``tensor.extract %table[%row, %j]`` with loops as all indices but the first: rows of a table."""
        context, table = self.reader.context, self.reader.node(owner.operands[0])
        row, *rest = indices
        counted = [index.counts for index in rest]
        whole = all(
            loop is not None and self.space.sizes[loop] == size
            for loop, size in zip(counted, table.type.shape[1:], strict=True)
        )
        if not whole or len(set(counted)) != len(counted) or set(counted) & set(row.loops):
            raise context.error("tensor.extract: only whole rows of the first dimension are read")
        rows = context.make("take", table, _uncast(row.node))
        return self.space.sorted(rows, [*row.loops, *(loop for loop in counted if loop is not None)])
