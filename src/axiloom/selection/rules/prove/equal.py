"""Whether two elements are the same, as far as a rule's sense lets one reckon.

What is used, each a lemma that tests/selection/rules/test_lemmas.py tries on numbers:

- congruence: equal functions of equal arguments; ``add``, ``mul``, ``max``, ``min`` in either order
- folds have no order: indices change places; one over n * m is one over n of one over m
- a fold to n is that to m and that of the rest, where the function may be re-associated: ``max`` and ``min``
  always, ``add`` in integers and in real numbers; elements that change nothing are left out
- of equal ones the largest is any; a fold of what is nothing but at one index is what is there
- in integers and in real numbers: a factor goes into a sum
- states after as many equal steps from equal states are equal (`scans.py`)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, permutations
from math import prod
from typing import Any

from axiloom.graph.numbers import number
from axiloom.graph.ops.reduce import neutral
from axiloom.selection.rules.prove import arithmetic
from axiloom.selection.rules.prove.context import Context
from axiloom.selection.rules.prove.scans import at_first, same_scan
from axiloom.selection.rules.prove.sizes import Size
from axiloom.selection.rules.prove.terms import (
    App,
    Choose,
    Element,
    Fold,
    Read,
    Scan,
    folded,
    free,
    renamed,
)
from axiloom.selection.rules.prove.walks import choices, constant, literal_of, read_indices, threshold

EITHER_ORDER = ("add", "mul", "max", "min", "and", "or", "xor", "eq", "ne")
FREE = ("max", "min", "and", "or")
"""Re-associated in all numbers."""
MOST_INDICES = 6


@dataclass
class Equality:
    """`same` is True only if it is proved."""

    context: Context
    sense: str
    shown: set[int] = field(default_factory=set)
    """Integers with which two elements were seen to differ."""
    fresh: int = 0

    def same(self, a: Element, b: Element) -> bool:
        if a is b:
            return True
        if isinstance(a, Choose) and isinstance(b, Choose) and a.condition.key == b.condition.key:
            return self._branches(a, b)
        a, b = self.tidy(a), self.tidy(b)
        for choice, other in ((a, b), (b, a)):
            if isinstance(choice, Choose):
                return self._both(choice, other)
        if isinstance(a, Scan) or isinstance(b, Scan):
            return same_scan(self, a, b)
        if isinstance(a, Read) and isinstance(b, Read):
            return a.name == b.name and self.indices(a.index, b.index)
        if isinstance(a, App) and isinstance(b, App) and a.function == b.function and self.congruent(a, b):
            return True
        if isinstance(a, Fold) and isinstance(b, Fold) and self.folds(a, b):
            return True
        if self._parts_same(a, b):
            return True
        return self.sense != "exact" and arithmetic.same(self, a, b)

    def _branches(self, a: Choose, b: Choose) -> bool:
        """Of one condition."""
        for condition, ours, theirs in (
            (a.condition, a.yes, b.yes),
            (a.condition.opposite(), a.no, b.no),
        ):
            with self.context.under(condition) as possible:
                if possible and not self.same(ours, theirs) and not self.context.contradiction():
                    return False
        return True

    def _both(self, choose: Choose, other: Element) -> bool:
        for condition, branch in ((choose.condition, choose.yes), (choose.condition.opposite(), choose.no)):
            with self.context.under(condition) as possible:
                if possible and not self.same(branch, other) and not self.context.contradiction():
                    return False
        return True

    def indices(self, a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
        return len(a) == len(b) and all(self.equal(x, y) for x, y in zip(a, b, strict=True))

    def equal(self, a: Any, b: Any) -> bool:
        if isinstance(a, Size) or isinstance(b, Size):
            return self.context.valid(a == b)
        return bool(a == b)

    def index(self, count: Any) -> Size:
        """A new one from 0 up below `count`."""
        self.fresh += 1
        return self.context.unknown(f"j{self.fresh}", 0, count - 1)

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
            return isinstance(a, (Size, int)) and isinstance(b, (Size, int)) and self.equal(a, b)
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
        if isinstance(term, Scan) and self.equal(term.count, 0):
            return self.tidy(at_first(self, term, term.which, term.at))
        if isinstance(term, Fold) and any(fact.form == "==" for fact in self.context.facts):
            single = [name for name, count in term.over if self.equal(count, 1)]
            if single:
                rest = tuple(index for index in term.over if index[0] not in single)
                body = renamed(term.body, dict.fromkeys(single, 0), self.context)
                return self.tidy(folded(term.function, rest, body))
        if isinstance(term, Fold) and (there := self._single(term)) is not None:
            return self.tidy(there)
        if isinstance(term, Fold) and term.function in FREE:
            # Of equal ones the largest is any of them.
            varying = free(term.body, self.context)
            over = tuple(index for index in term.over if index[0] in varying)
            if len(over) < len(term.over):
                return self.tidy(folded(term.function, over, term.body))
        if isinstance(term, Fold) and isinstance(term.body, (App, Choose)):
            body = self.tidy(term.body)
            return folded(term.function, term.over, body) if body is not term.body else term
        return term

    def _tidy_app(self, term: App) -> Element:
        name = term.function.split(":")[0]
        arguments = tuple(
            argument if isinstance(argument, (Size, int)) else self.tidy(argument)
            for argument in term.arguments
        )
        for i, argument in enumerate(arguments):
            if isinstance(argument, Choose) and name != "select":
                # A function of a choice is a choice of functions.
                yes, no = (App(term.function, (*arguments[:i], x, *arguments[i + 1 :]), term.of)
                           for x in (argument.yes, argument.no))  # fmt: skip
                return Choose(argument.condition, yes, no)
        if name == "convert":
            inner = arguments[0]
            assert not isinstance(inner, (Size, int))
            if inner.of == term.of:
                return inner
            literal = literal_of(inner)
            if literal is not None and literal.is_integer():
                return constant(term.of, int(literal))
        if self.sense == "exact":
            return App(term.function, arguments, term.of)
        return self._reckoned(App(term.function, arguments, term.of), name)

    def _reckoned(self, term: App, name: str) -> Element:
        """What holds of integers and real numbers only."""
        values = [literal_of(argument) for argument in term.arguments]
        if name == "mul" and 0 in values:
            return constant(term.of, 0)
        if name in ("mul", "add"):
            for value, other in zip(values, term.arguments[::-1], strict=True):
                if value == {"mul": 1, "add": 0}[name]:
                    return self.tidy(other)
        if name == "mul":
            for factor, other in (term.arguments, term.arguments[::-1]):
                if isinstance(factor, Fold) and factor.function == "add":
                    inner = App("mul", (factor.body, other), term.of)
                    return self.tidy(folded("add", factor.over, inner))
        if name == "convert" and self.sense == "reals":
            kinds = {number(operand.of).kind for operand in (term, *term.arguments)}
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
            others = tuple(index for index in fold.over if index[0] != name)
            if free(at, self.context) & {other for other, _ in others}:
                continue
            if all(self.context.valid(self.context.compared(bound, ">=")) for bound in (at, count - 1 - at)):
                return folded(fold.function, others, renamed(body.yes, {name: at}, self.context))
        return None

    # --- folds

    def associative(self, function: str) -> bool:
        return function in FREE or (function in ("add", "mul") and self.sense != "exact")

    def _parts_same(self, a: Element, b: Element) -> bool:
        """Both taken apart by a function that may be re-associated."""
        for function in {side.function for side in (a, b) if isinstance(side, (App, Fold))}:
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
        was_cut = False
        for ours, theirs in ((left, right), (right, left)):
            counts = [n for part in theirs if isinstance(part, Fold) for _, n in part.over]
            for part in list(ours):
                at = (
                    self._shorter(part, counts)
                    if isinstance(part, Fold) and len(ours) < len(theirs)
                    else None
                )
                if at is not None:
                    ours[ours.index(part) : ours.index(part) + 1] = self._halves(part, *at)  # type: ignore[arg-type]
                    was_cut = True
        return was_cut

    def _shorter(self, fold: Fold, counts: list[Any]) -> tuple[str, Any] | None:
        """Of the counts the first that is within one of the fold's."""
        for name, count in fold.over:
            for shorter in counts:
                if self.context.valid(self.context.compared(count - shorter - 1, ">=")):
                    return name, shorter
        return None

    def _matched(self, left: list[Element], right: list[Element], function: str) -> bool:
        if function in FREE:  # twice is once
            return all(any(self._part(x, y) for y in right) for x in left) and all(
                any(self._part(x, y) for x in left) for y in right
            )
        rest = list(right)
        for part in left:
            place = next((i for i, other in enumerate(rest) if self._part(part, other)), None)
            if place is None:
                return False
            del rest[place]
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
            for argument in term.arguments:
                yield from self.parts(argument, function)
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
            rest = tuple(index for index in fold.over if index[0] != short[0])
            for i in range(short[1]):
                inner = renamed(fold.body, {short[0]: i}, self.context)
                yield from self.parts(folded(function, rest, inner), function)
        elif (body := self._sum(fold.body)).function == function:
            for argument in body.arguments:
                yield from self.parts(folded(function, fold.over, argument), function)
        else:
            yield fold

    def _sum(self, body: Element) -> App:
        """A product with a sum as a sum of products, where that is the same."""
        if not isinstance(body, App):
            return App("", (), body.of)
        if body.function != "mul" or self.sense == "exact":
            return body
        for factor, other in (body.arguments, body.arguments[::-1]):
            if isinstance(factor, App) and factor.function == "add":
                return App("add", tuple(App("mul", (x, other), body.of) for x in factor.arguments), body.of)
        return body

    unroll: bool = False
    """Short folds are written out."""

    def _neutral(self, term: Element, function: str) -> bool:
        value = literal_of(term)
        of = number(term.of)
        return value is not None and of.kind != "opaque" and value == neutral(function, of)

    def _cut(self, fold: Fold) -> tuple[str, Any] | None:
        """An index and where a choice in the body changes."""
        for condition in choices(fold.body):
            for name, count in fold.over:
                at = threshold(condition, name)
                if at is None or free(at, self.context) & {index for index, _ in fold.over}:
                    continue
                inside = [at - 1, count - 1 - at]
                if all(self.context.valid(self.context.compared(bound, ">=")) for bound in inside):
                    return name, at
        return None

    def _halves(self, fold: Fold, name: str, at: Any) -> Iterator[Element]:
        count = dict(fold.over)[name]
        for start, size in ((0, at), (at, count - at)):
            index = self.index(size)
            inner = renamed(fold.body, {name: index + start}, self.context)
            (new,) = index.unknowns
            over = tuple((new, size) if old == name else (old, n) for old, n in fold.over)
            yield folded(fold.function, over, inner)

    def folds(self, a: Fold, b: Fold) -> bool:
        if a.function != b.function or not self.alike(a, b):
            return False
        if len(a.over) > len(b.over):
            a, b = b, a
        if len(b.over) > MOST_INDICES:
            return False
        return any(self._bodies(spread, b) for spread in self._spread(a, b))

    def _bodies(self, a: Fold, b: Fold) -> bool:
        """Of as many indices: in some order they are the same."""
        for order in permutations(b.over):
            if not all(self.equal(n, m) for (_, n), (_, m) in zip(a.over, order, strict=True)):
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
                    index = self.index(n)
                    new.append((next(iter(index.unknowns)), n))
                    position = position * n + index
                body = renamed(a.body, {name: position}, self.context)
                over = (*a.over[:at], *new, *a.over[at + 1 :])
                yield from self._spread(Fold(a.function, over, body, a.of), b)

    def _groups(self, count: Any, b: Fold, most: int) -> Iterator[tuple[tuple[str, Any], ...]]:
        """Indices of `b` in some order, at most so many, whose counts multiply to that.

        First in the order in which they are read: a reshape of what is read has that order."""
        seen = list(read_indices(b.body))
        order = sorted(b.over, key=lambda index: seen.index(index[0]) if index[0] in seen else len(seen))
        for size in range(2, most + 1):
            for group in combinations(order, size):
                if self.equal(count, prod(n for _, n in group)):
                    yield from permutations(group)
