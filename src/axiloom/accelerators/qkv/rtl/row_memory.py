"""A memory of rows: words of `lanes` elements, read and written by whoever works."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import memory as ram

ELEMENT = 16


@dataclass(frozen=True)
class Geometry:
    """A row has `columns` elements, in words of `lanes`; a product adds to `rows` of its rows at once. All of
    them are powers of two."""

    columns: int
    lanes: int
    rows: int = 1

    def __post_init__(self) -> None:
        for what, number in (("columns", self.columns), ("lanes", self.lanes), ("rows", self.rows)):
            if number <= 0 or number & (number - 1):
                raise ValueError(f"{what} must be a power of two, not {number}")
        for what, number in (("lanes", self.lanes), ("rows", self.rows)):
            if number > self.columns:
                raise ValueError(f"{what} must be at most the {self.columns} columns of a row, not {number}")

    @property
    def groups(self) -> int:
        """Words of a row."""
        return self.columns // self.lanes

    @property
    def word_bits(self) -> int:
        return self.lanes * ELEMENT

    def group(self, column: Value) -> Value:
        return column[(self.lanes - 1).bit_length() :]

    def lane(self, column: Value) -> Value:
        return column[: (self.lanes - 1).bit_length()]

    def element(self, word: Value, lane: Value) -> Value:
        return word.word_select(lane, ELEMENT) if self.lanes > 1 else word

    def mask(self, lane: Value) -> Value:
        return (Const(1, self.lanes) << lane)[: self.lanes] if self.lanes > 1 else Const(1, 1)


class RowMemory:
    """`rows` rows. Accesses come by :meth:`read` and :meth:`write`, then :meth:`build`.

    Only one of those that share a port may be active in a cycle. A read's data are there a cycle later.
    """

    def __init__(self, name: str, rows: int, geometry: Geometry) -> None:
        self.name, self.rows, self.geometry = name, rows, geometry
        self._reads: dict[int, list[tuple[Value, Value]]] = {}
        self._data: dict[int, Signal] = {}
        self._writes: list[tuple[Value, Value, Value, Value]] = []

    @property
    def depth(self) -> int:
        return self.rows * self.geometry.groups

    def read(self, active: Value, row: Value, group: Value, port: int = 0) -> Signal:
        """The word at `row` and `group`."""
        self._reads.setdefault(port, []).append((active, self._address(row, group)))
        return self._data.setdefault(port, Signal(self.geometry.word_bits, name=f"{self.name}_read_{port}"))

    def write(self, active: Value, row: Value, group: Value, word: Value, mask: Value) -> None:
        """The elements of `word` that `mask` has a bit for."""
        self._writes.append((active, self._address(row, group), word, mask))

    def _address(self, row: Value, group: Value) -> Value:
        bits = (self.geometry.groups - 1).bit_length()
        return Cat(group[:bits], row)[: max(1, (self.depth - 1).bit_length())]

    def build(self, m: Module) -> None:
        contents = ram.Memory(shape=self.geometry.word_bits, depth=self.depth, init=[])
        m.submodules[self.name] = contents
        for number, accesses in sorted(self._reads.items()):
            reader = contents.read_port()
            m.d.comb += [
                reader.en.eq(1),
                reader.addr.eq(reduce(or_, [Mux(active, address, 0) for active, address in accesses])),
                self._data[number].eq(reader.data),
            ]
        if not self._writes:
            return
        writer = contents.write_port(granularity=ELEMENT)
        m.d.comb += [
            writer.addr.eq(reduce(or_, [Mux(active, address, 0) for active, address, _, _ in self._writes])),
            writer.data.eq(reduce(or_, [Mux(active, word, 0) for active, _, word, _ in self._writes])),
            writer.en.eq(reduce(or_, [Mux(active, mask, 0) for active, _, _, mask in self._writes])),
        ]
