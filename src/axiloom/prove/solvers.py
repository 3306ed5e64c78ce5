"""z3, bitwuzla and cvc5 on formulas that must hold, each in a process of its own, with limits.

z3 has the first turn, since it is quick where little is to be done. What it leaves goes to both at once,
and the first that answers is believed. What holds is asked of the other one too, beside the first, for a
short time: who agrees certifies it, and who does not makes it undecided. bitwuzla knows bits alone: of whole
numbers without an end, cvc5 is asked.
"""

from __future__ import annotations

import importlib.metadata
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from typing import Any

from axiloom.base import extras, processes
from axiloom.base.errors import BuildError
from axiloom.base.worker import NoAnswerError, Worker

QUICK_S = 2
WHOLE_S = 30
"""For cvc5, which few claims need."""
GRACE_S = 60
"""Beyond a limit, which is that of the search alone: a formula is read before."""
BUSY = 0.8
"""Of the clock: who gets less CPU, and has not answered, is asked again with more time."""
SOLVERS = {"z3": "z3-solver", "bitwuzla": "bitwuzla", "cvc5": "cvc5"}
"""Solver to the package that brings it."""


@dataclass(frozen=True)
class Said:
    """Of a formula: does it hold (None: nobody knows), who says so, how soon; if not, for which values."""

    holds: bool | None
    solver: str
    seconds: float
    values: dict[str, str]
    certified: str = ""
    """Of what holds: the engine that says so too."""


def check() -> None:
    """Raises BuildError with the command that installs what is missing."""
    for name, package in SOLVERS.items():
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            raise BuildError(f"{name} is not installed: {extras.install('prove')}") from None


def versions() -> str:
    return ", ".join(f"{name} {importlib.metadata.version(package)}" for name, package in SOLVERS.items())


def decide(formulas: Sequence[Any], limit_s: int) -> Iterator[Said]:
    """What is said of each z3 formula, in their order: does it hold for all values of its constants?

    First it is asked whether products matter at all (:func:`axiloom.isa.formal.sound.opaque`).
    """
    from axiloom.isa.formal.sound import opaque

    easy = opaque(formulas)
    texts = [_negation(formula) for formula in easy]
    said = _ask("z3", texts, QUICK_S)
    checked = _ask("bitwuzla", [*map(_for_bits, easy, texts)], QUICK_S)
    alike = map(_eq, formulas, easy)
    for formula, same, text, first, other in zip(formulas, alike, texts, said, checked, strict=True):
        if first.holds and other.holds is None and of_integers(text):
            (other,) = _ask("cvc5", [text], WHOLE_S)
        if first.holds or (same and first.holds is not None):
            yield _together(first, other)
            continue
        if same and other.holds is not None:
            yield other
            continue
        whole = _negation(formula)
        asked = {"z3": whole, "bitwuzla": _for_bits(formula, whole)}
        if not same:
            (first,) = _ask("z3", [whole], QUICK_S)
        answer = first if first.holds is not None else _portfolio(asked, limit_s)
        if answer.holds:
            name = "z3" if answer.solver == "bitwuzla" else "bitwuzla"
            (other,) = _ask(name, [asked[name]], QUICK_S)
            answer = _together(answer, other)
        yield answer


def _together(first: Said, other: Said) -> Said:
    """What one engine has proved, and the other was asked too."""
    if not first.holds or other.holds is None:
        return first
    if other.holds:
        return replace(first, certified=other.solver)
    return Said(None, f"{first.solver} and {other.solver} say the contrary", first.seconds, other.values)


SAME = "same terms"
"""What certifies that a term is itself."""


def all_certified(parts: Iterable[Said]) -> str:
    """Who certifies what these say together: nobody, if one of them is not certified."""
    names = {said.certified for said in parts}
    return "" if "" in names else ", ".join(sorted(names)) or SAME


def rewritten(pairs: Sequence[tuple[Any, Any]]) -> Said:
    """Of pairs of terms that z3's rewriting made the same: bitwuzla is asked whether they are."""
    import z3

    if not (formulas := [term == other for term, other in pairs if not term.eq(other)]):
        return Said(True, "z3", 0.0, {}, SAME)
    if any(z3.is_real(formula.arg(0)) for formula in formulas):
        return Said(True, "z3", 0.0, {})
    (other,) = _ask("bitwuzla", [_negation(z3.And(*formulas), simplify=False)], QUICK_S)
    return _together(Said(True, "z3", 0.0, {}), other)


def _for_bits(formula: Any, text: str) -> str:
    """The same question, as `text`, for an engine that has no whole numbers."""
    from axiloom.isa.formal.bits import in_bits

    if not of_integers(text):
        return text
    bits = in_bits(formula)
    return NOTHING if bits is None else _negation(bits)


NOTHING = "(declare-fun x () Int)"
"""A question that bitwuzla does not answer."""


def _eq(term: Any, other: Any) -> bool:
    import z3

    return bool(z3.eq(term, other))


def _negation(formula: Any, *, simplify: bool = True) -> str:
    """SMT-LIB that is satisfiable where `formula` does not hold."""
    import z3

    solver = z3.Solver()
    # Bitwuzla does not read `(or x)`: simplified, nothing is joined with nothing.
    solver.add(z3.simplify(z3.Not(formula)) if simplify else z3.Not(formula))
    # z3's own names of divisions whose divisor is known not to be 0.
    return re.sub(r"\b(bv[us](?:div|rem|mod))_i\b", r"\1", str(solver.to_smt2()))


