"""``axiloom prove mapping``: the commands of a mapping compute its kernel, on any data."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from axiloom.base.errors import SpecError, UsageError
from axiloom.base.wording.names import hint
from axiloom.isa.formal.any_size import functions_of
from axiloom.isa.formal.guess import counter_example
from axiloom.isa.formal.mapped import Element, Played, RefutedError, Remaining, play
from axiloom.isa.formal.values import PRODUCTS
from axiloom.isa.instructions import library
from axiloom.isa.instructions.mappings import Mapped
from axiloom.isa.instructions.tree import Range
from axiloom.prove import solvers
from axiloom.prove.verdict import Answer, Verdict

QUICK_S = 5
"""Seconds a claim about any functions."""
MOST_VALUES = 24
"""Of a counter-example that are named."""


def prove(mapped: Mapped, limit_s: int) -> Iterator[Verdict]:
    """The verdicts at the sizes of `mapped`. Raises SpecError where its commands cannot be executed.

    The kernel's functions are taken to be any functions first. What that leaves open is asked of those that
    they are.
    """
    begun = time.perf_counter()
    name, sizes = mapped.name, sizes_of(mapped)

    def verdict(
        claim: str, text: str, answer: Answer, solver: str, seconds: float, certified: str = ""
    ) -> Verdict:
        return Verdict(name, sizes, claim, text, "", answer, None, solver, seconds, certified=certified)

    try:
        played, opaque = _first(mapped)
        seconds, said = time.perf_counter() - begun, {}
        if opaque and played.remaining:
            answers = solvers.decide([remaining.claim.formula for remaining in played.remaining], QUICK_S)
            said = {
                remaining: answer
                for remaining, answer in zip(played.remaining, answers, strict=True)
                if answer.holds
            }
            if len(said) < len(played.remaining):
                begun, said = time.perf_counter(), {}
                played = play(mapped)
                seconds += time.perf_counter() - begun
    except RefutedError as error:
        seconds = time.perf_counter() - begun
        yield verdict("executed", f"on all data: {error}", Answer.VIOLATED, "execution", seconds)
        return
    took = f"{played.commands} commands, {played.steps} steps"
    text = f"{played.same} of {played.elements} elements are the kernel's, as terms ({took})"
    yield verdict("executed", text, Answer.HOLDS, "rewriting", seconds)
    for remaining in played.remaining:
        claim = remaining.claim
        if remaining not in said and (text := _guessed(mapped, remaining)):
            yield verdict(claim.name, text, Answer.VIOLATED, "random data", 0.0)
            continue
        decided = said[remaining] if remaining in said else next(solvers.decide([claim.formula], limit_s))
        answer = {None: Answer.OPEN, True: Answer.HOLDS, False: Answer.VIOLATED}[decided.holds]
        text = _counter_example(mapped, remaining, limit_s) if answer is Answer.VIOLATED else claim.text
        yield verdict(claim.name, text, answer, decided.solver, decided.seconds, decided.certified)


def _first(mapped: Mapped) -> tuple[Played, bool]:
    """Executed with products, sums and the kernel's functions uninterpreted, if nothing else needs them."""
    try:
        return play(mapped, (*functions_of(mapped.parts["kernel"]), PRODUCTS)), True
    except SpecError:  # what comes next depends on one of them
        return play(mapped), False


def _guessed(mapped: Mapped, remaining: Remaining) -> str:
    """The first element that is wrong for random data; empty where none is."""
    for element in remaining.elements:
        if values := counter_example(element.formula):
            return _wrong(mapped, element, {name: int(value) for name, value in sorted(values.items())})
    return ""


def _counter_example(mapped: Mapped, remaining: Remaining, limit_s: int) -> str:
    """The first element that is wrong, with data for which it is."""
    for element, said in zip(
        remaining.elements,
        solvers.decide([element.formula for element in remaining.elements], limit_s),
        strict=True,
    ):
        if said.holds is False:
            return _wrong(mapped, element, dict(_numbers(said.values)))
    return f"one of {remaining.claim.text} is not so"


def _numbers(values: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Bit vectors; what functions and whole memories are, a solver says in its own way."""
    for name, value in sorted(values.items()):
        if value.isdecimal():
            yield name.strip("|"), int(value)


def _wrong(mapped: Mapped, element: Element, named: Mapping[str, int]) -> str:
    computed, wanted = element.values(named)
    text = f"{element.place} is not the kernel's"
    if computed is not None and wanted is not None:
        kind = _kind(mapped, element.place)
        text = f"{element.place} is {_signed(computed, kind)}, the kernel's is {_signed(wanted, kind)}"
    # First what memories had before: that a result depends on it says more than any data.
    said = [
        f"{name} = {_signed(value, _kind(mapped, name))}"
        for name, value in sorted(named.items(), key=lambda pair: ("@" not in pair[0], pair[0]))
    ]
    more = f" and {len(said) - MOST_VALUES} more" if len(said) > MOST_VALUES else ""
    return f"{text}; with {', '.join(said[:MOST_VALUES])}{more}" if said else f"{text}, whatever the data are"


def _kind(mapped: Mapped, place: str) -> Range | None:
    """Of an element such as ``x[3, 5]``, or ``acc@7`` before the commands."""
    name = place.split("[")[0].split("@")[0]
    memory = mapped.tensors.get(name) or mapped.target.memories.get(name)
    return memory.type if memory else None


def _signed(value: int, kind: Range | None) -> int:
    return value - (1 << kind.bits) if kind and kind.signed and value >> kind.bits - 1 else value


def sizes_of(mapped: Mapped) -> str:
    """``T=16 V=4``."""
    return " ".join(f"{name}={value}" for name, value in mapped.chosen.items())


def read(name: str, sizes: Mapping[str, int], *, any_size: bool = False) -> Mapped:
    """The mapping of a file, or a built-in one. Raises UsageError and SpecError."""
    path = Path(name)
    if path.suffix == library.MAPPING:
        return library.mapping(path, sizes, any_size=any_size)
    there = library.mappings()
    if name not in there:
        raise UsageError(
            f"prove mapping: no mapping `{name}`{hint(name, there)}; a file ends in {library.MAPPING}, built "
            f"in are {', '.join(there)}"
        )
    return library.mapping(there[name], sizes, any_size=any_size)
