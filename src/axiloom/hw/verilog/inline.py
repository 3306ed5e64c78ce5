"""Puts the one-operator expressions that Yosys prints back together.

Verilog computes an operand as wide as what surrounds it, so a wire cannot simply be replaced by its
expression. Three cases are safe, and they are nearly all: the expression is the whole of what is
assigned to something equally wide; it is one bit among bits; it is a sum of which only the low bits
are taken, by something as wide as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

MAX_LENGTH = 100
"""No expression is grown beyond so many characters."""

_ATOM = r"(?:\d+'[hdb]\w+|[A-Za-z_]\w*(?:\[[^]]*\])?)"
_UNARY = re.compile(rf"([~!&|^]) ?({_ATOM})")
_BINARY = re.compile(rf"({_ATOM}) (&|\||\^|\+|-|==|!=|<|<=|>|>=) ({_ATOM})")
_CHOICE = re.compile(rf"({_ATOM}) \? ({_ATOM}) : ({_ATOM})")
_BIT_OPERATORS = ("", "~", "&", "|", "^", "==", "?")
_LITERAL = re.compile(r"(\d+)'([hdb])([0-9a-f]+)")
_BASES = {"h": 16, "d": 10, "b": 2}
_LOW_BITS = re.compile(r"(\w+)\[(\d+):0\]")


@dataclass(frozen=True)
class _Expression:
    text: str
    operator: str = ""
    """The outermost one: "" for an atom, "?" for a choice, "==" for anything that compares or reduces,
    "other" where the value may depend on what surrounds it."""

    def inside(self, operator: str) -> str:
        """Text as an operand of `operator`, in parentheses where the reader would have to think."""
        same = self.operator == operator and operator in "&|^"
        negated_bit = self.operator == "~" and operator in "&|^?"
        sum_ = operator == "+" and self.operator in ("+", "-")
        return self.text if not self.operator or same or negated_bit or sum_ else f"({self.text})"


class Inliner:
    """Expands expressions with `definitions`: wires that are read in one place, and what they are.

    `used` holds the wires that were replaced; the others must stay.
    """

    def __init__(self, definitions: Mapping[str, str], widths: Mapping[str, int]) -> None:
        self._definitions = definitions
        self._widths = widths
        self.used: set[str] = set()
        self._known: dict[tuple[str, str, int | None], tuple[_Expression | None, set[str]]] = {}

    def width(self, atom: str) -> int | None:
        """Bits of a name, a part of one, or a literal; None if unknown."""
        if literal := re.match(r"(\d+)'", atom):
            return int(literal[1])
        name, _, select = atom.partition("[")
        if not select:
            return self._widths.get(name)
        if not (bits := re.fullmatch(r"(\d+)(?::(\d+))?\]", select)):
            return None  # a concatenation that begins with a name
        return int(bits[1]) - int(bits[2] or bits[1]) + 1

    def whole(self, text: str, width: int | None) -> str:
        """`text`, all of which is assigned to something of `width` bits."""
        return self._expand(text, width).text

    def port(self, text: str, width: int | None) -> str:
        """`text`, connected to a port of `width` bits. Yosys computes it no wider than its operands."""
        before = set(self.used)
        whole = self.whole(text, width)
        widths = [self.width(atom) or 0 for atom in re.findall(_ATOM, whole)]
        if width in (None, 1) or whole.startswith("{") or width in widths:
            return whole
        self.used = before
        return text

    def condition(self, text: str) -> str:
        """`text`, the condition of an if."""
        return self._operand(text, "", MAX_LENGTH)

    def _once(
        self, kind: str, text: str, width: int | None, make: Callable[[], _Expression | None]
    ) -> _Expression | None:
        """What `make` finds, which depends on nothing but these. Wires that are read in several places share
        what they are made of: without a memory, each way to a wire would be gone anew."""
        key = (kind, text, width)
        if key not in self._known:
            before, self.used = self.used, set()
            self._known[key] = make(), self.used
            self.used = before
        expression, used = self._known[key]
        self.used |= used
        return expression

    def _expand(self, text: str, width: int | None) -> _Expression:
        expression = self._once("whole", text, width, lambda: self._expanded(text, width))
        assert expression is not None
        return expression

    def _expanded(self, text: str, width: int | None) -> _Expression:
        if width is None:
            return _Expression(text, "other")
        if text in self._definitions and self.width(text) == width:
            inner = self._expand(self._definitions[text], width)
            self.used.add(text)
            return inner
        if (low := _LOW_BITS.fullmatch(text)) and int(low[2]) + 1 == width:
            before = set(self.used)
            expression = self._low_bits(low[1], width)
            if expression is None:
                self.used = before
            return expression or _Expression(text)
        if re.fullmatch(_ATOM, text):
            return _Expression(text)
        if unary := _UNARY.fullmatch(text):
            return self._unary(unary[1], unary[2], width)
        if binary := _BINARY.fullmatch(text):
            return self._binary(binary[1], binary[2], binary[3], width)
        if choice := _CHOICE.fullmatch(text):
            return self._choice(choice[1], choice[2], choice[3], width)
        return _Expression(text, "other")

    def _low_bits(self, name: str, count: int) -> _Expression | None:
        """The low `count` bits of a wire, where they follow from the low bits of what it is made of."""
        return self._once("low", name, count, lambda: self._found_low_bits(name, count))

    def _found_low_bits(self, name: str, count: int) -> _Expression | None:
        definition = self._definitions.get(name, "")
        expression: _Expression | None = None
        if sum_ := _BINARY.fullmatch(definition):
            left, right = self._low_atom(sum_[1], count), self._low_atom(sum_[3], count)
            if sum_[2] in "+-" and left and right and right.operator not in ("+", "-", "?"):
                expression = _Expression(f"{left.inside('+')} {sum_[2]} {right.text}", sum_[2])
        elif choice := _CHOICE.fullmatch(definition):
            yes, no = self._low_atom(choice[2], count), self._low_atom(choice[3], count)
            if yes and no:
                condition = self._operand(choice[1], "?", MAX_LENGTH)
                expression = _Expression(f"{condition} ? {yes.inside('?')} : {no.inside('?')}", "?")
        elif join := re.fullmatch(r"\{ \d+'h0+, (.*) \}", definition):
            parts = join[1].split(", ")
            if sum(self.width(part) or 0 for part in parts) == count:
                expression = _Expression(parts[0] if len(parts) == 1 else f"{{ {join[1]} }}")
        if expression is None or len(expression.text) > MAX_LENGTH:
            return None
        self.used.add(name)
        return expression

    def _low_atom(self, atom: str, count: int) -> _Expression | None:
        if literal := _LITERAL.fullmatch(atom):
            value = int(literal[3], _BASES[literal[2]]) & ((1 << count) - 1)
            return _Expression(f"{count}'h{value:x}")
        if atom in self._definitions and self.width(atom) != count:
            before = set(self.used)
            low = self._low_bits(atom, count)
            if low is None:
                self.used = before
            elif low.operator or self.width(low.text) == count:
                return low
        width = self.width(atom)
        return _Expression(atom) if width is not None and width <= count else None

    def _operand(self, atom: str, operator: str, room: int) -> str:
        """A bit as an operand of `operator`; it may grow by `room` characters."""
        if atom not in self._definitions or self.width(atom) != 1:
            return atom
        before = set(self.used)
        expression = self._expand(atom, 1)
        text = expression.inside(operator) if operator else expression.text
        if expression.operator not in _BIT_OPERATORS or len(text) - len(atom) > room:
            self.used = before
            return atom
        return text

    def _unary(self, operator: str, atom: str, width: int) -> _Expression:
        if operator != "~":  # a reduction: its operand stands alone, its result is a bit
            if self.width(atom) == 1 and operator == "!":
                return _Expression(f"!{self._operand(atom, operator, MAX_LENGTH)}", "==")
            # Verilator wants a bit behind !
            return _Expression(f"{atom} == 0" if operator == "!" else f"{operator}{atom}", "==")
        if self.width(atom) != 1:
            return _Expression(f"~{atom}", "other")
        return _Expression(f"~{self._operand(atom, operator, MAX_LENGTH)}", "~")

    def _binary(self, left: str, operator: str, right: str, width: int) -> _Expression:
        left, right = self._widened(left, right), self._widened(right, left)
        text = f"{left} {operator} {right}"
        if operator not in "&|^":
            return _Expression(text, "other" if operator in "+-" else "==")
        if width != 1 or self.width(left) != 1 or self.width(right) != 1:
            return _Expression(text, "other")
        left = self._operand(left, operator, MAX_LENGTH - len(text))
        right = self._operand(right, operator, MAX_LENGTH - len(left) - len(right))
        return _Expression(f"{left} {operator} {right}", operator)

    def _widened(self, atom: str, other: str) -> str:
        """A literal made as wide as the other operand, which Verilog would do by itself."""
        literal, width = _LITERAL.fullmatch(atom), self.width(other)
        if literal is None or width is None or int(literal[1]) >= width:
            return atom
        return f"{width}'h{int(literal[3], _BASES[literal[2]]):x}"

    def _choice(self, condition: str, yes: str, no: str, width: int) -> _Expression:
        condition = self._operand(condition, "?", MAX_LENGTH - len(yes) - len(no))
        if width == self.width(yes) == self.width(no):
            room = MAX_LENGTH - len(condition) - len(yes) - len(no)
            branches = []
            for atom in (yes, no):
                before = set(self.used)
                expanded = self._expand(atom, width) if atom in self._definitions else _Expression(atom)
                branch = expanded.text if not expanded.operator else f"({expanded.text})"
                if "$signed" in branch or len(branch) > room:  # signs spread over a whole expression
                    self.used, branch = before, atom
                branches.append(branch)
            yes, no = branches
            return _Expression(f"{condition} ? {yes} : {no}", "?" if width == 1 else "other")
        return _Expression(f"{condition} ? {yes} : {no}", "other")
