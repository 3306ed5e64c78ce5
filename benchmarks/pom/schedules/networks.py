"""The schedule of a network, layer by layer: sums (and maxima) over input channel and window outermost,
output channels as lanes, all layers on the same multiply-adds.

An element comes back only after a whole map then. One pool with its window innermost would wait for its own
maximum, and all layers with it: they share one pipe, and a pipe has one interval.
"""

from __future__ import annotations

from axiloom.nests.program import Program, Statement, loads

LANES = {("vgg16", "pom"): 8, ("vgg16", "ours"): 16, ("resnet18", "pom"): 4, ("resnet18", "ours"): 16}
"""Multiply-adds."""
OTHERS = {"pom": 8, "ours": 2}
"""Of what is no convolution: each layer has comparators of its own, which take less than choosing their
operands would, and with 8 of them in each layer 16 multiply-adds do not fit."""


def text(program: Program, name: str, variant: str) -> str:
    lines: list[str] = []
    for statement in program.statements:
        lanes = LANES[name, variant]
        within = {name for form in statement.target.subscripts for name in form.names}
        over = [name for name in statement.iterators if name not in within]
        if over:
            rest = [name for name in statement.iterators if name in within]
            lines.append(f"reorder {statement.name} {' '.join([*over, *rest])}")
        if not _is_convolution(statement):
            lanes = min(lanes, OTHERS[variant])
        channels = program.array(statement.target.array).shape[0]
        lines.append(f"unroll {statement.name} {statement.iterators[0]} {min(lanes, channels)}")
    names = " ".join(statement.name for statement in program.statements)
    return "\n".join([*lines, f"share {names}", ""])


def _is_convolution(statement: Statement) -> bool:
    return any(load.array.startswith("filter") for load in loads(statement.value))
