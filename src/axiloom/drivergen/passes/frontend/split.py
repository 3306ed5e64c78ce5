"""Convolutions whose tiles differ become several whose tiles are equal.

Equal tiles by splitting. A convolution becomes several ops, each with tiles of one size and padding:
first rows, middle, last rows, left-over channels. So every length in a nest is constant, and the passes
on transfers need no special cases for edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, ModuleOp, StridedLayoutAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.cost.conv import rows_of_beats
from axiloom.drivergen.dialects.elements import element_bits
from axiloom.drivergen.dialects.mlir import fail, index
from axiloom.drivergen.dialects.product import PADDING, product_of, requantises
from axiloom.drivergen.dialects.views import zero_fill
from axiloom.drivergen.match.matmul import sizes, terms
from axiloom.drivergen.match.trait import IMAGE, Trait, is_annotated
from axiloom.isa.contract.types import WORD_BITS
from axiloom.isa.kernels.forms import extent
from axiloom.plan.tree import LINE_WORDS

WALKED = {"oh": ("ih", "fh", "sh", "dh", "pt"), "ow": ("iw", "fw", "sw", "dw", "pl")}
"""The image's dim, taps, stride, dilation and padding that belong to a loop of the output."""


@dataclass(frozen=True)
class Piece:
    """A part of a loop whose tiles are equal; `begin`, `size`, `rows` and `before` are about the image."""

    start: int
    length: int
    tile: int
    begin: int = 0
    """First row of the image that the piece needs."""
    size: int = 0
    """Rows of the image that it needs."""
    rows: int = 0
    """Of each tile."""
    before: int = 0
    """Rows of padding above the first one."""


@dataclass(frozen=True)
class View:
    """A part of an operand: its first element and its size in each dim."""

    starts: tuple[int, ...]
    lengths: tuple[int, ...]


@dataclass(frozen=True)
class Part:
    """One of the ops that an op is cut into."""

    trait: Trait
    sizes: tuple[int, ...]
    """Of its loops."""
    views: tuple[View | None, ...]
    """Of each operand; None: all of it."""
    first: bool
    """No part before it adds to the same results."""


def plain_pieces(length: int, tile: int) -> list[Piece]:
    """The part that whole tiles cover, and the rest."""
    tile = min(tile, length)
    whole = length - length % tile
    pieces = [Piece(0, whole, tile)]
    return pieces if whole == length else [*pieces, Piece(whole, length - whole, length - whole)]


