"""From a schedule to IR: ``affine.for`` with bounds of affine maps, ``affine.if``, ``affine.load``,
``affine.store``, and operations of `arith` and `math`.

One function per schedule. Its arguments are the arrays that the caller knows; local ones are allocated. The
order of instances is the schedule's: lanes of an unrolled loop stand in a loop, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import StringIO

import islpy as isl
from xdsl.builder import Builder
from xdsl.dialects import affine, arith, func, memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    ArrayAttr,
    DictionaryAttr,
    IndexType,
    MemRefType,
    ModuleOp,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineConstraintExpr, AffineConstraintKind, AffineExpr, AffineMap, AffineSet
from xdsl.printer import Printer
from xdsl.rewriter import InsertPoint

from axiloom.nests.affine import attributes as at
from axiloom.nests.affine import syntax
from axiloom.nests.affine.cases import Cases, Choice, Condition, Guard, T, combined
from axiloom.nests.affine.operations import constant, mlir_type, operation
from axiloom.nests.program import Array, Expression, Index, Literal, Load, Program, Role
from axiloom.nests.schedule import Cyclic, Layout, Placed, Schedule
from axiloom.nests.schedule.plan import Plan


def to_text(module: ModuleOp) -> str:
    out = StringIO()
    Printer(out).print_op(module)
    return out.getvalue() + "\n"


_INDEX = IndexType()


def build(source: Program | Schedule, plan: Plan | None = None) -> ModuleOp:
    """The IR of a schedule, or of a program in the order it was written in. It verifies."""
    schedule = Schedule.of(source) if isinstance(source, Program) else source
    module = ModuleOp([_Function(schedule, plan or Plan()).op])
    module.verify()
    return module


class _Function:
    def __init__(self, schedule: Schedule, plan: Plan) -> None:
        self.schedule, self.plan = schedule, plan
        program = schedule.program
        outside = [array for array in program.arrays if array.role is not Role.LOCAL]
        types = [_type(array) for array in outside]
        block = Block(arg_types=types)
        self.builder = Builder(InsertPoint.at_end(block))
        self.memories: dict[str, SSAValue] = {}
        for array, value in zip(outside, block.args, strict=True):
            value.name_hint = array.name
            self.memories[array.name] = value
        for array in program.arrays:
            if array.role is Role.LOCAL:
                op = memref.AllocOp([], [], _type(array))
                op.attributes |= self._attributes(array)
                op.memref.name_hint = array.name
                self.memories[array.name] = self.builder.insert(op).memref
        self.dims: list[SSAValue] = []
        if schedule.statements:
            self._node(syntax.tree(schedule.statements), {}, self.builder)
        self.builder.insert(func.ReturnOp())
        self.op = func.FuncOp(program.name, (types, []), Region(block))
        self.op.arg_attrs = _dictionaries([self._attributes(array) for array in outside])

    def _attributes(self, array: Array) -> dict[str, Attribute]:
        attributes: dict[str, Attribute] = {
            at.NAME: at.text(array.name),
            at.NUMBER: at.text(array.number),
            at.ROLE: at.text(array.role.value),
        }
        if array.copy_of:
            attributes[at.COPY] = at.text(array.copy_of)
        attributes |= _layout(self.schedule.layouts.get(array.name, Layout()), len(array.shape))
        if array.name in self.schedule.streams:
            attributes[at.STREAM] = at.integer(0)
        for stream in self.plan.streams:
            if stream.array == array.name:
                attributes[at.STREAM] = at.integer(stream.depth)
        for double in self.plan.doubles:
            if double.array == array.name:
                attributes[at.COPIES] = at.integer(double.copies)
        return attributes

    # --- control --------------------------------------------------------------------------------------

    def _node(self, node: isl.AstNode, values: dict[str, AffineExpr], builder: Builder) -> None:
        kind = node.get_type()
        if kind == syntax.Node.block:
            children = node.block_get_children()
            for i in range(children.n_ast_node()):
                self._node(children.get_at(i), values, builder)
        elif kind == syntax.Node.for_:
            self._for(node, values, builder)
        elif kind == syntax.Node.if_:
            self._if(node, values, builder)
        else:
            self._statement(node.user_get_expr(), values, builder)

    def _for(self, node: isl.AstNode, values: dict[str, AffineExpr], builder: Builder) -> None:
        name = node.for_get_iterator().get_id().get_name()
        if node.for_is_degenerate():
            body = node.for_get_body()
            self._cases(
                syntax.form(node.for_get_init(), values),
                lambda value, inner: self._node(body, {**values, name: value}, inner),
                builder,
            )
            return
        self._cases(
            syntax.bounds(node, values),
            lambda limits, inner: self._loop(node, name, limits, values, inner),
            builder,
        )

    def _loop(
        self,
        node: isl.AstNode,
        name: str,
        limits: syntax.Bounds,
        values: dict[str, AffineExpr],
        builder: Builder,
    ) -> None:
        statements = self._statements(node)
        level = int(name[1:])
        loop_name = str(statements[0].order[level]) if level % 2 else name
        guard: list[Guard] = []
        if loop_name in self.schedule.unrolled:
            place = AffineExpr.dimension(len(self.dims))
            limits, guard = syntax.lanes(
                limits, place, [syntax.last_lane(statement, loop_name) for statement in statements]
            )
        lower, lower_operands = self._map(limits.lower)
        upper, upper_operands = self._map(limits.upper)
        block = Block(arg_types=[_INDEX])
        self.dims.append(block.args[0])
        inner = Builder(InsertPoint.at_end(block))
        here = {**values, name: AffineExpr.dimension(len(self.dims) - 1)}
        if guard:
            inside = Block()
            self._node(node.for_get_body(), here, Builder(InsertPoint.at_end(inside)))
            self._guarded(guard, inside, None, inner)
        else:
            self._node(node.for_get_body(), here, inner)
        inner.insert(affine.YieldOp.get())
        self.dims.pop()
        loop = affine.ForOp.from_region(
            lower_operands, upper_operands, [], [], lower, upper, Region(block), limits.step
        )
        block.args[0].name_hint = loop_name
        if loop_name in self.schedule.unrolled:
            loop.attributes[at.UNROLL] = at.UNIT
        number = int(statements[0].order[0])
        if level == 1:
            loop.attributes[at.NEST] = at.integer(number)
        if not at.is_unrolled(loop) and not any(
            isinstance(op, affine.ForOp) and not at.is_unrolled(op) for op in block.walk()
        ):
            loop.attributes[at.PIPELINE] = at.integer(self.schedule.intervals.get(number, 1))
        builder.insert(loop)

    def _statements(self, node: isl.AstNode) -> list[Placed]:
        numbers: list[int] = []

        def visit(node: isl.AstNode) -> bool:
            if node.get_type() == syntax.Node.user:
                numbers.append(_called(node.user_get_expr()))
            return True

        node.foreach_descendant_top_down(visit)
        return [self.schedule.statements[number] for number in numbers]

    def _if(self, node: isl.AstNode, values: dict[str, AffineExpr], builder: Builder) -> None:
        then = node.if_get_then_node()
        otherwise = node.if_get_else_node() if node.if_has_else_node() else None
        self._branch(
            syntax.guards(node.if_get_cond(), values),
            lambda inner: self._node(then, values, inner),
            None if otherwise is None else lambda inner: self._node(otherwise, values, inner),
            builder,
        )

    def _cases(self, cases: Cases[T], emit: Callable[[T, Builder], None], builder: Builder) -> None:
        """What `emit` writes for each case, in its branch."""
        if not isinstance(cases, Choice):
            emit(cases, builder)
            return
        self._branch(
            cases.condition,
            lambda inner: self._cases(cases.then, emit, inner),
            lambda inner: self._cases(cases.other, emit, inner),
            builder,
        )

    def _branch(
        self,
        parts: Condition,
        emit: Callable[[Builder], None],
        otherwise: Callable[[Builder], None] | None,
        builder: Builder,
    ) -> None:
        """``affine.if`` has a conjunction: of several, the next stands in the branch where one fails."""
        first, *rest = parts
        then, other = Block(), Block()
        emit(Builder(InsertPoint.at_end(then)))
        if rest:
            self._branch(rest, emit, otherwise, Builder(InsertPoint.at_end(other)))
        elif otherwise is not None:
            otherwise(Builder(InsertPoint.at_end(other)))
        self._guarded(first, then, other if rest or otherwise is not None else None, builder)

    def _guarded(self, condition: list[Guard], then: Block, other: Block | None, builder: Builder) -> None:
        for block in (then, other):
            if block is not None:
                block.add_op(affine.YieldOp.get())
        kept, operands = self._compressed([guard.value for guard in condition])
        kinds = [AffineConstraintKind.eq if guard.equal else AffineConstraintKind.ge for guard in condition]
        zero = AffineExpr.constant(0)
        constraints = [
            AffineConstraintExpr(kind, value, zero, canonicalize=False)
            for kind, value in zip(kinds, kept, strict=True)
        ]
        builder.insert(
            affine.IfOp.create(
                operands=operands,
                properties={"condition": AffineSetAttr(AffineSet(len(operands), 0, tuple(constraints)))},
                regions=[Region(then), Region(other) if other is not None else Region()],
            )
        )

    # --- statements -----------------------------------------------------------------------------------

    def _statement(self, call: isl.AstExpr, values: dict[str, AffineExpr], builder: Builder) -> None:
        placed = self.schedule.statements[_called(call)]
        self._cases(
            combined(list, [syntax.form(argument, values) for argument in syntax.arguments(call)[1:]]),
            lambda arguments, inner: self._instance(placed, arguments, inner),
            builder,
        )

    def _instance(self, placed: Placed, arguments: Sequence[AffineExpr], builder: Builder) -> None:
        loops = dict(zip(placed.loops, arguments, strict=True))
        iterators = {
            name: syntax.affine(value, loops)
            for name, value in zip(placed.statement.iterators, placed.instance, strict=True)
        }
        value = self._value(placed.statement.value, iterators, builder)
        target = placed.statement.target
        store_map, indices = self._access(target, iterators)
        builder.insert(affine.StoreOp(value, self.memories[target.array], indices, store_map))

    def _value(self, value: Expression, iterators: syntax.Values, builder: Builder) -> SSAValue:
        if isinstance(value, Literal):
            op = constant(value.value, value.number)
        elif isinstance(value, Load):
            load_map, indices = self._access(value, iterators)
            op = affine.LoadOp(self.memories[value.array], indices, load_map)
        elif isinstance(value, Index):
            index_map, indices = self._map([syntax.affine(value.value, iterators)])
            position = builder.insert(affine.ApplyOp(indices, index_map)).result
            op = arith.IndexCastOp(position, mlir_type(value.number))
            op.attributes[at.NUMBER] = at.text(value.number)
        else:
            operands = [self._value(operand, iterators, builder) for operand in value.operands]
            numbers = [operand.number for operand in value.operands]
            op = operation(value.name, operands, numbers, value.number)
        return builder.insert(op).results[0]

    def _access(self, access: Load, iterators: syntax.Values) -> tuple[AffineMapAttr, list[SSAValue]]:
        return self._map([syntax.affine(subscript, iterators) for subscript in access.subscripts])

    # --- maps -----------------------------------------------------------------------------------------

    def _map(self, results: Sequence[AffineExpr]) -> tuple[AffineMapAttr, list[SSAValue]]:
        kept, operands = self._compressed(results)
        return AffineMapAttr(AffineMap(len(operands), 0, tuple(kept))), operands

    def _compressed(self, results: Sequence[AffineExpr]) -> tuple[list[AffineExpr], list[SSAValue]]:
        """The same with only those dimensions that are used, and their values."""
        used = sorted({used_dim for result in results for used_dim in result.used_dims()})
        places = [AffineExpr.constant(0)] * len(self.dims)
        for place, dim in enumerate(used):
            places[dim] = AffineExpr.dimension(place)
        kept = [result.replace_dims_and_symbols(places, []).simplify(len(used), 0) for result in results]
        return kept, [self.dims[dim] for dim in used]


def _called(call: isl.AstExpr) -> int:
    return int(call.get_op_arg(0).get_id().get_name()[1:])


def _type(array: Array) -> MemRefType[Attribute]:
    return MemRefType(mlir_type(array.number), list(array.shape))


def _dictionaries(values: Sequence[dict[str, Attribute]]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr(value) for value in values])


def _layout(layout: Layout, dimensions: int) -> dict[str, Attribute]:
    attributes: dict[str, Attribute] = {}
    partition = layout.partition
    if isinstance(partition, Cyclic):
        whole = len(partition.block) == dimensions > 0
        attributes[at.PARTITION] = at.mixed(["block" if whole else "cyclic", *partition.factors])
        if partition.block and not whole:
            attributes[at.BLOCKS] = at.mixed(sorted(partition.block))
    elif partition is not None:
        attributes[at.PARTITION] = at.mixed(["hyperplane", partition.banks, *partition.coefficients])
    if layout.storage is not None:
        attributes[at.STORAGE] = at.text(layout.storage.value)
    if layout.ports != 1:
        attributes[at.PORTS] = at.integer(layout.ports)
    return attributes
