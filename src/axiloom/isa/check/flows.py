"""Which loop orders a flow allows: found by running it symbolically.

A flow says at which loop each opcode stands, but not which loop runs over which dim. Under a wrong order
an operand is sent once where it changes, or C is fetched before it is whole. So every order is tried on a
problem of 2 tiles in each dim: the device's actions are executed on names of tiles instead of numbers, the
host adds every tile that comes back onto its C, and at the end each C tile must hold each of its products
exactly once. Several tiles of C run on one device, so state that one leaves over counts against the next.

What comes back requantised cannot be added up: such a tile comes once, whole, and with its own channels' P.
A device that saves results sends several at once: all tiles of the loops inside, the innermost dim first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations, product

from axiloom.base.errors import UsageError
from axiloom.base.wording.names import hint
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import (
    Clear,
    Compute,
    Load,
    Opcode,
    Recv,
    Requantise,
    Save,
    Scope,
    Send,
    SendIdx,
    Store,
)
from axiloom.isa.kernels.forms import CHANNELS

_TILES = 2  # tiles in each dim
_Tile = tuple[int, ...]
_Sum = Counter[tuple[_Tile, ...]]
"""Products of a tile of each input, and how often each was added."""
_Stored = tuple[_Sum, _Tile | None]
"""A tile that comes back, and where it was requantised the tile of P that did it."""
_APPLIED: _Tile = (-1,)
"""In place of that tile: a kernel in place was applied, and the host cannot add up what comes back."""


class _WrongOrderError(Exception):
    """The order asks for something that does not exist: an index outside its loop, an empty buffer."""


@dataclass(frozen=True)
class _Behaviour:
    """What of a specification the orders of a flow follow from: compilers ask for the same many times."""

    loops: tuple[str, ...]
    inputs: tuple[str, ...]
    output: str
    moved: tuple[tuple[str, tuple[str, ...]], ...]
    """By operand, the channels too: the dims that move it."""
    channel: str
    saves: bool
    overwrites: bool
    adds_up: bool
    init: tuple[str, ...]
    opcodes: tuple[tuple[str, Opcode], ...]
    """That the flow and `init` have."""
    applied: tuple[str, ...]

    @classmethod
    def of(cls, spec: AcceleratorSpec, flow: Scope) -> _Behaviour:
        form = spec.form
        used = {*spec.init_opcodes, *(name for name, _ in flow.opcodes())}
        return cls(
            loops=tuple(form.loops),
            inputs=tuple(form.inputs),
            output=form.output,
            moved=tuple((operand, tuple(dims)) for operand, dims in form.moved.items()),
            channel=form.channel,
            saves=form.saves,
            overwrites=form.overwrites,
            adds_up=form.adds_up,
            init=tuple(spec.init_opcodes),
            opcodes=tuple((name, op) for name, op in spec.opcodes.items() if name in used),
            applied=spec.applied(flow),
        )


class _Device:
    """The accelerator's state, on names of tiles."""

    def __init__(self, behaviour: _Behaviour) -> None:
        self._form = behaviour
        self._wanted = [*behaviour.applied]
        self.loaded: dict[str, _Tile] = {}
        self.sum: _Sum = Counter()
        self.saved: list[_Sum] = []
        self.applied: list[str] = []

    def run(self, opcode: Opcode, tiles: Mapping[str, _Tile]) -> list[list[_Stored]]:
        """Execute one opcode whose host sends `tiles`; returns what each of its stores sends."""
        stored = []
        for action in opcode.device:
            if isinstance(action, Load):
                self.loaded[action.operand] = tiles[action.operand]
            elif isinstance(action, Compute) and action.in_place:
                self.applied.append(action.in_place)
            elif isinstance(action, Compute):
                if self.applied and not self._form.overwrites:
                    raise _WrongOrderError
                if self._form.overwrites:
                    self.applied = []
                    self.sum = Counter()
                self.sum[tuple(self._tile(operand) for operand in self._form.inputs)] += 1
            elif isinstance(action, Save):
                self.saved.append(self.sum)
                self.sum = Counter()
            elif isinstance(action, Store | Requantise):
                results = self.saved if self._form.saves else [self.sum]
                scale = self._tile(CHANNELS) if isinstance(action, Requantise) else None
                if self.applied != self._wanted:
                    raise _WrongOrderError
                scale = _APPLIED if self.applied else scale
                stored.append([(Counter(result), scale) for result in results])
            elif isinstance(action, Clear):
                self.sum, self.saved, self.applied = Counter(), [], []
        return stored

    def _tile(self, operand: str) -> _Tile:
        if operand not in self.loaded:
            raise _WrongOrderError
        return self.loaded[operand]


