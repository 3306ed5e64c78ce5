"""Attributes with which other tools say how an op is executed. Accelerators bring them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from axiloom.base.accelerators import parts
from axiloom.isa import AcceleratorSpec

Has = Callable[[str], bool]


@dataclass(frozen=True)
class Annotations:
    """`ignored`: names that change nothing here, with what they say."""

    ignored: Mapping[str, str]
    translate: Callable[[ModuleOp, AcceleratorSpec | None, str | None], None]
    """Puts our trait in their place, for a specification and the flow that was asked for."""
    remarks: Callable[[Has, str | None], Iterator[str]]
    """What else is ignored of a text which has some names, with that flow."""


def known() -> list[Annotations]:
    return list(parts("annotations").values())


def translate(module: ModuleOp, spec: AcceleratorSpec | None, flow: str | None) -> None:
    """Raises CompileError with the op's place."""
    for kind in known():
        kind.translate(module, spec, flow)
