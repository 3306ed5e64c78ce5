"""Whether two elements are the same, as far as a rule's sense lets one reckon.

What is used, each a lemma with its proof in tests/selection/rules/test_lemmas.py:

- congruence: equal functions of equal arguments; ``add``, ``mul``, ``max``, ``min`` in either order
- folds have no order: indices change places; one over n * m is one over n of one over m
- a fold to n is that to m and that of the rest, where the function may be re-associated: ``max`` and ``min``
  always, ``add`` in integers and in real numbers; elements that change nothing are left out
- in integers and in real numbers: a factor goes into a sum
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from math import prod
from typing import Any

from axiloom.selection.ir.numbers import number
from axiloom.selection.ir.ops.reduce import neutral
from axiloom.selection.rules.prove import arithmetic
from axiloom.selection.rules.prove.context import Condition, Context
from axiloom.selection.rules.prove.sizes import Size
from axiloom.selection.rules.prove.terms import (
    App,
    Choose,
    Element,
    Fold,
    Read,
    Scan,
    filled,
    folded,
    free,
    renamed,
)

EITHER_ORDER = ("add", "mul", "max", "min", "and", "or", "xor", "eq", "ne")
FREE = ("max", "min", "and", "or")
"""Re-associated in all numbers."""
MOST_INDICES = 6


@dataclass
class Equality:
    """`same` is True only if it is proved."""

    context: Context
    sense: str
    fresh: int = 0

    def same(self, a: Element, b: Element) -> bool:
        if a is b:
            return True
        if isinstance(a, Choose) and isinstance(b, Choose) and a.condition.key == b.condition.key:
            return self._branches(a, b)
        a, b = self.tidy(a), self.tidy(b)
        for one, other in ((a, b), (b, a)):
            if isinstance(one, Choose):
                return self._both(one, other)
        if isinstance(a, Scan) or isinstance(b, Scan):
            return self._scan(a, b)
        if isinstance(a, Read) and isinstance(b, Read):
            return a.name == b.name and self._indices(a.index, b.index)
        if isinstance(a, App) and isinstance(b, App) and a.function == b.function and self.congruent(a, b):
            return True
        if isinstance(a, Fold) and isinstance(b, Fold) and self.folds(a, b):
            return True
        if self._parts_same(a, b):
            return True
        return self.sense != "exact" and arithmetic.same(self, a, b)

    def _branches(self, a: Choose, b: Choose) -> bool:
        """Of one condition."""
        for condition, one, other in (
            (a.condition, a.yes, b.yes),
            (a.condition.opposite(), a.no, b.no),
        ):
            with self.context.under(condition) as possible:
                if possible and not self.same(one, other) and not self.context.contradiction():
                    return False
        return True

    def _both(self, one: Choose, other: Element) -> bool:
        for condition, branch in ((one.condition, one.yes), (one.condition.opposite(), one.no)):
            with self.context.under(condition) as possible:
                if possible and not self.same(branch, other) and not self.context.contradiction():
                    return False
        return True

    def _indices(self, a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
        return len(a) == len(b) and all(self._equal(x, y) for x, y in zip(a, b, strict=True))

    def _equal(self, a: Any, b: Any) -> bool:
        if isinstance(a, Size) or isinstance(b, Size):
            return self.context.valid(a == b)
        return bool(a == b)

    def congruent(self, a: App, b: App) -> bool:
        if len(a.arguments) != len(b.arguments) or not self.alike(a, b):
            return False
        orders = [b.arguments]
        if a.function in EITHER_ORDER:
            orders.append(b.arguments[::-1])
        return any(all(map(self._argument, a.arguments, order)) for order in orders)

    def alike(self, a: Element, b: Element) -> bool:
        """Of one number, which real numbers do not know."""
        return self.sense == "reals" or a.of == b.of

    def _argument(self, a: Any, b: Any) -> bool:
        if isinstance(a, (Size, int)) or isinstance(b, (Size, int)):
            return isinstance(a, (Size, int)) and isinstance(b, (Size, int)) and self._equal(a, b)
        return self.same(a, b)

    # --- tidying

    def tidy(self, term: Element) -> Element:
        """What is decided here is taken; what changes nothing is left out; factors go into sums."""
        if isinstance(term, Choose):
            if self.context.valid(term.condition):
                return self.tidy(term.yes)
            if self.context.valid(term.condition.opposite()):
                return self.tidy(term.no)
        if isinstance(term, App):
            return self._tidy_app(term)
        if isinstance(term, Scan) and self._equal(term.count, 0):
            return self.tidy(self._before(term, term.which, term.at))
        if isinstance(term, Fold) and any(one.form == "==" for one in self.context.facts):
            ones = [name for name, count in term.over if self._equal(count, 1)]
            if ones:
                rest = tuple(one for one in term.over if one[0] not in ones)
                body = renamed(term.body, dict.fromkeys(ones, 0), self.context)
                return self.tidy(folded(term.function, rest, body))
        if isinstance(term, Fold) and (single := self._single(term)) is not None:
            return self.tidy(single)
        if isinstance(term, Fold) and isinstance(term.body, (App, Choose)):
            body = self.tidy(term.body)
            return folded(term.function, term.over, body) if body is not term.body else term
        return term

    def _tidy_app(self, term: App) -> Element:
        name = term.function.split(":")[0]
        arguments = tuple(one if isinstance(one, (Size, int)) else self.tidy(one) for one in term.arguments)
        for i, one in enumerate(arguments):
            if isinstance(one, Choose) and name != "select":
                # A function of a choice is a choice of functions.
                yes, no = (App(term.function, (*arguments[:i], x, *arguments[i + 1 :]), term.of)
                           for x in (one.yes, one.no))  # fmt: skip
                return Choose(one.condition, yes, no)
        if name == "convert":
            inner = arguments[0]
            assert not isinstance(inner, (Size, int))
            if inner.of == term.of:
                return inner
            literal = _literal(inner)
            if literal is not None and literal.is_integer():
                return constant(term.of, int(literal))
        if self.sense == "exact":
            return App(term.function, arguments, term.of)
        return self._reckoned(App(term.function, arguments, term.of), name)

    def _reckoned(self, term: App, name: str) -> Element:
        """What holds of integers and real numbers only."""
        values = [_literal(one) for one in term.arguments]
        if name == "mul" and 0 in values:
            return constant(term.of, 0)
        if name in ("mul", "add"):
            for value, other in zip(values, term.arguments[::-1], strict=True):
                if value == {"mul": 1, "add": 0}[name]:
                    return self.tidy(other)
        if name == "mul":
            for one, other in (term.arguments, term.arguments[::-1]):
                if isinstance(one, Fold) and one.function == "add":
                    inner = App("mul", (one.body, other), term.of)
                    return self.tidy(folded("add", one.over, inner))
        if name == "convert" and self.sense == "reals":
            kinds = {number(one.of).kind for one in (term, *term.arguments)}
            if kinds == {"float"}:
                inner_term: Element = term.arguments[0]
                return inner_term
        return term

    def _single(self, fold: Fold) -> Element | None:
        """A fold over what is neutral but at one index is what is there."""
        body = self.tidy(fold.body)
        if not isinstance(body, Choose) or body.condition.form != "==":
            return None
        if not self._neutral(self.tidy(body.no), fold.function):
            return None
        value = body.condition.parts[0]
        for name, count in fold.over:
            factor = dict(value.parts).get((name,))
            rest = value - (factor or 0) * self.context.alone(name)
            if factor not in (1, -1) or (isinstance(rest, Size) and name in rest.unknowns):
                continue
            at = -rest if factor == 1 else rest
            others = tuple(one for one in fold.over if one[0] != name)
            if free(at, self.context) & {one for one, _ in others}:
                continue
            if all(self.context.valid(self.context.compared(one, ">=")) for one in (at, count - 1 - at)):
                return folded(fold.function, others, renamed(body.yes, {name: at}, self.context))
        return None

    # --- scans

    def _scan(self, a: Element, b: Element) -> bool:
        """Equal states from equal steps; else the last step is made where there is one, on one side."""
        if isinstance(a, Scan) and isinstance(b, Scan):
            return self._states(a, b)
        one, other = (a, b) if isinstance(a, Scan) else (b, a)
        assert isinstance(one, Scan)
        if not self.context.valid(self.context.compared(one.count - 1, ">=")):
            return False
        return self.same(self._last_step(one), other)

    def _states(self, a: Scan, b: Scan) -> bool:
        """By induction: what they begin with is the same, and what a step makes of equal states."""
        if a.which != b.which or [len(one) for one in a.at_of] != [len(one) for one in b.at_of]:
            return False
        if not self._equal(a.count, b.count) or not self._indices(a.at, b.at):
            return False
        names = {b.k: self.context.alone(a.k)}
        for ours, theirs in zip(a.at_of, b.at_of, strict=True):
            for one, other in zip(ours, theirs, strict=True):
                if not self._equal(self.context.ranges[one][1], self.context.ranges[other][1]):
                    return False
                names[other] = self.context.alone(one)

        def turned(term: Element) -> Any:
            made = filled(term, lambda name, at: _moved(name, at, b, a))
            return renamed(made, names, self.context)

        with self.context.under():
            return all(
                self.same(one, turned(other))
                for one, other in zip((*a.first, *a.step), (*b.first, *b.step), strict=True)
            )

    def _last_step(self, scan: Scan) -> Element:
        """What the last step makes of the states before it."""
        before = scan.count - 1
        names = dict(zip(scan.at_of[scan.which], scan.at, strict=True)) | {scan.k: before}
        body = renamed(self._refolded(scan.step[scan.which]), names, self.context)
        first = self._equal(before, 0)

        def state(name: str, at: tuple[Any, ...]) -> Any:
            owner, _, which = name.rpartition(".")
            if owner != scan.name:
                return None
            return self._before(scan, int(which), at) if first else scan.placed(int(which), before, at)

        made: Element = filled(body, state)
        return made

    def _before(self, scan: Scan, which: int, at: tuple[Any, ...]) -> Element:
        """A state before all steps."""
        names = dict(zip(scan.at_of[which], at, strict=True))
        made: Element = renamed(self._refolded(scan.first[which]), names, self.context)
        return made

    def _refolded(self, term: Element) -> Any:
        """With new indices of folds: a body that is put into itself must not catch its own."""
        names = {}
        for name, count in _folds_of(term):
            self.fresh += 1
            names[name] = self.context.unknown(f"u{self.fresh}", 0, count - 1)
        return _with_indices(renamed(term, names, self.context), names) if names else term

    # --- folds

    def associative(self, function: str) -> bool:
        return function in FREE or (function in ("add", "mul") and self.sense != "exact")

    def _parts_same(self, a: Element, b: Element) -> bool:
        """Both taken apart by a function that may be re-associated."""
        for function in {one.function for one in (a, b) if isinstance(one, (App, Fold))}:
            if not self.associative(function):
                continue
            left, right = list(self.parts(a, function)), list(self.parts(b, function))
            if len(left) <= 1 and len(right) <= 1 and left[:1] == [a] and right[:1] == [b]:
                continue
            if self._matched(left, right, function):
                return True
            if self._cut_alike(left, right) and self._matched(left, right, function):
                return True
        return False

    def _cut_alike(self, left: list[Element], right: list[Element]) -> bool:
        """Cuts folds where the other side's are shorter; whether there was anything to cut."""
        found = False
        for ours, theirs in ((left, right), (right, left)):
            counts = [n for one in theirs if isinstance(one, Fold) for _, n in one.over]
            for one in list(ours):
                at = self._shorter(one, counts) if isinstance(one, Fold) and len(ours) < len(theirs) else None
                if at is not None:
                    ours[ours.index(one) : ours.index(one) + 1] = self._halves(one, *at)  # type: ignore[arg-type]
                    found = True
        return found

    def _shorter(self, fold: Fold, counts: list[Any]) -> tuple[str, Any] | None:
        """Of the counts the first that is within one of the fold's."""
        for name, count in fold.over:
            for one in counts:
                if self.context.valid(self.context.compared(count - one - 1, ">=")):
                    return name, one
        return None

    def _matched(self, left: list[Element], right: list[Element], function: str) -> bool:
        if function in FREE:  # twice is once
            return all(any(self._part(x, y) for y in right) for x in left) and all(
                any(self._part(x, y) for x in left) for y in right
            )
        rest = list(right)
        for one in left:
            found = next((i for i, other in enumerate(rest) if self._part(one, other)), None)
            if found is None:
                return False
            del rest[found]
        return not rest

    def _part(self, a: Element, b: Element) -> bool:
        """Parts are not taken apart again."""
        if isinstance(a, Fold) and isinstance(b, Fold):
            return self.folds(a, b)
        if isinstance(a, Fold) or isinstance(b, Fold):
            return False
        return self.same(a, b)

    def parts(self, term: Element, function: str) -> Iterator[Element]:
        term = self.tidy(term)
        if isinstance(term, App) and term.function == function:
            for one in term.arguments:
                yield from self.parts(one, function)
        elif isinstance(term, Fold) and term.function == function:
            yield from self._fold_parts(term, function)
        elif not self._neutral(term, function):
            yield term

    def _fold_parts(self, fold: Fold, function: str) -> Iterator[Element]:
        """Split where a choice in its body changes, few enough times."""
        short = next(((k, n) for k, n in fold.over if isinstance(n, int) and n <= 8), None)
        if cut := self._cut(fold):
            for half in self._halves(fold, *cut):
                yield from self.parts(half, function)
        elif self._neutral(self.tidy(fold.body), function):
            return
        elif short is not None and self.unroll:
            rest = tuple(one for one in fold.over if one[0] != short[0])
            for i in range(short[1]):
                inner = renamed(fold.body, {short[0]: i}, self.context)
                yield from self.parts(folded(function, rest, inner), function)
        elif isinstance(fold.body, App) and fold.body.function == function:
            for one in fold.body.arguments:
                yield from self.parts(folded(function, fold.over, one), function)
        else:
            yield fold

    unroll: bool = False
    """Short folds are written out."""

    def _neutral(self, term: Element, function: str) -> bool:
        value = _literal(term)
        of = number(term.of)
        return value is not None and of.kind != "opaque" and value == neutral(function, of)

    def _cut(self, fold: Fold) -> tuple[str, Any] | None:
        """An index and where a choice in the body changes."""
        for condition in _choices(fold.body):
            for name, count in fold.over:
                at = _threshold(condition, name)
                if at is None or free(at, self.context) & {one for one, _ in fold.over}:
                    continue
                inside = [at - 1, count - 1 - at]
                if all(self.context.valid(self.context.compared(one, ">=")) for one in inside):
                    return name, at
        return None

    def _halves(self, fold: Fold, name: str, at: Any) -> Iterator[Element]:
        count = dict(fold.over)[name]
        for start, size in ((0, at), (at, count - at)):
            self.fresh += 1
            index = self.context.unknown(f"{name}_{self.fresh}", 0, size - 1)
            inner = renamed(fold.body, {name: index + start}, self.context)
            (new,) = index.unknowns
            over = tuple((new, size) if one == name else (one, n) for one, n in fold.over)
            yield folded(fold.function, over, inner)

    def folds(self, a: Fold, b: Fold) -> bool:
        if a.function != b.function or not self.alike(a, b):
            return False
        if len(a.over) > len(b.over):
            a, b = b, a
        if len(b.over) > MOST_INDICES:
            return False
        return any(self._bodies(one, b) for one in self._spread(a, b))

    def _bodies(self, a: Fold, b: Fold) -> bool:
        """Of as many indices: in some order they are the same."""
        for order in permutations(b.over):
            if not all(self._equal(n, m) for (_, n), (_, m) in zip(a.over, order, strict=True)):
                continue
            names = {
                theirs: self.context.alone(ours)
                for (ours, _), (theirs, _) in zip(a.over, order, strict=True)
                if ours != theirs
            }
            with self.context.under():
                if self.same(a.body, renamed(b.body, names, self.context) if names else b.body):
                    return True
        return False

    def _spread(self, a: Fold, b: Fold) -> Iterator[Fold]:
        """`a` with as many indices as `b`: one over a product is several."""
        if len(a.over) == len(b.over):
            yield a
            return
        for at, (name, count) in enumerate(a.over):
            for group in self._groups(count, b, len(b.over) - len(a.over) + 1):
                position: Any = 0
                new = []
                for _, n in group:
                    self.fresh += 1
                    index = self.context.unknown(f"s{self.fresh}", 0, n - 1)
                    new.append((next(iter(index.unknowns)), n))
                    position = position * n + index
                body = renamed(a.body, {name: position}, self.context)
                over = (*a.over[:at], *new, *a.over[at + 1 :])
                yield from self._spread(Fold(a.function, over, body, a.of), b)

    def _groups(self, count: Any, b: Fold, most: int) -> Iterator[tuple[tuple[str, Any], ...]]:
        """Indices of `b` in some order, at most so many, whose counts multiply to that.

        First in the order in which they are read: a reshape of what is read has that order."""
        seen = list(_read_indices(b.body))
        order = sorted(b.over, key=lambda one: seen.index(one[0]) if one[0] in seen else len(seen))
        for size in range(2, most + 1):
            for group in combinations(order, size):
                if self._equal(count, prod(n for _, n in group)):
                    yield from permutations(group)


