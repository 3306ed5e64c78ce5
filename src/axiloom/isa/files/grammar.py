"""The grammar of `opcode_map` and `opcode_flow`: text to values and back.

The published grammar, with one extension (fields packed into one word of `send_dim`)::

    opcode_map ::= ["opcode_map"] "<" [entry ("," entry)* [","]] ">"
    entry      ::= name "=" "[" [action ("," action)*] "]"
    action     ::= "send" "(" operand ")" | "recv" "(" operand ")" | "send_literal" "(" int ")"
                 | "send_idx" "(" dim ")" | "send_dim" "(" field ("|" field)* ")"
                 | "write" "(" register "," (int | dim) ")" | "wait" "(" register "," int ")"
    field      ::= dim ["<<" int]
    flow       ::= ["opcode_flow" | "init_opcodes"] "<" scope ">" | scope
    scope      ::= "(" (name | scope)* ")"
    name       ::= bare_id | string

Operands and dims are names, or numbers that count from 0; integers are decimal or ``0x...``. The published
code spells the actions ``op_send(0)``, ``op_recv(2)`` ...; both spellings are read. `write` and `wait` are
of the device's registers, before or behind all other actions of an opcode. The values
print themselves in this grammar, so ``parse(print(x)) == x``. Only the form is checked here; what the
names mean is :mod:`axiloom.isa.check.check`'s part.

``send_dim`` takes fields. The published grammar sends one word a dim, yet the published v4 takes ``M | N
<< 10 | K << 20`` in one word. ``send_dim(m | n << 10 | k << 20)`` says so in the specification, and the
check knows how many bits each field has.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from axiloom.base.errors import SpecError
from axiloom.base.wording.names import shortened
from axiloom.isa.contract.types import (
    BARE_ID,
    Access,
    Carried,
    DimField,
    HostAction,
    Opcode,
    Recv,
    Scope,
    Send,
    SendDim,
    SendIdx,
    SendLiteral,
    WaitRegister,
    WriteRegister,
)

_ACTIONS = ("send", "send_literal", "send_dim", "send_idx", "recv", "write", "wait")
_PUBLISHED = "op_"
"""What the published code puts before the name of an action."""
_TOKEN = re.compile(
    rf"""\s+
    | (?P<id>{BARE_ID.pattern})
    | (?P<string>"[^"\\\n]*")
    | (?P<int>-?(?:0[xX][0-9a-fA-F]+|[0-9]+)(?![A-Za-z0-9_]))
    | (?P<mark><<|[<>()\[\]=,|])""",
    re.VERBOSE,
)
_MAX_DEPTH = 64
_MAX_DIGITS = 20
"""Of an integer: words have 32 bits."""


class GrammarError(SpecError):
    """A text that is not in the grammar. `column` (from 1) is where, `what` the fault without its place."""

    def __init__(self, what: str, column: int) -> None:
        self.what = what
        self.column = column
        super().__init__([f"column {column}: {what}"])


@dataclass(frozen=True)
class _Token:
    kind: str  # id, string, int, mark or end
    text: str
    column: int

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else f"`{shortened(self.text)}`"


def _tokens(text: str) -> list[_Token]:
    tokens, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            shown = text[at] if text[at].isprintable() else ascii(text[at])[1:-1]
            raise GrammarError(f"unexpected `{shown}`", at + 1)
        if match.lastgroup == "int" and len(match.group()) > _MAX_DIGITS:
            raise GrammarError(f"an integer of {len(match.group())} digits; words have 32 bits", at + 1)
        if match.lastgroup:
            tokens.append(_Token(match.lastgroup, match.group(), at + 1))
        at = match.end()
    return [*tokens, _Token("end", "", len(text) + 1)]


class _Parser:
    def __init__(self, text: str, operands: Collection[str] = ()) -> None:
        self._tokens = _tokens(text)
        self._next = 0
        self.operands = operands
        self.carried: list[Carried] = []
        """Of the opcode that is read: the operands that no stream carries."""

    @property
    def peek(self) -> _Token:
        return self._tokens[self._next]

    def take(self) -> _Token:
        token = self.peek
        self._next += token.kind != "end"
        return token

    def accept(self, *texts: str) -> bool:
        accepted = self.peek.kind in ("mark", "id") and self.peek.text in texts
        if accepted:
            self.take()
        return accepted

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise GrammarError(f"expected `{text}`, not {self.peek}", self.peek.column)

    def end(self) -> None:
        if self.peek.kind != "end":
            raise GrammarError(f"expected the end, not {self.peek}", self.peek.column)

    def name(self, what: str) -> str:
        token = self.take()
        if token.kind == "id":
            return token.text
        inner = token.text[1:-1]
        if token.kind == "string" and not (inner.isprintable() and inner.strip() == inner):
            what = "a name has printable characters, and no blank first or last"
            raise GrammarError(f"{ascii(token.text)[1:-1]}: {what}", token.column)
        if token.kind == "string" and inner:
            return inner
        raise GrammarError(f"expected {what}, not {token}", token.column)

    def integer(self) -> int:
        token = self.take()
        if token.kind != "int":
            raise GrammarError(f"expected an integer, not {token}", token.column)
        return int(token.text, 16 if "x" in token.text.lower() else 10)

    def reference(self, what: str) -> str:
        """An operand or a dim: a bare id, or a number that counts from 0."""
        token = self.take()
        if token.kind not in ("id", "int"):
            raise GrammarError(f"expected {what}, not {token}", token.column)
        return token.text

    def field(self) -> DimField:
        dim = self.reference("a dim")
        return DimField(dim, self.integer() if self.accept("<<") else 0)

    def action(self) -> HostAction | Access:
        token = self.take()
        name = token.text.removeprefix(_PUBLISHED)
        if token.kind != "id" or name not in _ACTIONS:
            raise GrammarError(f"expected one of {', '.join(_ACTIONS)}, not {token}", token.column)
        self.expect("(")
        result = self.argument(name)
        self.expect(")")
        return result

    def argument(self, action: str) -> HostAction | Access:
        if action in ("write", "wait"):
            return self.access(action)
        if action in ("send", "recv"):
            operand = self.reference("an operand")
            if self.accept(","):
                self.carried.append(Carried(operand, self.reference("a register"), True))
            return (Send if action == "send" else Recv)(operand)
        if action == "send_literal":
            return SendLiteral(self.integer())
        if action == "send_idx":
            return SendIdx(self.reference("a dim"))
        fields = [self.field()]
        while self.accept("|"):
            fields.append(self.field())
        return SendDim(tuple(fields))

    def access(self, action: str) -> HostAction | Access:
        register = self.reference("a register")
        self.expect(",")
        if action == "wait":
            return WaitRegister(register, self.integer())
        value = (
            self.integer() if self.peek.kind == "int" else self.reference("an integer, a dim or an operand")
        )
        if isinstance(value, str) and value in self.operands:
            self.carried.append(Carried(value, register, False))
            return Send(value)
        return WriteRegister(register, value)

    def entry(self) -> tuple[str, tuple[HostAction | Access, ...]]:
        name = self.name("the name of an opcode")
        self.expect("=")
        self.expect("[")
        actions: list[HostAction | Access] = []
        while not self.accept("]"):
            if actions:
                self.expect(",")
            actions.append(self.action())
        return name, tuple(actions)

    def scope(self, depth: int = 1) -> Scope:
        column = self.peek.column
        self.expect("(")
        if depth > _MAX_DEPTH:
            raise GrammarError(f"more than {_MAX_DEPTH} scopes inside each other", column)
        items: list[str | Scope] = []
        while not self.accept(")"):
            inner = self.peek.text == "(" and self.peek.kind == "mark"
            items.append(self.scope(depth + 1) if inner else self.name("an opcode, `(` or `)`"))
        return Scope(tuple(items))


def parse_opcode_map(text: str) -> dict[str, tuple[HostAction, ...]]:
    """Opcode name to the host's actions, in the order of the text. Raises GrammarError, for accesses too."""
    opcodes = parse_opcodes(text)
    for name, opcode in opcodes.items():
        if opcode.before or opcode.after or opcode.carried:
            what = f"opcode `{name}` has registers: `write` and `wait` are for a specification's opcode_map"
            raise GrammarError(what, 1)
    return {name: opcode.host for name, opcode in opcodes.items()}


