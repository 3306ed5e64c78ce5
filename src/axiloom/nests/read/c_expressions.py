"""Expressions of C as expressions of a program.

An expression may have several: conditions of counters (``i > 0 ? A[i - 1] : 0``) split the points at which
it is computed, so that what C does not evaluate is not there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import islpy as isl

from axiloom.isa.numerics.formats import format_of
from axiloom.nests.program.expressions import Load
from axiloom.nests.read import c_values as values
from axiloom.nests.read.c_declarations import Declarations, Variable
from axiloom.nests.read.c_effects import assigns
from axiloom.nests.read.c_forms import Forms
from axiloom.nests.read.c_places import Place, constant
from axiloom.nests.read.c_values import Value
from axiloom.nests.read.clang import CASTS, Node

Pieces = list[tuple[Place, Value]]
_BINARY = {*values.ARITHMETIC, *values.INTEGER, *values.SHIFTS, *values.RELATIONS, "&&", "||"}


@dataclass
class Expressions:
    """`effect` reads an assignment or a call that stands in an expression."""

    declarations: Declarations
    forms: Forms
    effect: Callable[[Node, Place, bool], Pieces]

    def __call__(self, node: Node, place: Place, alone: bool = False) -> Pieces:
        """`alone`: it is all that its statement computes, so that it may have effects."""
        kind = node.number
        if kind is None:
            raise node.fault(f"`{node.type_text}` is no number of programs")
        form = self.forms.shallow(node, place)
        if form is not None and (value := self._index(form, kind, place)) is not None:
            return [(place, value)]
        if form is not None and node.kind == "DECL_REF_EXPR":  # a counter that wraps
            pieces = place.pieces([form])
            return [(at, values.counted(value, kind)) for at, (value,) in pieces]
        if node.kind == "FLOATING_LITERAL":
            return [(place, values.number(self._constant(node), kind))]
        if node.kind in ("DECL_REF_EXPR", "ARRAY_SUBSCRIPT_EXPR") or node.op == "deref":
            return [(at, values.loaded(load, kind)) for at, load in self.element(node, place)]
        if node.kind in CASTS and node.children:
            inner = self(node.children[-1], place, alone)
            if any(values.is_beyond(value, kind) for _, value in inner):
                raise node.fault(f"`{node.text}` is beyond {kind}, which C leaves undefined")
            return [(at, values.cast(value, kind)) for at, value in inner]
        if node.kind == "CALL_EXPR" or assigns(node):
            return self.effect(node, place, alone)
        if node.kind == "UNARY_OPERATOR" and node.op in ("+", "-", "~", "!"):
            inner = self(node.children[0], place)
            return [(at, values.unary(node.op, value, kind)) for at, value in inner]
        if node.kind == "CONDITIONAL_OPERATOR":
            return self._conditional(node, place, kind)
        if node.kind == "BINARY_OPERATOR" and node.op in ("&&", "||"):
            return self._logical(node, place, kind)
        if node.kind == "BINARY_OPERATOR" and node.op in _BINARY:
            left, right = node.children
            return [
                (at, self._binary(node, node.op, right, a, b, at, kind))
                for here, a in self(left, place)
                for at, b in self(right, here)
            ]
        what = f"`{node.op}`" if node.op else f"`{node.kind.lower()}`"
        raise node.fault(f"{what} in an expression is not supported")

    def compound(self, node: Node, target: Load, kind: str, place: Place) -> Pieces:
        """``target op= right``, ``target++``. Clang's binding does not say in which type it is computed: it
        is C's common one, for a shift the promoted left one."""
        op = node.op[-1] if node.kind == "UNARY_OPERATOR" else node.op[:-1]
        right = node if node.kind == "UNARY_OPERATOR" else node.children[1]
        operands: Pieces = [(place, values.number(1, values.INT))]
        if node.kind != "UNARY_OPERATOR":
            operands = self(right, place, alone=True)
        result = []
        for at, operand in operands:
            wide = values.promoted(kind)
            if op not in values.SHIFTS:
                wide = values.common(kind, operand.number)
                operand = values.cast(operand, wide)
            left = values.cast(values.loaded(target, kind), wide)
            result.append((at, self._binary(node, op, right, left, operand, at, wide)))
        return result

    def element(self, node: Node, place: Place) -> list[tuple[Place, Load]]:
        """An element, or a scalar."""
        variable, subscripts = self.reference(node, place)
        if len(subscripts) != len(variable.shape):
            raise node.fault(
                f"`{variable.array}` has {len(variable.shape)} dimensions, not {len(subscripts)}"
            )
        number = self.declarations.arrays[variable.array].number
        return [(at, Load(variable.array, forms, number)) for at, forms in place.pieces(subscripts)]

    def reference(self, node: Node, place: Place) -> tuple[Variable, tuple[isl.PwAff, ...]]:
        """The array that an element or an argument is of, and subscripts."""
        node, subscripts = node.bare, []
        if node.kind == "UNARY_OPERATOR" and node.op == "deref":  # *A is A[0]
            subscripts, node = [constant(0)], node.children[0].bare
        elif node.kind == "UNARY_OPERATOR" and node.op == "&":  # &A[0] is A
            node = node.children[0].bare
            if node.kind == "ARRAY_SUBSCRIPT_EXPR":
                form = self.forms(node.children[1], place)
                if form is None or not place.domain.is_subset(form.eq_set(constant(0))):
                    raise node.fault("a pointer into an array; pass the array, and a subscript")
                node = node.children[0].bare
        while node.kind == "ARRAY_SUBSCRIPT_EXPR":
            base, subscript = node.children
            form = self.forms(subscript, place)
            if form is None:
                raise node.fault(self.forms.reason(subscript, place))
            subscripts.insert(0, form)
            node = base.bare
        if node.kind != "DECL_REF_EXPR":
            raise node.fault("only arrays with a name are indexed; pointers are not computed with")
        known = self.declarations.known(node)
        if not isinstance(known, Variable):
            raise node.fault(f"`{node.name}` is the iterator of a loop, or a constant")
        return known, (*known.before, *subscripts)

    # --- parts --------------------------------------------------------------------------------------------

    def _index(self, form: isl.PwAff, kind: str, place: Place) -> Value | None:
        affine = place.affine(form)
        if affine is None or (kind == "bool" and not affine.is_constant):
            return None
        return values.counted(affine, kind)

    @staticmethod
    def _constant(node: Node) -> float:
        if node.value is None:
            raise node.fault("this constant is not understood")
        return node.value

    def _conditional(self, node: Node, place: Place, kind: str) -> Pieces:
        condition, yes, no = node.children
        holds = self.forms.condition(condition, place)
        if holds is None:
            return [
                (last, values.chosen(values.truth(value), a, b, kind))
                for at, value in self(condition, place)
                for here, a in self(yes, at)
                for last, b in self(no, here)
            ]
        pieces: Pieces = []
        for part, branch in ((holds, yes), (holds.complement(), no)):
            inside = place.where(part)
            if not inside.is_empty:
                pieces += [(at, values.cast(value, kind)) for at, value in self(branch, inside)]
        return pieces

    def _logical(self, node: Node, place: Place, kind: str) -> Pieces:
        """From left to right: behind a condition of counters, only where it does not decide."""
        decided = node.op == "||"
        pieces: Pieces = []
        going: list[tuple[Place, Value | None]] = [(place, None)]

        def joined(before: Value | None, value: Value) -> Value:
            return value if before is None else values.binary(node.op, before, value, kind)

        for operand in _chain(node, node.op):
            after: list[tuple[Place, Value | None]] = []
            for here, before in going:
                holds = self.forms.condition(operand, here)
                if holds is None:
                    after += [(at, joined(before, value)) for at, value in self(operand, here)]
                    continue
                stops = here.where(holds if decided else holds.complement())
                goes = here.where(holds.complement() if decided else holds)
                if not stops.is_empty:
                    pieces.append((stops, joined(before, values.number(int(decided), kind))))
                if not goes.is_empty:
                    after.append((goes, before))
            going = after
        for at, last in going:
            value = values.number(int(not decided), kind) if last is None else last
            pieces.append((at, Value(values.truth(value), kind)))
        return pieces

    def _binary(self, node: Node, op: str, right: Node, a: Value, b: Value, place: Place, kind: str) -> Value:
        """Refuses what C leaves undefined, where it is known."""
        if op in ("/", "%", "<<", ">>") and not values.is_float(kind) and right is not node:
            form = self.forms(right, place)
            if form is not None:
                bits = format_of(kind).bits
                wrong = form.eq_set(constant(0))
                if op in values.SHIFTS:
                    wrong = form.lt_set(constant(0)) | form.ge_set(constant(bits))
                if not (wrong := place.domain & wrong).is_empty():
                    amount = form.intersect_domain(wrong.lexmin()).max_val()
                    why = f"shifts {bits} bits by {amount}" if op in values.SHIFTS else "divides by 0"
                    raise node.fault(f"`{op}` {why} here, which C leaves undefined")
        return values.binary(op, a, b, kind)


def _chain(node: Node, op: str) -> list[Node]:
    inner = node.bare
    if inner.kind == "BINARY_OPERATOR" and inner.op == op:
        return [part for operand in inner.children for part in _chain(operand, op)]
    return [node]
