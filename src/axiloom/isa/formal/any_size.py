"""A mapping at all sizes at once: one arbitrary element of the result, and what each turn of a loop keeps.

Of a mapping whose kernel is a nest of loops around one assignment, whose commands are single ones and nests
around one, and in which one command starts a program. ``where()`` says for each tensor at which place an
element lies, and in which turn of the loops it gets there:

    place(y[t, n], large[16 * t + n // 16, n % 16], t=t, v=n // 16)

What is proved: before the program each element that the result's needs is at its place; as long as the
result's turn is not over, they stay there; from its turn on the result is at its own place, and stays. A step
is shown to keep this from any state in which it holds: nothing is unrolled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import z3

from axiloom.base.errors import SpecError
from axiloom.isa.formal import limited
from axiloom.isa.formal.arbitrary import Arbitrary, Cover, Element
from axiloom.isa.formal.ila import Instruction, Term
from axiloom.isa.formal.programs import Model, model_of
from axiloom.isa.formal.sound import Claim
from axiloom.isa.formal.values import PRODUCTS, Terms, Value, address_bits
from axiloom.isa.instructions.mappings import Command, Mapped, Place
from axiloom.isa.instructions.tree import (
    Apply,
    Call,
    Const,
    Expr,
    For,
    Let,
    Memory,
    Name,
    Range,
    Statement,
    Write,
)  # fmt: skip
from axiloom.isa.instructions.walk import blocks, exprs, parts, writes

MOST_LANES = 64
"""Turns of a kernel's loop that are looked at one by one."""


@dataclass(frozen=True)
class Source:
    """An element of a tensor, with its index, at its place in a memory of the target."""

    tensor: str
    index: tuple[Value, ...]
    element: Element

    @property
    def memory(self) -> str:
        return self.element.memory

    @property
    def address(self) -> z3.BitVecRef:
        return self.element.address


@dataclass
class AnySize:
    """What is to be proved of a mapping at all its sizes.

    `opaque`: the functions that the kernel calls. Whatever they compute, the mapping holds.
    """

    opaque: tuple[str, ...] = ()
    claims: list[Claim] = field(default_factory=list)
    covers: list[Cover] = field(default_factory=list)


@dataclass
class _Reading(Terms):
    """Tells of each element that is read, with its index."""

    reads: list[tuple[Memory, tuple[Value, ...], z3.BitVecRef]] = field(default_factory=list)

    def address(self, memory: Memory, index: Sequence[Expr]) -> z3.BitVecRef:
        found = super().address(memory, index)
        self.reads.append((memory, tuple(self.value(one) for one in index), found))
        return found


def any_size(mapped: Mapped, *, exact: bool = False) -> AnySize:
    """What is to be proved. `mapped` is read for any size. Raises SpecError for what has another form.

    Products, and functions that the kernel calls, stay uninterpreted: what holds then holds. What does not
    may hold with `exact` ones.
    """
    for write in writes(mapped.parts["program"]):
        why = f"program writes {write.memory.name}: a mapping that does is proved at given sizes"
        raise SpecError([f"{mapped.place}:{write.line}: {why}"])
    return _Proof(mapped, exact).made


