"""What holds of the tiles of an opcode map: sizes are legal in every state, what is there fits its buffer.

Of layouts it is claimed that different elements lie at different addresses, within what was loaded, for all
sizes at once. Those claims are of whole numbers, and of the same expressions that the instructions' addresses
are made of (:meth:`~axiloom.isa.opcode_map.state.Part.at`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import z3

from axiloom.isa.formal import bounds
from axiloom.isa.formal.sound import Claim
from axiloom.isa.instructions.arithmetic import all_of, apply
from axiloom.isa.instructions.tree import Const, Expr, Name
from axiloom.isa.kernels.forms import MATMUL
from axiloom.isa.opcode_map.reader import OpcodeMap
from axiloom.isa.opcode_map.state import Part, expr


def facts(opcodes: OpcodeMap) -> dict[str, Expr]:
    """What holds whenever a word comes, each with its name: of sizes, and of tiles that are there."""
    known: dict[str, Expr] = {}
    for part in opcodes.parts:
        of = f" of {part.spec.name}" if len(opcodes.parts) > 1 else ""
        known[f"sizes are legal{of}"] = _legal(part)
        if tied := [
            apply("eq", part.sizes[dim].expr, part.sizes[other].expr) for dim, other in part.spec.tied.items()
        ]:
            known[f"tied sizes are the same{of}"] = all_of(tied)
        if part.form.saves:
            most = Const(part.spec.buffers[part.out])
            known[f"what is saved fits{of}"] = apply("le", part.saved, most)
        for operand, there in part.there.items():
            if part.form.dense and not (operand == part.out and part.form.saves):
                fits = part.fits(operand, part.under(operand))
                held = apply("or", apply("not", there), fits)
                known[f"{operand} as it was laid fits its buffer{of}"] = held
    return {name: fact for name, fact in known.items() if fact != Const(1)}


def _legal(part: Part) -> Expr:
    if part.form.name == MATMUL.name:
        fits = [part.fits(operand, part.shape(operand)) for operand in part.spec.buffers]
        return all_of([part.legal_tile(part.sizes), *(fact for fact in fits if fact != Const(1))])
    conditions = [
        condition
        for dim, size in part.sizes.items()
        if isinstance(size.expr, Name)
        for condition, _ in part.legal(dim, size)
    ]
    return all_of([condition for condition in conditions if condition != Const(1)])


def claims(opcodes: OpcodeMap) -> Iterator[Claim]:
    """For each operand with addresses, in its own order of dims."""
    row, other, at, other_at, size = z3.Ints("row other at other_at size")
    helped = (
        z3.Implies(z3.And(rows >= 1, size >= 0), (rows - 1) * size >= 0)
        for rows in (row - other, other - row)
    )
    rows = z3.Implies(z3.And(*helped), _apart(row, other, at, other_at, size))
    yield Claim("rows do not overlap", "it holds of all sizes", rows, "layouts")
    for part in opcodes.parts:
        for operand in part.spec.data:
            if operand == part.out and part.form.saves:
                continue  # results are numbered
            for name, formula in _of_elements(opcodes, part, operand):
                yield Claim(f"layout of {operand}: {name}", "it holds of all sizes", formula, "layouts")


def _of_elements(opcodes: OpcodeMap, part: Part, operand: str) -> Iterator[tuple[str, z3.BoolRef]]:
    known = [_legal(part), part.fits(operand, part.shape(operand))]
    dims, numbers = part.dims(operand), bounds.Walk(opcodes.instructions, {}, known)
    sizes = {dim: numbers.number(part.sizes[dim].expr) for dim in dims}
    one, other = (
        {dim: Name(f"{turn}_{dim}", part.held(part.sizes[dim]).range) for dim in dims}
        for turn in ("one", "other")
    )
    at, at_other = (numbers.number(part.at(operand, index)) for index in (one, other))
    count = numbers.number(part.count(operand))
    yield "no size is cut off", z3.And(*numbers.whole)
    rooms, helped = [count <= part.buffers[operand].shape[0]], [*_rounded(part, operand, numbers)]
    if operand != part.out:  # whole beats come
        words = numbers.number(expr(part.spec.words_of(operand, part.shape(operand))))
        rooms.append(words <= part.spec.buffers[operand])
    yield "within its buffer", z3.Implies(z3.And(numbers.known, *helped), z3.And(*rooms))
    first, second = ({dim: numbers.number(name) for dim, name in index.items()} for index in (one, other))
    inside = [z3.And(at >= 0, at < sizes[dim]) for index in (first, second) for dim, at in index.items()]
    apart = [*inside, *_of_places(dims, first, second, sizes), at == at_other]
    same = z3.And(*(first[dim] == second[dim] for dim in dims))
    yield "injective", z3.Implies(z3.And(*apart), same)
    within = z3.And(*inside, *_of_products(dims, first, sizes))
    yield "within what is loaded", z3.Implies(within, z3.And(at >= 0, at < count))


def _rounded(part: Part, operand: str, numbers: bounds.Walk) -> Iterator[z3.BoolRef]:
    """What is true of any numbers: products of sizes are at most those of sizes that were rounded up."""
    dims, rows = part.dims(operand), part.form.rows.get(operand, 0)
    across = dict(zip(part.form.array or (), part.spec.array, strict=False))
    pairs: list[tuple[Any, Any]] = [
        (part.sizes[dim], -(-part.sizes[dim] // across.get(dim, 1)) * across.get(dim, 1)) for dim in dims
    ]
    if operand != part.out:
        row = prod(part.sizes[dim] for dim in dims[rows:])
        each = part.spec.link.stream_width // part.kind.bits
        pairs = [*pairs[:rows], (row, -(-row // each) * each)]
    least: Any = 1
    most: Any = 1
    for pair in pairs:
        size, whole = (numbers.number(expr(one)) for one in pair)
        for factor, other in ((most - least, whole), (whole - size, least)):
            yield z3.Implies(z3.And(factor >= 0, other >= 0), factor * other >= 0)
        least, most = least * size, most * whole


def _of_products(
    dims: Sequence[str], index: Mapping[str, Any], sizes: Mapping[str, Any]
) -> Iterator[z3.BoolRef]:
    """What is true of any numbers, and solvers do not see by themselves: at each step of a place in rows, the
    product of two that are not negative is not. It takes nothing away from a claim."""
    place: Any = 0
    end: Any = 1
    for dim in dims:
        for factor in (place, end - 1 - place):
            if not isinstance(factor, int):
                yield z3.Implies(z3.And(factor >= 0, sizes[dim] >= 0), factor * sizes[dim] >= 0)
        place, end = place * sizes[dim] + index[dim], end * sizes[dim]


def _apart(place: Any, other: Any, at: Any, at_other: Any, size: Any) -> z3.BoolRef:
    """Rows of `size` do not overlap: places in rows are different where rows, or places in them, are."""
    inside = (z3.And(index >= 0, index < size) for index in (at, at_other))
    same = place * size + at == other * size + at_other
    return z3.Implies(z3.And(*inside, same), z3.And(place == other, at == at_other))


def _of_places(
    dims: Sequence[str], one: Mapping[str, Any], other: Mapping[str, Any], sizes: Mapping[str, Any]
) -> Iterator[z3.BoolRef]:
    """That rows do not overlap, dim by dim."""
    first, second = one[dims[0]], other[dims[0]]
    for dim in dims[1:]:
        yield _apart(first, second, one[dim], other[dim], sizes[dim])
        first, second = first * sizes[dim] + one[dim], second * sizes[dim] + other[dim]
