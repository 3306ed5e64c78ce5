"""Verilog as a machine of z3 terms: registers, inputs, and what each register and output is next.

Yosys reads the text, makes registers of memories, one a word (``bank_0[3]``), and writes SMT-LIB
(``write_smt2``). Products of what was stored are functions without a meaning here (:func:`with_products`
gives it back to them): two sums of the same products are then the same term.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import z3

from axiloom.base import processes
from axiloom.base.errors import BuildError
from axiloom.boards.synthesis import yosys
from axiloom.isa.formal import code
from axiloom.prove.rtl.terms.nodes import Substitution, children, number

_LOWER = (
    # Registers of what is read stay: a wire that is only looked at would lose its driver to the memory.
    "hierarchy -check -top {top}\nproc\nflatten\nopt -full\nmemory -nordff -nomap\nmemory_nordff\n"
    "async2sync\nopt -full\nmemory_map\nopt -full\ndffunmap\nopt_clean\nwrite_smt2 -wires machine.smt2\n"
)
_FUNCTION = re.compile(r"\((declare|define)-fun (\|[^|]+\|) \((?:\(state \|[^|]+\|\)|\|[^|]+\|)\) ")
_OF_STATE = re.compile(r"\((\|[^|]+\|) state\)")
_NEXT = re.compile(r"^  \(= (.*) \((\|[^|]+\|) next_state\)\)(?: ;.*)?$", re.MULTILINE)
_PORT = re.compile(r"^; yosys-smt2-(input|output) (\S+) (\d+)$", re.MULTILINE)
_OWN = re.compile(r"^\(declare-fun (\|[^|]+\|) \(\|[^|]+\|\) .*\) ; \\?(.+)$", re.MULTILINE)
_FREE = re.compile(r"^; yosys-smt2-anyseq (\S+) \d+ ", re.MULTILINE)
_WIRE = re.compile(r"^; yosys-smt2-wire (\S+) \d+$", re.MULTILINE)
CUT = "cut_"
"""Wires inside of such a name are outputs of the machine too; ``$anyseq`` are inputs."""
_PART = re.compile(r"^(\S+) \[(\d+)(?::(\d+))?\]$")
_JOINED = re.compile(r"\\?(\S+) \[(\d+)(?::(\d+))?\]")
PRODUCT = "product_of_rtl"

State = dict[str, Any]
"""Name to term."""
Step = Callable[[Mapping[str, Any], Mapping[str, Any]], tuple[dict[str, Any], dict[str, Any]]]
"""State and inputs to the next state, and the outputs of this cycle."""


def part_names(name: str, cuts: Sequence[int]) -> list[str] | None:
    """What bits of a register are called that is taken apart at `cuts`, the first and the last its own ends;
    None: its name does not say which bits they are."""
    if part := _PART.match(name):
        whole, high, low = part.groups()
        base = int(low or high)
    elif " " not in name and not name.endswith("]"):
        whole, base = name, 0
    else:
        return None
    ends = [(base + low, base + high - 1) for low, high in pairwise(cuts)]
    return [f"{whole} [{low}]" if low == high else f"{whole} [{high}:{low}]" for low, high in ends]


class Module:
    """Registers, or outputs, of one module: what they are next, as terms of what they hang on.

    Attributes: `members`: whether it is a register, its name, its term; `constants`: what these hang on;
    `known`: values of the constants, and what z3 made of the terms for them; `products`: of numbers, that
    are numbers.
    """

    def __init__(self, members: Sequence[tuple[bool, str, Any]], constants: Mapping[str, Any]) -> None:
        terms = [term for _, _, term in members]
        together = z3.simplify(z3.Function("together", *(t.sort() for t in terms), z3.BoolSort())(*terms))
        names = {term.get_id(): name for name, term in constants.items()}
        self.members = members
        self._support = [names[number(node)] for node in walk([together]) if number(node) in names]
        self.constants = [constants[name] for name in self._support]
        self._substituted = Substitution(together, self.constants)
        self._multiplies = any(map(_is_product, walk([together])))
        self.known: dict[tuple[int, ...], tuple[Sequence[Any], Sequence[Any]]] = {}
        self.products: list[tuple[Any, Any]] = []

    def at(self, now: Mapping[str, Any], clean: dict[int, Any]) -> Sequence[Any]:
        """The terms where registers and inputs are what they are `now`; `clean`: see :func:`_multiplied`."""
        values = [now[name] for name in self._support]
        key = tuple(map(number, values))
        if key not in self.known:
            made = z3.simplify(self._substituted(values))
            if self._multiplies:
                made = _multiplied(made, clean, self.products)
            self.known[key] = values, children(made)  # kept, as the numbers of terms that are gone come again
        return self.known[key][1]


@dataclass(frozen=True)
class Machine:
    """`registers`, `inputs`: names to constants; `following`: what a register is next; `outputs`: what they
    are in this cycle."""

    top: str
    registers: Mapping[str, Any]
    inputs: Mapping[str, Any]
    following: Mapping[str, Any]
    outputs: Mapping[str, Any]
    rewritten: tuple[tuple[Any, Any], ...] = ()
    """Terms as they were read, and what z3 has made of each."""

    @cached_property
    def parts(self) -> Mapping[str, Sequence[tuple[int, int, str]]]:
        """Name in the Verilog to its registers here: lowest and highest bit, name. Yosys splits some."""
        found: dict[str, list[tuple[int, int, str]]] = {}
        for name, term in self.registers.items():
            if part := _PART.match(name):
                whole, high, low = part.groups()
                found.setdefault(whole, []).append((int(low or high), int(high), name))
            else:
                found.setdefault(name, []).append((0, term.size() - 1, name))
        return found

    def place(self, name: str, low: int, size: int) -> tuple[str, int] | None:
        """The register that holds bits of one of the Verilog, and where in it; None: nothing hangs on them.

        Raises BuildError for bits that are not together.
        """
        for first, last, own in self.parts.get(name, ()):
            if first <= low <= last:
                if low + size - 1 > last:
                    raise BuildError(f"{self.top}: bits {low + size - 1} to {low} of {name} are not together")
                return own, low - first
        return None

    def parted(self, runs: Mapping[str, Sequence[tuple[int, int]]]) -> Machine:
        """The same with some registers in parts: of each the bits from one on and up to another, in order."""
        named: dict[str, list[tuple[str, int, int]]] = {}
        for name, pieces in runs.items():
            names = part_names(name, [pieces[0][0], *(high for _, high in pieces)])
            assert names is not None
            named[name] = [(own, low, high) for own, (low, high) in zip(names, pieces, strict=True)]
        return self.in_parts(named)

    def in_parts(self, named: Mapping[str, Sequence[tuple[str, int, int]]]) -> Machine:
        """The same with some registers in parts: names, the bits from one on and up to another, in order."""
        registers, following, pairs = dict(self.registers), dict(self.following), []
        for name, pieces in named.items():
            whole, after = registers.pop(name), following.pop(name)
            parts = [z3.BitVec(f"part {own}", high - low) for own, low, high in pieces]
            pairs.append((whole, z3.Concat(*reversed(parts))))
            for (own, low, high), part in zip(pieces, parts, strict=True):
                registers[own], following[own] = part, z3.Extract(high - 1, low, after)
        rewritten = list(self.rewritten)

        def again(term: Any) -> Any:
            whole = z3.substitute(term, *pairs)
            rewritten.append((whole, z3.simplify(whole)))
            return rewritten[-1][1]

        following = {name: again(term) for name, term in following.items()}
        outputs = {name: again(term) for name, term in self.outputs.items()}
        return replace(
            self, registers=registers, following=following, outputs=outputs, rewritten=(*rewritten,)
        )

    def stepper(self) -> Step:
        """On terms, simplified. A module's next registers are worked out once for what they hang on."""
        return self._stepper

    @cached_property
    def modules(self) -> Sequence[Module]:
        """With what steps have worked out."""
        constants = {**self.registers, **self.inputs}
        groups: dict[str, list[tuple[bool, str, Any]]] = {}
        for name, term in self.following.items():
            groups.setdefault(name.partition(" ")[0].rpartition(".")[0], []).append((True, name, term))
        groups["out of it"] = [(False, name, term) for name, term in self.outputs.items()]
        return [Module(members, constants) for members in groups.values()]

    @cached_property
    def _stepper(self) -> Step:
        modules, clean = self.modules, dict[int, Any]()

        def step(state: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[State, State]:
            now = {**state, **given}
            following: State = dict.fromkeys(self.following)
            outputs: State = {}
            for module in modules:
                for (is_register, name, _), term in zip(module.members, module.at(now, clean), strict=True):
                    (following if is_register else outputs)[name] = term
            return following, outputs

        return step

    def simulator(self) -> Step:
        """On integers, as Python."""
        terms = [with_products(term) for term in (*self.following.values(), *self.outputs.values())]
        places = {str(term.decl().name()): ("S", name) for name, term in self.registers.items()}
        places |= {str(term.decl().name()): ("I", name) for name, term in self.inputs.items()}

        def leaf(name: str) -> str:
            where, own = places[name]
            return f"{where}[{own!r}]"

        made, values = code.lines(terms, leaf)
        pairs = [
            f"{name!r}: {value}" for name, value in zip([*self.following, *self.outputs], values, strict=True)
        ]
        count = len(self.following)
        text = ["def step(S, I):", *(f"    {line}" for line in made)]
        text.append(f"    return {{{', '.join(pairs[:count])}}}, {{{', '.join(pairs[count:])}}}")
        space: dict[str, Any] = {}
        exec(compile("\n".join(text), f"<{self.top}>", "exec"), space)  # our own text, of our own terms
        step: Step = space["step"]
        return step


@lru_cache(maxsize=4)
def read(sources: tuple[tuple[str, str], ...], top: str) -> Machine:
    """The machine of module `top` in Verilog `sources` (name, text). Raises BuildError."""
    with processes.scratch("axiloom-rtl-") as place:
        folder = Path(place)
        (folder / "user").mkdir()
        for name, text in sources:
            (folder / "user" / name).write_text(yosys.without_zeros(text), encoding="utf-8")
        yosys.run(yosys.read_theirs(sources) + _LOWER.format(top=top), folder, f"read {top}")
        return parse((folder / "machine.smt2").read_text(encoding="utf-8"), top)


def parse(text: str, top: str) -> Machine:
    """The machine that ``write_smt2 -wires`` has written."""
    lines = []
    for line in text.splitlines():
        if line.startswith((";", "(declare-sort")) or f"|{top}_is|" in line:
            continue
        if re.match(rf"\(define-fun \|{re.escape(top)}_[a-z]\| ", line):
            break  # from here on: assertions, the initial state, and the transition
        if match := _FUNCTION.match(line):
            kind, name = match.groups()
            rest = line[match.end() :].partition(" ; ")[0] if kind == "declare" else line[match.end() :]
            lines.append(f"({kind}-fun {name} () " + _OF_STATE.sub(r"\1", rest))
        else:
            lines.append(_OF_STATE.sub(r"\1", line))
    relation = text.partition(f"(define-fun |{top}_t| ")[2]
    following = {name: _OF_STATE.sub(r"\1", term) for term, name in _NEXT.findall(relation)}
    names = {raw: name.strip() for raw, name in _OWN.findall(text)}
    ports = {name: direction for direction, name, _ in _PORT.findall(text)}
    inputs = {names[raw]: raw for raw in names if ports.get(names[raw]) == "input"}
    inputs |= {names[f"|{raw}|"]: f"|{raw}|" for raw in _FREE.findall(text)}
    outputs = {name: f"|{top}_n {name}|" for name, direction in ports.items() if direction == "output"}
    cuts = [name for name in _WIRE.findall(text) if name.rpartition(".")[2].startswith(CUT)]
    outputs |= {name: f"|{top}_n {name}|" for name in cuts}
    terms = _parsed(lines, [*following, *following.values(), *inputs.values(), *outputs.values()], top)
    registers = dict(zip((names[raw] for raw in following), terms, strict=False))
    if len(registers) != len(following):
        raise BuildError(f"{top}: two registers have one name")
    count = len(following)
    new = dict(zip(registers, _abstracted(registers, terms[count : 2 * count]), strict=True))
    others = terms[2 * count :]
    given = dict(zip(inputs, others, strict=False))
    sent = dict(zip(outputs, map(_as_vector, others[len(inputs) :]), strict=True))
    used = _support([*new.values(), *sent.values()])
    free = used - {term.get_id() for term in (*registers.values(), *given.values())}
    if free:
        raise BuildError(f"{top}: {len(free)} signals have no driver")
    machine = Machine(top, registers, {k: v for k, v in given.items() if v.get_id() in used}, new, sent)
    return machine.in_parts(
        {name: parts for name in registers if (parts := _joined(name, registers[name].size()))}
    )


def _joined(name: str, size: int) -> list[tuple[str, int, int]]:
    """Yosys joins registers that change together, and leaves out bits that nothing reads: the parts of
    ``{ \\a [5:3] \\a [0] }``, each with its bits in the whole, the lowest first. None of other names,
    nor of one that does not say it of all bits."""
    if not name.startswith("{ "):
        return []
    found, low = list[tuple[str, int, int]](), 0
    for own, high, last in reversed(_JOINED.findall(name)):
        bits = int(high) - int(last or high) + 1
        found.append((f"{own} [{high}:{last}]" if last else f"{own} [{high}]", low, low + bits))
        low += bits
    return found if low == size else []


def _parsed(lines: Sequence[str], wanted: Sequence[str], top: str) -> list[Any]:
    """Terms of SMT-LIB text. Each is put beside a constant of its own, as z3 parses assertions only."""
    text = "\n".join([*lines, *(f"(assert (= (= {term} {term}) (= {term} {term})))" for term in wanted)])
    try:
        parsed = z3.parse_smt2_string(text)
    except z3.Z3Exception as error:
        raise BuildError(f"{top}: z3 does not take what Yosys wrote: {error}") from None
    return [one.arg(0).arg(0) for one in parsed]


def _as_vector(term: Any) -> Any:
    return z3.If(term, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)) if z3.is_bool(term) else term


