"""What an application is judged by: of its first result on all data, and what belongs to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from axiloom.application.units.counts import Array


@dataclass(frozen=True)
class Metric:
    """`of` adds up over calls: a sum and a count of (result, labels, result in float32); `told` makes the
    figure of both."""

    name: str
    unit: str
    of: Callable[[Array, Array | None, Array], tuple[float, float]]
    told: Callable[[float, float], float]
    better: int
    """1: more is better, -1: less."""
    labels: bool = True

    def gain(self, before: float, after: float) -> float:
        """How much better `after` is, in the metric's unit."""
        return self.better * (after - before)


def _accuracy(scores: Array, labels: Array | None, _: Array) -> tuple[float, float]:
    assert labels is not None
    return float(np.sum(scores.argmax(-1) == labels)), float(labels.size)


def _perplexity(logits: Array, labels: Array | None, _: Array) -> tuple[float, float]:
    assert labels is not None
    scores = logits.astype(np.float64)
    scores = scores - scores.max(-1, keepdims=True)
    total = np.log(np.exp(scores).sum(-1))
    right = np.take_along_axis(scores, labels[..., None], -1)[..., 0]
    return float(np.sum(total - right)), float(labels.size)


def _error(result: Array, _: Array | None, exact: Array) -> tuple[float, float]:
    return float(np.sum((result.astype(np.float64) - exact) ** 2)), float(
        np.sum(exact.astype(np.float64) ** 2)
    )


METRICS = {
    "accuracy": Metric("accuracy", "%", _accuracy, lambda total, count: 100 * total / max(count, 1), 1),
    "perplexity": Metric(
        "perplexity", "", _perplexity, lambda total, count: float(np.exp(min(total / max(count, 1), 700))), -1
    ),
    "error": Metric(
        "error", "%", _error, lambda total, count: 100 * float(np.sqrt(total / count)) if count else 0.0, -1,
        labels=False,
    ),
}  # fmt: skip
"""`perplexity` is e to the mean of -log(share of the right one); `error` is relative to float32's result."""
