"""Products that the command line names in short, of vectors and in batches: ``matvec:64x128:int8``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from axiloom.base.errors import UsageError
from axiloom.drivergen.problems.words import split_type
from axiloom.isa import numerics

_LIMIT = 1 << 16
"""Largest size of a dim: more does not fit the memory of any board here."""


@dataclass(frozen=True)
class Form:
    """`order`: sizes as they are written; `dims`: those of the two inputs and of the output, by letters."""

    kind: str
    op: str
    order: str
    dims: tuple[str, str, str]

    @property
    def text(self) -> str:
        """What is accepted."""
        return f"{self.kind}:{'x'.join(self.order.upper())}[:TYPE]"


FORMS: Mapping[str, Form] = {
    form.kind: form
    for form in (
        Form("matvec", "linalg.matvec", "mk", ("mk", "k", "m")),
        Form("vecmat", "linalg.vecmat", "kn", ("k", "kn", "n")),
        Form("dot", "linalg.dot", "k", ("k", "k", "")),
        Form("bmm", "linalg.batch_matmul", "bmnk", ("bmk", "bkn", "bmn")),
    )
}


@dataclass(frozen=True)
class Product:
    """One op of `FORMS`; its inputs are of `dtype`, the output, which is updated, is int32."""

    kind: str
    sizes: Mapping[str, int]
    """By letter."""
    dtype: str = numerics.INT32.name

    @property
    def multiply_adds(self) -> int:
        return prod(self.sizes.values())

    @property
    def mlir(self) -> str:
        form, element = FORMS[self.kind], numerics.of(self.dtype).mlir
        a, b, c = (
            f"memref<{''.join(f'{self.sizes[letter]}x' for letter in dims)}{kind}>"
            for dims, kind in zip(form.dims, (element, element, "i32"), strict=True)
        )
        return f"""\
func.func @{form.kind}(%A : {a}, %B : {b}, %C : {c}) {{
  {form.op} ins(%A, %B : {a}, {b}) outs(%C : {c})
  func.return
}}
"""


def parse_product(text: str) -> Product:
    """The problem that `text` names; UsageError says what is accepted."""
    kind = text.partition(":")[0]
    form = FORMS[kind]
    body, dtype = split_type(text, form.text)
    if not re.fullmatch("x".join([r"\d+"] * len(form.order)), body):
        raise UsageError(f"problem `{text}` is not understood; accepted is {form.text}")
    sizes = dict(zip(form.order, map(int, body.split("x")), strict=True))
    if not all(0 < size <= _LIMIT for size in sizes.values()):
        raise UsageError(f"problem `{text}`: sizes must be from 1 to {_LIMIT}")
    return Product(kind, sizes, dtype)
