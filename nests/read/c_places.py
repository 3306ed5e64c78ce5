"""Where a reader of C walks: the loops around, the points at which a line is executed, as isl sets.

A set here is over its counters as parameters, so that sets of different loops meet without more. A condition
that needs a division (``i % 2 == 0``) becomes a loop of its own around what stands under it, which has one
iteration: its counter is the quotient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import islpy as isl

from axiloom.isa.affine import Affine
from axiloom.nests.poly import sets
from axiloom.nests.program.expressions import Expression

Forms = tuple[Affine, ...]
SPACE = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 0)
ALWAYS = isl.Set.universe(SPACE)
FEW = 4
"""Values of a quotient for which the cases are told apart, instead of a loop."""


@dataclass(frozen=True)
class Guard:
    """A condition on data that must hold: of which ``if`` (a number), and in which of its branches."""

    number: int
    holds: bool
    condition: Expression
    loops: tuple[str, ...]
    """Around the ``if``."""


@dataclass(frozen=True)
class Division:
    """The counter `name` is `dividend` divided by `divisor`, rounded down."""

    name: str
    dividend: Affine
    divisor: int


@dataclass(frozen=True)
class Place:
    """`parts`: disjoint conjunctions of forms that are at least 0; together they are `domain`. `statics` may
    be shorter than `loops`: what is missing is 0."""

    loops: tuple[str, ...] = ()
    domain: isl.Set = ALWAYS
    parts: tuple[Forms, ...] = ((),)
    statics: tuple[int, ...] = ()
    guards: tuple[Guard, ...] = ()
    divisions: tuple[Division, ...] = ()
    calls: tuple[str, ...] = ()
    """Functions that this place is in."""

    @property
    def is_empty(self) -> bool:
        return not self.parts


@dataclass
class Count:
    """The next static number at one level."""

    value: int = 0

    def next(self) -> int:
        self.value += 1
        return self.value - 1


def constant(value: int) -> isl.PwAff:
    local = isl.LocalSpace.from_space(SPACE)
    return isl.PwAff(isl.Aff.zero_on_domain(local).set_constant_val(isl.Val(str(value))))


def counter(name: str) -> isl.PwAff:
    return isl.PwAff(f"[{name}] -> {{ [] -> [({name})] }}")


def fixed(form: isl.PwAff) -> int | None:
    """The value of a form that has one only."""
    return int(str(form.max_val())) if form.is_cst() else None


def aff(form: Affine) -> isl.PwAff:
    names = ", ".join(form.names)
    return isl.PwAff(f"[{names}] -> {{ [] -> [({form})] }}")


def holding(forms: Forms) -> isl.Set:
    names = sorted({name for form in forms for name in form.names})
    return isl.Set(f"[{', '.join(names)}] -> {{ [] : {sets.conjunction(forms)} }}")


def entered(place: Place, domain: isl.Set, parts: Sequence[Forms], name: str, static: int) -> Place:
    """The place in a loop."""
    statics = (*filled(place), static)
    return replace(place, loops=(*place.loops, name), domain=domain, parts=tuple(parts), statics=statics)


def filled(place: Place) -> tuple[int, ...]:
    return (*place.statics, *[0] * (len(place.loops) - len(place.statics)))


@dataclass(frozen=True)
class Narrowing:
    """`fresh` gives counters their names."""

    fresh: Callable[[str], str]

    def where(self, place: Place, condition: isl.Set, exact: bool = False) -> Place:
        """The place where `condition` holds too. `exact`: its forms as they are, though some may follow from
        what holds anyway."""
        domain = place.domain & condition
        if domain.is_empty():
            return replace(place, domain=domain, parts=())
        if not exact and place.domain.is_subset(condition):
            return place
        local = condition if exact else condition.gist(place.domain)
        found: list[Forms] = []
        whole, place = place, replace(place, domain=domain)
        for part in local.coalesce().make_disjoint().compute_divs().get_basic_sets():
            cases, place = self._resolved(place, _divs(part), part)
            names = _names(part)
            for case in cases:
                # Without what holds anyway, now that divisions have values.
                known = whole.domain & holding(case.forms) if case.forms else whole.domain
                forms: list[Affine] = []
                for each in part.get_constraints():
                    form = _form(each, names, case.quotients)
                    forms += [form, -form] if each.is_equality() else [form]
                if case.quotients:
                    forms = [form for form in forms if not known.is_subset(holding((form,)))]
                found.append(tuple(sorted(dict.fromkeys((*case.forms, *forms)), key=str)))
        # Counters of divisions were put around all parts.
        parts = _bounded(whole.parts, _new(whole, place))
        parts = tuple(tuple(dict.fromkeys((*before, *here))) for before in parts for here in found)
        return replace(place, parts=parts)

    def pieces(self, place: Place, forms: Sequence[isl.PwAff]) -> list[tuple[Place, tuple[Affine, ...]]]:
        """Forms as affine ones, at places that together are this one."""
        result: list[tuple[Place, tuple[Affine, ...]]] = [(place, ())]
        for form in forms:
            longer = []
            for here, before in result:
                longer += [(at, (*before, value)) for at, value in self._pieces(here, form)]
            result = longer
        return result

    def affine(self, place: Place, form: isl.PwAff) -> Affine | None:
        """The form as one affine form, if it is one."""
        pieces = _affs(form.intersect_domain(place.domain).gist(place.domain).coalesce())
        if len(pieces) != 1 or any(True for _ in _divs(pieces[0][1])):
            return None
        return _form(pieces[0][1], _names(pieces[0][1]), [])

    def _pieces(self, place: Place, form: isl.PwAff) -> list[tuple[Place, Affine]]:
        if (value := self.affine(place, form)) is not None:
            return [(place, value)]
        found = []
        for where, piece in _affs(form.intersect_domain(place.domain).coalesce()):
            here = self.where(place, where)
            if here.is_empty:
                continue
            cases, after = self._resolved(here, _divs(piece), None)
            for case in cases:
                inside = self.where(after, holding(case.forms)) if case.forms else after
                inside = replace(inside, parts=_bounded(inside.parts, _new(here, after)))
                if not inside.is_empty:
                    found.append((inside, _form(piece, _names(piece), case.quotients)))
        return found

    def _resolved(
        self, place: Place, divs: Sequence[isl.Aff], part: isl.BasicSet | None
    ) -> tuple[list[_Case], Place]:
        """Each division's value: a constant, a few constants (a case each), or a counter, which the place
        has then."""
        cases = [_Case((), ())]
        domain = place.domain if part is None else place.domain & isl.Set.from_basic_set(part)
        for div in divs:
            divisor = div.get_denominator_val().to_python()
            longer = []
            for case in cases:
                dividend = _form(div.scale_val(isl.Val(str(divisor))), _names(div), case.quotients)
                here = domain & holding(case.forms) if case.forms else domain
                values = aff(dividend).intersect_domain(here).div(constant(divisor)).floor()
                low, high = values.min_val(), values.max_val()
                if low.is_int() and high.is_int() and high.to_python() - low.to_python() < FEW:
                    for value in range(low.to_python(), high.to_python() + 1):
                        rest = dividend - value * divisor
                        forms = (rest, divisor - 1 - rest) if low != high else ()
                        longer.append(_Case((*case.forms, *forms), (*case.quotients, Affine.of(value))))
                    continue
                place = self._counted(place, dividend, divisor)
                name = next(
                    each.name
                    for each in place.divisions
                    if (each.dividend, each.divisor) == (dividend, divisor)
                )
                longer.append(_Case(case.forms, (*case.quotients, Affine.name(name))))
            cases = longer
        return cases, place

    def _counted(self, place: Place, dividend: Affine, divisor: int) -> Place:
        if any((each.dividend, each.divisor) == (dividend, divisor) for each in place.divisions):
            return place
        new = Division(self.fresh("q"), dividend, divisor)
        return replace(
            place,
            loops=(*place.loops, new.name),
            domain=place.domain & holding(_quotient(new)),
            divisions=(*place.divisions, new),
        )


@dataclass(frozen=True)
class _Case:
    """`forms`: what tells the case from others; `quotients`: the values of the divisions."""

    forms: Forms
    quotients: tuple[Affine, ...]


def _quotient(division: Division) -> Forms:
    rest = division.dividend - Affine.name(division.name) * division.divisor
    return rest, division.divisor - 1 - rest


def _new(before: Place, after: Place) -> Forms:
    divisions = after.divisions[len(before.divisions) :]
    return tuple(form for each in divisions for form in _quotient(each))


def _bounded(parts: Sequence[Forms], forms: Forms) -> tuple[Forms, ...]:
    return tuple((*each, *forms) for each in parts)


def _names(of: Any) -> list[str]:
    space = of.get_domain_space() if isinstance(of, isl.Aff) else of.get_space()
    return [str(space.get_dim_name(isl.dim_type.param, n)) for n in range(space.dim(isl.dim_type.param))]


def _divs(of: Any) -> list[isl.Aff]:
    return [of.get_div(n) for n in range(of.dim(isl.dim_type.div))]


def _form(of: Any, names: Sequence[str], quotients: Sequence[Affine]) -> Affine:
    """A constraint or an aff with integer coefficients, its divisions replaced."""
    result = Affine.sum(
        [(name, of.get_coefficient_val(isl.dim_type.param, n).to_python()) for n, name in enumerate(names)],
        of.get_constant_val().to_python(),
    )
    for n, quotient in enumerate(quotients):
        result = result + quotient * of.get_coefficient_val(isl.dim_type.div, n).to_python()
    return result


def _affs(form: isl.PwAff) -> list[tuple[isl.Set, isl.Aff]]:
    found: list[tuple[isl.Set, isl.Aff]] = []
    form.foreach_piece(lambda where, value: found.append((where, value)))
    return found


__all__ = [
    "ALWAYS",
    "Count",
    "Division",
    "Expression",
    "Forms",
    "Guard",
    "Narrowing",
    "Place",
    "aff",
    "constant",
    "counter",
    "entered",
    "filled",
    "fixed",
    "holding",
]
