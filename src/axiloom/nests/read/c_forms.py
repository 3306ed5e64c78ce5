"""Integer expressions of counters as isl forms with C's wrap, and conditions as sets.

Each node of clang's tree has a type. A form that leaves the range of its type somewhere is taken modulo
2^bits: isl says whether it does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import islpy as isl

from axiloom.isa.numerics.formats import format_of
from axiloom.nests.read.c_declarations import Declarations, Held, SizeNeeded, Variable
from axiloom.nests.read.c_places import Place, constant, fixed
from axiloom.nests.read.c_values import is_float
from axiloom.nests.read.clang import CASTS, WRAPPERS, Node

RELATIONS = {"<": "lt_set", "<=": "le_set", ">": "gt_set", ">=": "ge_set", "==": "eq_set", "!=": "ne_set"}
_CONSTANTS = ("INTEGER_LITERAL", "CHARACTER_LITERAL", "CXX_UNARY_EXPR", "CXX_BOOL_LITERAL_EXPR")
Obligation = tuple[isl.PwAff, str]


@dataclass
class Forms:
    """What names stand for is asked of `declarations`."""

    declarations: Declarations
    loose: list[Obligation] | None = field(default=None, init=False)
    """Where it is a list, forms are taken as if they did not wrap, and stand in it with their types."""

    deep: bool = field(default=True, init=False)
    """Whether scalars are taken as the forms that they were given last."""
    stepped: int | None = field(default=None, init=False)
    """The counter, by its key, whose ``i--`` has the value that it has before."""

    def __call__(self, node: Node, place: Place) -> isl.PwAff | None:
        """The form of an integer expression, or None where it is none."""
        kind = node.number
        if kind is None or is_float(kind):
            return None
        if node.kind in _CONSTANTS:
            value = node.value
            return None if value is None else constant(int(value))
        if node.kind == "DECL_REF_EXPR":
            return self._name(node, place)
        if node.kind in CASTS:
            return self._cast(node, kind, place)
        if node.op in ("p++", "p--") and node.children[0].bare.key == self.stepped:
            return self(node.children[0], place)
        if node.kind == "UNARY_OPERATOR" and node.op in ("+", "-", "~"):
            inner = self(node.children[0], place)
            if inner is None:
                return None
            changed = {"+": inner, "-": inner.neg(), "~": inner.neg() - constant(1)}[node.op]
            return self.fit(changed, kind, place)
        if node.kind == "CONDITIONAL_OPERATOR":
            return self._chosen(node, place)
        if node.kind == "BINARY_OPERATOR" and node.op in _OPERATORS:
            left, right = (self(operand, place) for operand in node.children)
            if left is None or right is None:
                return None
            result = _OPERATORS[node.op](left, right, format_of(kind).bits)
            return None if result is None else self.fit(result, kind, place)
        return None

    def _name(self, node: Node, place: Place) -> isl.PwAff | None:
        declared = node.declared
        if declared is not None and declared.kind == "ENUM_CONSTANT_DECL":
            return constant(declared.cursor.enum_value)
        known = self.declarations.names.get(node.key)
        if isinstance(known, isl.PwAff):
            return known
        if isinstance(known, Variable):
            form = held(known.held, place) if known.counter or self.deep else None
            if form is not None:
                self.declarations.substituted.add(known.array)
            elif self.deep and node.key in self.declarations.called:
                raise SizeNeeded(*self.declarations.called[node.key])
            return form
        # A constant of the file, `static const int n = 8`.
        if declared is not None and declared.kind == "VAR_DECL" and declared.cursor.type.is_const_qualified():
            value = node.value
            return None if value is None else constant(int(value))
        return None

    def _cast(self, node: Node, kind: str, place: Place) -> isl.PwAff | None:
        if not node.children:
            return None
        operand = node.children[-1]
        inner = self(operand, place)
        if inner is None or (kind == "bool" and operand.number != "bool"):
            return None
        return inner if operand.number == kind else self.fit(inner, kind, place)

    def _chosen(self, node: Node, place: Place) -> isl.PwAff | None:
        holds = self.condition(node.children[0], place)
        if holds is None:
            return None
        yes = self(node.children[1], replace(place, domain=place.domain & holds))
        no = self(node.children[2], replace(place, domain=place.domain - holds))
        if yes is None or no is None:
            return None
        return yes.intersect_domain(holds).union_add(no.intersect_domain(holds.complement()))

    def fit(self, form: isl.PwAff, kind: str, place: Place) -> isl.PwAff:
        """The form as a value of this type: itself where it fits, else wrapped."""
        if inside(form, kind, place.domain):
            return form
        if self.loose is not None:
            self.loose.append((form, kind))
            return form
        format = format_of(kind)
        low = constant(format.lowest)
        return (form - low).mod_val(isl.Val(str(1 << format.bits))) + low

    def condition(self, node: Node, place: Place) -> isl.Set | None:
        """The counters for which it holds, or None where it depends on data."""
        inner = node
        while inner.kind in WRAPPERS and inner.children and inner.children[0].number in ("int32", "bool"):
            inner = inner.children[0]
        if inner.kind == "UNARY_OPERATOR" and inner.op == "!":
            holds = self.condition(inner.children[0], place)
            return None if holds is None else holds.complement()
        op = inner.op if inner.kind == "BINARY_OPERATOR" else ""
        if op in ("&&", "||"):
            left = self.condition(inner.children[0], place)
            if left is None:
                return None
            rest = place.domain & left if op == "&&" else place.domain - left
            right = self.condition(inner.children[1], replace(place, domain=rest))
            if right is None:
                return None
            return left & right if op == "&&" else left | right
        if op in RELATIONS:
            a, b = (self(operand, place) for operand in inner.children)
            return None if a is None or b is None else getattr(a, RELATIONS[op])(b)
        form = self(node, place)
        return None if form is None else form.ne_set(constant(0))

    def shallow(self, node: Node, place: Place) -> isl.PwAff | None:
        """The form, but that scalars are loaded."""
        self.deep = False
        try:
            return self(node, place)
        finally:
            self.deep = True

    def reason(self, node: Node, place: Place) -> str:
        """Why an expression has no form."""
        for part in node.children:
            if part.number is not None and self(part, place) is None:
                return self.reason(part, place)
        if node.kind == "DECL_REF_EXPR":
            declared = node.declared
            if declared is not None and declared.kind != "PARM_DECL":
                return f"`{node.name}` depends on data, or on iterations before: no affine form of iterators"
            return (
                f"`{node.name}` is neither an iterator of a loop around nor a constant "
                f"(give sizes by #define or -D {node.name}=VALUE)"
            )
        if node.kind == "ARRAY_SUBSCRIPT_EXPR":
            return "an element of an array is no affine form of iterators"
        if node.kind == "CALL_EXPR":
            return f"a call of `{node.name}` is no affine form of iterators"
        if node.op == "*":
            return f"`{node.text}` is a product of two iterators"
        return f"`{node.text}` is no affine form of iterators"


def held(value: Held | None, place: Place) -> isl.PwAff | None:
    """What a variable was last given, where that is known of this place."""
    if value is None or place.loops[: len(value.loops)] != value.loops:
        return None
    return value.form if place.domain.is_subset(value.domain) else None


def inside(form: isl.PwAff, kind: str, domain: isl.Set) -> bool:
    """Whether all values are of the type."""
    format = format_of(kind)
    low, high = (0, 1) if kind == "bool" else (format.lowest, format.highest)
    outside = form.lt_set(constant(low)) | form.gt_set(constant(high))
    return bool((domain & outside).is_empty())


def _product(left: isl.PwAff, right: isl.PwAff, _: int) -> isl.PwAff | None:
    return left.mul(right) if left.is_cst() or right.is_cst() else None


def _quotient(left: isl.PwAff, right: isl.PwAff, _: int) -> isl.PwAff | None:
    return left.tdiv_q(right) if fixed(right) else None


def _rest(left: isl.PwAff, right: isl.PwAff, _: int) -> isl.PwAff | None:
    return left.tdiv_r(right) if fixed(right) else None


def _left(left: isl.PwAff, right: isl.PwAff, bits: int) -> isl.PwAff | None:
    amount = fixed(right)
    return left.mul(constant(1 << amount)) if amount is not None and 0 <= amount < bits else None


def _right(left: isl.PwAff, right: isl.PwAff, bits: int) -> isl.PwAff | None:
    amount = fixed(right)
    return left.div(constant(1 << amount)).floor() if amount is not None and 0 <= amount < bits else None


def _mask(left: isl.PwAff, right: isl.PwAff, _: int) -> isl.PwAff | None:
    """``i & 7``"""
    mask = fixed(right)
    if mask is None or mask < 0 or mask & (mask + 1):
        return None
    return left.mod_val(isl.Val(str(mask + 1)))


_OPERATORS: dict[str, Callable[[Any, Any, int], Any]] = {
    "+": lambda left, right, _: left + right,
    "-": lambda left, right, _: left - right,
    "*": _product,
    "/": _quotient,
    "%": _rest,
    "<<": _left,
    ">>": _right,
    "&": _mask,
}
