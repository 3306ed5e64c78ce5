"""`Offers`: what an instruction set computes in several commands, each a way to make a value.

Instructions that mean nothing alone, as micro-ops, are offered in blocks: a layer of the application that a
generator has commands for. A block is a meaning; its operands and its result lie in the host's memory.

What means nothing alone is offered in blocks. A micro-op is an index; a GEMM is what its micro-ops make
of it. So a generator of tiled programs offers whole layers, each with its value, its cycles and its
commands, as one more way to make a value of the saturated graph. The generator is not trusted either: the
finished program is executed by the text on polynomials of the inputs. Sums are polynomials, what wraps is
a symbol for its polynomial modulo 2^n, clips and shifts have one order; two equal values that come out as
different symbols would be refused, never the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from axiloom.graph.graph import Graph
from axiloom.selection.egraph.saturated import Saturated
from axiloom.selection.machine.derive import Meaning
from axiloom.selection.program.program import Command, Program


@runtime_checkable
class Steps(Protocol):
    """What makes a meaning several commands."""

    @property
    def own(self) -> Program:
        """It alone, at some addresses: what it costs is the same at all."""
        ...

    @property
    def commands(self) -> tuple[Command, ...]:
        """Of that program, without the end."""
        ...

    @property
    def micro_ops(self) -> NDArray[Any]:
        """A constant of its own in the host's memory."""
        ...

    def moved(self, operands: Sequence[int], result: int, micro_ops: int) -> Iterator[Command]:
        """The commands for arrays that begin at these bytes."""
        ...


@dataclass(frozen=True)
class Offer:
    """`block` makes class `made` of classes `operands`."""

    made: int
    block: Meaning
    operands: tuple[int, ...]


@dataclass(frozen=True)
class Offered:
    """`saturated`: with values beside the application's that blocks want. `refused`: values that look like
    what is offered, and why they are not."""

    saturated: Saturated
    offers: tuple[Offer, ...]
    refused: Mapping[int, str]
    inside: frozenset[int] = frozenset()
    """Values that are made on the way to others alone."""


class Offers(Protocol):
    """Of an instruction set. `ops` and `numbers`: of the values that are offered; `align`: bytes at whose
    multiples its arrays begin; `last`: the commands that end a program."""

    @property
    def ops(self) -> frozenset[str]: ...
    @property
    def numbers(self) -> frozenset[str]: ...
    @property
    def align(self) -> int: ...
    @property
    def last(self) -> tuple[Command, ...]: ...

    def of(self, saturated: Saturated, graph: Graph) -> Offered: ...
