"""Elements as terms, and `Terms`, the algebra that makes them: what an operation computes, without values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from axiloom.graph.numbers import number
from axiloom.selection.rules.prove.conditions import Condition, Undecided
from axiloom.selection.rules.prove.context import Context
from axiloom.selection.rules.prove.sizes import Size, replaced

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


@dataclass(frozen=True, eq=False)
class Read:
    """A tensor's element."""

    name: str
    index: tuple[Any, ...]
    of: str


@dataclass(frozen=True, eq=False)
class App:
    """A scalar function. An ``index:NUMBER`` has an index as its argument."""

    function: str
    arguments: tuple[Any, ...]
    of: str


@dataclass(frozen=True, eq=False)
class Fold:
    """Over all of `over`, (index, count) each: in no order."""

    function: str
    over: tuple[tuple[str, Any], ...]
    body: Element
    of: str


@dataclass(frozen=True, eq=False)
class Choose:
    condition: Condition
    yes: Element
    no: Element

    @property
    def of(self) -> str:
        return self.yes.of


@dataclass(frozen=True, eq=False)
class Scan:
    """An element of a state after `count` steps. `first[i]` and `step[i]` are an element of state i, at the
    index `at_of[i]`, before all steps and after step `k`; a state before step k is read as ``NAME.i``."""

    name: str
    k: str
    at_of: tuple[tuple[str, ...], ...]
    first: tuple[Element, ...]
    step: tuple[Element, ...]
    count: Any
    which: int
    at: tuple[Any, ...]

    @property
    def of(self) -> str:
        return self.first[self.which].of

    def placed(self, which: int, count: Any, at: tuple[Any, ...]) -> Scan:
        """Another element of the same states."""
        return replace(self, which=which, count=count, at=at)


Element: TypeAlias = Read | App | Fold | Choose | Scan


TERMS = (Read, App, Fold, Choose, Scan)


