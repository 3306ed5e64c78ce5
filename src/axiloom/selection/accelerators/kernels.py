"""`Patterns`: kernels of an accelerator in the tensor IR, of a ``.kernels`` text (docs/selection.md)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from axiloom.base.accelerators import texts
from axiloom.base.errors import UsageError
from axiloom.base.wording.names import hint
from axiloom.isa.instructions.read import text_of
from axiloom.selection.rules.match import Matcher, matcher_of
from axiloom.selection.rules.rule import Rule
from axiloom.selection.rules.text import parse_patterns

SUFFIX = ".kernels"


@dataclass(frozen=True)
class Patterns:
    """`kernels` are rules of a pattern to itself: they bind and bound what they match."""

    name: str
    kernels: tuple[Rule, ...]

    @cached_property
    def matchers(self) -> tuple[Matcher, ...]:
        return tuple(map(matcher_of, self.kernels))

    def only(self, names: tuple[str, ...]) -> Patterns:
        """With some of its kernels. Raises UsageError."""
        known = [kernel.name for kernel in self.kernels]
        for name in names:
            if name not in known:
                raise UsageError(f"{self.name} has no kernel {name}{hint(name, known)}")
        return Patterns(self.name, tuple(kernel for kernel in self.kernels if kernel.name in names))


def load(path: Path) -> Patterns:
    """Raises RuleError."""
    return Patterns(path.stem, parse_patterns(text_of(path), path.name, "computes"))


def accelerators() -> dict[str, Patterns]:
    """By name."""
    return {name: load(path) for name, path in texts(SUFFIX).items()}
