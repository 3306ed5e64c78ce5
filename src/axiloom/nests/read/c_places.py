"""Where a reader of C walks: the loops around, the points at which a line is executed, as isl sets.

A set here is over its counters as parameters, so that sets of different loops meet without more. A condition
that needs a division (``i % 2 == 0``) becomes a loop of its own around what stands under it, which has one
iteration: its counter is the quotient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import islpy as isl

from axiloom.base.affine import Affine
from axiloom.nests.poly import sets
from axiloom.nests.program.expressions import Expression
from axiloom.nests.program.names import fresh

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

    @property
    def forms(self) -> Forms:
        rest = self.dividend - Affine.name(self.name) * self.divisor
        return rest, self.divisor - 1 - rest


@dataclass(frozen=True)
class Place:
    """`parts`: disjoint conjunctions of forms that are at least 0; together they are `domain`. `statics` may
    be shorter than `loops`: what stands here shares those loops with nothing else yet."""

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

    def order(self, number: int) -> tuple[int, ...]:
        """Where the statement with this number stands; numbers rise in the order of the text."""
        return (*self.statics, number, *[0] * (len(self.loops) - len(self.statics)))

    def entered(self, number: int) -> Place:
        """Inside all loops, which have this number: what stands here stands in them together."""
        if len(self.statics) == len(self.loops):
            return self
        return replace(self, statics=self.order(number)[:-1])

    def where(self, condition: isl.Set, exact: bool = False) -> Place:
        """The place where `condition` holds too. `exact`: its forms as they are, though some may follow from
        what holds anyway."""
        domain = self.domain & condition
        if domain.is_empty():
            return replace(self, domain=domain, parts=())
        if not exact and self.domain.is_subset(condition):
            return self
        local = condition if exact else condition.gist(self.domain)
        conjunctions: list[Forms] = []
        place = replace(self, domain=domain)
        for part in local.coalesce().make_disjoint().compute_divs().get_basic_sets():
            cases, place = place._resolved(_divs(part), isl.Set.from_basic_set(part))
            names = _names(part)
            for case in cases:
                # Without what holds anyway, now that divisions have values.
                known = self.domain & holding(case.forms)
                forms: list[Affine] = []
                for constraint in part.get_constraints():
                    form = _form(constraint, names, case.quotients)
                    forms += [form, -form] if constraint.is_equality() else [form]
                if case.quotients:
                    forms = [form for form in forms if not known.is_subset(holding((form,)))]
                conjunctions.append(tuple(sorted(dict.fromkeys((*case.forms, *forms)), key=str)))
        return place._narrowed(conjunctions)

    def pieces(self, forms: Sequence[isl.PwAff]) -> list[tuple[Place, tuple[Affine, ...]]]:
        """Forms as affine ones, at places that together are this one."""
        result: list[tuple[Place, tuple[Affine, ...]]] = [(self, ())]
        for form in forms:
            result = [
                (inside, (*before, value))
                for place, before in result
                for inside, value in place._pieces(form)
            ]
        return result

    def affine(self, form: isl.PwAff) -> Affine | None:
        """The form as one affine form, if it is one."""
        pieces = _affs(form.intersect_domain(self.domain).gist(self.domain).coalesce())
        if len(pieces) != 1 or _divs(pieces[0][1]) or not pieces[0][1].get_denominator_val().is_one():
            return None
        return _form(pieces[0][1], _names(pieces[0][1]), [])

    def _pieces(self, form: isl.PwAff) -> list[tuple[Place, Affine]]:
        if (value := self.affine(form)) is not None:
            return [(self, value)]
        result = []
        for where, piece in _affs(form.intersect_domain(self.domain).coalesce()):
            inside = self.where(where)
            if inside.is_empty:
                continue
            if not piece.get_denominator_val().is_one():  # (i + 1)/2, where i is odd
                piece = piece.floor()
            cases, inside = inside._resolved(_divs(piece), ALWAYS)
            for case in cases:
                place = inside.where(holding(case.forms))
                if not place.is_empty:
                    result.append((place, _form(piece, _names(piece), case.quotients)))
        return result

    def _narrowed(self, conjunctions: Sequence[Forms]) -> Place:
        parts = [tuple(dict.fromkeys((*part, *forms))) for part in self.parts for forms in conjunctions]
        return replace(self, parts=tuple(parts))

    def _resolved(self, divs: Sequence[isl.Aff], part: isl.Set) -> tuple[list[_Case], Place]:
        """Each division's value in a part: a constant, a few constants (a case each), or a counter, which the
        place has then."""
        place, cases = self, [_Case((), ())]
        for div in divs:
            divisor = div.get_denominator_val().to_python()
            longer = []
            for case in cases:
                dividend = _form(div.scale_val(isl.Val(str(divisor))), _names(div), case.quotients)
                domain = place.domain & part & holding(case.forms)
                values = aff(dividend).intersect_domain(domain).div(constant(divisor)).floor()
                low, high = values.min_val(), values.max_val()
                if low.is_int() and high.is_int() and high.to_python() - low.to_python() < FEW:
                    for value in range(low.to_python(), high.to_python() + 1):
                        rest = dividend - value * divisor
                        forms = (rest, divisor - 1 - rest) if low != high else ()
                        longer.append(_Case((*case.forms, *forms), (*case.quotients, Affine.of(value))))
                    continue
                place, name = place._divided(dividend, divisor)
                longer.append(_Case(case.forms, (*case.quotients, Affine.name(name))))
            cases = longer
        return cases, place

    def _divided(self, dividend: Affine, divisor: int) -> tuple[Place, str]:
        """With a loop for the quotient, and its name."""
        for known in self.divisions:
            if (known.dividend, known.divisor) == (dividend, divisor):
                return self, known.name
        division = Division(fresh("q", set(self.loops)), dividend, divisor)
        place = replace(
            self,
            loops=(*self.loops, division.name),
            domain=self.domain & holding(division.forms),
            divisions=(*self.divisions, division),
        )
        return place._narrowed([division.forms]), division.name


@dataclass(frozen=True)
class _Case:
    """`forms`: what tells the case from others; `quotients`: the values of the divisions."""

    forms: Forms
    quotients: tuple[Affine, ...]


def constant(value: int) -> isl.PwAff:
    local = isl.LocalSpace.from_space(SPACE)
    return isl.PwAff(isl.Aff.zero_on_domain(local).set_constant_val(isl.Val(str(value))))


def counter(name: str) -> isl.PwAff:
    return isl.PwAff(f"[{name}] -> {{ [] -> [({name})] }}")


def fixed(form: isl.PwAff) -> int | None:
    """The value of a form that has one only."""
    return int(str(form.max_val())) if form.is_cst() else None


def aff(form: Affine) -> isl.PwAff:
    return isl.PwAff(f"[{', '.join(form.names)}] -> {{ [] -> [({form})] }}")


@cache
def holding(forms: Forms) -> isl.Set:
    """The counters for which all forms are at least 0."""
    names = sorted({name for form in forms for name in form.names})
    return isl.Set(f"[{', '.join(names)}] -> {{ [] : {sets.conjunction(forms)} }}")


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
    pieces: list[tuple[isl.Set, isl.Aff]] = []
    form.foreach_piece(lambda where, value: pieces.append((where, value)))
    return pieces
