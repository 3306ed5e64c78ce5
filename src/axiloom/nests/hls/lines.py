"""How many lines people would have to write: neither blank ones nor those of comments only."""

from __future__ import annotations

import re

_BLOCK = re.compile(r"/\*.*?\*/", re.DOTALL)


def lines_of_c(text: str) -> int:
    """Of C and C++. Pragmas count: people write them."""
    without = _BLOCK.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    return sum(1 for line in without.splitlines() if line.split("//")[0].strip())


def lines_of_python(text: str) -> int:
    """Of a schedule in Python."""
    return sum(1 for line in text.splitlines() if line.split("#")[0].strip())
