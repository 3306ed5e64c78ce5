"""Sizes of a MatMul engine, derived from its specification: block of the array, banks, depths, widths.

The array computes one block of C, `rows` x `cols` elements, at a time: each cycle it takes one k,
`rows` elements of A and `cols` elements of B. Everything that follows from this is worked out here,
in Python, so that the hardware only counts: it never divides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from amaranth.hdl import Const, Value, unsigned
from amaranth.lib import data
from amaranth.utils import bits_for

from axiloom.base.errors import SpecError
from axiloom.hw.array.operand_layout import OperandLayout
from axiloom.hw.array.parameter_buffer import CHANNEL_BITS
from axiloom.hw.engine.elements import unlike
from axiloom.hw.engine.receiver import Loaded, Protocol
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS
from axiloom.isa.kernels.forms import CHANNEL_WORDS, CHANNELS, POST_SETTINGS
from axiloom.isa.numerics import INT8


@dataclass(frozen=True)
class Geometry:
    """What :class:`~axiloom.hw.matmul.engine.MatMul` builds. Made by :meth:`of`."""

    stream_width: int
    rows: int
    cols: int
    a: OperandLayout
    b: OperandLayout
    c_rows_first: bool
    """C goes out as (m, n); else as (n, m)."""
    c_depth: int
    """Rows of `cols` words in one ping-pong half of the result buffer."""
    tile: tuple[int, int, int]
    """Default sizes (m, n, k)."""
    granule: tuple[int, int, int]
    largest: tuple[int, int, int]
    """Largest size of each dim that any tile may have."""
    limits: tuple[tuple[int, int, int], ...]
    """``(i, j, n)``: the product of dims i and j must not exceed n, or an operand would not fit."""
    flexible: bool
    """Words set the sizes of a tile."""
    post: bool = False
    """C can go out requantised."""

    @property
    def protocol(self) -> Protocol:
        """What the receiver must know; no dims where the tile is fixed."""
        sizes = zip("mnk", self.largest, self.tile, strict=True)
        dims = {dim: (bits_for(largest), size) for dim, largest, size in sizes} if self.flexible else {}

        def loaded(width: int, *names: str, ragged: bool = False) -> Loaded:
            return Loaded(width, names if self.flexible else (), ragged)

        return Protocol(
            stream_width=self.stream_width,
            dims=dims | {name: (8, reset) for name, reset in self._bounds.items()},
            operands={"A": loaded(self.a.width, "m", "k"), "B": loaded(self.b.width, "k", "n")},
            result="C",
            result_dims=("m", "n") if self.flexible else (),
            parameters=loaded(self.p_width, "n", ragged=True) if self.post else None,
            bytes=tuple(self._bounds),
        )

    @property
    def _bounds(self) -> dict[str, int]:
        return {setting.name: setting.reset & 0xFF for setting in POST_SETTINGS} if self.post else {}

    @property
    def sizes_layout(self) -> data.StructLayout:
        """Sizes of a tile; nothing where it is fixed."""
        dims = self.protocol.dims
        return data.StructLayout({dim: unsigned(dims[dim][0]) for dim in "mnk" if dim in dims})

    @property
    def command_dims(self) -> data.StructLayout:
        """Sizes and settings of a tile as they travel with a command; then, which half of P it has."""
        dims = {name: unsigned(bits) for name, (bits, _) in self.protocol.dims.items()}
        return data.StructLayout({**dims, **({"half_p": unsigned(1)} if self.post else {})})

    @property
    def p_width(self) -> int:
        """Bits that the buffer of P takes at once."""
        return min(self.stream_width, CHANNEL_BITS)

    @property
    def p_lanes(self) -> int:
        """Elements of C that are requantised in a cycle: of a beat, or of a row of the array, if that is
        shorter; one where neighbours on the stream lie in different rows."""
        return min(self.stream_width // INT8.bits, self.cols) if self.c_rows_first else 1

    @property
    def operands(self) -> tuple[str, str]:
        return "A", "B"

    @property
    def most(self) -> tuple[int, int, int]:
        """The most blocks of rows and of columns, and the longest k, of any tile."""
        return self.largest[0] // self.rows, self.largest[1] // self.cols, self.largest[2]

    def work(self, dims: data.View) -> tuple[Value, Value, Value]:
        """Index of the last block of rows, of the last block of columns, and of the last k."""
        m, n, k = (self.size(dims, dim) for dim in "mnk")
        rows_shift, cols_shift = bits_for(self.rows) - 1, bits_for(self.cols) - 1
        return (m - 1) >> rows_shift, (n - 1) >> cols_shift, k - 1

    def last_row(self, dims: data.View) -> Value:
        """Tiles are whole blocks."""
        return Const(self.rows - 1, range(self.rows))

    @property
    def c_words(self) -> int:
        """Words of C that are read in a cycle: of a beat, or of a row of the array, if that is shorter; one
        where neighbours on the stream lie in different rows."""
        return min(self.stream_width // WORD_BITS, self.cols) if self.c_rows_first else 1

    def size(self, dims: data.View, dim: str) -> Value:
        """The size of one dim out of a value of `command_dims`."""
        return dims[dim] if self.flexible else Const(self.tile["mnk".index(dim)])

    @classmethod
    def of(cls, spec: AcceleratorSpec) -> Geometry:
        """Sizes for `spec`; raises :exc:`SpecError` with all reasons why there is no such engine."""
        faults = _faults(spec)
        if faults:
            raise SpecError(faults)
        m, n, k = spec.dims
        tile = _triple(spec.tile.size)
        granule = _triple(spec.tile.granule or spec.tile.size)
        rows, cols = spec.block
        limits = _limits(spec)
        largest = _largest(granule, limits) if spec.tile.flexible else tile
        if spec.post:
            largest = largest[0], min(largest[1], _channels(spec) // granule[1] * granule[1]), largest[2]
        pairs = _Pairs(granule, largest, limits)
        return cls(
            stream_width=spec.link.stream_width,
            rows=rows,
            cols=cols,
            a=_operand_layout(spec, "A", 0, rows, spec.data["A"][-1] == k, pairs),
            b=_operand_layout(spec, "B", 1, cols, spec.data["B"][-1] == k, pairs),
            c_rows_first=spec.data["C"] == (m, n),
            c_depth=max(x * y for x, y in pairs(0, 1)) // cols,
            tile=tile,
            granule=granule,
            largest=largest,
            limits=limits,
            flexible=spec.tile.flexible,
            post=spec.post,
        )


def _faults(spec: AcceleratorSpec) -> list[str]:
    faults = [*unlike(spec, "matmul")]
    if spec.kernel != "linalg.matmul":
        faults.append(f'matmul kernel must be "linalg.matmul", not "{spec.kernel}"')
    if spec.macs < 1 or spec.macs & (spec.macs - 1):
        faults.append(f"matmul macs must be a power of two, not {spec.macs}")
    if set(spec.data) != {"A", "B", "C"}:
        faults.append(f"matmul operands must be A, B and C, not {', '.join(spec.data)}")
    if len(spec.dims) != 3:
        faults.append(f"matmul dims must be three (m, n, k), not {', '.join(spec.dims)}")
    if faults:
        return faults
    m, n, k = spec.dims
    for operand, dims in {"A": {m, k}, "B": {k, n}, "C": {m, n}}.items():
        if len(spec.data[operand]) != 2 or set(spec.data[operand]) != dims:
            got = ", ".join(spec.data[operand])
            faults.append(f"matmul operand {operand} must have dims {' and '.join(sorted(dims))}, not {got}")
    faults += [f"matmul tile must be positive sizes, not {size}" for size in spec.tile.size if size < 1]
    if faults:
        return faults
    granule = spec.sizes(spec.tile.granule or spec.tile.size)
    for operand in "AB":
        per_word, last = spec.data_type.per_word, spec.data[operand][-1]
        if granule[last] % per_word:
            step = f"tile size of {last}, the last dim of {operand},"
            faults.append(f"matmul {step} must be a multiple of {per_word} elements, not {granule[last]}")
    elements = granule[m] * granule[n]
    if elements % spec.macs:
        faults.append(f"matmul macs must divide the {elements} elements of C in a tile, not {spec.macs}")
    for operand in "ABC":
        words = spec.operand_words(operand, spec.tile.granule)
        if not faults and words % spec.link.beat_words:
            beat = f"beats of {spec.link.beat_words} words"
            faults.append(f"matmul tile of {operand} must be whole {beat}, not {words} words")
    for operand in spec.operands:
        words, limit = spec.operand_words(operand), spec.buffers.get(operand, 0)
        if words > limit:
            faults.append(f"matmul buffer {operand} must hold the tile of {words} words, not {limit}")
    return faults


def _channels(spec: AcceleratorSpec) -> int:
    """Of which the buffer of P holds the parameters, in whole beats."""
    return spec.buffers[CHANNELS] // spec.link.beat_words * spec.link.beat_words // CHANNEL_WORDS


def _triple(sizes: tuple[int, ...]) -> tuple[int, int, int]:
    m, n, k = sizes
    return m, n, k


def _limits(spec: AcceleratorSpec) -> tuple[tuple[int, int, int], ...]:
    per_word = spec.data_type.per_word
    elements = {"A": per_word * spec.buffers["A"], "B": per_word * spec.buffers["B"], "C": spec.buffers["C"]}
    return ((0, 2, elements["A"]), (1, 2, elements["B"]), (0, 1, elements["C"]))


def _largest(granule: tuple[int, int, int], limits: tuple[tuple[int, int, int], ...]) -> tuple[int, int, int]:
    """Largest size of each dim when the dims it is multiplied with are as small as they can be."""

    def of(dim: int) -> int:
        bounds = [n // granule[i + j - dim] for i, j, n in limits if dim in (i, j)]
        return min(bounds) // granule[dim] * granule[dim]

    return of(0), of(1), of(2)


@dataclass(frozen=True)
class _Pairs:
    """All maximal pairs of sizes of two dims that a legal tile may have."""

    granule: tuple[int, int, int]
    largest: tuple[int, int, int]
    limits: tuple[tuple[int, int, int], ...]

    def __call__(self, i: int, j: int) -> Iterator[tuple[int, int]]:
        limit = next(n for a, b, n in self.limits if {a, b} == {i, j})
        for x in range(self.granule[i], self.largest[i] + 1, self.granule[i]):
            y = min(limit // x, self.largest[j]) // self.granule[j] * self.granule[j]
            if y:
                yield x, y


def _operand_layout(
    spec: AcceleratorSpec, name: str, dim: int, lanes: int, along_k: bool, pairs: _Pairs
) -> OperandLayout:
    bits = spec.data_type.bits
    line = pairs.granule[2 if along_k else dim] * bits
    width = min(spec.link.stream_width, line & -line)
    banks = lanes if along_k else max(1, lanes * bits // width)
    depth = max(x * k for x, k in pairs(dim, 2)) * bits // width // banks
    return OperandLayout(name, bits, lanes, along_k, width, banks, depth)
