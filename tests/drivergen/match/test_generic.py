"""Random `linalg.generic` ops on devices whose kernel is such a generic: right, or refused with a reason.

The evaluator here shares nothing with the compiler, the model or `axiloom.drivergen.reference`: it goes
over the
iteration space point by point, from the random choices themselves and not from MLIR.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.drivergen.host import random_inputs, run

from axiloom.base.errors import AxiloomError
from axiloom.drivergen import compile_mlir
from axiloom.isa.files.device import device_of
from axiloom.isa.kernels.language.kernel import Kernel

BODIES = {
    "sum of products": (2, "O + A * B", 0),
    "sum": (1, "O + A", 0),
    "largest": (1, "max(O, A)", -(1 << 31)),
    "scaled and shifted": (3, "A * B + C", None),
    "clamped difference": (2, "max(A - B, 0)", None),
}
"""Name to the number of inputs, the body, and what the result begins with (None: anything)."""
OPS = {
    "sum of products": "%t = arith.muli %a, %b : i32\n %r = arith.addi %t, %o : i32",
    "sum": "%r = arith.addi %o, %a : i32",
    "largest": "%r = arith.maxsi %a, %o : i32",
    "scaled and shifted": "%t = arith.muli %b, %a : i32\n %r = arith.addi %t, %c : i32",
    "clamped difference": "%z = arith.constant 0 : i32\n %t = arith.subi %a, %b : i32\n"
    " %r = arith.maxsi %t, %z : i32",
}
ENDS = {
    "sum of products": lambda o, a, b: o + a * b,
    "sum": lambda o, a: o + a,
    "largest": max,
    "scaled and shifted": lambda _o, a, b, c: a * b + c,
    "clamped difference": lambda _o, a, b: max(_wrapped(a - b), 0),
}
Term = dict[str, int]
"""Iterator to its factor."""


def _wrapped(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


@dataclass
class Case:
    """A generic op: sizes of its iterators, and for each operand (inputs, then the result) its maps."""

    body: str
    sizes: dict[str, int]
    reduced: set[str]
    maps: list[list[Term]]
    host: str | None
    """An iterator that the kernel does not know."""

    @property
    def shapes(self) -> list[list[int]]:
        return [
            [1 + sum((self.sizes[name] - 1) * factor for name, factor in term.items()) for term in terms]
            for terms in self.maps
        ]

    def mlir(self, rng: random.Random) -> str:
        names = [*self.sizes]
        rng.shuffle(names)
        letters = [f"d{number}" for number in range(len(names))]
        loop = dict(zip(names, letters, strict=True))

        def written(terms: list[Term]) -> str:
            sums = (" + ".join(f"{loop[n]} * {f}" if f > 1 else loop[n] for n, f in t.items()) for t in terms)
            return f"affine_map<({', '.join(letters)}) -> ({', '.join(sums)})>"

        types = [f"memref<{'x'.join([*map(str, shape), 'i32'])}>" for shape in self.shapes]
        arguments = [f"%{'ABCO'[n] if n + 1 < len(types) else 'O'}: {kind}" for n, kind in enumerate(types)]
        values = [argument.split(":")[0] for argument in arguments]
        kinds = ", ".join(f'"{"reduction" if name in self.reduced else "parallel"}"' for name in names)
        start = BODIES[self.body][2]
        fill = f"%s = arith.constant {start} : i32\n linalg.fill ins(%s : i32) outs(%O : {types[-1]})\n"
        block = ", ".join(f"{value.lower()}: i32" for value in values)
        return (
            f"func.func @f({', '.join(arguments)}) {{\n {fill if start is not None else ''}"
            f" linalg.generic {{indexing_maps = [{', '.join(map(written, self.maps))}],"
            f" iterator_types = [{kinds}]}} ins({', '.join(values[:-1])} : {', '.join(types[:-1])})"
            f" outs(%O : {types[-1]}) {{\n ^bb0({block}):\n {OPS[self.body]}\n linalg.yield %r : i32\n }}\n"
            " return\n}\n"
        )

    def kernel(self, rng: random.Random) -> Kernel:
        """The same computation as data, without the host's loop and with dims in another order."""
        own = [name for name in self.sizes if name != self.host]
        operands: dict[str, dict[str, str]] = {}
        for number, terms in enumerate(self.maps):
            operand = "ABC"[number] if number + 1 < len(self.maps) else "O"
            dims = []
            for place, term in enumerate(terms):
                if self.host in term:
                    continue
                (first, *more) = term
                name = first if not more else f"{operand}{place}".lower()
                dims.append((name, " + ".join(f"{n} * {f}" if more else n for n, f in term.items())))
            rng.shuffle(dims)
            operands[operand] = dict(dims)
        kinds = {n: self._kind(n) for n in own}
        return Kernel("random", kinds, operands, BODIES[self.body][1])

    def _kind(self, name: str) -> str:
        if name not in self.reduced:
            return "parallel"
        return (
            "window" if any(len(t) > 1 and name in t for terms in self.maps for t in terms) else "reduction"
        )

    def evaluate(self, inputs: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
        start = BODIES[self.body][2]
        result = np.full(self.shapes[-1], start or 0, dtype=object)
        order = sorted(self.sizes, key=lambda name: name in self.reduced)
        for point in product(*(range(self.sizes[name]) for name in order)):
            at = dict(zip(order, point, strict=True))
            places = [
                tuple(sum(at[name] * factor for name, factor in term.items()) for term in terms)
                for terms in self.maps
            ]
            read = [int(array[place]) for array, place in zip(inputs, places[:-1], strict=True)]
            result[places[-1]] = _wrapped(ENDS[self.body](int(result[places[-1]]), *read))
        return result.astype(np.int32)


def random_case(rng: random.Random) -> Case:
    body = rng.choice([*BODIES])
    count, _, start = BODIES[body]
    parallel = [f"p{n}" for n in range(rng.randint(1, 3))]
    reduced = [f"r{n}" for n in range(rng.randint(0 if body == "sum" else 1, 2))] if start is not None else []
    sizes = {name: rng.randint(1, 7) for name in (*parallel, *reduced)}
    maps: list[list[Term]] = []
    for _ in range(count):
        names = [name for name in sizes if rng.random() < 0.7] or [rng.choice([*sizes])]
        rng.shuffle(names)
        maps.append([{name: 1} for name in names])
    for name in sizes:  # every iterator must be seen in some input's own dim, so that its size is known
        if not any(name in term for terms in maps for term in terms):
            maps[rng.randrange(count)].append({name: 1})
    if reduced and count > 1 and rng.random() < 0.5:  # a window that slides along the first input
        taps = rng.choice(reduced)
        if {taps: 1} not in maps[1]:
            maps[1].append({taps: 1})
        walked = rng.choice(parallel)
        maps[0] = [term for term in maps[0] if not {taps, walked} & term.keys()]
        maps[0].insert(rng.randint(0, len(maps[0])), {walked: rng.randint(1, 3), taps: rng.randint(1, 2)})
    host = None
    result = [{name: 1} for name in parallel]
    if rng.random() < 0.3:
        host = "h"
        sizes[host] = rng.randint(2, 3)
        maps[0].insert(0, {host: 1})
        result.insert(0, {host: 1})
    rng.shuffle(result)
    return Case(body, sizes, set(reduced), [*maps, result], host)


def outcome(seed: int) -> str:
    """``equal``, or the reason of a refusal; AssertionError for anything else."""
    rng = random.Random(seed)
    case = random_case(rng)
    text = case.mlir(rng)
    tile = {name: rng.randint(1, 8) for name in case.sizes if case._kind(name) != "window"}
    pipeline = rng.choice(("published", "copying", "coalesced"))
    try:
        kernel = case.kernel(rng)
        spec = device_of(kernel, {k: v for k, v in tile.items() if k in kernel.iterators})
        driver = compile_mlir(text, spec, pipeline=pipeline)
    except AxiloomError as error:
        return str(error)
    inputs = random_inputs(driver, seed)
    found, _ = run(driver, spec, inputs, times=2)
    *given, result = (arg.symbol for arg in driver.args)
    expected = case.evaluate([inputs[symbol] for symbol in given])
    np.testing.assert_array_equal(found[result], expected, err_msg=f"seed {seed}\n{text}")
    return "equal"


@pytest.mark.every(5)
@pytest.mark.parametrize(
    ("first", "count"), [(0, 12), (12, 12), pytest.param(24, 276, marks=pytest.mark.slow)]
)
def test_equal_or_refused(first: int, count: int) -> None:
    outcomes = Counter(outcome(seed).split(": ", 1)[-1] for seed in range(first, first + count))
    print(*(f"{number:4} {what}" for what, number in outcomes.most_common()), sep="\n")
    assert outcomes["equal"] > count // 2  # or this test would prove nothing
