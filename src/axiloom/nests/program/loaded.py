"""`Loaded`: what a reader gives: a program, and the contents of those of its arrays that are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.nests.program.c_function import CFunction
from axiloom.nests.program.program import Program

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Original:
    """What a program was made of, as something that can be called: the results of `call` on what the caller
    gives, both by the names of arrays. Floats may be rounded in another order. `name` is for people."""

    name: str
    call: Callable[[Arrays], Arrays]


@dataclass(frozen=True)
class Loaded:
    """`contents`: by name, in NumPy's type of their number. Of an array with the role ``in``, a constant or
    weights: whoever runs the program fills it from here unless the user gives another. Of one with the role
    ``inout``, a ``static`` variable of C: what it holds before the first call; the caller keeps it from call
    to call. `function`: of a program that was read from C. `original`: of a model."""

    program: Program
    contents: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    function: CFunction | None = None
    original: Original | None = None

    def __post_init__(self) -> None:
        for name, values in self.contents.items():
            array = self.program.array(name)
            if np.shape(values) != array.shape:
                raise ValueError(f"contents of `{name}`: shape {np.shape(values)}, not {array.shape}")
