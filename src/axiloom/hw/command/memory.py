"""A memory whose words are read and written by whoever works."""

from __future__ import annotations

from functools import reduce
from operator import or_

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import memory as ram


class Memory:
    """`depth` words of `width` bits, written in parts of `part` bits. Accesses come by :meth:`read` and
    :meth:`write`, then :meth:`build`.

    One port reads, one writes, so only one read and one write may be active in a cycle. A read's data are
    there a cycle later, for a cycle; of a word that is written in the cycle of the read they are undefined.
    """

    def __init__(self, name: str, depth: int, width: int, part: int | None = None) -> None:
        self.name, self.depth, self.width, self.part = name, depth, width, part or width
        self.data = Signal(width, name=f"{name}_data")
        self._reads: list[tuple[Value, Value]] = []
        self._writes: list[tuple[Value, Value, Value, Value]] = []

    @property
    def address_bits(self) -> int:
        return max(1, (self.depth - 1).bit_length())

    @property
    def parts(self) -> int:
        """Of a word."""
        return self.width // self.part

    def read(self, active: Value, address: Value) -> Signal:
        self._reads.append((active, address[: self.address_bits]))
        return self.data

    def write(self, active: Value, address: Value, word: Value, mask: Value) -> None:
        """The parts of `word` that `mask` has a bit for."""
        self._writes.append((active, address[: self.address_bits], word, mask))

    def build(self, m: Module) -> None:
        contents = ram.Memory(shape=self.width, depth=self.depth, init=[])
        m.submodules[self.name] = contents
        reader = contents.read_port()
        m.d.comb += [
            reader.en.eq(_one_of([active for active, _ in self._reads])),
            reader.addr.eq(_one_of([Mux(active, address, 0) for active, address in self._reads])),
            self.data.eq(reader.data),
        ]
        writer = contents.write_port(granularity=self.part)
        m.d.comb += [
            writer.addr.eq(_one_of([Mux(active, address, 0) for active, address, _, _ in self._writes])),
            writer.data.eq(_one_of([Mux(active, word, 0) for active, _, word, _ in self._writes])),
            writer.en.eq(_one_of([Mux(active, mask, 0) for active, _, _, mask in self._writes])),
        ]


def _one_of(values: list[Value]) -> Value:
    """Of values of which at most one is not 0."""
    return reduce(or_, values)
