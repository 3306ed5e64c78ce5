"""Ways through terms: which indices they speak of, which conditions, which literals they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from axiloom.graph.numbers import number
from axiloom.selection.rules.prove.conditions import Condition
from axiloom.selection.rules.prove.sizes import Size
from axiloom.selection.rules.prove.terms import App, Choose, Fold, Read, Scan


def folds_of(term: Any) -> Iterator[tuple[str, Any]]:
    match term:
        case App(_, arguments, _):
            for argument in arguments:
                yield from folds_of(argument)
        case Fold(_, over, body, _):
            yield from over
            yield from folds_of(body)
        case Choose(_, yes, no):
            yield from folds_of(yes)
            yield from folds_of(no)
        case Scan():
            for part in (*term.first, *term.step):
                yield from folds_of(part)


def with_indices(term: Any, names: Mapping[str, Size]) -> Any:
    """Folds over new names: their bodies have them already."""
    match term:
        case App(function, arguments, of):
            return App(function, tuple(with_indices(argument, names) for argument in arguments), of)
        case Fold(function, over, body, of):
            new = tuple((next(iter(names[k].unknowns)) if k in names else k, n) for k, n in over)
            return Fold(function, new, with_indices(body, names), of)
        case Choose(condition, yes, no):
            return Choose(condition, with_indices(yes, names), with_indices(no, names))
        case Scan():
            first, step = (tuple(with_indices(x, names) for x in part) for part in (term.first, term.step))
            return replace(term, first=first, step=step)
    return term


def constant(of: str, value: int) -> App:
    return App(f"literal:{of}:{number(of).text(value)}", (), of)


def literal_of(term: Any) -> float | None:
    """The number that a term is."""
    if not isinstance(term, App) or not term.function.startswith("literal:"):
        return None
    text = term.function.split(":", 2)[2]
    return float(text)


def read_indices(term: Any) -> Iterator[str]:
    """Unknowns in the order in which indices of tensors speak of them."""
    match term:
        case Read(_, index, _):
            for value in index:
                yield from sorted(value.unknowns) if isinstance(value, Size) else ()
        case App(_, arguments, _):
            for argument in arguments:
                yield from read_indices(argument)
        case Fold(_, _, body, _):
            yield from read_indices(body)
        case Choose(_, yes, no):
            yield from read_indices(yes)
            yield from read_indices(no)


def choices(term: Any) -> Iterator[Condition]:
    match term:
        case Choose(condition, yes, no):
            yield from _atoms(condition)
            yield from choices(yes)
            yield from choices(no)
        case App(_, arguments, _):
            for argument in arguments:
                yield from choices(argument)
        case Fold(_, _, body, _):
            yield from choices(body)


def _atoms(condition: Condition) -> Iterator[Condition]:
    if condition.form in (">=", "=="):
        yield condition
    else:
        for part in condition.parts:
            if isinstance(part, Condition):
                yield from _atoms(part)


def threshold(condition: Condition, name: str) -> Any:
    """The least index from which on the condition is what it was not before; None: it is none of these."""
    value = condition.parts[0]
    factor = dict(value.parts).get((name,)) if isinstance(value, Size) else None
    if condition.form != ">=" or factor not in (1, -1):
        return None
    if any(name in names and names != (name,) for names, _ in value.parts):
        return None
    rest = value - factor * value.context.alone(name)
    return -rest if factor == 1 else rest + 1