def _moved(name: str, at: tuple[Any, ...], old: Scan, new: Scan) -> Read | None:
    """A read of the one's states as that of the other's."""
    owner, _, which = name.rpartition(".")
    return Read(f"{new.name}.{which}", at, new.first[int(which)].of) if owner == old.name else None


def _folds_of(term: Any) -> Iterator[tuple[str, Any]]:
    match term:
        case App(_, arguments, _):
            for one in arguments:
                yield from _folds_of(one)
        case Fold(_, over, body, _):
            yield from over
            yield from _folds_of(body)
        case Choose(_, yes, no):
            yield from _folds_of(yes)
            yield from _folds_of(no)
        case Scan():
            for one in (*term.first, *term.step):
                yield from _folds_of(one)


def _with_indices(term: Any, names: Mapping[str, Size]) -> Any:
    """Folds over new names: their bodies have them already."""
    match term:
        case App(function, arguments, of):
            return App(function, tuple(_with_indices(one, names) for one in arguments), of)
        case Fold(function, over, body, of):
            new = tuple((next(iter(names[k].unknowns)) if k in names else k, n) for k, n in over)
            return Fold(function, new, _with_indices(body, names), of)
        case Choose(condition, yes, no):
            return Choose(condition, _with_indices(yes, names), _with_indices(no, names))
        case Scan():
            first, step = (tuple(_with_indices(x, names) for x in part) for part in (term.first, term.step))
            return replace(term, first=first, step=step)
    return term


