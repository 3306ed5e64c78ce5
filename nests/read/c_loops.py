"""``for`` loops of C: their counters, normalised, with C's wrap.

A loop's points are those before the first at which its condition does not hold. A step of 1 gives a counter
that is C's; with another, it counts iterations from 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import islpy as isl

from axiloom.nests.read.c_declarations import Declarations, Variable
from axiloom.nests.read.c_effects import STEPS, Effects
from axiloom.nests.read.c_forms import Forms, Obligation, held, inside
from axiloom.nests.read.c_places import Narrowing, Place, constant, counter, fixed
from axiloom.nests.read.clang import Node

_FORM = "a loop is `for (i = LOW; i < HIGH; i++)`, with affine bounds and a constant step"
_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))


@dataclass(frozen=True)
class Loop:
    """`place`: inside, without its own static number. `value`: C's counter there; `last`: behind the loop."""

    key: int
    name: str
    place: Place
    value: isl.PwAff
    last: isl.PwAff | None
    body: Node


@dataclass
class Loops:
    declarations: Declarations
    forms: Forms
    narrowing: Narrowing
    effects: Effects

    def __call__(self, node: Node, place: Place) -> Loop:
        """Raises CompileError with the reason. The counter's name stands for its value then."""
        init, end, step, body = node.for_parts()
        if end is None:
            raise node.fault(f"no end; {_FORM}")
        if step is None:
            raise node.fault(f"its step is missing; {_FORM}")
        declared, key, low = self._start(node, init, step, place)
        kind = declared.number
        if kind not in _INTEGERS:
            raise node.fault(f"the iterator `{declared.name}` is {declared.type_text}; make it an int")
        if key in self.effects(body):
            raise node.fault(f"`{declared.name}` is written in its loop; {_FORM}")
        names = self.declarations.names
        amount = self._step(node, step, key, declared.name)
        self.declarations.forget(self.effects(body, end) - {key})
        name = self.narrowing.fresh(declared.name)
        raw = counter(name) if amount == 1 else low + counter(name).mul(constant(amount))
        first = low if amount == 1 else constant(0)
        start = counter(name).ge_set(first)
        begun = replace(place, domain=place.domain & start)
        for loose in (True, False):  # first as if nothing wrapped; then it is seen whether that was so
            obligations: list[Obligation] | None = [] if loose else None
            self.forms.loose = obligations
            names[key] = self.forms.fit(raw, kind, begun)
            holds = self.forms.condition(end, begun)
            self.forms.loose = None
            if holds is None:
                raise end.fault(f"the end of the loop is not known: {self.forms.reason(end.bare, begun)}")
            exits = _last_dimension(begun.domain - holds, name)
            if not place.domain.is_subset(exits.project_out(isl.dim_type.set, 0, 1)):
                if loose and kind not in ("int32", "int64"):
                    continue
                raise node.fault(
                    f"the loop does not end: `{declared.name}` moves away from its bound; {_FORM}"
                )
            leaving = exits.lexmin()
            until = _back(leaving.apply(isl.Map("{ [e] -> [k] : k <= e }")), name) & begun.domain
            if obligations is None or all(inside(form, of, until) for form, of in obligations):
                break
        if kind in ("int32", "int64") and not inside(raw, kind, until):
            raise node.fault(f"`{declared.name}` overflows before the loop ends, which C leaves undefined")
        domain = _back(leaving.apply(isl.Map("{ [e] -> [k] : k < e }")), name) & begun.domain
        assert holds is not None
        simple = begun.domain & holds
        into = replace(place, loops=(*place.loops, name))
        if simple.is_equal(domain):  # its forms, as they are written
            into = self.narrowing.where(self.narrowing.where(into, start, exact=True), holds, exact=True)
        else:
            into = self.narrowing.where(into, domain)
        names[key] = self.forms.fit(raw, kind, replace(place, domain=domain))
        last = None
        if init is None or init.kind != "DECL_STMT":
            at = isl.PwMultiAff.from_map(isl.Map.from_range(leaving)).get_pw_aff(0)
            behind = at if amount == 1 else low + at.mul(constant(amount))
            last = self.forms.fit(behind, kind, place)
        return Loop(key, name, into, names[key], last, body)

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
            starts = [each for each in declared.children if each.is_expression]
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

    def _step(self, node: Node, step: Node, key: int, name: str) -> int:
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
