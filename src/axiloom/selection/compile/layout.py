"""`lay_out`: where values lie in the host's memory, and which arrays those are.

Values that are parts of others' bytes share a block; blocks lie one after the other. Parameters, constants
and results are arrays by name; what is left of a block is an array of the program's own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from axiloom.base.errors import CompileError
from axiloom.base.wording.names import free_name
from axiloom.graph.graph import Graph
from axiloom.selection.compile.cover import Cover, HostValue
from axiloom.selection.compile.target import Target, element_bytes
from axiloom.selection.compile.views import View
from axiloom.selection.program.program import HostArray

ALIGN = 64
"""Bytes: a cache line, so that no array shares one."""
Role = Literal["in", "out", "constant", "local"]


class HostMemoryError(CompileError):
    """A program with more arrays than the text says that its host has."""

    def __init__(self, target: str, memory: str, bytes_: int, limit: int) -> None:
        self.bytes = bytes_
        super().__init__(
            f"{target}: the program has {bytes_:,} bytes in {memory}, and the text says {limit:,}: give the "
            f"constant that is its size at least {1 << (bytes_ - 1).bit_length()} (-D NAME=BYTES)"
        )


@dataclass(frozen=True)
class Layout:
    addresses: Mapping[int, int]
    """First byte, by class."""
    arrays: tuple[HostArray, ...]
    constants: Mapping[str, int]
    """Constant arrays' names, to their classes."""


def lay_out(cover: Cover, target: Target, used: Iterable[int], graph: Graph) -> Layout:
    """Of the classes that the program has in the host's memory. Raises CompileError where a value would have
    to be at two places, or nothing holds so much."""
    return _Layout(cover, target, list(dict.fromkeys(used)), graph).run()


class _Layout:
    def __init__(self, cover: Cover, target: Target, used: Sequence[int], graph: Graph) -> None:
        self.cover, self.target, self.used = cover, target, used
        self.results = dict(zip((cell[0] for cell in cover.results), graph.result_names, strict=True))
        self.names = {
            *graph.result_names,
            *(str(parameter.attributes["name"]) for parameter in graph.parameters),
        }
        self.align = max(ALIGN, target.offers.align if target.offers is not None else 0)
        self.parent: dict[int, tuple[int, int]] = {}
        """A class, and how many bytes behind it this one begins."""

    def run(self) -> Layout:
        host = self.target.host
        everything: dict[int, None] = {}
        stack = [*reversed(self.used)]
        while stack:
            eclass = stack.pop()
            if eclass in everything:
                continue
            everything[eclass] = None
            way = self.cover.ways.get((eclass, host))
            if isinstance(way, View):
                for need, offset in zip(way.operands, way.offsets, strict=True):
                    self._link(eclass, need, offset)
                    stack.append(need)
        blocks: dict[int, list[int]] = defaultdict(list)
        for eclass in everything:
            blocks[self._find(eclass)[0]].append(eclass)
        addresses: dict[int, int] = {}
        arrays: list[HostArray] = []
        constants: dict[str, int] = {}
        end = 0
        for members in blocks.values():
            offsets = {member: self._find(member)[1] for member in members}
            low = min(offsets.values())
            begin = -(-end // self.align) * self.align
            for eclass in members:
                addresses[eclass] = begin + offsets[eclass] - low
            end = max(addresses[member] + self._bytes(member) for member in members)
            arrays += self._arrays(members, addresses, constants, begin, end)
        limit = self.target.size(host)
        if end > limit:
            raise HostMemoryError(self.target.isa.name, host, end, limit)
        return Layout(addresses, tuple(arrays), constants)

    def _bytes(self, eclass: int) -> int:
        return self.target.units(self.target.host, self.cover.saturated.types[eclass])

    def _find(self, eclass: int) -> tuple[int, int]:
        offset = 0
        while eclass in self.parent:
            eclass, more = self.parent[eclass]
            offset += more
        return eclass, offset

    def _link(self, eclass: int, other: int, offset: int) -> None:
        """`other` begins `offset` bytes behind `eclass`."""
        (root, at), (second, at_second) = self._find(eclass), self._find(other)
        if root == second:
            if at_second - at != offset:
                type_ = self.cover.saturated.types[other]
                joined = (
                    result
                    for (result, _), way in self.cover.ways.items()
                    if isinstance(way, View)
                    and len(way.operands) > 1
                    and {eclass, other} & {result, *way.operands}
                )
                copy = "a copy is needed, which nothing makes"
                raise CompileError(
                    f"{self._said(next(joined, eclass))}: a value of {type_} would have to be at two places "
                    f"of the host's memory; {copy}"
                )
            return
        self.parent[second] = root, at + offset - at_second

    def _said(self, eclass: int) -> str:
        """A value by its operation, and where that stands in the application."""
        nodes = self.cover.saturated.classes[eclass]
        node = next((node for node in nodes if node.place), nodes[0])
        return f"{node.place}: {node.op}" if node.place else node.op

    def _arrays(
        self,
        members: Sequence[int],
        addresses: Mapping[int, int],
        constants: dict[str, int],
        begin: int,
        end: int,
    ) -> list[HostArray]:
        """A block's arrays, by address. What is no view has bytes of its own."""
        host, types = self.target.host, self.cover.saturated.types
        own: list[tuple[int, int]] = []
        placed: list[tuple[int, int, HostArray]] = []

        def add(eclass: int, name: str, role: Role) -> None:
            at, type_ = addresses[eclass], types[eclass]
            for other_at, other_end, other in placed:
                if at < other_end and other_at < at + self._bytes(eclass):
                    raise CompileError(
                        f"{name} and {other.name} would share bytes of the host's memory: "
                        f"a result that is a part of another array needs a copy, which nothing makes"
                    )
            placed.append(
                (at, at + self._bytes(eclass), HostArray(name, role, type_.shape, type_.number, at, host))
            )

        for eclass in members:
            way = self.cover.ways.get((eclass, host))
            if isinstance(way, View):
                continue
            for first, last in own:
                if addresses[eclass] < last and first < addresses[eclass] + self._bytes(eclass):
                    raise CompileError(
                        f"two values of {types[eclass]} would have to be at one place of {host}"
                    )
            own.append((addresses[eclass], addresses[eclass] + self._bytes(eclass)))
            if isinstance(way, HostValue) and way.constant:
                name = free_name(f"constant{len(constants)}", self.names)
                constants[name] = eclass
                add(eclass, name, "constant")
            elif isinstance(way, HostValue):
                add(eclass, str(way.node.given["name"]), "in")
        for eclass, name in self.results.items():
            if eclass in members:
                add(eclass, name, "out")
        number, at = types[members[0]].number, begin
        width = element_bytes(types[members[0]])
        for first, last in [*sorted((first, last) for first, last, _ in placed), (end, end)]:
            if first > at:
                name = free_name(f"local{at}", self.names)
                array = HostArray(name, "local", ((first - at) // width,), number, at, host)
                placed.append((at, first, array))
            at = max(at, last)
        return [array for _, _, array in sorted(placed, key=lambda row: row[0])]
