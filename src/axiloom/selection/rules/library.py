"""Files of rules: ours by name, and a user's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from axiloom.isa.instructions.read import text_of
from axiloom.selection.rules.rule import Rule
from axiloom.selection.rules.text import parse

SUFFIX = ".rules"
POINTS = "points.rules"
_ROOM = Path(__file__).parent


@dataclass(frozen=True)
class RuleText:
    """A file's rules, as its text; `names`: those to be used, None: all; `bounded`: those of them that are
    proved for the sizes that they state alone."""

    place: str
    text: str
    names: frozenset[str] | None = None
    bounded: frozenset[str] = frozenset()

    @property
    def rules(self) -> tuple[Rule, ...]:
        kept = (rule for rule in _parsed(self) if self.names is None or rule.name in self.names)
        return tuple(replace(rule, bounded=True) if rule.name in self.bounded else rule for rule in kept)

    def only(self, names: Iterable[str], bounded: Iterable[str] = ()) -> RuleText:
        return RuleText(self.place, self.text, frozenset(names), frozenset(bounded))


@lru_cache(maxsize=256)
def _parsed(text: RuleText) -> tuple[Rule, ...]:
    return parse(text.text, text.place)


def every() -> tuple[RuleText, ...]:
    """All rules that come with Axiloom, file by file."""
    return tuple(load(path) for path in sorted(_ROOM.glob(f"*{SUFFIX}")))


def ours() -> tuple[RuleText, ...]:
    """Those for any application. Without `POINTS`: with im2col they would go round without an end."""
    return tuple(text for text in every() if text.place != POINTS)


def load(path: Path) -> RuleText:
    """A file's rules, read once to find its faults. Raises RuleError."""
    text = RuleText(path.name, text_of(path))
    _parsed(text)
    return text