class _Run:
    """A whole problem, for one order of the loops."""

    def __init__(self, behaviour: _Behaviour, flow: Scope, order: tuple[str, ...]) -> None:
        self._form = behaviour
        self._moved, self._opcodes = dict(behaviour.moved), dict(behaviour.opcodes)
        self._flow = flow
        self._order = order
        self._device = _Device(behaviour)
        self._result: dict[_Tile, _Sum] = {}
        self._requantised: set[_Tile] = set()

    def correct(self) -> bool:
        outer = len(self._order) - self._flow.depth + 1
        try:
            for name in self._form.init:
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
        opcode = self._opcodes[name]
        if any(a.dim not in index for a in opcode.host if isinstance(a, SendIdx)):
            raise _WrongOrderError
        tiles = {a.operand: self._tile(a.operand, index) for a in opcode.host if isinstance(a, Send)}
        received = [self._targets(index) for a in opcode.host if isinstance(a, Recv)]
        for targets, stored in zip(received, self._device.run(opcode, tiles), strict=True):
            if len(targets) != len(stored):
                raise _WrongOrderError
            for target, result in zip(targets, stored, strict=True):
                self._receive(target, *result)

    def _receive(self, target: _Tile, result: _Sum, scale: _Tile | None) -> None:
        before = self._result.setdefault(target, Counter())
        once = scale is not None or not self._form.adds_up
        if target in self._requantised or (once and before):
            raise _WrongOrderError
        if scale is not None:
            form = self._form
            self._requantised.add(target)
            if scale != _APPLIED and scale != (target[self._moved[form.output].index(form.channel)],):
                raise _WrongOrderError
        before.update(result)

    def _targets(self, index: dict[str, int]) -> list[_Tile]:
        """The tiles of the result that come back at once."""
        form = self._form
        dims = self._moved[form.output]
        if not form.saves:
            return [self._tile(form.output, index)]
        ranges = ((index[d],) if d in index else range(_TILES) for d in dims)
        return list(product(*ranges))

    def _tile(self, operand: str, index: dict[str, int]) -> _Tile:
        """Index of the operand's current tile; every one of its dims must have its loop around it."""
        dims = (self._form.channel,) if operand == CHANNELS else self._moved[operand]
        if not index.keys() >= set(dims):
            raise _WrongOrderError
        return tuple(index[d] for d in dims)

    def _expected(self) -> dict[_Tile, _Sum]:
        result: dict[_Tile, _Sum] = {}
        form = self._form
        for numbers in product(range(_TILES), repeat=len(form.loops)):
            index = dict(zip(form.loops, numbers, strict=True))
            inputs = tuple(self._tile(operand, index) for operand in form.inputs)
            result.setdefault(self._tile(form.output, index), Counter())[inputs] += 1
        return result


def loop_orders(spec: AcceleratorSpec, flow_name: str) -> list[tuple[str, ...]]:
    """All orders of the loops, outermost first, under which the flow computes C = A . B.

    They come in the order of the permutations of ``spec.form.loops``; the first is the default. The loops
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
    return [*_orders(_Behaviour.of(spec, flow), flow)]


@lru_cache(maxsize=1024)
def _orders(behaviour: _Behaviour, flow: Scope) -> tuple[tuple[str, ...], ...]:
    if flow.depth > len(behaviour.loops):
        return ()
    orders = permutations(behaviour.loops)
    return tuple(order for order in orders if _Run(behaviour, flow, order).correct())