def walk(terms: Iterable[Any], known: Collection[int] = ()) -> Iterable[Any]:
    """Every node of the graph of `terms`, children first; without the nodes `known`, by their numbers, and
    what is only below those."""
    seen: set[int] = set()
    stack = [(term, False) for term in terms]
    while stack:
        term, ready = stack.pop()
        if (own := number(term)) in seen or own in known:
            continue
        below = () if ready else children(term)
        if below:
            stack.append((term, True))
            stack.extend((child, False) for child in below)
        else:
            seen.add(own)
            yield term


def _support(terms: Iterable[Any]) -> set[int]:
    return {term.get_id() for term in walk(terms) if z3.is_const(term) and _is_free(term)}


def _is_free(term: Any) -> bool:
    return bool(term.decl().kind() == z3.Z3_OP_UNINTERPRETED)


# --- products ---------------------------------------------------------------------------------------------


def _abstracted(registers: Mapping[str, Any], following: Sequence[Any]) -> list[Any]:
    """The terms with functions in the place of products of words that memories hold."""
    stored = _from_memories(registers, following)
    pairs, kept = [], {}
    for term in walk(following):
        kept[term.get_id()] = term
        if term.decl().kind() != z3.Z3_OP_BMUL or term.num_args() != 2:
            continue
        if any(map(z3.is_bv_value, term.children())) or not _support([term]) & stored:
            continue
        pairs.append((term, product(term.size())(*term.children())))
    return [z3.substitute(term, *pairs) if pairs else term for term in following]


