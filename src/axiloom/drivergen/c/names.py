"""C identifiers and types: what a value is called, and what it is declared as."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
    i1,
)
from xdsl.ir import Attribute, SSAValue

KEYWORDS = re.compile(
    "auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|long|"
    "register|restrict|return|short|signed|sizeof|static|struct|switch|typedef|union|unsigned|void|volatile|"
    "while|main"
)
RUNTIME = re.compile(r"dma_|DMA_|axl_|AXL_|TRY$|u?int\d*_t$|ptrdiff_t$|size_t$|_")
"""Names of the runtime, of the standard headers it includes and of what the emitter defines."""


def identifier(name: str) -> str:
    """`name` as a C identifier that is no keyword and none of the runtime's."""
    text = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not text or text[0].isdigit():
        text = f"v{text}"
    return f"{text}_" if KEYWORDS.fullmatch(text) else f"x{text}" if RUNTIME.match(text) else text


class Names:
    """Unique C identifiers for SSA values: their own names, with a number where that is taken."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._names: dict[SSAValue, str] = {}

    def __getitem__(self, value: SSAValue) -> str:
        return self._names[value]

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._names

    def add(self, value: SSAValue, fallback: str = "v") -> str:
        base = name = identifier(value.name_hint or fallback)
        number = 1
        while name in self._taken:
            name, number = f"{base}{number}", number + 1
        self._taken.add(name)
        self._names[value] = name
        return name

    def get(self, value: SSAValue) -> str | None:
        return self._names.get(value)

    def share(self, value: SSAValue, name: str) -> None:
        """Another value lives in the variable `name`."""
        self._names[value] = name

    def scope(self) -> Names:
        """Names for an inner block: what is added there is free again behind it."""
        inner = Names(self._taken)
        inner._names = dict(self._names)
        return inner


def c_type(kind: Attribute) -> str | None:
    """C type of a scalar or of a matrix' elements; None if C has none for it."""
    if isinstance(kind, IndexType):
        return "uint32_t"
    if isinstance(kind, IntegerType) and kind.width.data in (8, 16, 32, 64):
        unsigned = "u" if kind.signedness.data == Signedness.UNSIGNED else ""
        return f"{unsigned}int{kind.width.data}_t"
    if isinstance(kind, IntegerType) and kind.width.data == 1:
        return "_Bool"
    if isinstance(kind, Float32Type | Float64Type):
        return "float" if isinstance(kind, Float32Type) else "double"
    return None


def element_of(dtype: np.dtype[Any]) -> Attribute:
    """The MLIR type of the elements of a NumPy array."""
    if dtype.kind == "f":
        return Float32Type() if dtype.itemsize == 4 else Float64Type()
    if dtype.kind == "b":
        return i1
    return IntegerType(8 * dtype.itemsize, Signedness.UNSIGNED if dtype.kind == "u" else Signedness.SIGNLESS)


NUMPY = {"_Bool": "bool", "float": "float32", "double": "float64"}
"""NumPy's names of C types, where they are not those of ``<stdint.h>`` without the ``_t``."""


def numpy_type(c: str) -> str:
    """NumPy's name of a C type: ``int8`` of ``int8_t``."""
    return NUMPY.get(c, c.removesuffix("_t"))


def c_of_numpy(dtype: str) -> str:
    """The other way round."""
    return {name: c for c, name in NUMPY.items()}.get(dtype, f"{dtype}_t")


def comment(text: str) -> str:
    """A C comment of one or more lines."""
    first, *rest = text.replace("*/", "* /").splitlines()
    return "\n".join([f"/* {first}", *(f" * {line}" for line in rest)]) + " */"
