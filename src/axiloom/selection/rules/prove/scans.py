"""Scans are the same by induction over their steps; and a scan is its last step on the states before it."""

from __future__ import annotations

from typing import Any, Protocol

from axiloom.selection.rules.prove.context import Context
from axiloom.selection.rules.prove.sizes import Size
from axiloom.selection.rules.prove.terms import Element, Read, Scan, filled, renamed
from axiloom.selection.rules.prove.walks import folds_of, with_indices


class Equality(Protocol):
    """What is known of other terms: `prove.equal.Equality`."""

    context: Context

    def same(self, a: Element, b: Element) -> bool: ...
    def equal(self, a: Any, b: Any) -> bool: ...
    def indices(self, a: tuple[Any, ...], b: tuple[Any, ...]) -> bool: ...
    def index(self, count: Any) -> Size: ...


def same_scan(equality: Equality, a: Element, b: Element) -> bool:
    """Equal states from equal steps; else the last step is made where there is one, on one side."""
    if isinstance(a, Scan) and isinstance(b, Scan):
        return _states(equality, a, b)
    scan, other = (a, b) if isinstance(a, Scan) else (b, a)
    assert isinstance(scan, Scan)
    if not equality.context.valid(equality.context.compared(scan.count - 1, ">=")):
        return False
    return equality.same(_last_step(equality, scan), other)


def _states(equality: Equality, a: Scan, b: Scan) -> bool:
    """By induction: what they begin with is the same, and what a step makes of equal states."""
    if a.which != b.which or [len(at) for at in a.at_of] != [len(at) for at in b.at_of]:
        return False
    if not equality.equal(a.count, b.count) or not equality.indices(a.at, b.at):
        return False
    names = {b.k: equality.context.alone(a.k)}
    for ours, theirs in zip(a.at_of, b.at_of, strict=True):
        for own, other in zip(ours, theirs, strict=True):
            if not equality.equal(equality.context.ranges[own][1], equality.context.ranges[other][1]):
                return False
            names[other] = equality.context.alone(own)

    def turned(term: Element) -> Any:
        replaced = filled(term, lambda name, at: _moved(name, at, b, a))
        return renamed(replaced, names, equality.context)

    with equality.context.under():
        return all(
            equality.same(own, turned(other))
            for own, other in zip((*a.first, *a.step), (*b.first, *b.step), strict=True)
        )


def _last_step(equality: Equality, scan: Scan) -> Element:
    """What the last step makes of the states before it."""
    before = scan.count - 1
    names = dict(zip(scan.at_of[scan.which], scan.at, strict=True)) | {scan.k: before}
    body = renamed(_refolded(equality, scan.step[scan.which]), names, equality.context)
    first = equality.equal(before, 0)

    def state(name: str, at: tuple[Any, ...]) -> Any:
        owner, _, which = name.rpartition(".")
        if owner != scan.name:
            return None
        return at_first(equality, scan, int(which), at) if first else scan.placed(int(which), before, at)

    element: Element = filled(body, state)
    return element


def at_first(equality: Equality, scan: Scan, which: int, at: tuple[Any, ...]) -> Element:
    """A state before all steps."""
    names = dict(zip(scan.at_of[which], at, strict=True))
    element: Element = renamed(_refolded(equality, scan.first[which]), names, equality.context)
    return element


def _refolded(equality: Equality, term: Element) -> Any:
    """With new indices of folds: a body that is put into itself must not catch its own."""
    names = {}
    for name, count in folds_of(term):
        names[name] = equality.index(count)
    return with_indices(renamed(term, names, equality.context), names) if names else term


def _moved(name: str, at: tuple[Any, ...], old: Scan, new: Scan) -> Read | None:
    """A read of the one's states as that of the other's."""
    owner, _, which = name.rpartition(".")
    return Read(f"{new.name}.{which}", at, new.first[int(which)].of) if owner == old.name else None
