"""`with_spills`: a program where values that have no room are stored, and loaded again when they are read.

The instructions that compute are executed in an order; moves are made when they are needed. What has to
leave a memory is what is read last (Belady), copies elsewhere first; what is nowhere else is moved to where
there is room, in the end to the host's memory.

Where an order does not fit, values are put aside by hand. `allocate` loads again what the host has; it does
not invent stores. A list with Belady's choice does, in milliseconds, for graphs of any size. Its program is
within a few percent of what the chosen instructions alone take, which is a bound for every order, and is
printed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from axiloom.base.errors import CompileError
from axiloom.selection.compile.cover import Cell, Cover, HostValue, Made
from axiloom.selection.compile.order import orders
from axiloom.selection.compile.steps import Do, base_cells
from axiloom.selection.compile.target import Target, path
from axiloom.selection.compile.views import View
from axiloom.selection.machine.derive import Meaning

NEVER = 1 << 60


def with_spills(cover: Cover, target: Target) -> tuple[Do, ...]:
    """The cheapest of a few orders. Raises CompileError where one instruction alone has no room."""
    best: tuple[int, tuple[Do, ...]] | None = None
    fault: CompileError | None = None
    for order in orders(cover, target):
        try:
            steps = tuple(_Run(cover, target, order).run())
        except CompileError as error:
            fault = fault or error
            continue
        cycles = sum(target.cycles(step.meaning) for step in steps)
        if best is None or cycles < best[0]:
            best = cycles, steps
    if best is None:
        assert fault is not None
        raise fault
    return best[1]


@dataclass
class _Run:
    cover: Cover
    target: Target
    order: Sequence[Cell]
    done: list[Do] = field(default_factory=list)
    where: dict[Cell, int] = field(default_factory=dict)
    """Addresses of what is in device memories now."""
    host: set[int] = field(default_factory=set)
    """Classes that are in the host's memory."""
    now: int = 0
    pending: set[Cell] = field(default_factory=set)
    """Operands that the instruction at hand still waits for."""

    def run(self) -> list[Do]:
        self.memories = sorted({meaning.result.memory for meaning in self.cover.meanings})
        self.host = {cell[0] for cell, way in self.cover.ways.items() if isinstance(way, HostValue)}
        self.uses: dict[int, list[int]] = defaultdict(list)
        for turn, cell in enumerate(self.order):
            for need in self._made(cell).operands:
                for eclass, _ in base_cells(self.cover, need):
                    self.uses[eclass].append(turn)
                self.uses[need[0]].append(turn)
        wanted = {base[0] for cell in self.cover.results for base in base_cells(self.cover, cell)}
        for turn, cell in enumerate(self.order):
            self.now = turn
            self._execute(cell)
            # A result leaves as soon as it is there: nothing has to keep it.
            if cell[0] in wanted and cell[0] not in self.host:
                self._store(cell[0], {cell})
        for eclass in sorted(wanted - self.host):
            self._store(eclass, set())
        return self.done

    def _made(self, cell: Cell) -> Made:
        way = self.cover.ways[cell]
        assert isinstance(way, Made)
        return way

    def _execute(self, cell: Cell) -> None:
        """One instruction. Room for its result is made when its operands are there; where they leave none for
        what has to move then, before."""
        before = list(self.done), dict(self.where), set(self.host)
        try:
            self._prepared(cell, early=False)
        except CompileError:
            if self._made(cell).meaning.in_place is not None:
                raise
            self.done, self.where, self.host = before
            self._prepared(cell, early=True)

    def _prepared(self, cell: Cell, *, early: bool) -> None:
        way = self._made(cell)
        meaning, locked = way.meaning, set(way.operands)
        room = (cell[1], self.target.units(cell[1], meaning.result.type))
        free, on_host = bool(meaning.result.field), cell[1] == self.target.host
        self.pending = set(way.operands)
        if early and not on_host:
            # Operands may have to leave as well: they are needed now, so they go last, and come back.
            self._room(*room, set(), free)
        for need in way.operands:
            self._bring(need, locked)
        self.pending = set()
        if meaning.in_place is not None:
            taken = way.operands[meaning.in_place]
            if self._next(taken[0]) < NEVER and not self._elsewhere(taken):
                self._save(taken, locked)
            at: int | None = self.where[taken]
            addresses = [self._at(need) for need in way.operands]
            del self.where[taken]
        else:
            at = None if on_host else self._room(*room, locked, free)
            addresses = [self._at(need) for need in way.operands]
        self._emit(meaning, way.operands, cell, addresses, at)

    def _emit(
        self,
        meaning: Meaning,
        operands: Sequence[Cell],
        result: Cell,
        addresses: Sequence[int | None],
        at: int | None,
    ) -> None:
        self.done.append(Do(meaning, tuple(operands), result, tuple(addresses), at))
        if at is None:
            self.host.add(result[0])
        else:
            self.where[result] = at

    def _at(self, cell: Cell) -> int | None:
        return None if cell[1] == self.target.host else self.where[cell]

    def _next(self, eclass: int) -> int:
        if any(eclass == cell[0] for cell in self.pending):
            return self.now
        return next((turn for turn in self.uses[eclass] if turn > self.now), NEVER)

    def _elsewhere(self, cell: Cell) -> bool:
        return cell[0] in self.host or any(other[0] == cell[0] and other != cell for other in self.where)

    # --- moves --------------------------------------------------------------------------------------------

    def _bring(self, cell: Cell, locked: set[Cell]) -> None:
        """A value to a memory, by moves."""
        eclass, memory = cell
        if memory == self.target.host:
            for base, _ in base_cells(self.cover, cell) if cell in self.cover.ways else [cell]:
                if base not in self.host:
                    self._store(base, locked)
            self.host.add(eclass)
            return
        if cell in self.where:
            return
        type_ = self.cover.saturated.types[eclass]
        sources = [m for (c, m) in self.where if c == eclass]
        view = (eclass, self.target.host)
        if eclass in self.host or isinstance(self.cover.ways.get(view), View):
            sources.append(self.target.host)
        for source in sources:
            move = path(self.cover.meanings, source, memory, type_)
            if move is not None:
                if source == self.target.host:
                    self._bring(view, locked)
                self._move(move, (eclass, source), memory, locked)
                return
        for source in sources:  # two moves: through a memory between, in the end the host's
            for between in [self.target.host, *self.memories]:
                first = path(self.cover.meanings, source, between, type_)
                if first is not None and path(self.cover.meanings, between, memory, type_) is not None:
                    self._move(first, (eclass, source), between, locked | {cell})
                    self._bring(cell, locked)
                    return
        raise CompileError(
            f"no instruction brings {type_} from {', '.join(sources) or 'nowhere'} to {memory}"
        )

    def _move(self, move: Meaning, source: Cell, memory: str, locked: set[Cell]) -> None:
        target: Cell = source[0], memory
        if memory == self.target.host:
            self._emit(move, (source,), target, (self.where[source],), None)
            return
        units = self.target.units(memory, move.result.type)
        at = self._room(memory, units, locked | {source}, bool(move.result.field))
        self._emit(move, (source,), target, (self._at(source),), at)

    def _store(self, eclass: int, locked: set[Cell]) -> None:
        """To the host's memory, through others if need be."""
        type_ = self.cover.saturated.types[eclass]
        here = [cell for cell in self.where if cell[0] == eclass]
        for cell in here:
            move = path(self.cover.meanings, cell[1], self.target.host, type_)
            if move is not None:
                self._move(move, cell, self.target.host, locked)
                return
        for cell in here:
            for between in self.memories:
                first = path(self.cover.meanings, cell[1], between, type_)
                if first is not None and path(self.cover.meanings, between, self.target.host, type_):
                    self._move(first, cell, between, locked)
                    self._store(eclass, locked)
                    return
        raise CompileError(f"no instruction stores {type_} from {', '.join(m for _, m in here) or 'nowhere'}")

    # --- room ---------------------------------------------------------------------------------------------

    def _room(self, memory: str, units: int, locked: set[Cell], free: bool) -> int:
        """An address with that much room; `free`: any address does, else 0 alone."""
        size = self.target.size(memory)
        while True:
            held = sorted(
                (at, self._units(cell), cell) for cell, at in self.where.items() if cell[1] == memory
            )
            at = 0
            for begin, length, _ in held:
                if begin - at >= units:
                    break
                at = max(at, begin + length)
            if at + units <= size and (free or at == 0):
                return at
            victims = [cell for _, _, cell in held if cell not in locked]
            if not victims:
                wanted = sum(self._units(cell) for cell in locked if cell[1] == memory)
                wanted += units if wanted <= size else 0  # else the value is one of them
                name = self._made(self.order[self.now]).meaning.instruction
                raise CompileError(
                    f"{self.target.isa.name}: {memory} has {size} rows, and {name} alone needs {wanted} there"
                )
            self._evict(
                max(victims, key=lambda cell: (self._next(cell[0]), self._elsewhere(cell), cell)), locked
            )

    def _units(self, cell: Cell) -> int:
        return self.target.units(cell[1], self.cover.saturated.types[cell[0]])

    def _evict(self, cell: Cell, locked: set[Cell]) -> None:
        if self._next(cell[0]) < NEVER and not self._elsewhere(cell):
            self._save(cell, locked)
        self.where.pop(cell, None)

    def _save(self, cell: Cell, locked: set[Cell]) -> None:
        """A second copy, wherever there is room: the host's memory always has."""
        self._store(cell[0], locked | {cell})
