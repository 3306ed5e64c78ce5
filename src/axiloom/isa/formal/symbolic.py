"""Executes a model on terms: what is known stays a number, so only what data decide is left to a solver.

A memory is a dict from known addresses to terms; without a store its element is a constant of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import z3

from axiloom.isa.formal.graph import postorder
from axiloom.isa.formal.ila import Ila, Instruction, ModelError, Term

MOST_STEPS = 200_000

Stores = list[tuple[z3.BoolRef, Term, Term]]
"""What a step stores into a memory: under which condition, where, what; in order."""

Selects = Sequence[Sequence[tuple[Term, str, Term]]]
"""Elements that a step reads, with memory and address: first those whose address needs no element, then those
whose address needs the first ones, and so on."""


class Substitution:
    """Terms for terms, in many expressions: z3's own `substitute` checks every pair anew each time."""

    def __init__(self, pairs: Sequence[tuple[Term, Term]]) -> None:
        self._pairs = tuple(pairs)  # they live as long as their addresses are used
        self._context = z3.main_ctx().ref()
        self._from, self._to = (
            (z3.Ast * len(pairs))(*(pair[side].as_ast() for pair in pairs)) for side in (0, 1)
        )

    def __call__(self, term: Term) -> Term:
        made = z3.Z3_substitute(self._context, term.as_ast(), len(self._pairs), self._from, self._to)
        found: Term = z3.z3._to_expr_ref(made, z3.main_ctx())
        return found


class UnknownError(ModelError):
    """Why something cannot be executed: what comes next, or an address, depends on data."""


class LongError(UnknownError):
    """A program with more steps than are executed."""


class StopsError(ModelError):
    """A command that stops the device, whatever the data are."""


class _Step:
    """An instruction, taken apart when it is executed for the first time."""

    def __init__(self, instruction: Instruction) -> None:
        self.one = instruction
        self.decode = z3.simplify(instruction.decode)

    @cached_property
    def scalars(self) -> dict[str, Term]:
        return {name: term for name, term in self._flat.items() if not z3.is_array(term)}

    @cached_property
    def stores(self) -> dict[str, Stores]:
        arrays = {name: term for name, term in self._flat.items() if z3.is_array(term)}
        return {name: [*_stores(term, z3.BoolVal(True))] for name, term in arrays.items()}

    @cached_property
    def _flat(self) -> dict[str, Term]:
        return {name: _without_stores(z3.simplify(term)) for name, term in self.one.updates.items()}

    @cached_property
    def selects(self) -> Selects:
        return _needed(self.scalars, self.stores)

    prune = False
    """Whether an address was data in a part that does not come to pass: that part is left out first."""


class Steps:
    """A model's instructions, each taken apart once for all machines that execute it."""

    def __init__(self, model: Ila) -> None:
        self._place = model.states.get("step")
        own = {id(instruction) for instruction in model.instructions}
        self.commands = [_Step(instruction) for instruction in model.instructions]
        self._program = [_Step(one) for one in model.everything() if id(one) not in own]
        self._by_place: dict[int, list[_Step]] = {}

    def candidates(self, place: Term | None) -> list[_Step]:
        """Steps that can be enabled where `step` stands: most are of another place."""
        if place is None or not z3.is_bv_value(place):
            return self._program
        number = place.as_long()
        if number not in self._by_place:
            pair = (self._place, place)
            self._by_place[number] = [
                one for one in self._program if not z3.is_false(z3.simplify(z3.substitute(one.decode, pair)))
            ]
        return self._by_place[number]


