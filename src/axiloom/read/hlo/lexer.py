"""Tokens of a text, with their lines; what cannot be a token is refused."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from axiloom.read.context import ReadError

MOST_CHARACTERS = 64 << 20
MOST_TOKENS = 4 << 20
"""Of a text. Both are far above what networks need whose weights are not in the text."""


@dataclass
class Tokens:
    """A cursor over tokens. `name` stands before every message."""

    name: str
    text: str
    pattern: re.Pattern[str]
    kinds: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    at: int = 0

    def __post_init__(self) -> None:
        if len(self.text) > MOST_CHARACTERS:
            raise ReadError(f"{self.name}: {len(self.text)} characters; at most {MOST_CHARACTERS} are read")
        self._lines = [0, *(newline.end() for newline in re.finditer("\n", self.text))]
        position, match = 0, self.pattern.match
        while position < len(self.text):
            token = match(self.text, position)
            if token is None:
                self.at, self.starts = len(self.starts), [*self.starts, position]
                raise self.error(f"`{self.text[position : position + 20].splitlines()[0]}` is no token")
            position = token.end()
            if token.lastgroup == "skip":
                continue
            self.kinds.append(token.lastgroup or "")
            self.texts.append(token[0])
            self.starts.append(token.start())
            if len(self.kinds) > MOST_TOKENS:
                raise self.error(f"more than {MOST_TOKENS} tokens")
        self.kinds.append("end")
        self.texts.append("")
        self.starts.append(len(self.text))

    @property
    def kind(self) -> str:
        return self.kinds[self.at]

    @property
    def peek(self) -> str:
        return self.texts[self.at]

    @property
    def line(self) -> int:
        return bisect_right(self._lines, self.starts[min(self.at, len(self.starts) - 1)])

    def error(self, reason: str, line: int | None = None) -> ReadError:
        return ReadError(f"{self.name}:{line or self.line}: {' '.join(reason.split())}")

    def wrong(self, reason: str) -> ReadError:
        """An error of the token that was passed last."""
        self.at -= 1
        return self.error(reason)

    def next(self) -> str:
        text = self.texts[self.at]
        if self.kinds[self.at] == "end":
            raise self.error("the text ends here")
        self.at += 1
        return text

    def take(self, text: str) -> bool:
        """Whether the next token is this one, which is then passed."""
        if self.texts[self.at] != text or self.kinds[self.at] == "end":
            return False
        self.at += 1
        return True

    def need(self, text: str) -> None:
        if not self.take(text):
            raise self.error(f"`{text}` is needed, not `{self.peek[:40]}`")

    def of(self, kind: str, what: str) -> str:
        """The next token, which must be of a kind."""
        if self.kind != kind:
            raise self.error(f"{what} is needed, not `{self.peek[:40]}`")
        return self.next()

    def integer(self) -> int:
        text = self.next()
        if not re.fullmatch(r"-?\d{1,18}", text):
            self.at -= 1
            raise self.error(f"an integer is needed, not `{text[:40]}`")
        return int(text)

    def skip_balanced(self, opening: str, closing: str) -> None:
        """From an opening token to its closing one."""
        self.need(opening)
        depth = 1
        while depth:
            text = self.next()
            depth += (text == opening) - (text == closing)
