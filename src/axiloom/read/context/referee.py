"""The referee from outside: what a model means by somebody else's reading of the user's own file.

Our readers are judged by ONNX Runtime, ONNX's reference evaluator or PyTorch, which know nothing of them. A
cosine alone says too little (that of a softmax whose results are all 1 is high), so the largest error counts
as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from axiloom.base.errors import MismatchError

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Referee:
    """Whose word counts: its name with its version, and its results for inputs in their order."""

    name: str
    run: Callable[[Sequence[Array]], list[Array]]


def in_type(array: Array, kind: np.dtype[Any]) -> Array:
    """The array in another type: of an integer of the same width the bits, else the values."""
    array = np.asarray(array)
    is_same = array.dtype.itemsize == kind.itemsize and array.dtype.kind in "iu" and kind.kind in "iu"
    return array.view(kind) if is_same else array.astype(kind)


@dataclass(frozen=True)
class Limits:
    """How far results may be from the referee's."""

    cosine: float
    """At least."""
    largest: float
    """Largest error, in parts of the largest magnitude of the referee's result: at most."""


READING = Limits(0.9999, 1e-3)
"""Of the same network in float32: only the order of sums may differ."""
INTEGERS = Limits(0.9, 0.5)
"""Of a network in int8: what is beyond is another network."""


@dataclass(frozen=True)
class Agreement:
    """The worst output: the lowest cosine, and the largest error in parts of the largest magnitude."""

    cosine: float
    largest: float
    fault: str = ""
    """What cannot be put in numbers: another shape, or a value that only one of them has as infinite."""

    def within(self, limits: Limits) -> bool:
        return not self.fault and self.cosine >= limits.cosine and self.largest <= limits.largest

    def __str__(self) -> str:
        return (
            self.fault or f"cosine {self.cosine:.5f}, largest error {self.largest:.2g} of the largest value"
        )

    def check(self, limits: Limits, what: str, referee: Referee, helps: str = "") -> None:
        """MismatchError unless it is within `limits`; `helps`: what may, behind the message."""
        if not self.within(limits):
            raise MismatchError(
                f"{what} differs from {referee.name}: {self}; accepted are a cosine of at least "
                f"{limits.cosine} and an error of at most {limits.largest:g} of the largest value{helps}"
            )


def agreement(got: Sequence[Array], want: Sequence[Array]) -> Agreement:
    """Of results with the referee's, output by output."""
    if len(got) != len(want):
        return Agreement(0.0, np.inf, f"{len(got)} results in place of {len(want)}")
    parts = [_of_output(a, b, number) for number, (a, b) in enumerate(zip(got, want, strict=True))]
    fault = next((part.fault for part in parts if part.fault), "")
    return Agreement(
        min((part.cosine for part in parts), default=1.0),
        max((part.largest for part in parts), default=0.0),
        fault,
    )


def _of_output(got: Array, want: Array, number: int) -> Agreement:
    if got.shape != want.shape:
        return Agreement(0.0, np.inf, f"result {number} has shape {got.shape} in place of {want.shape}")
    a, b = np.asarray(got, np.float64).ravel(), np.asarray(want, np.float64).ravel()
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or not np.isfinite(a[finite]).all():
        return Agreement(0.0, np.inf, f"result {number} has infinities or NaN where the other has none")
    a, b = a[finite], b[finite]
    error = float(np.abs(a - b).max(initial=0.0))
    top = float(np.abs(b).max(initial=0.0))
    norms = float(np.linalg.norm(a) * np.linalg.norm(b))
    cosine = float(a @ b) / norms if norms else float(error == 0)
    return Agreement(min(cosine, 1.0), error / top if top else (0.0 if error == 0 else np.inf))


def over_samples(results: Sequence[Sequence[Array]]) -> list[Array]:
    """Results of several samples, output by output, one below the other."""
    return [np.stack(outputs) for outputs in zip(*results, strict=True)]
