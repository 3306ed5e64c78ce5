"""Whether an instruction of a text does what a description says, but for names.

Devices describe what their units do in the language of texts. An instruction means the same if its
statements are those of the description: each memory, register, function and iterator of the description
stands for one of the text, and each of its fields for an expression of the text's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from axiloom.isa.instructions.tree import (
    Apply,
    Bits,
    Call,
    Const,
    Expr,
    Fold,
    For,
    Function,
    Lanes,
    Memory,
    Name,
    Register,
    Wrapped,
)
from axiloom.isa.instructions.walk import names


@dataclass
class Same:
    """Whether two trees are equal but for names, and what the names of the first stand for.

    Ranges are not compared: they follow from the widths of the fields. What a value is wrapped to is."""

    given: set[str]
    """Fields of the description."""
    values: dict[str, Expr] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    """What a description's opaque functions stand for: any function on the same numbers."""

    def everything(self, node: object, other: object) -> bool:
        if isinstance(node, Name) and node.name in self.given:
            return self._value(node.name, other)
        if isinstance(node, Apply) and node.operation == "add" and not _is_sum(other):
            first, rest = node.arguments
            if isinstance(first, Name) and first.name in self.given:
                return self._value(first.name, Const(0)) and self.everything(rest, other)
        if (low := _low_bits(node)) and (other_low := _low_bits(other)):
            return low[1] == other_low[1] and self.everything(low[0], other_low[0])
        if isinstance(node, Sequence) and not isinstance(node, str):
            return (
                isinstance(other, Sequence)
                and len(node) == len(other)
                and all(map(self.everything, node, other))
            )
        if type(node) is not type(other):
            return False
        match node, other:
            case Memory(), Memory():
                return node.host == other.host and self.memories.setdefault(node.name, other) == other
            case Register(), Register():
                return self._name(f"register {node.name}", other.name)
            case Function(), Function():
                return self._function(node, other)
            case Fold(), Fold():
                return (
                    (node.operation, node.count) == (other.operation, other.count)
                    and self._name(node.iterator, other.iterator, bind=True)
                    and self.everything(node.body, other.body)
                )
            case Name(), Name():
                return self._name(node.name, other.name)
            case Wrapped(), Wrapped():
                return node.range == other.range and self.everything(node.value, other.value)
            case Const(), Const():
                return node.value == other.value
            case Lanes(), Lanes():
                pairs = zip(node.iterators.items(), other.iterators.items(), strict=False)
                return (
                    len(node.iterators) == len(other.iterators)
                    and all(a == b and self._name(x, y, bind=True) for (x, a), (y, b) in pairs)
                    and self.everything(node.body, other.body)
                )
            case For(), For():
                return (
                    self.everything(node.low, other.low)
                    and self.everything(node.high, other.high)
                    and self._name(node.iterator.name, other.iterator.name, bind=True)
                    and self.everything(node.body, other.body)
                )
            case Call(), Call():
                return self.everything(node.function, other.function) and self.everything(
                    node.arguments, other.arguments
                )
        return self._parts(node, other)

    def _function(self, function: Function, other: Function) -> bool:
        if function.external or other.external:
            return function.external == other.external
        if function.opaque:
            types = [*function.parameters.values(), function.result] == [
                *other.parameters.values(),
                other.result,
            ]
            return types and self.functions.setdefault(function.name, other) == other
        if function.opaque or other.opaque or function.lets or other.lets:
            return False
        inner = Same(set())
        return (
            [*function.parameters.values(), function.result] == [*other.parameters.values(), other.result]
            and all(
                inner._name(a, b, bind=True)
                for a, b in zip(function.parameters, other.parameters, strict=True)
            )
            and inner.everything(function.value, other.value)
        )

    def _parts(self, node: object, other: object) -> bool:
        if not hasattr(node, "__dataclass_fields__"):
            return node == other
        return all(
            self.everything(getattr(node, field.name), getattr(other, field.name))
            for field in fields(node)  # type: ignore[arg-type]
            if field.name not in ("range", "line", "text")
        )

    def _name(self, name: str, other: str, bind: bool = False) -> bool:
        """An iterator stands for one other, but in each loop anew."""
        if bind:
            self.names[name] = other
            return True
        return self.names.setdefault(name, other) == other

    def _value(self, name: str, other: object) -> bool:
        """What a field of the description stands for: an expression without memories and iterators."""
        if not isinstance(other, Expr) or any(part in self.names.values() for part in names(other)):
            return False
        return self.values.setdefault(name, other) == other


def _low_bits(expr: object) -> tuple[Expr, int] | None:
    """A value and how many of its lowest bits are meant: ``uint4(x)``, ``x[0:4]`` and ``x & 15`` are one."""
    match expr:
        case Wrapped(value=value, range=range_) if not range_.signed:
            return value, range_.bits
        case Bits(value=value, low=Const(value=0), width=width):
            return value, width
        case Apply(operation="bitand", arguments=(value, Const(value=mask))) if (
            mask > 0 and not mask & mask + 1
        ):
            return value, mask.bit_length()
    return None


def _is_sum(expr: object) -> bool:
    """Where it is none, the first row is meant: a sum with 0."""
    return isinstance(expr, Apply) and expr.operation == "add"
