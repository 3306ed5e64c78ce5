"""Products with vectors, and convolutions of channels one by one, get the dims of one element they lack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, MemRefType, ModuleOp, UnitAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from axiloom.drivergen.dialects.patterns import rewrite
from axiloom.drivergen.dialects.product import LEAN, multiplied, requantises
from axiloom.drivergen.dialects.views import expanded
from axiloom.drivergen.match.conv import sliding
from axiloom.drivergen.match.in_place import applied
from axiloom.drivergen.match.matmul import NoMatchError, check_body, operand_positions, terms
from axiloom.drivergen.match.trait import is_annotated

CHANNELS = 2
"""Number of the operand that is bias and scale of each channel, where an op rounds its sums."""


@dataclass
class _Unit:
    """One more loop, of one iteration, and where the operands get a dim for it."""

    kind: IteratorTypeAttr
    places: dict[int, tuple[int | None, bool]] = field(default_factory=dict)
    """Operand to the dim (None: it has none) beside which the new one lies, and whether in front of it."""


def _of_product(op: linalg.GenericOp) -> list[_Unit]:
    """The loops over rows (m) or columns (n) that a product of a vector lacks; raises NoMatchError.

    The vector is a column where the other input is read along k in memory, and a row where it is not, so that
    the matrix need not be transposed.
    """
    check_body(op)
    inputs, output = operand_positions(op)[:2], operand_positions(op)[2]
    inner = [loop for loop in inputs[0] if loop in inputs[1] and loop not in output]
    if not inner:
        raise NoMatchError("it sums up nothing that both inputs have")
    alone = [
        next((d for d in reversed(output) if d in own and d not in other), None)
        for own, other in (inputs, inputs[::-1])
    ]
    units: list[_Unit] = []
    for number in (0, 1):
        if alone[number] is not None:
            continue
        k = next(loop for loop in reversed(inputs[number]) if loop in inner)
        other = alone[1 - number]
        # Two vectors: the first is the row.
        row = number == 0 if other is None else inputs[1 - number][-1] != k
        beside = None if other is None else output.index(other)
        if other is None and output:
            beside, in_front = len(output) - 1, False
        else:
            in_front = row
        unit = _Unit(IteratorTypeAttr.parallel())
        unit.places = {number: (inputs[number].index(k), row), 2: (beside, in_front)}
        units.append(unit)
    return units


def _of_convolution(op: linalg.GenericOp) -> list[_Unit]:
    """The loops over channels that a convolution lacks, depthwise or of one channel; raises NoMatchError."""
    windows = sliding(op)
    inputs, output = (windows.image, 1 - windows.image), multiplied(op)[2]
    numbers = (*inputs, output)
    units: list[_Unit] = []
    for name, operands, kind in (
        ("ic", (0, 1), IteratorTypeAttr.reduction()),
        ("oc", (1, 2), IteratorTypeAttr.parallel()),
    ):
        if windows.channels(name):
            continue
        unit = _Unit(kind)
        for which in operands:
            unit.places[numbers[which]] = _beside_group(op, numbers[which], windows.groups)
        if name == "oc" and requantises(op) is not None:
            unit.places[CHANNELS] = _beside_group(op, CHANNELS, windows.groups)
        units.append(unit)
    return units


def _beside_group(op: linalg.GenericOp, number: int, groups: frozenset[int]) -> tuple[int, bool]:
    """Behind the dim of the groups, or in front of all dims where there are none."""
    results = op.indexing_maps.data[number].data.results
    dims = [dim for dim, result in enumerate(results) if groups & terms(result).keys()]
    return (dims[-1], False) if dims else (0, True)


class _WithUnits(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: linalg.GenericOp, rewriter: PatternRewriter) -> None:
        if is_annotated(op) or applied(op):
            return
        if units := _missing(op):
            rewriter.replace(op, _with(op, units, rewriter))


def _with(op: linalg.GenericOp, units: Sequence[_Unit], rewriter: PatternRewriter) -> linalg.GenericOp:
    """The op with these loops of one iteration besides, on views of its operands."""
    loops = len(op.iterator_types.data)
    maps = [attr.data for attr in op.indexing_maps.data]
    operands = list(op.operands)
    for number in range(len(operands)):
        added: dict[AffineExpr, tuple[int | None, bool]] = {
            AffineDimExpr(loops + extra): unit.places[number]
            for extra, unit in enumerate(units)
            if number in unit.places
        }
        if not added:
            continue
        groups, results = _laid(op.operands[number].type, maps[number].results, added)
        operands[number] = expanded(rewriter, op.operands[number], groups)
        maps[number] = AffineMap(loops, 0, tuple(results))
    return type(op).create(
        operands=operands,
        properties={
            **op.properties,
            "indexing_maps": ArrayAttr(
                AffineMapAttr(AffineMap(loops + len(units), 0, m.results)) for m in maps
            ),
            "iterator_types": ArrayAttr([*op.iterator_types.data, *(unit.kind for unit in units)]),
        },
        attributes={**op.attributes, LEAN: UnitAttr()},
        regions=[op.body.clone()],
        location=op.location,
    )


def _laid(
    kind: object, results: Sequence[AffineExpr], added: Mapping[AffineExpr, tuple[int | None, bool]]
) -> tuple[list[list[int]], list[AffineExpr]]:
    """Sizes of an operand's dims, each as several, and what they are all indexed by."""
    assert isinstance(kind, MemRefType)
    if not results:
        return [[1] * len(added)], list(added)
    groups: list[list[int]] = []
    indexed: list[AffineExpr] = []
    for dim, (size, result) in enumerate(zip(kind.get_shape(), results, strict=True)):
        front = [unit for unit, place in added.items() if place == (dim, True)]
        behind = [unit for unit, place in added.items() if place == (dim, False)]
        groups.append([*[1] * len(front), size, *[1] * len(behind)])
        indexed += [*front, result, *behind]
    return groups, indexed


def _missing(op: linalg.GenericOp) -> list[_Unit]:
    for how in (_of_convolution,) if requantises(op) is not None else (_of_product, _of_convolution):
        try:
            return how(op)
        except NoMatchError:
            continue
    return []


@dataclass(frozen=True)
class UnitDims(ModulePass):
    """Let a vector be a matrix of one row or column, and a channel a group of one channel.

    ::

        linalg.generic {...} ins(%A, %x : memref<6x4xi8>, memref<4xi8>) outs(%y : memref<6xi32>) {...}

        %x_1 = memref.expand_shape %x [[0, 1]] output_shape [4, 1] : ...
        %y_1 = memref.expand_shape %y [[0, 1]] output_shape [6, 1] : ...
        linalg.generic {...} ins(%A, %x_1 : memref<6x4xi8>, memref<4x1xi8, ...>) outs(%y_1 : ...) {...}

    For matrix by vector, vector by matrix and dot products, with or without batches, and for depthwise
    convolutions, also those that round their sums. What has all its dims, or sums up in another way, stays as
    it is, and so does what has a trait written by hand. Comes behind accel-bufferise and before
    accel-as-convolution.
    """

    name = "accel-unit-dims"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite(op, _WithUnits())
