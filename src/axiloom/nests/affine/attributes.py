"""Attributes of the scheduled program, by name, and how they are read.

On arrays (arguments of the function, and ``memref.alloc``):

- ``nest.name``, ``nest.number``, ``nest.role`` and, of a copy of another array, ``nest.copy_of``, as in the
  program
- ``nest.partition``: ``["cyclic", f0, f1]``, ``["block", f0, f1]`` or ``["hyperplane", banks, c0, c1]``;
  dimensions that are cut into blocks of a mixed one are in ``nest.blocks``
- ``nest.storage``, ``nest.ports``
- ``nest.stream``: the elements pass through a FIFO of so many entries (0: not decided yet)
- ``nest.copies``: a buffer of so many copies

On loops: ``nest.nest``, the nest's number, for outermost ones; ``nest.pipeline`` (the interval) for those
that are pipelined; ``nest.unroll`` for those whose iterations are issued together.

On operations: ``nest.number``, where the result's format is not that of the operands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation

NAME, NUMBER, ROLE, COPY = "nest.name", "nest.number", "nest.role", "nest.copy_of"
PARTITION, BLOCKS, STORAGE, PORTS = "nest.partition", "nest.blocks", "nest.storage", "nest.ports"
STREAM, COPIES = "nest.stream", "nest.copies"
NEST, PIPELINE, UNROLL = "nest.nest", "nest.pipeline", "nest.unroll"
UNIT = UnitAttr()


def text(value: str) -> StringAttr:
    return StringAttr(value)


def integer(value: int) -> Attribute:
    return IntegerAttr(value, 64)


def mixed(values: Sequence[str | int]) -> Attribute:
    return ArrayAttr([text(value) if isinstance(value, str) else integer(value) for value in values])


def read_text(attributes: Mapping[str, Attribute], name: str) -> str | None:
    attribute = attributes.get(name)
    return attribute.data if isinstance(attribute, StringAttr) else None


def read_integer(attributes: Mapping[str, Attribute], name: str) -> int | None:
    attribute = attributes.get(name)
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None


def read_mixed(attributes: Mapping[str, Attribute], name: str) -> list[str | int] | None:
    attribute = attributes.get(name)
    if not isinstance(attribute, ArrayAttr):
        return None
    values: list[str | int] = []
    for member in attribute.data:
        if isinstance(member, StringAttr):
            values.append(member.data)
        elif isinstance(member, IntegerAttr):
            values.append(member.value.data)
    return values


def is_unrolled(op: Operation) -> bool:
    return UNROLL in op.attributes
