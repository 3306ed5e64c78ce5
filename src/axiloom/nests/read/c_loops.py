"""``for`` loops of C: their counters, normalised, with C's wrap.

A loop's points are those before the first at which its condition does not hold. A step of 1 gives a counter
that is C's; with another, it counts iterations from 0. ``for (i = 10; i-- > 0;)`` steps in its condition.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import islpy as isl

from axiloom.base.errors import CompileError
from axiloom.nests.program.names import fresh
from axiloom.nests.read.c_declarations import Declarations, Variable
from axiloom.nests.read.c_effects import STEPS, Effects
from axiloom.nests.read.c_forms import Forms, Obligation, held, inside
from axiloom.nests.read.c_places import Place, constant, counter, fixed
from axiloom.nests.read.clang import Node

_FORM = "a loop is `for (i = LOW; i < HIGH; i++)`, with affine bounds and a constant step"
_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))


@dataclass(frozen=True)
class Loop:
    """`place`: inside. `last`: C's counter behind the loop, where it is known there."""

    key: int
    place: Place
    last: isl.PwAff | None
    body: Node


@dataclass(frozen=True)
class _Count:
    """The counter as isl has it: `raw` is C's value before it wraps, of `kind`."""

    name: str
    raw: isl.PwAff
    kind: str
    key: int
    around: isl.Set
    """Where the loop is entered."""


@dataclass(frozen=True)
class _Course:
    """Of a loop's condition: where it holds, the first count at which it does not, and all up to that."""

    holds: isl.Set
    leaving: isl.Set
    until: isl.Set
    sure: bool
    """Nothing wraps on the way that was taken not to."""


