"""The float network on calibration data: how large each value gets, and what it was on some samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from axiloom.base.errors import UsageError
from axiloom.base.files import read_arrays
from axiloom.base.python_file import call
from axiloom.base.wording.names import number as bounded
from axiloom.base.wording.names import shortened
from axiloom.quantise.lower.fixed import best_scale
from axiloom.read.pytorch.module import inputs_of, random_inputs, watched
from axiloom.read.pytorch.nodes import is_tensor

Sample = tuple[Any, ...]
Progress = Callable[[str], None]
MOST_SAMPLES = 1 << 16
"""Of random calibration data: all are in memory at once."""
_DRAWN, _LEAST = 1 << 17, 256
"""Elements of values that random samples are drawn for without being asked for; an op counts as so many at
least."""
_ELEMENTS = 1 << 14
"""Of a value, by which its scale is chosen; more where the first samples have more."""
_UNSEEN = 4
"""Random samples beside those of the ranges, to compare with."""
_WORDS = 1 << 15
"""Random indices are below this, and below the rows of the smallest embedding that they select from."""


@dataclass
class Ranges:
    """By name of a node of the ATen graph."""

    largest: dict[str, float] = field(default_factory=dict)
    """Largest magnitude over all samples; infinite where one is no number."""
    kept: dict[str, list[np.ndarray[Any, Any]]] = field(default_factory=dict)
    """Values on the first samples, at least `compared` of them: scales are chosen by them."""
    compared: int = 0
    """On so many the report compares each layer."""
    scales: dict[str, float] = field(default_factory=dict)
    """What `scale` has found."""

    def scale(self, name: str) -> float:
        """The scale of int8 that loses least of this value on the samples that were kept."""
        if name not in self.scales:
            values = np.concatenate([value.ravel() for value in self.kept[name]])
            self.scales[name] = best_scale(values, self.largest[name])
        return self.scales[name]


def samples(
    text: str, examples: Sequence[Any], program: Any, seed: int = 0
) -> tuple[list[Sample], list[Sample]]:
    """What --calibration says: ``N-random``; an `.npz` with an array for each input, samples first; or
    ``model.py:function``, which returns a list of tuples of inputs. Random ones are at least N, and there are
    some more, which no range has seen.

    Random floats are normal, random indices uniform over the words of the embeddings. Raises UsageError.
    """
    file, _, function = text.rpartition(":")
    if file.endswith(".py"):
        return _checked(call(Path(file), function), examples, text), []
    count, dash, word = text.partition("-")
    if dash and word == "random" and count.isdecimal() and 0 < bounded(count) <= MOST_SAMPLES:
        wanted = max(bounded(count), _cheap(program))
        drawn = random_inputs(examples, wanted + _UNSEEN, smallest_embedding(program), seed)
        return drawn[:wanted], drawn[wanted:]
    if not text.endswith(".npz") or not Path(text).is_file():
        raise UsageError(
            f"--calibration {shortened(text)}: expected is FILE.npz that exists, FILE.py:function, "
            f"or 16-random (up to {MOST_SAMPLES})"
        )
    arrays = list(read_arrays(Path(text)).values())
    if len(arrays) != len(examples):
        raise UsageError(f"{text}: {len(arrays)} arrays for {len(examples)} inputs; one each, in their order")
    for number, (array, example) in enumerate(zip(arrays, examples, strict=True)):
        if array.shape[1:] != tuple(example.shape):
            raise UsageError(
                f"{text}: array {number} is {list(array.shape)}; expected is "
                f"[samples, {', '.join(map(str, example.shape))}]"
            )
    return [inputs_of(sample, examples) for sample in zip(*arrays, strict=True)], []


def _cheap(program: Any) -> int:
    """How many samples cost next to nothing: ranges of values of few elements are too narrow by few
    samples."""
    values = (node.meta.get("val") for node in program.graph.nodes if node.op == "call_function")
    cost = sum(max(value.numel(), _LEAST) for value in values if is_tensor(value))
    return int(min(_DRAWN // max(cost, _LEAST), MOST_SAMPLES))


def _checked(samples: Any, examples: Sequence[Any], text: str) -> list[Sample]:
    """Samples that a function returned, if they are inputs of this network."""
    wanted = [tuple(example.shape) for example in examples]
    good = isinstance(samples, list) and all(
        isinstance(sample, tuple) and [tuple(getattr(value, "shape", ())) for value in sample] == wanted
        for sample in samples
    )
    if not good or not samples:
        raise UsageError(f"--calibration {text}: it must return a list of tuples of tensors shaped {wanted}")
    return list(samples)


def smallest_embedding(program: Any) -> int:
    """Rows of the smallest table that an input selects from: larger indices would be out of range."""
    rows = [_WORDS]
    for node in program.graph.nodes:
        if not str(node.target).startswith("aten.embedding"):
            continue
        at = node.args[1]
        while at.op == "call_function" and len(at.all_input_nodes) == 1:  # a cast, a reshape
            at = at.all_input_nodes[0]
        if at.op == "placeholder":
            rows.append(node.args[0].meta["val"].shape[0])
    return min(rows)


def observe(
    module: Any, data: Sequence[Sample], *, keep: int = 1, progress: Progress = lambda _line: None
) -> Ranges:
    """Ranges of all values of a torch.fx.GraphModule over `data`, with those of at least the first `keep`
    samples."""
    ranges = Ranges(compared=min(keep, len(data)))

    def see(name: str, value: np.ndarray[Any, Any]) -> None:
        largest = ranges.largest.get(name, 0.0)
        top = float(np.abs(value).max()) if value.size else 0.0
        ranges.largest[name] = math.inf if math.isnan(top) else max(largest, top)
        if number < max(keep, _ELEMENTS // max(value.size, 1)):
            ranges.kept.setdefault(name, []).append(value.copy())

    run = watched(module, see)
    for number, sample in enumerate(data):
        progress(f"calibrating: sample {number + 1} of {len(data)}")
        run(sample)
    return ranges
