"""Layouts: different elements lie at different addresses, within what was loaded.

Of the same text that the model's addresses are made of (:meth:`State.position`), in integers: there every
size is looked at at once. The model's bits are these integers, as no address is above the buffer's size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import z3

from axiloom.isa.formal.streams.state import State, at_most, same_bits


def lemmas(model: State) -> Iterator[tuple[str, z3.BoolRef]]:
    """For each operand with addresses, in its own order of dims."""
    for operand in model.spec.data:
        if operand != model.output:
            yield f"layout of {operand}: from words", _from_words(model, operand)
        if operand == model.output and model.form.saves:
            continue  # results are numbered
        yield from _of_elements(model, operand)


def _of_elements(model: State, operand: str) -> Iterator[tuple[str, z3.BoolRef]]:
    dims, rows = model.shape_dims(operand), model.rows(operand)
    each = 1 if operand == model.output else model.per_beat(operand)
    sizes = {dim: z3.Int(f"{dim}") for dim in dims}
    one, other = ({dim: z3.Int(f"{name}_{dim}") for dim in dims} for name in ("one", "other"))
    # Whole beats of a row, as few as hold it.
    beats, inner = z3.Int("beats"), prod(sizes[dim] for dim in dims[rows:])
    given = [beats * each >= inner, beats * each < inner + each]
    given += [z3.And(index[dim] >= 0, index[dim] < sizes[dim]) for dim in dims for index in (one, other)]
    at, at_other = (model.position(operand, index, sizes, beats * each) for index in (one, other))
    same = z3.And(*(one[dim] == other[dim] for dim in dims))
    # Rows, and what is inside of one.
    inside = dims[rows:]
    parts: Sequence[Sequence[str | None]] = ([*dims[:rows], None], inside) if rows else (dims,)
    pitch = beats * each
    places = [fact for part in parts for fact in _of_places(part, one, other, sizes, pitch)]
    if rows:  # what is inside of one does not reach into the next
        places += [fact for index in (one, other) for fact in _of_products(inside, index, sizes, pitch)]
    apart = z3.And(*given, *places, at == at_other)
    yield f"layout of {operand}: injective", z3.Implies(apart, same)
    loaded: Any = prod(sizes[dim] for dim in dims[:rows]) * pitch
    within = z3.And(*given, *(fact for part in parts for fact in _of_products(part, one, sizes, pitch)))
    yield f"layout of {operand}: within what is loaded", z3.Implies(within, z3.And(at >= 0, at < loaded))


def _of_products(
    dims: Sequence[str | None], index: Mapping[str, Any], sizes: Mapping[str, Any], pitch: Any
) -> Iterator[z3.BoolRef]:
    """What is true of any numbers, and solvers do not see by themselves: at each step of a place in rows
    (None: `pitch`), the product of two that are not negative is not. It takes nothing away from a claim."""
    place: Any = 0
    end: Any = 1
    for dim in dims:
        size = pitch if dim is None else sizes[dim]
        for factor in (place, end - 1 - place):
            if not isinstance(factor, int):
                yield z3.Implies(z3.And(factor >= 0, size >= 0), factor * size >= 0)
        place, end = place * size + (0 if dim is None else index[dim]), end * size


def _of_places(
    dims: Sequence[str | None],
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    sizes: Mapping[str, Any],
    pitch: Any,
) -> Iterator[z3.BoolRef]:
    """The like of two places: further by some steps is by at least as many sizes, and by none by none."""
    first: Any = 0
    second: Any = 0
    for dim in dims:
        size = pitch if dim is None else sizes[dim]
        if not isinstance(first, int):
            for steps in (first - second, second - first):
                yield z3.Implies(z3.And(steps >= 1, size >= 0), (steps - 1) * size >= 0)
            yield z3.Implies(first == second, first * size == second * size)
        first, second = (
            place * size + (0 if dim is None else index[dim])
            for place, index in ((first, one), (second, other))
        )


def _from_words(model: State, operand: str) -> z3.BoolRef:
    """No two elements of two beats go to one address, and all are within the buffer."""
    each, bits = model.per_beat(operand), model.address_bits
    total = model.beats(operand, model.sizes)
    ats = [z3.BitVec(f"beat_{i}", bits) for i in range(2)]
    elements = [z3.BitVec(f"element_{i}", bits) for i in range(2)]
    # Where sizes are looked at when they are set, granules too make a tile fit.
    given = [model.fits(operand, model.sizes)]
    if not model.late_fit:
        given.append(model.accepted(model.sizes, model.spec.dims))
    for at, element in zip(ats, elements, strict=True):
        given += [z3.ULT(*same_bits(at, total)), z3.ULT(element, each)]
    one, other = (at * each + element for at, element in zip(ats, elements, strict=True))
    same = z3.And(ats[0] == ats[1], elements[0] == elements[1])
    goal = z3.And(at_most(one, model.room(operand) - 1), z3.Implies(one == other, same))
    return z3.Implies(z3.And(*given), goal)