@dataclass
class Loops:
    declarations: Declarations
    forms: Forms
    effects: Effects

    def __call__(self, node: Node, place: Place) -> Loop:
        """Raises CompileError with the reason. The counter's name stands for its value then."""
        init, end, step, body = node.for_parts()
        if end is None:
            raise node.fault(f"no end; {_FORM}")
        in_condition = step is None
        step = step or self._step_of_condition(end)
        if step is None:
            raise node.fault(f"its step is missing; {_FORM}")
        declared, key, low = self._start(node, init, step, place)
        kind = declared.number
        if kind not in _INTEGERS:
            raise node.fault(f"the iterator `{declared.name}` is {declared.type_text}; make it an int")
        if key in self.effects(body):
            raise node.fault(f"`{declared.name}` is written in its loop; {_FORM}")
        names = self.declarations.names
        amount = self._step(node, step, key)
        self.declarations.forget(self.effects(body, end) - {key})
        name = fresh(declared.name, set(place.loops))
        raw = counter(name) if amount == 1 else low + counter(name).mul(constant(amount))
        start = counter(name).ge_set(low if amount == 1 else constant(0))
        begun = replace(place, domain=place.domain & start)
        whole, count = begun, _Count(name, raw, kind, key, place.domain)
        course = self._course(end, begun, count, loose=True)
        if not (course.sure if course else kind in ("int32", "int64")):
            begun = self._bounded(end, begun, count)
            course = self._course(end, begun, count, loose=False)
        if course is None:
            raise node.fault(f"the loop does not end: `{declared.name}` moves away from its bound; {_FORM}")
        stepped = raw + constant(amount) if in_condition else raw
        if kind in ("int32", "int64") and not inside(stepped, kind, course.until):
            raise node.fault(f"`{declared.name}` overflows before the loop ends, which C leaves undefined")
        domain = _back(course.leaving.apply(isl.Map("{ [e] -> [k] : k < e }")), name) & begun.domain
        into = replace(place, loops=(*place.loops, name))
        if begun is whole and (begun.domain & course.holds).is_equal(
            domain
        ):  # its forms, as they are written
            into = into.where(start, exact=True).where(course.holds, exact=True)
        else:
            into = into.where(domain)
        names[key] = self.forms.fit(stepped, kind, replace(place, domain=domain))
        last = None
        if init is None or init.kind != "DECL_STMT":
            at = isl.PwMultiAff.from_map(isl.Map.from_range(course.leaving)).get_pw_aff(0)
            behind = at if amount == 1 else low + at.mul(constant(amount))
            last = self.forms.fit(behind + constant(amount) if in_condition else behind, kind, place)
        return Loop(key, into, last, body)

    def _course(self, end: Node, begun: Place, count: _Count, *, loose: bool) -> _Course | None:
        """None: it always holds for some iteration around. `loose`: as if nothing wrapped."""
        obligations: list[Obligation] | None = [] if loose else None
        self.forms.loose, self.forms.stepped = obligations, count.key
        self.declarations.names[count.key] = self.forms.fit(count.raw, count.kind, begun)
        holds = self.forms.condition(end, begun)
        self.forms.loose = self.forms.stepped = None
        if holds is None:
            raise end.fault(f"the end of the loop is not known: {self.forms.reason(end.bare, begun)}")
        exits = _last_dimension(begun.domain - holds, count.name)
        if not count.around.is_subset(exits.project_out(isl.dim_type.set, 0, 1)):
            return None
        leaving = exits.lexmin()
        until = _back(leaving.apply(isl.Map("{ [e] -> [k] : k <= e }")), count.name) & begun.domain
        sure = obligations is None or all(inside(form, of, until) for form, of in obligations)
        return _Course(holds, leaving, until, sure)

    def _bounded(self, end: Node, begun: Place, count: _Count) -> Place:
        """Up to where one of several conditions ends the loop at the latest: wraps within that are few."""
        if end.bare.op != "&&":
            return begun
        for part in end.bare.children:
            begun = self._bounded(part, begun, count)
            with suppress(CompileError):
                course = self._course(part, begun, count, loose=True)
                if course is not None and course.sure:
                    return replace(begun, domain=course.until)
        return begun

    def _start(self, node: Node, init: Node | None, step: Node, place: Place) -> tuple[Node, int, isl.PwAff]:
        """The counter's declaration and key, and where it starts."""
        if init is None:
            target = step.bare.children[0].bare if step.bare.children else step
            known = self.declarations.names.get(target.key) if target.kind == "DECL_REF_EXPR" else None
            low = held(known.held, place) if isinstance(known, Variable) else None
            if low is None or target.declared is None or not isinstance(known, Variable):
                raise node.fault(f"its start is not known; {_FORM}")
            self.declarations.substituted.add(known.array)
            return target.declared, target.key, low
        declared = value = None
        bare = init.bare
        if init.kind == "DECL_STMT" and len(init.children) == 1:
            declared = init.children[0]
            starts = [part for part in declared.children if part.is_expression]
            value = starts[-1] if starts else None
        elif bare.kind == "BINARY_OPERATOR" and bare.op == "=":
            target, value = bare.children
            declared = target.bare.declared if target.bare.kind == "DECL_REF_EXPR" else None
        if declared is None or value is None or declared.kind not in ("VAR_DECL", "PARM_DECL"):
            raise node.fault(f"its start is not understood; {_FORM}")
        form = self.forms(value, place)
        if form is None:
            raise node.fault(f"the start of the loop is not known: {self.forms.reason(value, place)}")
        if declared.number in _INTEGERS and value.number != declared.number:
            form = self.forms.fit(form, declared.number or "", place)
        return declared, declared.key, form

    @staticmethod
    def _step_of_condition(end: Node) -> Node | None:
        """``i--`` in ``i-- > 0``, where the condition names `i` nowhere else."""
        steps = [part for part in end.walk() if part.op in ("p++", "p--")]
        if len(steps) != 1 or (target := steps[0].children[0].bare).kind != "DECL_REF_EXPR":
            return None
        named = [part for part in end.walk() if part.kind == "DECL_REF_EXPR" and part.key == target.key]
        return steps[0] if len(named) == 1 else None

    def _step(self, node: Node, step: Node, key: int) -> int:
        bare = step.bare
        target = bare.children[0].bare if bare.children else bare
        if target.kind != "DECL_REF_EXPR" or target.key != key:
            raise node.fault(f"its step is not understood; {_FORM}")
        if bare.op in STEPS:
            return 1 if "+" in bare.op else -1
        if bare.op not in ("+=", "-=", "="):
            raise node.fault(f"its step `{bare.op}` is not constant; {_FORM}")
        names = self.declarations.names
        before = names.get(key)
        names[key], self.forms.loose = counter("at"), []
        form = self.forms(bare.children[1], Place())
        names[key], self.forms.loose = before, None
        if form is not None and bare.op == "=":
            form = (form - counter("at")).coalesce()
        amount = None if form is None else fixed(form)
        if not amount:
            raise node.fault(f"its step is not constant; {_FORM}")
        return -amount if bare.op == "-=" else amount


def _last_dimension(points: isl.Set, name: str) -> isl.Set:
    """A set of counters with this one as its only dimension."""
    place = points.find_dim_by_name(isl.dim_type.param, name)
    if place < 0:
        points = points.align_params(isl.Space.create_from_names(isl.DEFAULT_CONTEXT, params=[name], set=[]))
        place = points.find_dim_by_name(isl.dim_type.param, name)
    return points.move_dims(isl.dim_type.set, 0, isl.dim_type.param, place, 1)


def _back(points: isl.Set, name: str) -> isl.Set:
    count = points.dim(isl.dim_type.param)
    moved = points.move_dims(isl.dim_type.param, count, isl.dim_type.set, 0, 1)
    return moved.set_dim_name(isl.dim_type.param, count, name)