def _ask(solver: str, texts: Sequence[str], limit_s: int) -> Iterator[Said]:
    """As they come. A solver that dies, or does not look at its clock, has said nothing of the rest."""
    if not texts:
        return
    with Worker() as worker:
        left = len(texts)
        try:
            worker.send(_answers, solver, [*texts], limit_s)
            while left:
                said = worker.receive(limit_s + GRACE_S)
                left -= 1
                yield said
        except NoAnswerError:
            yield from [Said(None, solver, 0.0, {})] * left


def _portfolio(texts: Mapping[str, str], limit_s: int) -> Said:
    """`texts`: the question to each solver."""
    begun = time.perf_counter()
    with ExitStack() as stack:
        running = []
        for solver, text in texts.items():
            running.append(stack.enter_context(Worker()))
            running[-1].send(_answers, solver, [text], limit_s)
        end = begun + limit_s + QUICK_S
        while running and (
            ready := wait([worker.fileno() for worker in running], max(0, end - time.perf_counter()))
        ):
            for worker in [worker for worker in running if worker.fileno() in ready]:
                running.remove(worker)
                with suppress(NoAnswerError):
                    said: Said = worker.receive(0)
                    if said.holds is not None:
                        return said
    return Said(None, ", ".join(texts), time.perf_counter() - begun, {})


# --- in a worker


def _answers(solver: str, texts: Sequence[str], limit_s: int) -> Iterator[Said]:
    """Of each negation."""
    for text in texts:
        begun = time.perf_counter()
        try:
            answer, values = _in_time(solver, text, limit_s)
        except Exception as error:  # of a library in C++: anything
            print(f"{solver} cannot take a formula: {str(error)[:200]}", file=sys.stderr)
            answer, values = "unknown", {}
        holds = {"unsat": True, "sat": False}.get(answer)
        yield Said(holds, solver, time.perf_counter() - begun, values)


def _in_time(solver: str, text: str, limit_s: int) -> tuple[str, dict[str, str]]:
    """In so many seconds of CPU: solvers look at the clock, of which a busy machine gives them a part."""
    clock, limit = time.perf_counter, float(limit_s)
    end = clock() + GRACE_S
    while True:
        begun, cpu = clock(), time.process_time()
        answer, values = _SAYS[solver](text, int(limit))
        used, took = time.process_time() - cpu, clock() - begun
        if answer in ("sat", "unsat") or took < BUSY * limit or used > BUSY * min(limit_s, took):
            return answer, values
        limit *= took / max(used, took / 8)
        if clock() + limit > end:
            return answer, values


def of_integers(text: str) -> bool:
    """Whether it speaks of integers: with a logic of bit vectors z3 takes `Int` for a sort like any other."""
    return re.search(r"^\(declare-(fun|const) .*\bInt\)$", text, re.MULTILINE) is not None


def _z3_says(text: str, limit_s: int) -> tuple[str, dict[str, str]]:
    import z3

    solver = z3.SolverFor("QF_NIA" if of_integers(text) else "QF_AUFBV")
    solver.set("timeout", limit_s * 1000)
    solver.from_string(text)
    answer = solver.check()
    values = {}
    if answer == z3.sat:
        model = solver.model()
        values = {name.name(): str(model[name]) for name in model if name.arity() == 0}
    return str(answer), values


def _bitwuzla_says(text: str, limit_s: int) -> tuple[str, dict[str, str]]:
    import bitwuzla

    if of_integers(text):
        return "unknown", {}  # it has bit vectors alone
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    options.set(bitwuzla.Option.TIME_LIMIT_PER, limit_s * 1000)
    lines = [line for line in text.splitlines() if not line.startswith(("(set-info", "(check-sat"))]
    with processes.scratch() as folder:
        file = folder / "formula.smt2"
        file.write_text("(set-logic QF_AUFBV)\n" + "\n".join(lines) + "\n", encoding="utf-8")
        terms = bitwuzla.TermManager()
        parser = bitwuzla.Parser(terms, options)
        parser.parse(str(file), True, True)
        solver = parser.bitwuzla()
        answer = str(solver.check_sat()).lower()
        values = {}
        if answer == "sat":
            for term in parser.get_declared_funs():
                if term.sort().is_bv():
                    values[str(term.symbol())] = str(int(solver.get_value(term).value(10)))
    return answer, values


def _cvc5_says(text: str, limit_s: int) -> tuple[str, dict[str, str]]:
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(limit_s * 1000))
    parser = cvc5.InputParser(solver)
    lines = [line for line in text.splitlines() if not line.startswith(("(set-info", "(check-sat"))]
    logic = "QF_NIA" if of_integers(text) else "QF_AUFBV"
    asked = f"(set-logic {logic})\n" + "\n".join(lines)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, asked, "formula")
    while not (command := parser.nextCommand()).isNull():
        command.invoke(solver, parser.getSymbolManager())
    return str(solver.checkSat()).split()[0], {}


_SAYS = {"z3": _z3_says, "bitwuzla": _bitwuzla_says, "cvc5": _cvc5_says}
