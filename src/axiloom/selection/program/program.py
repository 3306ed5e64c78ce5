"""What selection and allocation make: commands of an instruction set, and the host's memory around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal

from numpy.typing import NDArray

from axiloom.graph.numbers import number


@dataclass(frozen=True)
class Command:
    """One instruction with the values of its fields (:mod:`axiloom.isa.instructions.encode` has words)."""

    instruction: str
    fields: Mapping[str, int]


@dataclass(frozen=True)
class HostArray:
    """A tensor in the host's memory: `shape` elements of `number`, row major, from byte `base` on."""

    name: str
    role: Literal["in", "out", "constant", "local"]
    shape: tuple[int, ...]
    number: str
    base: int
    memory: str
    """The text's host memory."""


def array_bytes(array: HostArray) -> int:
    return prod(array.shape) * number(array.number).host.itemsize


@dataclass(frozen=True)
class Program:
    """A program of one instruction set. Running all commands in order turns what is in into what is out."""

    target: str
    """Name of a built-in text, or its file."""
    name: str
    commands: tuple[Command, ...]
    arrays: tuple[HostArray, ...]
    constants: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """Contents of constant arrays, by name, as raw host values."""
