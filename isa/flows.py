"""Which loop orders a flow allows: found by running it symbolically.

A flow says at which loop each opcode stands, but not which loop runs over which dim. Under a wrong order
an operand is sent once where it changes, or C is fetched before it is whole. So every order is tried on a
problem of 2 x 2 x 2 tiles: the device's actions are executed on names of tiles instead of numbers, the
host adds every tile that comes back onto its C, and at the end each C tile must hold each of its products
exactly once. Several tiles of C run on one device, so state that one leaves over counts against the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import permutations

from axiloom.errors import UsageError
from axiloom.isa.names import hint
from axiloom.isa.spec import AcceleratorSpec
from axiloom.isa.types import Clear, Compute, Load, Opcode, Recv, Scope, Send, SendIdx, Store

_TILES = 2  # tiles in each dim
_Tile = tuple[int, ...]
_Sum = Counter[tuple[_Tile, _Tile]]
"""Products of a tile of A and one of B, and how often each was added."""


class _WrongOrderError(Exception):
    """The order asks for something that does not exist: an index outside its loop, an empty buffer."""


class _Device:
    """The accelerator's state, on names of tiles."""

    def __init__(self) -> None:
        self.loaded: dict[str, _Tile] = {}
        self.sum: _Sum = Counter()

    def run(self, opcode: Opcode, tiles: Mapping[str, _Tile]) -> list[_Sum]:
        """Execute one opcode whose host sends `tiles`; returns what its stores send."""
        stored = []
        for action in opcode.device:
            if isinstance(action, Load):
                self.loaded[action.operand] = tiles[action.operand]
            elif isinstance(action, Compute):
                if not {"A", "B"} <= self.loaded.keys():
                    raise _WrongOrderError
                self.sum[self.loaded["A"], self.loaded["B"]] += 1
            elif isinstance(action, Store):
                stored.append(Counter(self.sum))
            elif isinstance(action, Clear):
                self.sum = Counter()
        return stored


class _Run:
    """A whole problem, for one order of the loops."""

    def __init__(self, spec: AcceleratorSpec, flow: Scope, order: tuple[str, ...]) -> None:
        self._spec = spec
        self._flow = flow
        self._order = order
        self._device = _Device()
        self._result: dict[_Tile, _Sum] = {}

    def correct(self) -> bool:
        outer = len(self._order) - self._flow.depth + 1
        try:
            for name in self._spec.init_opcodes:
                self._opcode(name, {})
            self._loops(self._flow, 0, outer, {})
        except _WrongOrderError:
            return False
        return self._result == self._expected()

    def _loops(self, scope: Scope, level: int, until: int, index: dict[str, int]) -> None:
        """Loops number `level` to `until` - 1 around the body `scope`."""
        if level == until:
            self._body(scope, level, index)
            return
        for tile in range(_TILES):
            self._loops(scope, level + 1, until, {**index, self._order[level]: tile})

    def _body(self, scope: Scope, level: int, index: dict[str, int]) -> None:
        for item in scope.items:
            if isinstance(item, Scope):
                self._loops(item, level, level + 1, index)
            else:
                self._opcode(item, index)

    def _opcode(self, name: str, index: dict[str, int]) -> None:
        opcode = self._spec.opcodes[name]
        if any(a.dim not in index for a in opcode.host if isinstance(a, SendIdx)):
            raise _WrongOrderError
        tiles = {a.operand: self._tile(a.operand, index) for a in opcode.host if isinstance(a, Send)}
        targets = [self._tile(a.operand, index) for a in opcode.host if isinstance(a, Recv)]
        for target, stored in zip(targets, self._device.run(opcode, tiles), strict=True):
            self._result.setdefault(target, Counter()).update(stored)

    def _tile(self, operand: str, index: dict[str, int]) -> _Tile:
        """Index of the operand's current tile; every one of its dims must have its loop around it."""
        dims = self._spec.data[operand]
        if not index.keys() >= set(dims):
            raise _WrongOrderError
        return tuple(index[d] for d in dims)

    def _expected(self) -> dict[_Tile, _Sum]:
        result: dict[_Tile, _Sum] = {}
        dims = self._spec.dims
        for number in range(_TILES ** len(dims)):
            index = {d: number // _TILES**i % _TILES for i, d in enumerate(dims)}
            product = self._tile("A", index), self._tile("B", index)
            result.setdefault(self._tile("C", index), Counter())[product] += 1
        return result


def loop_orders(spec: AcceleratorSpec, flow_name: str) -> list[tuple[str, ...]]:
    """All orders of the loops, outermost first, under which the flow computes C = A . B.

    They come in the order of the permutations of ``spec.dims``; the first is the default. The loops
    align with the innermost scopes: of L loops, scope d (the outermost is 1) of a flow of depth D is the
    body of loop number L - D + d, and the outermost scope takes the loops around. Empty: no order will do.
    Raises UsageError where there is no such flow.
    """
    if flow_name not in spec.flows:
        known = ", ".join(spec.flows)
        raise UsageError(
            f"{spec.name} has no flow `{flow_name}`{hint(flow_name, spec.flows)}; its flows are {known}"
        )
    flow = spec.flows[flow_name]
    if flow.depth > len(spec.dims):
        return []
    return [order for order in permutations(spec.dims) if _Run(spec, flow, order).correct()]