@dataclass
class Terms:
    """An `Algebra` of terms."""

    context: Context
    counted: int = field(default=0)

    def apply(self, function: str, *arguments: Any) -> Any:
        name, *more = function.split(":", 2)
        match name:
            case "position":
                raise Undecided("an index that is a value")
            case "literal":
                known = number(more[0])
                text = known.text(known.decode(known.parse(more[1])))
                return App(f"literal:{known}:{text}", (), known.name)
            case "index" | "convert":
                return App(function, arguments, more[0])
            case "select":
                return App(function, arguments, arguments[1].of)
        if name in ("eq", "ne") and all(_counts(argument) for argument in arguments):
            a, b = (argument.arguments[0] for argument in arguments)
            same, other = (self.apply(f"literal:bool:{int(yes == (name == 'eq'))}") for yes in (True, False))
            return self.choose(self.context.compared(a - b, "=="), lambda: same, lambda: other)
        of = "bool" if name in COMPARISONS else arguments[0].of
        return App(function, arguments, of)

    def fold(self, function: str, count: Any, body: Callable[[Any], Any]) -> Any:
        if isinstance(count, int) and count == 1:
            return body(0)
        index = self.context.unknown(f"k{self.counted}", 0, count - 1)
        self.counted += 1
        with self.context.under():
            inner = body(index)
        (name,) = index.unknowns
        return folded(function, ((name, count),), inner)

    def choose(self, condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        if self.context.plain(condition):
            return yes()
        if condition is False or self.context.plain(condition.opposite()):
            return no()
        with self.context.under(condition):
            first = yes()
        with self.context.under(condition.opposite()):
            return Choose(condition, first, no())

    def scan(
        self,
        count: Any,
        most: Any,
        first: Sequence[Any],
        shapes: Sequence[Sequence[Any]],
        step: Callable[[Any, Sequence[Any]], Sequence[Any]],
        which: int,
        at: Sequence[Any],
    ) -> Any:
        self.counted += 1
        name = f"~{self.counted}"
        k = self.context.unknown(f"{name}k", 0, most - 1)
        at_of, firsts, steps = [], [], []
        with self.context.under():
            of = [self._at_zero(start, shape) for start, shape in zip(first, shapes, strict=True)]
            states = [lambda at, i=i: Read(f"{name}.{i}", tuple(at), of[i]) for i in range(len(first))]
            after = step(k, states)
            for i, shape in enumerate(shapes):
                index = [self.context.unknown(f"{name}a", 0, n - 1) for n in shape]
                at_of.append(tuple(next(iter(unknown.unknowns)) for unknown in index))
                firsts.append(first[i](index))
                steps.append(after[i](index))
        (k_name,) = k.unknowns
        return Scan(name, k_name, tuple(at_of), tuple(firsts), tuple(steps), count, which, tuple(at))

    def _at_zero(self, read: Any, shape: Sequence[Any]) -> str:
        """The number of a tensor's elements."""
        of: str = read([0] * len(shape)).of
        return of


def _counts(term: Any) -> bool:
    """Whether it is an index as a value, in a number that holds every index."""
    return isinstance(term, App) and term.function == "index:int64"


def folded(function: str, over: tuple[tuple[str, Any], ...], body: Element) -> Element:
    """Folds of folds of one function are one."""
    if isinstance(body, Fold) and body.function == function:
        return Fold(function, (*over, *body.over), body.body, body.of)
    return Fold(function, over, body, body.of) if over else body


def substituted(term: Any, of: Callable[[str], Any], context: Context) -> Any:
    """The term with other indices. Quotients are taken again: what they are of may have changed."""

    def value(size: Any) -> Any:
        return replaced(size, unknown) if isinstance(size, Size) else size

    def unknown(name: str) -> Any:
        if name not in context.origins:
            return of(name)
        whole, by, which = context.origins[name]
        return context.divided(value(whole), value(by))[which]

    def condition(claim: Any) -> Any:
        if claim.form in (">=", "=="):
            return context.compared(value(claim.parts[0]), claim.form)
        parts = [condition(part) for part in claim.parts]
        if claim.form == "not":
            return not parts[0] if isinstance(parts[0], bool) else parts[0].opposite()
        stop = claim.form == "or"
        left = [part for part in parts if not isinstance(part, bool)]
        if any(part is stop for part in parts):
            return stop
        if not left:
            return not stop
        return left[0] if len(left) == 1 else Condition(context, claim.form, tuple(left))

    def walk(part: Any) -> Any:
        match part:
            case Read(name, index, of_number):
                return Read(name, tuple(map(value, index)), of_number)
            case App(function, arguments, of_number):
                inner = (walk(x) if isinstance(x, TERMS) else value(x) for x in arguments)
                return App(function, tuple(inner), of_number)
            case Fold(function, over, body, _):
                return folded(function, tuple((k, value(n)) for k, n in over), walk(body))
            case Scan():
                return replace(
                    part,
                    first=tuple(map(walk, part.first)),
                    step=tuple(map(walk, part.step)),
                    count=value(part.count),
                    at=tuple(map(value, part.at)),
                )
            case Choose(when, yes, no):
                said = condition(when)
                if isinstance(said, bool):
                    return walk(yes if said else no)
                return Choose(said, walk(yes), walk(no))
        return part

    return walk(term)


def filled(term: Any, reads: Callable[[str, tuple[Any, ...]], Any]) -> Any:
    """The term with other elements for what it reads; None: that read stays."""

    def walk(part: Any) -> Any:
        match part:
            case Read(name, index, _):
                element = reads(name, index)
                return part if element is None else element
            case App(function, arguments, of):
                return App(function, tuple(walk(x) if isinstance(x, TERMS) else x for x in arguments), of)
            case Fold(function, over, body, _):
                return folded(function, over, walk(body))
            case Choose(when, yes, no):
                return Choose(when, walk(yes), walk(no))
            case Scan():
                first, step = (tuple(map(walk, parts)) for parts in (part.first, part.step))
                return replace(part, first=first, step=step)
        return part

    return walk(term)


def renamed(term: Any, names: dict[str, Any], context: Context) -> Any:
    alone = {name: Size(context, (((name,), 1),)) for name in context.ranges}
    return substituted(term, lambda name: names.get(name, alone.get(name)), context)


def free(term: Any, context: Context) -> frozenset[str]:
    """Unknowns that a term speaks of, with those that its quotients are of."""
    match term:
        case Read(_, index, _):
            return _of(index, context)
        case App(_, arguments, _):
            return frozenset().union(*(free(argument, context) for argument in arguments))
        case Fold(_, over, body, _):
            return free(body, context) | _of([n for _, n in over], context)
        case Scan():
            inner = _of([term.count, *term.at], context)
            return inner.union(*(free(part, context) for part in (*term.first, *term.step)))
        case Choose(condition, yes, no):
            inner = _closed(condition.unknowns, context)
            return inner | free(yes, context) | free(no, context)
        case Size():
            return _closed(term.unknowns, context)
    return frozenset()


def _of(values: Sequence[Any], context: Context) -> frozenset[str]:
    names = (value.unknowns for value in values if isinstance(value, Size))
    return _closed(frozenset().union(*names), context)


def _closed(names: frozenset[str], context: Context) -> frozenset[str]:
    closed, stack = set(names), list(names)
    while stack:
        origin = context.origins.get(stack.pop())
        for value in origin[:2] if origin else ():
            new = (value.unknowns if isinstance(value, Size) else frozenset()) - closed
            closed |= new
            stack += new
    return frozenset(closed)