def constant(of: str, value: int) -> App:
    return App(f"literal:{of}:{number(of).text(value)}", (), of)


def _literal(term: Any) -> float | None:
    """The number that a term is."""
    if not isinstance(term, App) or not term.function.startswith("literal:"):
        return None
    text = term.function.split(":", 2)[2]
    return float(text)


def _read_indices(term: Any) -> Iterator[str]:
    """Unknowns in the order in which indices of tensors speak of them."""
    match term:
        case Read(_, index, _):
            for one in index:
                yield from sorted(one.unknowns) if isinstance(one, Size) else ()
        case App(_, arguments, _):
            for one in arguments:
                yield from _read_indices(one)
        case Fold(_, _, body, _):
            yield from _read_indices(body)
        case Choose(_, yes, no):
            yield from _read_indices(yes)
            yield from _read_indices(no)


def _choices(term: Any) -> Iterator[Condition]:
    match term:
        case Choose(condition, yes, no):
            yield from _atoms(condition)
            yield from _choices(yes)
            yield from _choices(no)
        case App(_, arguments, _):
            for one in arguments:
                yield from _choices(one)
        case Fold(_, _, body, _):
            yield from _choices(body)


def _atoms(condition: Condition) -> Iterator[Condition]:
    if condition.form in (">=", "=="):
        yield condition
    else:
        for one in condition.parts:
            if isinstance(one, Condition):
                yield from _atoms(one)


def _threshold(condition: Condition, name: str) -> Any:
    """The least index from which on the condition is what it was not before; None: it is none of these."""
    value = condition.parts[0]
    factor = dict(value.parts).get((name,)) if isinstance(value, Size) else None
    if condition.form != ">=" or factor not in (1, -1):
        return None
    if any(name in names and names != (name,) for names, _ in value.parts):
        return None
    rest = value - factor * value.context.alone(name)
    return -rest if factor == 1 else rest + 1
