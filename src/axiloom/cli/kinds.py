"""What ``axiloom run`` is given: each kind has its own command, and knows when it is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from axiloom.base.errors import CompileError, UsageError
from axiloom.base.files import read_text
from axiloom.cli.applet import Applet, sketch
from axiloom.drivergen.dialects import templates
from axiloom.read.mlir import file as mlir_file

Said = Mapping[str, Any]
"""What a command line says, by the names of options: :func:`axiloom.cli.applet.sketch`."""


@dataclass(frozen=True)
class Kind:
    """A command, and when a shorter one means it."""

    applet: Applet
    meant: Callable[[Said], str]
    """Why it is meant, for people; empty: it is not."""
    implied: tuple[str, ...] = ()
    """Words that choose this kind, and say nothing more to its command."""

    def rest(self, words: Sequence[str]) -> list[str]:
        """`words` without those."""
        length, rest = len(self.implied), list(words)
        for i in range(len(rest) - length + 1):
            if length and tuple(rest[i : i + length]) == self.implied:
                return rest[:i] + rest[i + length :]
        return rest


@dataclass(frozen=True)
class Short:
    """A command that stands for others: the first of `kinds` that is meant, else its own `applet`."""

    applet: Applet
    kinds: tuple[Kind, ...]
    skip: int = 1
    """So many words name it."""

    def __call__(self, words: Sequence[str]) -> int:
        said = self.said(words)
        code = self.handed(said, words)
        return self.own(words) if code is None else code

    def said(self, words: Sequence[str]) -> Said:
        return sketch([self.applet, *(kind.applet for kind in self.kinds)], words[self.skip :])

    def handed(self, said: Said, words: Sequence[str], kinds: Sequence[Kind] = ()) -> int | None:
        """What the first that is meant (of `kinds`) gives, with its own options alone; None: none is."""
        for kind in kinds or self.kinds:
            if why := kind.meant(said):
                return self._call(kind.applet, kind.rest(words[self.skip :]), words, why)
        return None

    def own(self, words: Sequence[str]) -> int:
        """What the command itself gives."""
        return self._call(self.applet, words[self.skip :], words, "")

    def _call(self, applet: Applet, rest: Sequence[str], words: Sequence[str], why: str) -> int:
        elsewhere = {
            flag: other.name
            for other in (*(kind.applet for kind in reversed(self.kinds)), self.applet)
            for option in other.options
            for flag in option.flags
        }
        return applet.call(applet.values(rest, why, elsewhere), words)


@contextmanager
def filled(problem: str, define: Sequence[str]) -> Iterator[None]:
    """While it lasts, the template of MLIR that `problem` names has the values of ``-D``."""
    if not define:
        yield
        return
    if not mlir_file.is_mlir(problem):
        raise UsageError(f"-D: gives values to a template of MLIR, and {problem} is none")
    file = mlir_file.split(problem)[0]
    with templates.given(define, read_text(file, CompileError), str(file)):
        yield
