"""What the instructions of a text compute, derived once: kept by the text and by what derives it.

A record says which kernel an instruction is, of which slices, at which sizes; a refusal says why. The values
are made of that again, so nothing but names and shapes comes from the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from axiloom.base import cache
from axiloom.base.errors import AxiloomError
from axiloom.base.files import code_hash
from axiloom.graph.graph import Type
from axiloom.graph.ops import Builder
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.machine.derive import Meaning, Meanings, Operand, meanings_of
from axiloom.selection.machine.kernels import KERNELS

KIND = "meanings"
_DERIVING = ("base", "isa/instructions", "isa/numerics", "graph", "selection/machine")


def known(isa: InstructionSet) -> Meanings:
    """The meanings of `isa` that were derived before, by the same code."""
    meanings = Meanings(isa)
    try:
        for row in cache.value(KIND, _key(isa)):
            key = str(row["instruction"]), tuple((str(n), int(v)) for n, v in row["sizes"])
            meanings.found[key] = _meaning(isa, row) if "kernel" in row else str(row["refused"])
    except cache.NotCachedError:
        return meanings
    except (ValueError, KeyError, TypeError, AxiloomError):
        return Meanings(isa)  # not what is read today: derived again
    return meanings


def keep(meanings: Meanings) -> None:
    """Writes what was derived, for the next time."""
    rows = []
    for (name, sizes), meaning in meanings.found.items():
        row: dict[str, Any] = {"instruction": name, "sizes": sizes}
        if isinstance(meaning, Meaning):
            row["kernel"] = meaning.kernel
            row["operands"] = [_row(operand) for operand in meaning.operands]
            row["result"] = _row(meaning.result)
        else:
            row["refused"] = meaning
        rows.append(row)
    cache.keep(KIND, _key(meanings.isa), rows)


def derive(meanings: Meanings, rows: Iterable[int]) -> list[Meaning]:
    """All instructions at these sizes; what is new is kept, for validation of this process too."""
    before = dict(meanings.found)
    meanings_found = meanings.at(sorted(set(rows)))
    if new := {key: meaning for key, meaning in meanings.found.items() if key not in before}:
        meanings_of(meanings.isa).found.update(new)
        keep(meanings)
    return meanings_found


def _key(isa: InstructionSet) -> str:
    return cache.content_hash(repr(isa), code_hash(*_DERIVING))  # all of the tree, and so each constant


def _row(operand: Operand) -> list[Any]:
    return [operand.memory, operand.field, list(operand.type.shape), operand.type.number]


def _operand(row: list[Any]) -> Operand:
    memory, field, shape, number = row
    return Operand(str(memory), str(field), Type(tuple(map(int, shape)), str(number)))


def _meaning(isa: InstructionSet, row: dict[str, Any]) -> Meaning:
    operands = tuple(_operand(operand) for operand in row["operands"])
    builder = Builder()
    leaves = [builder.leaf("parameter", str(i), operand.type) for i, operand in enumerate(operands)]
    value = KERNELS[row["kernel"]][1](builder.op, leaves, str(row["result"][3]))
    sizes = {str(name): int(size) for name, size in row["sizes"]}
    return Meaning(isa, row["instruction"], row["kernel"], sizes, operands, _operand(row["result"]), value)
