"""Programs with a fault are found out, with the place; programs without one are not."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.accelerators.qkv.attention import attention as by_hand
from tests.selection.compile.graphs import attention
from tests.selection.compile.machines import N, machine

from axiloom.graph import Graph, Type
from axiloom.graph.ops import Builder
from axiloom.selection.program.program import Command, Program
from axiloom.selection.validate import ProgramFaultError, validate
from axiloom.selection.validate.elements import Elements
from axiloom.selection.validate.graphs import results

GRAPH = attention(2, N)


def program() -> Program:
    """By hand: nothing of the compiler's is in here."""
    return by_hand("qkv", 2, N)


def check(made: Program) -> object:
    target = machine("qkv")
    return validate(made, GRAPH, target.isa)


def test_by_hand_is_right() -> None:
    assert check(program()).exact  # type: ignore[attr-defined]


MUTANTS: dict[str, Callable[[list[Command]], Sequence[Command]]] = {
    "a load is missing": lambda c: [*c[:1], *c[2:]],
    "a product is missing": lambda c: [*c[:2], *c[3:]],
    "softmax twice": lambda c: [*c[:4], c[3], *c[4:]],
    "softmax too late": lambda c: [*c[:3], c[4], c[3], *c[5:]],
    "loads of columns as rows": lambda c: [c[0], replace(c[1], instruction="load_rm"), *c[2:]],
    "factors in the other order": lambda c: [
        *c[:2],
        replace(c[2], fields={"a": N, "b": 0, "out": 0}),
        *c[3:],
    ],
    "a row late": lambda c: [replace(c[0], fields={**c[0].fields, "out": 1}), *c[1:]],
    "another array": lambda c: [replace(c[0], fields={**c[0].fields, "base": 128}), *c[1:]],
    "the result is not stored": lambda c: c[:-1],
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_faults_are_found(mutant: str) -> None:
    made = program()
    with pytest.raises(ProgramFaultError, match=r"command \d+|y"):
        check(replace(made, commands=tuple(MUTANTS[mutant](list(made.commands)))))


@pytest.mark.every(4)
@pytest.mark.parametrize("seed", range(30))
def test_random_faults(seed: int) -> None:
    """Two commands change places, or one goes: right only if the text's simulator gives the same numbers."""
    from axiloom.selection.drive.execute import execute
    from axiloom.selection.validate.numbers import random_inputs

    dice, made = random.Random(seed), program()
    commands = list(made.commands)
    at = dice.randrange(len(commands) - 1)
    if dice.random() < 0.5:
        commands[at], commands[at + 1] = commands[at + 1], commands[at]
    else:
        del commands[at]
    mutant = replace(made, commands=tuple(commands))
    target, inputs = machine("qkv"), random_inputs(GRAPH, seed)
    same = np.array_equal(execute(mutant, target.isa, inputs)["y"], execute(made, target.isa, inputs)["y"])
    try:
        check(mutant)
    except ProgramFaultError:
        assert not same or "never written" in str(_fault(mutant))
    else:
        assert same


def _fault(made: Program) -> ProgramFaultError:
    with pytest.raises(ProgramFaultError) as caught:
        check(made)
    return caught.value


def elements(build: Callable[[Builder, list], object], *shapes: tuple[int, ...]) -> np.ndarray:  # type: ignore[type-arg]
    builder = Builder()
    leaves = [builder.leaf("parameter", str(i), Type(shape, "float32")) for i, shape in enumerate(shapes)]
    made = Elements()
    given = {str(i): np.arange(int(np.prod(s))).reshape(s) + 10_000 * (i + 1) for i, s in enumerate(shapes)}
    made.many = 1_000_000
    first = build(builder, leaves)
    graph = Graph("g", tuple(leaves), tuple(first) if isinstance(first, list) else (first,))  # type: ignore[arg-type]
    found = results(made, graph, given)
    assert all(one.shape == found[0].shape for one in found)
    return np.stack(found)


def same(build: Callable[[Builder, list], list[object]], *shapes: tuple[int, ...]) -> bool:  # type: ignore[type-arg]
    first, second = elements(build, *shapes)
    return bool((first == second).all())


def _dot(b: Builder, x: object, y: object, left: int, right: int) -> object:
    return b.op(
        "dot_general", x, y, lhs_batch=(), rhs_batch=(), lhs_contracting=(left,), rhs_contracting=(right,),
        number="float32",
    )  # type: ignore[arg-type]  # fmt: skip


def test_the_order_of_moves_leaves_no_trace() -> None:
    def both(b: Builder, v: list) -> list:  # type: ignore[type-arg]
        x, w = v
        turned = b.op("transpose", w, permutation=(1, 0))
        return [b.op("dense", x, w, number="float32"), _dot(b, x, turned, 1, 0)]

    assert same(both, (3, 4), (5, 4))


def test_other_functions_are_other_elements() -> None:
    assert not same(lambda b, v: [b.op("add", *v), b.op("multiply", *v)], (2, 3), (2, 3))
    assert not same(lambda b, v: [b.op("subtract", *v), b.op("subtract", v[1], v[0])], (2, 3), (2, 3))


def test_a_transposed_product_is_one_of_transposes() -> None:
    def both(b: Builder, v: list) -> list:  # type: ignore[type-arg]
        x, w = v
        turned = [b.op("transpose", one, permutation=(1, 0)) for one in (w, x)]
        return [b.op("transpose", _dot(b, x, w, 1, 0), permutation=(1, 0)), _dot(b, *turned, 1, 0)]

    assert same(both, (3, 4), (4, 5))


def test_tiles_of_rows_are_the_whole() -> None:
    def both(b: Builder, v: list) -> list:  # type: ignore[type-arg]
        x, w = v
        parts = [b.op("slice", x, start=(i, 0), limit=(i + 2, 4), strides=(1, 1)) for i in (0, 2)]
        joined = b.op("concatenate", *(_dot(b, one, w, 1, 0) for one in parts), dimension=0)  # type: ignore[arg-type]
        return [_dot(b, x, w, 1, 0), joined]

    assert same(both, (4, 4), (4, 3))


def test_softmax_is_its_definition() -> None:
    found = elements(lambda b, v: [b.op("softmax", v[0], dimension=1)] * 2, (2, 3))
    assert (found[0] == found[1]).all()


def test_padding_with_zeros_is_said_to_be_real() -> None:
    builder = Builder()
    x = builder.leaf("parameter", "x", Type((2, 3), "float32"))
    w = builder.leaf("parameter", "w", Type((4, 3), "float32"))
    zero = builder.op("splat", shape=(), number="float32", value="0.0")
    wide = [builder.op("pad", one, zero, low=(0, 0), high=(0, 1), interior=(0, 0)) for one in (x, w)]
    graph = Graph(
        "p",
        (x, w),
        (builder.op("dense", x, w, number="float32"), builder.op("dense", *wide, number="float32")),
    )
    made = Elements()
    given = {"x": made.fresh((2, 3)), "w": made.fresh((4, 3))}
    first, second = results(made, graph, given)
    assert (first == second).all()
    assert made.reals
