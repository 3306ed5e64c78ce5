"""Attention on QKV and on its second variant, written by hand: what compiled programs are compared with.

Each attention takes the result of the one before as its Q, which stays in d1. One call an operator is the
same with a load and a store around each: softmax takes a product with an identity, as only gemm writes d2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from axiloom.selection.program.program import Command, HostArray, Program

TARGETS = ("qkv", "qkv_double")
_BFLOAT16 = "bfloat16"
_ONE = 0x3F80


def attention(target: str = "qkv", chained: int = 1, n: int = 64) -> Program:
    """`chained` attentions: ``y = softmax(x . k') . v`` with rows of `n`, x the result before."""
    host = _Host(n)
    q = host.array("q", "in")
    pairs = [(host.array(f"k{turn}", "in"), host.array(f"v{turn}", "in")) for turn in range(chained)]
    y = host.array("y", "out")
    rows = _ROWS[target](n)
    commands = [rows.load(q, 0)]
    for k, v in pairs:
        commands += [*rows.scores(k), rows.softmax(), rows.keep(), *rows.weighted(v), rows.keep()]
    return host.program(target, f"attention_{chained}", [*commands, rows.store(y)])


def operators(target: str = "qkv", n: int = 64) -> tuple[Program, Program, Program]:
    """One attention as three programs: scores, softmax, weighted sum. What passes from one to the next
    is called ``s`` and ``p``."""
    rows = _ROWS[target](n)
    scores = _Host(n)
    q, k, s = scores.array("q", "in"), scores.array("k0", "in"), scores.array("s", "out")
    first = [rows.load(q, 0), *rows.scores(k), rows.keep(), rows.store(s)]

    softmax = _Host(n)
    s, identity_array, p = (
        softmax.array("s", "in"),
        softmax.array("one", "constant"),
        softmax.array("p", "out"),
    )
    second = [rows.load(s, 0), *rows.weighted(identity_array), rows.softmax(), rows.keep(), rows.store(p)]

    weighted = _Host(n)
    p, v, y = weighted.array("p", "in"), weighted.array("v0", "in"), weighted.array("y", "out")
    third = [rows.load(p, 0), *rows.weighted(v), rows.keep(), rows.store(y)]
    identity = np.eye(n, dtype=np.uint16) * np.uint16(_ONE)
    return (
        scores.program(target, "scores", first),
        softmax.program(target, "softmax", second, {"one": identity}),
        weighted.program(target, "weighted", third),
    )


class _Host:
    """Arrays one after the other."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.arrays: list[HostArray] = []

    def array(self, name: str, role: str) -> HostArray:
        base = len(self.arrays) * 2 * self.n * self.n
        host_array = HostArray(name, role, (self.n, self.n), _BFLOAT16, base, "d0")  # type: ignore[arg-type]
        self.arrays.append(host_array)
        return host_array

    def program(
        self,
        target: str,
        name: str,
        commands: Sequence[Command],
        constants: dict[str, NDArray[np.uint16]] | None = None,
    ) -> Program:
        return Program(target, name, tuple(commands), tuple(self.arrays), constants or {})


class _First:
    """Both factors lie in d1: the left one in its first half, the right one in its second."""

    loads, stores, moves = "load_rm", "store_rm", "mov"

    def __init__(self, n: int) -> None:
        self.n = n

    def load(self, array: HostArray, out: int) -> Command:
        return Command(self.loads, {"n": self.n, "out": out, "base": array.base})

    def store(self, array: HostArray) -> Command:
        return Command(self.stores, {"n": self.n, "row": 0, "base": array.base})

    def scores(self, k: HostArray) -> list[Command]:
        return [
            Command("load_cm", {"n": self.n, "out": self.n, "base": k.base}),
            Command("gemm", {"a": 0, "b": self.n, "out": 0}),
        ]

    def weighted(self, v: HostArray) -> list[Command]:
        return [self.load(v, self.n), Command("gemm", {"a": 0, "b": self.n, "out": 0})]

    def softmax(self) -> Command:
        return Command("softmax", {"n": self.n, "row": 0})

    def keep(self) -> Command:
        """d2 to the first half of d1."""
        return Command(self.moves, {"n": self.n, "row": 0, "out": 0})


class _Second(_First):
    """The right factor lies in d3, where a transpose brings K."""

    loads, stores, moves = "load_1", "store_1", "mov_21"

    def scores(self, k: HostArray) -> list[Command]:
        return [
            self.load(k, self.n),
            Command("transpose_13", {"row": self.n, "out": 0}),
            Command("gemm", {"a": 0, "b": 0, "out": 0}),
        ]

    def weighted(self, v: HostArray) -> list[Command]:
        return [
            Command("load_3", {"n": self.n, "out": 0, "base": v.base}),
            Command("gemm", {"a": 0, "b": 0, "out": 0}),
        ]


_ROWS = {"qkv": _First, "qkv_double": _Second}