def _from_memories(registers: Mapping[str, Any], following: Sequence[Any]) -> set[int]:
    """The registers that hold what was a word of a memory."""
    own = [number(term) for term in registers.values()]
    places = {one: place for place, one in enumerate(own)}
    # For each node a word with a bit for each register that it hangs on: one walk for all.
    below: dict[int, int] = {}
    for term in walk(following):
        mine = number(term)
        below[mine] = 1 << places[mine] if mine in places else 0
        for child in children(term):
            below[mine] |= below[number(child)]
    reads = [below[number(term)] for term in following]
    found = sum(1 << place for place, name in enumerate(registers) if name.endswith("]"))
    before = None
    while before != found:
        before = found
        found |= sum(1 << place for place, read in enumerate(reads) if read & before)
    return {one for one, place in places.items() if found >> place & 1}


def product(bits: int) -> Any:
    """What is in the place of a multiplication of `bits` bits."""
    return z3.Function(f"{PRODUCT}_{bits}", *[z3.BitVecSort(bits)] * 3)


def _is_product(term: Any) -> bool:
    return z3.is_app(term) and str(term.decl().name()).startswith(PRODUCT)


def _multiplied(term: Any, clean: dict[int, Any], products: list[tuple[Any, Any]]) -> Any:
    """With products of numbers as numbers: sizes are multiplied, too. `clean`: nodes below which there are
    none, by their numbers; it is added to, as most of a term was there a cycle before. So is `products`."""
    while True:
        new = {one.get_id(): one for one in walk([term], clean)}
        known = [
            (one, z3.simplify(one.arg(0) * one.arg(1)))
            for one in new.values()
            if _is_product(one) and all(map(z3.is_bv_value, one.children()))
        ]
        if not known:
            clean |= new
            return term
        products += known
        term = z3.simplify(z3.substitute(term, *known))


def with_products(term: Any) -> Any:
    """`term` with multiplications again."""
    found = {
        one.decl().name(): one.decl()
        for one in walk([term])
        if z3.is_app(one) and str(one.decl().name()).startswith(PRODUCT)
    }
    pairs = [(decl, z3.Var(0, decl.range()) * z3.Var(1, decl.range())) for decl in found.values()]
    return z3.substitute_funs(term, *pairs) if pairs else term