class Machine:
    """A model in its reset state, executed on terms: of a command at most so many steps. `apart`: of the
    model, for who executes it more than once.

    Attributes: `state` by name, and `memories`, each a dict from address to term; `steps` so far.
    """

    def __init__(self, model: Ila, most: int = MOST_STEPS, apart: Steps | None = None) -> None:
        self.model, self.most = model, most
        self.state: dict[str, Term] = {}
        self.memories: dict[str, dict[int, Term]] = {}
        for name, term in model.states.items():
            if z3.is_array(term):
                self.memories[name] = {}
            elif name in model.init:
                self.state[name] = z3.BitVecVal(model.init[name], term.sort())
            else:
                self.state[name] = z3.Const(f"{name}@reset", term.sort())
        self.steps = 0
        self.stored: set[tuple[str, int]] = set()
        """Elements that commands wrote."""
        self._apart = apart or Steps(model)

    def element(self, memory: str, address: int) -> Term:
        """What a memory has at an address."""
        known = self.memories[memory]
        if address not in known:
            # A constant and no Select: what an element was at first is never taken for what it is now.
            known[address] = z3.Const(f"{memory}@{address}", self.model.states[memory].sort().range())
        return known[address]

    def command(self, inputs: Mapping[str, Term]) -> list[str]:
        """Executes a command and the program that it starts; returns the paths of its steps.

        Raises UnknownError, LongError for more steps than `most`, and StopsError for a command that stops the
        device.
        """
        pairs = [(self.model.inputs[name], term) for name, term in inputs.items()]
        done = [self._fire(self._apart.commands, pairs)]
        if done[0] is None:
            raise StopsError(f"{self.model.name} takes no command now")
        while path := self._fire(self._apart.candidates(self.state.get("step")), pairs):
            done.append(path)
            if len(done) > self.most:
                raise LongError(f"{done[0]}: more than {self.most} steps")
        error = self.state.get("error")
        if error is not None and not (z3.is_bv_value(error) and error.as_long() == 0):
            raise StopsError(f"{done[0]}: the device stops: error {error}")
        self.steps += len(done)
        return [one for one in done if one]

    def _fire(self, steps: Sequence[_Step], inputs: Sequence[tuple[Term, Term]]) -> str | None:
        pairs = [*inputs, *((self.model.states[name], term) for name, term in self.state.items())]
        known = Substitution(pairs)
        for step in steps:
            decode = self._decided(z3.simplify(known(step.decode)))
            if z3.is_false(decode):
                continue
            if not z3.is_true(decode):
                raise UnknownError(f"{step.one.path}: whether it comes next depends on data")
            self._execute(step, pairs, known)
            return step.one.path
        return None

    def _decided(self, condition: Term) -> Term:
        """With the elements of memories that it looks at, as far as their addresses are known."""
        while not z3.is_true(condition) and not z3.is_false(condition):
            pairs = [
                (select, self.element(select.arg(0).decl().name(), select.arg(1).as_long()))
                for select in _selects([condition])
                if z3.is_bv_value(select.arg(1))
            ]
            if all(one.eq(element) for one, element in pairs):
                break
            condition = z3.simplify(Substitution(pairs)(condition))
        return condition

    def _execute(self, step: _Step, pairs: Sequence[tuple[Term, Term]], known: Substitution) -> None:
        if not step.prune:
            try:
                self._run(step.one.path, step.scalars, step.stores, step.selects, pairs, known)
                return
            except UnknownError:
                step.prune = True
        scalars = {name: self._pruned(known(term)) for name, term in step.scalars.items()}
        stores: dict[str, Stores] = {}
        for memory, store in step.stores.items():
            held = [(self._pruned(known(condition)), at, value) for condition, at, value in store]
            stores[memory] = [
                (condition, self._pruned(known(at)), self._pruned(known(value)))
                for condition, at, value in held
                if not z3.is_false(condition)
            ]
        self._run(step.one.path, scalars, stores, _needed(scalars, stores), pairs, known)

    def _pruned(self, term: Term) -> Term:
        """Without what known elements of memories rule out."""
        term = z3.simplify(term)
        while True:
            pairs = [
                (select, element)
                for select in _selects([term])
                if z3.is_bv_value(select.arg(1))
                and z3.is_bv_value(
                    element := self.element(select.arg(0).decl().name(), select.arg(1).as_long())
                )
            ]
            if not pairs:
                return term
            term = z3.simplify(Substitution(pairs)(term))

    def _run(
        self,
        path: str,
        scalars: Mapping[str, Term],
        stores: Mapping[str, Stores],
        selects: Selects,
        given: Sequence[tuple[Term, Term]],
        known: Substitution,
    ) -> None:
        pairs = [*given]
        for level in selects:
            for select, memory, at in level:
                address = self._number(known(at), f"{path}: an address of {memory}")
                pairs.append((select, self.element(memory, address)))
            known = Substitution(pairs)
        new = {name: z3.simplify(known(term)) for name, term in scalars.items()}
        stored: list[tuple[str, int, Term]] = []
        for memory, store in stores.items():
            for condition, at, value in store:
                holds = z3.simplify(known(condition))
                if z3.is_false(holds):
                    continue
                address = self._number(known(at), f"{path}: an address of {memory}")
                term = z3.simplify(known(value))
                if not z3.is_true(holds):
                    term = z3.If(holds, term, self.element(memory, address))
                stored.append((memory, address, term))
        self.state |= new
        for memory, address, term in stored:
            self.memories[memory][address] = term
            self.stored.add((memory, address))

    def _number(self, term: Term, what: str) -> int:
        found = z3.simplify(term)
        if not z3.is_bv_value(found):
            raise UnknownError(f"{what} depends on data")
        value: int = found.as_long()
        return value


def _stores(memory: Term, condition: z3.BoolRef) -> Iterator[tuple[z3.BoolRef, Term, Term]]:
    if z3.is_store(memory):
        before, address, value = memory.children()
        yield from _stores(before, condition)
        yield condition, address, value
    elif z3.is_app_of(memory, z3.Z3_OP_ITE):
        chosen, yes, no = memory.children()
        yield from _stores(yes, z3.And(condition, chosen))
        yield from _stores(no, z3.And(condition, z3.Not(chosen)))


def _needed(scalars: Mapping[str, Term], stores: Mapping[str, Stores]) -> Selects:
    stored = [part for store in stores.values() for each in store for part in each]
    levels: list[list[tuple[Term, str, Term]]] = []
    level_of: dict[int, int] = {}
    for select in _selects([*scalars.values(), *stored]):
        memory, address = select.children()
        level = max((level_of[one.get_id()] + 1 for one in _selects([address])), default=0)
        level_of[select.get_id()] = level
        levels += [[] for _ in range(level + 1 - len(levels))]
        levels[level].append((select, memory.decl().name(), address))
    return levels


def _selects(terms: Sequence[Term]) -> list[Term]:
    return [term for term in postorder(terms) if z3.is_select(term)]


def _without_stores(term: Term) -> Term:
    """The same with each element read of a memory as it was before the step."""
    while True:
        pairs = []
        for select in _selects([term]):
            memory, address = select.children()
            if z3.is_const(memory):
                continue
            if any(not z3.is_const(inner.arg(0)) for inner in _selects([address])):
                continue  # the next time around
            pairs.append((select, _read(memory, address)))
        if not pairs:
            return term
        term = z3.simplify(z3.substitute(term, *pairs))


def _read(memory: Term, address: Term) -> Term:
    if z3.is_store(memory):
        before, at, value = memory.children()
        same = z3.simplify(at == address)
        if z3.is_true(same):
            return value
        return _read(before, address) if z3.is_false(same) else z3.If(same, value, _read(before, address))
    if z3.is_app_of(memory, z3.Z3_OP_ITE):
        chosen, yes, no = memory.children()
        return z3.If(chosen, _read(yes, address), _read(no, address))
    return z3.Select(memory, address)
