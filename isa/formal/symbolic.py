"""Executes a model on terms: what is known stays a number, so only what data decide is left to a solver.

A memory is a dict from known addresses to terms; where nothing was stored its element is a constant of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import z3

from axiloom.isa.formal.ila import Ila, Instruction, ModelError, Term

MOST_STEPS = 200_000

Stores = list[tuple[z3.BoolRef, Term, Term]]
"""What a step stores into a memory: under which condition, where, what; in order."""


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


class _Step:
    """An instruction, taken apart when it is executed for the first time."""

    def __init__(self, one: Instruction) -> None:
        self.one = one
        self.decode = z3.simplify(one.decode)

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
    def selects(self) -> tuple[tuple[Term, bool], ...]:
        """Elements that it reads, those that an address needs before it; whether its address needs any."""
        stored = [part for found in self.stores.values() for each in found for part in each]
        found = _selects([*self.scalars.values(), *stored])
        return tuple((select, bool(_selects([select.arg(1)]))) for select in found)


class Machine:
    """A model in its reset state, executed on terms.

    Attributes: `state` by name, and `memories`, each a dict from address to term; `steps` so far.
    """

    def __init__(self, model: Ila) -> None:
        self.model = model
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
        own = {id(one) for one in model.instructions}
        self._commands = [_Step(one) for one in model.instructions]
        self._program = [_Step(one) for one in model.everything() if id(one) not in own]
        self._by_place: dict[int, list[_Step]] = {}

    def element(self, memory: str, address: int) -> Term:
        """What a memory has at an address."""
        known = self.memories[memory]
        if address not in known:
            known[address] = z3.Select(self.model.states[memory], address)
        return known[address]

    def command(self, inputs: Mapping[str, Term]) -> list[str]:
        """Executes a command and the program that it starts; returns the paths of its steps.

        Raises UnknownError, and ModelError for a command that stops the device.
        """
        pairs = [(self.model.inputs[name], term) for name, term in inputs.items()]
        done = [self._fire(self._commands, pairs)]
        if done[0] is None:
            raise ModelError(f"{self.model.name} takes no command now")
        while path := self._fire(self._candidates(), pairs):
            done.append(path)
            if len(done) > MOST_STEPS:
                raise UnknownError(f"{done[0]}: more than {MOST_STEPS} steps")
        error = self.state.get("error")
        if error is not None and not (z3.is_bv_value(error) and error.as_long() == 0):
            raise ModelError(f"{done[0]}: the device stops: error {error}")
        self.steps += len(done)
        return [one for one in done if one]

    def _candidates(self) -> list[_Step]:
        """Steps that can be enabled where `step` stands: most are of another place."""
        place = self.state.get("step")
        if place is None or not z3.is_bv_value(place):
            return self._program
        number = place.as_long()
        if number not in self._by_place:
            pair = (self.model.states["step"], place)
            self._by_place[number] = [
                one for one in self._program if not z3.is_false(z3.simplify(z3.substitute(one.decode, pair)))
            ]
        return self._by_place[number]

    def _fire(self, steps: Sequence[_Step], inputs: Sequence[tuple[Term, Term]]) -> str | None:
        pairs = [*inputs, *((self.model.states[name], term) for name, term in self.state.items())]
        known = Substitution(pairs)
        for step in steps:
            decode = z3.simplify(known(step.decode))
            if z3.is_false(decode):
                continue
            if not z3.is_true(decode):
                raise UnknownError(f"{step.one.path}: whether it comes next depends on data")
            self._execute(step, pairs, known)
            return step.one.path
        return None

    def _execute(self, step: _Step, pairs: list[tuple[Term, Term]], known: Substitution) -> None:
        path = step.one.path
        for select, depends in step.selects:
            if depends:  # its address has elements in it
                known = Substitution(pairs)
            memory = select.arg(0).decl().name()
            address = self._number(known(select.arg(1)), f"{path}: an address of {memory}")
            pairs.append((select, self.element(memory, address)))
        known = Substitution(pairs)
        new = {name: z3.simplify(known(term)) for name, term in step.scalars.items()}
        stored: list[tuple[str, int, Term]] = []
        for memory, stores in step.stores.items():
            for condition, at, value in stores:
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


def postorder(terms: Sequence[Term]) -> Iterator[Term]:
    """Every node of the terms once, children first."""
    seen: set[int] = set()
    stack = [(term, False) for term in reversed(terms)]
    while stack:
        term, ready = stack.pop()
        if term.get_id() in seen:
            continue
        if ready:
            seen.add(term.get_id())
            yield term
        else:
            stack.append((term, True))
            stack.extend((child, False) for child in term.children())


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
