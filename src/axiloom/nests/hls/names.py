"""Names of C++ that clash neither with each other nor with its words."""

from __future__ import annotations

import re

from axiloom.base.wording.names import free_name

_WORDS = """
    abs alignas alignof and asm auto bitand bitor bool break case catch char class const continue
    default delete do double else enum exp explicit export extern fabs false float floor_div floor_mod
    for friend gamma goto hls if inline int j0 j1 jn largest least long main max min mutable namespace
    new not operator or private protected public register return short signed sizeof sqrt static struct
    switch template this throw true try typedef typename union unsigned using virtual void volatile
    while xor y0 y1 yn
"""
_TAKEN = frozenset(_WORDS.split())


class Names:
    def __init__(self, outer: frozenset[str] = _TAKEN) -> None:
        self._used = set(outer)

    def of(self, name: str) -> str:
        """A free name like this one."""
        plain = re.sub(r"\W", "_", name)
        plain = f"_{plain}" if plain[:1].isdigit() else plain
        free = free_name(plain, self._used, "_{}".format)
        self._used.add(free)
        return free

    def release(self, name: str) -> None:
        """Its scope has ended."""
        self._used.discard(name)

    def inner(self) -> Names:
        return Names(frozenset(self._used))
