"""`CFunction`: the function of C that a program was read from, as its text declares it.

With it the original text can be compiled and called beside what was read (`nest/referee.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CVariable:
    """A parameter, or a variable of the file that the function uses."""

    name: str
    type: str
    """Of an element, as C spells it: ``unsigned char``."""
    shape: tuple[int, ...]
    """As declared; ``()`` is a scalar, which a parameter passes by value."""
    array: str = ""
    """The program's array; ``""``: it has none, and `value` is passed."""
    value: int = 0


@dataclass(frozen=True)
class CFunction:
    """`parameters`: all of them, in C's order. `variables`: of the file, those that are arrays of the program
    and may change. `result`: the array of what the function returns, of type `returns`."""

    path: Path
    name: str
    parameters: tuple[CVariable, ...]
    variables: tuple[CVariable, ...] = ()
    flags: tuple[str, ...] = ()
    """``-D`` and ``-I``, as the reader's preprocessor took them."""
    returns: str = "void"
    result: str = ""