def image_pieces(
    length: int,
    tile: int,
    image: int,
    *,
    taps: int,
    stride: int,
    dilation: int,
    before: int,
    unit: int = 1,
    most: int = 0,
) -> list[Piece]:
    """Runs of tiles that need as many rows of an image of `image` rows, and as much padding.

    A tile gets some more rows than it needs where the image has them: a multiple of `unit`, up to `most`.
    """
    pieces: list[Piece] = []
    for start in range(0, length, tile):
        count = min(tile, length - start)
        first, needed = start * stride - before, extent(count, taps, stride, dilation)
        begin, end = max(0, first), min(image, first + needed)
        above = begin - first
        if end - begin < (wide := -(-(end - begin) // unit) * unit) <= most:
            end = min(image, begin + wide)
        if end <= begin:  # all of it is padding: some row is sent, and lies behind what is read
            begin, end, above = min(begin, image - 1), min(begin, image - 1) + 1, needed
        piece = Piece(start, count, count, begin, end - begin, end - begin, above)
        last = pieces[-1] if pieces else None
        if (
            last is not None
            and (last.tile, last.rows, last.before, above) == (count, piece.rows, 0, 0)
            and begin - last.begin == last.length * stride
        ):
            size = begin + piece.rows - last.begin
            pieces[-1] = replace(last, length=last.length + count, size=size)
        else:
            pieces.append(piece)
    return pieces


class _Split:
    """One op, and the pieces of its loops."""

    def __init__(self, op: linalg.GenericOp, *, twice: bool) -> None:
        self.op = op
        self.trait = Trait.of(op)
        self.problem = dict(zip(self.trait.dims, sizes(op), strict=True))
        self.saves = self.trait.saves
        if twice and self.saves:
            window = self.trait.dma.output_buffer_size * 8 // WORD_BITS
            self.saves = min(self.saves, window // 2 // LINE_WORDS * LINE_WORDS)

    def pieces(self, dim: str) -> list[Piece]:
        trait = self.trait
        length, tile = self.problem[dim], trait.size(dim)
        if dim not in WALKED or trait.images or WALKED[dim][0] not in trait.settings:
            return self._saved(dim) if self.trait.saves else plain_pieces(length, tile)
        _, taps, stride, dilation, before = (
            name if n == 0 else trait.size(name) for n, name in enumerate(WALKED[dim])
        )
        return image_pieces(
            length,
            tile,
            self._image(dim),
            taps=int(taps),
            stride=int(stride),
            dilation=int(dilation),
            before=int(before),
            unit=self._unit(dim),
            most=trait.settings[WALKED[dim][0]],
        )

    def _unit(self, dim: str) -> int:
        """Rows (columns) of the image that lie in whole beats, where descriptors want that."""
        trait = self.trait
        if not trait.dma.scatter_gather or trait.size(dim) >= self.problem[dim]:
            return self._image(dim) if trait.dma.scatter_gather else 1
        return (
            rows_of_beats(self._image("ow") * self._element_bytes(), trait.stream_width) if dim == "oh" else 1
        )

    def _saved(self, dim: str) -> list[Piece]:
        """Rows and columns of the output in pieces whose results the device has room for."""
        length, tile = self.problem[dim], self.trait.size(dim)
        if dim not in WALKED:
            return plain_pieces(length, tile)
        most = min(length, self.saves if dim == "ow" else max(1, self.saves // self.problem["ow"]))
        equal = -(-length // -(-length // most))
        return [Piece(start, min(equal, length - start), tile) for start in range(0, length, equal)]

    def _element_bytes(self) -> int:
        number = [o.operand for o in self.trait.operands].index("I")
        kind = self.op.operands[number].type
        return element_bits(kind) // 8

    def _image(self, dim: str) -> int:
        """Rows (columns) of the image, without padding."""
        number = [o.operand for o in self.trait.operands].index("I")
        kind = self.op.operands[number].type
        assert isinstance(kind, MemRefType)
        results = self.op.indexing_maps.data[number].data.results
        axes = [self.trait.axis(number, expression) for expression in results]
        return kind.get_shape()[axes.index(IMAGE[dim])]

    def parts(self) -> list[Part]:
        """What the op is cut into, in the order in which it runs. CompileError where that cannot be."""
        dims = [dim for dim in self.trait.dims if self.trait.dims.index(dim) in self.trait.order]
        choices = [self.pieces(dim) for dim in dims]
        if requantises(self.op) is not None and len(choices[dims.index("ic")]) > 1:
            tiles = f"tiles of {self.trait.size('ic')} input channels"
            fail(self.op, f"{tiles} leave a remainder; rounding needs whole sums")
        kinds = [kind.data for kind in self.op.get_iterator_types()]
        for dim, cut in zip(dims, choices, strict=True):
            reduced = kinds[self.trait.dims.index(dim)] == IteratorType.REDUCTION
            if self.trait.overwrites and reduced and len(cut) > 1:
                fail(
                    self.op, f"tiles of {self.trait.size(dim)} leave a rest of {dim}: results must come whole"
                )
        filled: set[tuple[int, ...]] = set()
        output = self.trait.operands[-1].dims
        whole = all(len(cut) == 1 for cut in choices)
        parts = []
        for pieces in product(*choices):
            named = dict(zip(dims, pieces, strict=True))
            place = tuple(named[d].start for d in output if d in named)
            views = [None if whole else self._view(n, named) for n in range(len(self.op.operands))]
            parts.append(Part(self._trait(named), self._sizes(named), tuple(views), place not in filled))
            filled.add(place)
        return parts

    def rewrite(self) -> None:
        fill = zero_fill(self.op, self.op.outputs[0])
        for part in self.parts():
            new = self._piece(part)
            if fill is not None and part.first and new.outputs[0] is not self.op.outputs[0]:
                zeros = linalg.FillOp([fill.inputs[0]], [new.outputs[0]], [])
                Rewriter.insert_op(zeros, InsertPoint.before(self.op))
            Rewriter.insert_op(new, InsertPoint.before(self.op))
            if fill is not None and new.outputs[0] is self.op.outputs[0]:
                fill = None
        if fill is not None:
            Rewriter.erase_op(fill)
        Rewriter.erase_op(self.op)

    def _piece(self, part: Part) -> linalg.GenericOp:
        new = product_of(self.op)
        new.attributes.pop(PADDING, None)
        for number, view in enumerate(part.views):
            if view is not None:
                new.operands[number] = self._subview(self.op.operands[number], view)
        part.trait.write(new)
        return new

    def _sizes(self, pieces: Mapping[str, Piece]) -> tuple[int, ...]:
        return tuple(pieces[d].length if d in pieces else size for d, size in self.problem.items())

    def _trait(self, pieces: Mapping[str, Piece]) -> Trait:
        trait, settings = self.trait, dict(self.trait.settings)
        tile = [pieces[d].tile if d in pieces else t for d, t in zip(trait.dims, trait.tile, strict=True)]
        for dim, (image, _, _, _, before) in WALKED.items():
            if image in settings and dim in pieces and not trait.images:
                settings |= {image: pieces[dim].rows, before: pieces[dim].before}
        settings |= self._reached(tile)
        return replace(trait, tile=tuple(tile), settings=settings)

    def _reached(self, tile: list[int]) -> dict[str, int]:
        """Elements of each dim that a window slides along, under a tile of the loops."""
        spans = {}
        for number in range(len(self.op.operands)):
            for expression in self.op.indexing_maps.data[number].data.results:
                axis = self.trait.axis(number, expression)
                if axis is not None and axis in self.trait.images:
                    reach = ((tile[loop] - 1) * factor for loop, factor in terms(expression).items())
                    spans[axis] = 1 + sum(reach)
        return spans

    def _view(self, number: int, pieces: Mapping[str, Piece]) -> View | None:
        """The part of an operand that a piece needs; None: all of it."""
        kind = self.op.operands[number].type
        assert isinstance(kind, MemRefType)
        starts, lengths = [], []
        expressions = self.op.indexing_maps.data[number].data.results
        for expression, size in zip(expressions, kind.get_shape(), strict=True):
            axis = self.trait.axis(number, expression)
            loops = {self.trait.dims[loop]: factor for loop, factor in terms(expression).items()}
            walked = next((d for d in loops if axis is not None and IMAGE.get(d) == axis), None)
            walked = None if self.trait.images else walked
            if walked is not None:
                starts.append(pieces[walked].begin)
                lengths.append(pieces[walked].size)
            elif len(loops) == 1 and (dim := next(iter(loops))) in pieces:
                starts.append(pieces[dim].start)
                lengths.append(pieces[dim].length)
            else:
                # A window of an image: its rows begin where the loops over pixels say.
                moved = [(d, f) for d, f in loops.items() if d in pieces]
                begin = sum(pieces[d].start * f for d, f in moved)
                starts.append(begin)
                behind = sum((self.problem[d] - pieces[d].start - pieces[d].length) * f for d, f in moved)
                lengths.append(size - begin - behind)
        if lengths == list(kind.get_shape()):
            return None
        return View(tuple(starts), tuple(lengths))

    def _subview(self, value: SSAValue, part: View) -> SSAValue:
        kind = value.type
        assert isinstance(kind, MemRefType)
        strides = kind.get_strides()
        assert strides is not None
        view = memref.SubviewOp.get(
            value,
            [index(self.op, start) for start in part.starts],
            list(part.lengths),
            [1] * len(part.lengths),
            MemRefType(kind.element_type, part.lengths, StridedLayoutAttr(list(strides), None)),
        )
        view.result.name_hint = value.name_hint
        Rewriter.insert_op(view, InsertPoint.before(self.op))
        return view.result


def parts(op: linalg.GenericOp, *, twice: bool = False) -> list[Part]:
    """What accel-split makes of an annotated op."""
    if not Trait.of(op).dense:
        return [Part(Trait.of(op), sizes(op), (None,) * len(op.operands), first=True)]
    return _Split(op, twice=twice).parts()


def _annotated(op: ModuleOp) -> Iterator[linalg.GenericOp]:
    for generic in [o for o in op.walk() if isinstance(o, linalg.GenericOp)]:
        if is_annotated(generic) and Trait.of(generic).dense:
            yield generic


@dataclass(frozen=True)
class Split(ModulePass):
    """Cut an op into several on parts of its operands, so that in each all tiles are equal.

    ::

        linalg.generic {...} ins(%I, %F : memref<1x4x10x10xi32>, ...) outs(%O : memref<1x8x9x10xi32>) ...

        %0 = memref.subview %I[%c0, %c0, %c0, %c0] [1, 4, 5, 10] [1, 1, 1, 1] : ...
        %1 = memref.subview %O[%c0, %c0, %c0, %c0] [1, 8, 4, 10] [1, 1, 1, 1] : ...
        accel.product {...} ins(%0, %F : ...) outs(%1 : ...) attrs = {accel_settings = {ih = 5, pt = 1, ...}}
        %2 = memref.subview %I[%c0, %c0, %c3, %c0] [1, 4, 7, 10] [1, 1, 1, 1] : ...
        ...

    A device that takes tiles of any size is told the size of each, so that nothing has to be filled up; and
    at the borders of an image its tiles are smaller, and there is padding beside them. Tiles that are equal
    stay together, so that these are few: the first rows, those in the middle and the last ones. Where the
    device keeps results until all are received, a piece has no more than it has room for.

    Option: `twice`, where the results of two pieces' tiles must fit the output window: packets overlap only
    where one may come back while the CPU takes the other.
    """

    name = "accel-split"

    twice: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for generic in list(_annotated(op)):
            _Split(generic, twice=self.twice).rewrite()
