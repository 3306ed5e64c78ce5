"""Kernels that a specification writes out: JSON to `Kernel` and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from axiloom.isa.kernels.language.kernel import Kernel, KernelError

OWN = "own"
"""The name of a kernel that has none."""


def read_kernel(body: Mapping[str, Any]) -> Kernel:
    """The kernel of an object that the schema passes; raises KernelError."""
    operands: dict[str, dict[str, str]] = {}
    for operand, dims in body["operands"].items():
        operands[operand] = {}
        for text in dims:
            name, equals, index = (part.strip() for part in text.partition("="))
            if name in operands[operand]:
                raise KernelError(f"operands.{operand}: dim `{name}` stands twice")
            if equals and name in body["iterators"]:
                raise KernelError(f"operands.{operand}: `{text}` gives an iterator a second meaning")
            operands[operand][name] = index if equals else name
    return Kernel(body.get("name", OWN), dict(body["iterators"]), operands, body["body"])


def write_kernel(kernel: Kernel) -> dict[str, Any]:
    """The object that reads back as `kernel`."""
    return {
        "name": kernel.name,
        "iterators": dict(kernel.iterators),
        "operands": {
            operand: [dim if index.plain == dim else f"{dim} = {index}" for dim, index in dims.items()]
            for operand, dims in kernel.maps.items()
        },
        "body": str(kernel.body),
    }