def parse_opcodes(text: str, operands: Collection[str] = ()) -> dict[str, Opcode]:
    """As :func:`parse_opcode_map`, with the accesses to registers; the device's side is empty.

    `operands`: what a register may be written with beside numbers and dims.
    """
    parser = _Parser(text, operands)
    parser.accept("opcode_map")
    parser.expect("<")
    opcodes: dict[str, Opcode] = {}
    while not parser.accept(">"):
        if opcodes:
            parser.expect(",")
            if parser.accept(">"):
                break
        column = parser.peek.column
        name, actions = parser.entry()
        if name in opcodes:
            raise GrammarError(f"opcode `{name}` is defined twice", column)
        opcodes[name] = replace(_opcode(name, actions, column), carried=tuple(parser.carried))
        parser.carried.clear()
    parser.end()
    return opcodes


def _opcode(name: str, actions: tuple[HostAction | Access, ...], column: int) -> Opcode:
    streams = [at for at, action in enumerate(actions) if not isinstance(action, Access)]
    begin, end = (streams[0], streams[-1] + 1) if streams else (len(actions), len(actions))
    host = tuple(action for action in actions[begin:end] if not isinstance(action, Access))
    if len(host) != end - begin:
        what = f"opcode `{name}`: `write` and `wait` stand before or behind all that is sent and received"
        raise GrammarError(what, column)
    before = tuple(action for action in actions[:begin] if isinstance(action, Access))
    return Opcode(
        name, host, (), before, tuple(action for action in actions[end:] if isinstance(action, Access))
    )


def parse_opcode_flow(text: str) -> Scope:
    """The outermost scope of a flow (or of init_opcodes). Raises GrammarError."""
    parser = _Parser(text)
    parser.accept("opcode_flow", "init_opcodes")
    bracket = parser.accept("<")
    scope = parser.scope()
    if bracket:
        parser.expect(">")
    parser.end()
    return scope


def print_opcode_map(opcodes: Mapping[str, Iterable[HostAction]]) -> str:
    """The text that :func:`parse_opcode_map` reads back as `opcodes`."""
    return print_opcodes(Opcode(name, tuple(host), ()) for name, host in opcodes.items())


def print_opcodes(opcodes: Iterable[Opcode]) -> str:
    """The text that :func:`parse_opcodes` reads back."""
    return f"opcode_map<{', '.join(map(str, opcodes))}>"


def print_opcode_flow(scope: Scope) -> str:
    """The text that :func:`parse_opcode_flow` reads back as `scope`."""
    return f"opcode_flow<{scope}>"
