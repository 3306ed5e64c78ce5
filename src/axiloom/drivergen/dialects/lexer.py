"""xDSL's lexer, without the texts on which it does not end or raises what is no parse error."""

from __future__ import annotations

import re
from math import isinf

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Position, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind

MOST_DIGITS = 80
"""Of an integer: more than a type of any use has. Python itself stops at 4,300."""


class GuardedLexer(MLIRLexer):
    """Ends on every text, in a time that grows with its length; every fault is a ParseError."""

    # xDSL's own repeats a repetition: on a string without an end it tries all ways to cut it into pieces.
    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')
    _string_so_far = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+')

    def lex(self) -> MLIRToken:
        try:
            return super().lex()
        except ParseError as error:
            if not error.msg.startswith("Unexpected character"):
                raise
            character = ascii(error.span.text)  # a control character must not reach the terminal
            raise ParseError(error.span, f"Unexpected character: {character}") from None

    def _lex_string_literal(self, start_pos: Position) -> MLIRToken:
        if self._unescaped_characters_regex.match(self.input.content, start_pos) is None:
            begun = self._string_so_far.match(self.input.content, start_pos)
            stop = begun.end() if begun else start_pos
            if self.input.at(stop) == "\\":
                escapes = r"\n, \t, \\, \" and two hexadecimal digits"
                raise ParseError(Span(stop, stop + 1, self.input), f"unknown escape; accepted are {escapes}")
            raise ParseError(Span(start_pos, stop, self.input), "the string does not end on its line")
        return super()._lex_string_literal(start_pos)

    def _lex_number(self, start_pos: Position) -> MLIRToken:
        if not "0" <= self.input.content[start_pos] <= "9":
            raise ParseError(Span(start_pos, start_pos + 1, self.input), "Unexpected character")
        token = super()._lex_number(start_pos)
        if token.kind is MLIRTokenKind.INTEGER_LIT and len(token.text) > MOST_DIGITS:
            raise ParseError(token.span, f"an integer of {len(token.text)} digits; at most {MOST_DIGITS}")
        if token.kind is MLIRTokenKind.FLOAT_LIT and isinf(float(token.text)):
            raise ParseError(token.span, "the number is larger than any float")
        return token
