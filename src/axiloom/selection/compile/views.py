"""Values of the host's memory that are other values' bytes: no instruction makes them.

A view is an entry of `VIEWS`: of an operation on values in row major order it says where each operand's bytes
begin in the result's, or where the result's begin in the operand's; or None, if bytes move.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from axiloom.graph.graph import Type
from axiloom.selection.compile.target import element_bytes
from axiloom.selection.egraph.saturated import ENode


@dataclass(frozen=True)
class View:
    """`offsets[i]`: the byte of the result at which operand i begins; negative: the result begins that far
    behind the operand's first byte."""

    operands: tuple[int, ...]
    offsets: tuple[int, ...]


Rule: TypeAlias = Callable[[ENode, Sequence[Type], Type], tuple[int, ...] | None]


def view(node: ENode, operands: Sequence[Type], result: Type) -> View | None:
    rule = VIEWS.get(node.op)
    offsets = rule(node, operands, result) if rule is not None else None
    return View(node.operands, offsets) if offsets is not None else None


def _reshape(_: ENode, __: Sequence[Type], ___: Type) -> tuple[int, ...] | None:
    return (0,)


def _slice(node: ENode, operands: Sequence[Type], result: Type) -> tuple[int, ...] | None:
    """Whole rows that follow each other: all dimensions but one are whole, those before it are 1."""
    start, strides = node.given["start"], node.given["strides"]
    assert isinstance(start, tuple)
    assert isinstance(strides, tuple)
    shape = operands[0].shape
    if any(stride != 1 for stride in strides):
        return None
    cut = [i for i, (whole, kept) in enumerate(zip(shape, result.shape, strict=True)) if whole != kept]
    if any(prod(result.shape[:i]) != 1 for i in cut):
        return None
    at = 0
    for size, first in zip(shape, start, strict=True):
        at = at * size + first
    return (-at * element_bytes(result),)


def _concatenate(node: ENode, operands: Sequence[Type], result: Type) -> tuple[int, ...] | None:
    dimension = node.given["dimension"]
    assert isinstance(dimension, int)
    if prod(result.shape[:dimension]) != 1:
        return None
    offsets, at = [], 0
    for operand in operands:
        offsets.append(at)
        at += operand.elements * element_bytes(operand)
    return tuple(offsets)


VIEWS: Mapping[str, Rule] = {"reshape": _reshape, "slice": _slice, "concatenate": _concatenate}