class _Proof:
    def __init__(self, mapped: Mapped, exact: bool) -> None:
        self.mapped = mapped
        self.opaque = () if exact else (*functions_of(mapped.parts["kernel"]), PRODUCTS)
        self.made = AnySize(self.opaque)
        self.sizes = {
            size.name: Value(z3.BitVec(size.name, size.range.bits), size.range)
            for size in mapped.sizes.values()
        }
        self.given = z3.And(
            *(
                self._size(self.sizes[size.name], size.least, size.most, size.multiple)
                for size in mapped.sizes.values()
            )
        )
        self.tensors = {
            name: z3.Array(name, z3.BitVecSort(address_bits(tensor)), z3.BitVecSort(tensor.type.bits))
            for name, tensor in mapped.tensors.items()
        }
        self.model: Model = model_of(mapped.target, only=self._needed(), opaque=self.opaque)
        self.ila = self.model.ila
        self.state: dict[str, Term] = {
            name: term
            if z3.is_array(term)
            else z3.BitVecVal(self.ila.init[name], term.sort())
            if name in self.ila.init
            else z3.Const(f"{name}@reset", term.sort())
            for name, term in self.ila.states.items()
        }
        self.facts: list[Source] = []
        """Elements that are at their place by now."""
        self._kernel()
        self._program()
        self._result()

    # --- helpers ------------------------------------------------------------------------------------------

    def fault(self, line: int, why: str) -> SpecError:
        return SpecError([f"{self.mapped.place}:{line}: {why}"])

    def _needed(self) -> set[str]:
        """The instructions that its commands may be, whatever the sizes."""
        bare = model_of(self.mapped.target, only=())
        known = dict(self.sizes)
        found: set[str] = set()

        def walk(block: Sequence[Statement | Command]) -> None:
            for one in block:
                terms = Terms(
                    bare.ila, bare.kinds, {**bare.ila.states, **self.tensors}, known, lambda *_: None
                )
                if isinstance(one, Let):
                    known[one.name] = terms.value(one.value)
                elif isinstance(one, For):
                    kind = one.iterator.range
                    known[one.iterator.name] = Value(z3.BitVec(one.iterator.name, kind.bits), kind)
                    walk(one.body)
                elif isinstance(one, Command):
                    pairs = [
                        (term, terms.value(one.inputs[name]).wide(term.size()) if name in one.inputs
                         else z3.BitVecVal(0, term.sort()))
                        for name, term in bare.ila.inputs.items()
                    ]  # fmt: skip
                    for name, when in bare.when.items():
                        if not z3.is_false(z3.simplify(z3.substitute(when, *pairs))):
                            found.add(name)

        walk(self.mapped.parts["program"])
        return found

    def _size(self, value: Value, least: int, most: int, multiple: int) -> z3.BoolRef:
        wide = value.wide(value.range.bits + 1)
        return z3.And(z3.UGE(wide, least), z3.ULE(wide, most), z3.URem(wide, multiple) == 0)

    def _terms(
        self, known: Mapping[str, Value], line: int, name: str, given: Sequence[z3.BoolRef]
    ) -> _Reading:
        def within(memory: Memory, inside: z3.BoolRef, at: int) -> None:
            formula = z3.simplify(z3.Implies(z3.And(self.given, *given), inside))
            if not z3.is_true(formula):
                self._claim(f"{name}: index of {memory.name}", f"line {at}: it lies within", formula)

        state = {**self.state, **self.tensors}
        kinds = self.model.kinds
        return _Reading(self.ila, kinds, state, {**self.sizes, **known}, within, line, self.opaque)

    def _claim(self, name: str, text: str, formula: z3.BoolRef) -> None:
        self.made.claims.append(Claim(name, text, formula))

    def _nest(
        self, block: Sequence[Statement | Command], what: str
    ) -> tuple[list[For], list[Let], Statement | Command]:
        """The loops of a nest, what is bound in it, and the one thing that it does."""
        loops: list[For] = []
        lets: list[Let] = []
        while True:
            if not block:
                raise SpecError([f"{self.mapped.place}: {what} does nothing"])
            *before, last = block
            for one in before:
                if not isinstance(one, Let):
                    raise self.fault(one.line, f"{what}: for all sizes, a nest of loops does one thing")
                lets.append(one)
            if isinstance(last, For):
                loops.append(last)
                block = last.body
            else:
                return loops, lets, last

    def _turn(self, loops: Sequence[For], suffix: str) -> tuple[dict[str, Value], z3.BoolRef]:
        """Constants for the iterators of a nest, and that they lie in their bounds."""
        known: dict[str, Value] = {}
        within: list[z3.BoolRef] = []
        for loop in loops:
            kind = loop.iterator.range
            name = loop.iterator.name
            known[name] = Value(z3.BitVec(f"{name}{suffix}", kind.bits), kind)
            within.append(self._inside(loop, known[name], known))
        return known, z3.And(*within) if within else z3.BoolVal(True)

    def _inside(self, loop: For, at: Value, known: Mapping[str, Value]) -> z3.BoolRef:
        terms = self._terms(known, loop.line, "a loop", ())
        bits = 64
        low, high = terms.value(loop.low).wide(bits), terms.value(loop.high).wide(bits)
        return z3.And(low <= at.wide(bits), at.wide(bits) < high)

    # --- the kernel: one element --------------------------------------------------------------------------

    def _kernel(self) -> None:
        loops, lets, write = self._nest(self.mapped.parts["kernel"], "kernel")
        names = [loop.iterator.name for loop in loops]
        plain = (
            isinstance(write, Write)
            and [one.name if isinstance(one, Name) else "" for one in write.index] == names
        )
        if not isinstance(write, Write) or not plain:
            raise self.fault(
                write.line, "for all sizes, kernel assigns one element, whose index are the loops' iterators"
            )
        known, self.domain = self._turn(loops, "_own")
        self.lanes = {
            known[loop.iterator.name].term: loop.high.value
            for loop in loops
            if loop.low == Const(0) and isinstance(loop.high, Const) and loop.high.value <= MOST_LANES
        }
        terms = self._terms(known, write.line, "kernel", [self.domain])
        for let in lets:
            terms.locals[let.name] = terms.value(let.value)
        terms.reads.clear()
        wanted = terms.value(write.value).wide(write.memory.type.bits)
        self.made.covers.append(Cover("kernel: an element", z3.And(self.given, self.domain)))
        self.index = tuple(known[name] for name in names)
        reads = {address.get_id(): (memory, index, address) for memory, index, address in terms.reads}
        self.sources = [
            self._placed(memory.name, index, z3.Select(self.tensors[memory.name], address))
            for memory, index, address in reads.values()
        ]
        self.goal = self._placed(write.memory.name, self.index, wanted)

    def _place(self, tensor: str) -> Place:
        if tensor not in self.mapped.places:
            raise SpecError(
                [f"{self.mapped.place}: for all sizes, where() says place({tensor}[...], MEMORY[...], ...)"]
            )
        return self.mapped.places[tensor]

    def _placed(self, tensor: str, index: tuple[Value, ...], value: z3.BitVecRef) -> Source:
        place = self._place(tensor)
        known = dict(zip(place.names, index, strict=True))
        terms = self._terms(known, place.line, f"place of {tensor}", [self.domain])
        address = terms.address(place.memory, place.index)
        return Source(tensor, index, Element(place.memory.name, address, value))

    def _turns(self, tensor: str, index: tuple[Value, ...]) -> dict[str, Value]:
        """In which turn of the loops an element gets to its place."""
        place = self._place(tensor)
        terms = self._terms(dict(zip(place.names, index, strict=True)), place.line, "a turn", [self.domain])
        return {name: terms.value(one) for name, one in place.turn.items()}

    # --- commands -----------------------------------------------------------------------------------------

    def _program(self) -> None:
        started = False
        lets: dict[str, Value] = {}
        for one in self.mapped.parts["program"]:
            if started:
                raise self.fault(one.line, "for all sizes, nothing comes after the command of the program")
            if isinstance(one, Let):
                lets[one.name] = self._terms(lets, one.line, "program", ()).value(one.value)
            elif isinstance(one, Command):
                started = self._command(one, lets)
            elif isinstance(one, For):
                self._stores(one, lets)
            else:
                raise self.fault(
                    one.line, "for all sizes, program has commands and nests of loops around one"
                )
        if not started:
            raise SpecError([f"{self.mapped.place}: no command starts a program: prove it at given sizes"])

    def _inputs(
        self, command: Command, known: Mapping[str, Value], condition: z3.BoolRef
    ) -> list[tuple[Term, Term]]:
        terms = self._terms(known, command.line, "a command", [condition])
        zero = {name: z3.BitVecVal(0, term.sort()) for name, term in self.ila.inputs.items()}
        found = {
            name: z3.simplify(terms.value(value).wide(zero[name].size()))
            for name, value in command.inputs.items()
        }
        return [(self.ila.inputs[name], term) for name, term in {**zero, **found}.items()]

    def _instruction(
        self, pairs: Sequence[tuple[Term, Term]], condition: z3.BoolRef, line: int
    ) -> Instruction:
        """The one that comes: of those that may, the only one that is not refuted quickly."""
        may = []
        for one in self.ila.instructions:
            decode = z3.simplify(z3.substitute(one.decode, *pairs))
            if z3.is_false(decode):
                continue
            solver = limited.solver(limited.QUICK_S, "QF_AUFBV")
            solver.add(self.given, condition, decode)
            if solver.check() != z3.unsat:
                may.append((one, decode))
        if len(may) != 1:
            names = ", ".join(one.name for one, _ in may) or "none"
            raise self.fault(line, f"which instruction comes is not known for all sizes: {names}")
        one, decode = may[0]
        self._claim(
            f"line {line}: {one.name}",
            "it is what comes, and legal",
            z3.Implies(z3.And(self.given, condition), decode),
        )
        return one

    def _substituted(self) -> list[tuple[Term, Term]]:
        return [(self.ila.states[name], term) for name, term in self.state.items()]

    def _command(self, command: Command, known: Mapping[str, Value]) -> bool:
        """A command by itself; returns whether it starts a program."""
        true = z3.BoolVal(True)
        pairs = [*self._inputs(command, known, true), *self._substituted()]
        one = self._instruction(pairs, true, command.line)
        self.state |= {name: z3.simplify(z3.substitute(term, *pairs)) for name, term in one.updates.items()}
        if one.name in self.model.programs:
            self._started(one)
            return True
        return False

    def _stores(self, loop: For, known: Mapping[str, Value]) -> None:
        """A nest of loops around a command that stores: what is stored stays."""
        loops, lets, command = self._nest([loop], "program")
        if not isinstance(command, Command):
            raise self.fault(command.line, "for all sizes, a nest of program has one command")
        turn, inside = self._turn(loops, "_any")
        one, after = self._stored(command, lets, {**known, **turn}, inside)
        memory = next(iter(after))
        name = f"{one.name} (line {command.line})"
        for source in self.facts:
            if source.memory == memory:
                kept = z3.Select(after[memory], source.address) == z3.Select(
                    self.state[memory], source.address
                )
                self._always(f"{name}: {source.tensor}", "it keeps what is there", z3.Implies(inside, kept))
        for number_, source in enumerate(self.sources):
            if source.memory != memory or set(self._turns(source.tensor, source.index)) != set(turn):
                continue
            own = self._turns(source.tensor, source.index)
            within = z3.And(*(self._inside(each, own[each.iterator.name], own) for each in loops))
            _, mine = self._stored(command, lets, {**known, **own}, within, claim=False)
            text = f"{name}: {source.tensor}.{number_}"
            self._always(
                f"{text} in bounds", "the turn of an element that is needed lies in the loops", within
            )
            there = z3.Select(mine[memory], source.address) == source.element.value
            self._always(f"{text} is stored", "in its turn an element comes to its place", there)
            same = z3.And(*(turn[key].wide(64) == own[key].wide(64) for key in turn))
            kept = z3.Select(after[memory], source.address) == z3.Select(self.state[memory], source.address)
            stays = z3.Implies(z3.And(inside, z3.Not(same)), kept)
            self._always(f"{text} stays", "no other turn stores there: the layout is injective", stays)
            self.facts.append(source)
        self.state[memory] = z3.Const(f"{memory}@{command.line}", self.state[memory].sort())

    def _stored(
        self,
        command: Command,
        lets: Sequence[Let],
        known: Mapping[str, Value],
        condition: z3.BoolRef,
        *,
        claim: bool = True,
    ) -> tuple[Instruction, dict[str, Term]]:
        terms = self._terms(known, command.line, "a command", [condition])
        for let in lets:
            terms.locals[let.name] = terms.value(let.value)
        pairs = [*self._inputs(command, terms.locals, condition), *self._substituted()]
        if claim:
            self._what = self._instruction(pairs, condition, command.line)
        new = {name: z3.simplify(z3.substitute(term, *pairs)) for name, term in self._what.updates.items()}
        after = {name: term for name, term in new.items() if not term.eq(self.state[name])}
        if len(after) != 1 or self._what.name in self.model.programs:
            changed = ", ".join(after)
            raise self.fault(
                command.line, f"for all sizes, a command in a loop stores in one memory, not {changed}"
            )
        return self._what, after

    def _always(self, name: str, text: str, formula: z3.BoolRef) -> None:
        """It holds for each size and each element of the result."""
        self._claim(name, text, z3.Implies(z3.And(self.given, self.domain), formula))

    # --- the program --------------------------------------------------------------------------------------

    def _started(self, instruction: Instruction) -> None:
        turn = self._turns(self.goal.tensor, self.index)
        program = self.model.programs[instruction.name]
        writer = program.around(turn)
        if writer is None:
            loops = "; ".join(", ".join(loop.names) for loop in program.loops.values())
            line = self._place(self.goal.tensor).line
            raise self.fault(
                line, f"the turn of {self.goal.tensor} names no loop of {instruction.name}: there are {loops}"
            )
        missing = [source.tensor for source in self.sources if source not in self.facts]
        if missing:
            raise SpecError([f"{self.mapped.place}: no command brings {missing[0]} to its place"])
        goal, sources = self.goal.element, [source.element for source in self.sources]
        given = z3.And(self.given, self.domain)
        through = Arbitrary(self.model, instruction.name, writer, turn, goal, sources, given, self.lanes)
        through.prove(self.state, [fact.element for fact in self.facts])
        self.made.claims += through.claims
        self.made.covers += through.covers

    # --- the result ---------------------------------------------------------------------------------------

    def _result(self) -> None:
        loops, lets, write = self._nest(self.mapped.parts["result"], "result")
        if not isinstance(write, Write) or write.memory.name != self.goal.tensor:
            raise self.fault(write.line, f"for all sizes, result has one assignment, of {self.goal.tensor}")
        known, inside = self._turn(loops, "_read")
        terms = self._terms(known, write.line, "result", [inside])
        for let in lets:
            terms.locals[let.name] = terms.value(let.value)
        terms.reads.clear()
        value = terms.value(write.value)
        index = tuple(terms.value(one) for one in write.index)
        if len(terms.reads) != 1:
            raise self.fault(write.line, "for all sizes, result is one element of a memory")
        memory, _, address = terms.reads[0]
        self._said_of_all(loops, write)
        place = self._place(self.goal.tensor)
        own = self._terms(
            dict(zip(place.names, index, strict=True)), place.line, f"place of {self.goal.tensor}", [inside]
        )
        same = own.address(place.memory, place.index) == address
        if memory.name != place.memory.name:
            raise self.fault(write.line, f"result reads {memory.name}, where() says {place.memory.name}")
        there = Value(z3.Select(self.state[memory.name], address), memory.type)
        bits = max(value.range.bits, there.range.bits) + 1
        self._claim(
            "result: value", "it is what lies there",
            z3.Implies(z3.And(self.given, inside), value.wide(bits) == there.wide(bits)),
        )  # fmt: skip
        self.made.covers.append(Cover("result: an element", z3.And(self.given, inside)))
        self._claim(
            "result: place", "what result reads is the place that where() says",
            z3.Implies(z3.And(self.given, inside), same),
        )  # fmt: skip

    def _said_of_all(self, loops: Sequence[For], write: Write) -> None:
        """Each element of the kernel's is one of result's: some turn of its loops has this index."""
        wide = Range(0, (1 << 63) - 1)
        kinds = {loop.iterator.name: loop.iterator.range for loop in loops}
        turn: dict[str, Value] = {}
        facts: list[z3.BoolRef] = []
        for expr, own in zip(write.index, self.index, strict=True):
            factors = _linear(expr, kinds)
            if factors is None or turn.keys() & factors.keys() or min(factors.values(), default=1) < 1:
                why = "for all sizes, an index of result is a sum of iterators by constants, each once"
                raise self.fault(write.line, why)
            rest = own.wide(64) - factors.pop("", 0)
            facts.append(rest >= 0)
            for name, factor in sorted(factors.items(), key=lambda one: -one[1]):
                at = z3.UDiv(rest, z3.BitVecVal(factor, 64))
                rest = rest - at * factor
                turn[name] = Value(z3.Extract(62, 0, at), wide)
                facts.append(z3.ULE(at, kinds[name].high))
            facts.append(rest == 0)
        for loop in loops:
            name = loop.iterator.name
            turn.setdefault(
                name, Value(self._terms(turn, loop.line, "a loop", ()).value(loop.low).wide(63), wide)
            )
            facts.append(self._inside(loop, turn[name], turn))
        self._always("result: all elements", "result says each element of the kernel", z3.And(*facts))


def _linear(expr: Expr, names: Mapping[str, Range]) -> dict[str, int] | None:
    """Iterators with their factors, and under the empty name what is added; None for another form."""
    match expr:
        case Const(value=value):
            return {"": value}
        case Name(name=name) if name in names:
            return {name: 1}
        case Apply(operation="mul", arguments=(Const(value=factor), other) | (other, Const(value=factor))):
            inner = _linear(other, names)
            return inner and {name: factor * one for name, one in inner.items()}
        case Apply(operation="add", arguments=arguments):
            found: dict[str, int] = {}
            for argument in arguments:
                inner = _linear(argument, names)
                if inner is None:
                    return None
                for name, factor in inner.items():
                    found[name] = found.get(name, 0) + factor
            return found
    return None


def functions_of(block: Sequence[Statement | Command]) -> tuple[str, ...]:
    """The functions that a kernel calls."""
    found: set[str] = set()
    for one in block:
        if isinstance(one, Command):
            continue
        for inner in blocks(one):
            found |= set(functions_of(inner))
        for expr in exprs(one):
            found |= {part.function.name for part in parts(expr) if isinstance(part, Call)}
    return tuple(sorted(found))
