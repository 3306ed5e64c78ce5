"""Quantise a torch.nn.Module: export, calibrate, lower."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch._decomp import get_decompositions

from axiloom.base.errors import CompileError, UsageError
from axiloom.frontend import is_network
from axiloom.frontend.extras import require
from axiloom.frontend.pytorch import build, export, referee
from axiloom.frontend.referee import Referee
from axiloom.quantise.graph import calibrate
from axiloom.quantise.graph.calibrate import Ranges, Sample
from axiloom.quantise.graph.fixed import to_int8
from axiloom.quantise.graph.graph import Graph
from axiloom.quantise.graph.lower import Lowering
from axiloom.quantise.ops import HANDLERS, SEVERAL

Progress = Callable[[str], None]
MASKED = -12.0
"""A score that is not seen, where floats have minus infinity: int8 has to hold it beside the others."""
RECURRENT = (torch.ops.aten.lstm.input, torch.ops.aten.gru.input)
"""Ops that run over a sequence, which is known: they become as many steps."""


def _smallest(x: Any, dim: Sequence[int] = (), keepdim: bool = False) -> Any:
    """By the largest, which has an integer form."""
    return -torch.amax(-x, dim, keepdim)


INSTEAD = {torch.ops.aten.amin.default: _smallest}
"""Ops in terms of others."""


@dataclass
class Quantised:
    """The integer graph, and what is needed to hold it against the float network."""

    graph: Graph
    module: Any
    """The float network as torch.fx.GraphModule."""
    ranges: Ranges
    samples: list[Sample]
    """Of the ranges."""
    compared: list[Sample]
    """Those on which the network is held against the referee: random ones that no range has seen, or the
    first."""
    source: dict[str, str]
    """Of values of the graph, the ATen node that they stand for."""
    referee: Referee
    """Who says what the user's own network computes."""

    def inputs(self, sample: Sequence[Any]) -> dict[str, np.ndarray[Any, Any]]:
        """Inputs of the graph for inputs of the float network: floats in steps of their scale."""
        made = {}
        for node, value in zip(self.graph.inputs, sample, strict=True):
            array = value.numpy()
            made[node.name] = array.astype(np.int32) if node.scale is None else to_int8(array, node.scale)
        return made


def load(text: str) -> tuple[Any, tuple[Any, ...]]:
    """Network and example inputs of ``model.py:build`` or ``model.onnx`` (`frontend.is_network`); UsageError
    for anything else."""
    file, _, function = text.rpartition(":")
    if not is_network(text):
        raise UsageError(f"`{text}`: expected is model.py:build (torch) or model.onnx")
    if not text.endswith(".onnx"):
        return build(Path(file), function)
    require("onnx", text)
    from axiloom.frontend.onnx_network import load_network

    return load_network(Path(text))


def quantise(
    network: Any,
    examples: tuple[Any, ...],
    calibration: str | Sequence[Sample],
    *,
    name: str,
    keep: int = 4,
    seed: int = 0,
    shifts: bool = False,
    progress: Progress = lambda _line: None,
) -> Quantised:
    """Quantise `network` (in evaluation mode); `calibration`: samples, or what --calibration says.

    `keep`: samples on which each layer can be compared. `shifts`: sums become int8 by a shift, without a
    multiplier, for accelerators that have none. Raises CompileError for an op that has no integer form.
    """
    progress("exporting")
    judge = getattr(network, "referee", None) or referee(network, examples)
    with _attention_in_parts():
        program = export(network, examples, name)
        table = {**get_decompositions(RECURRENT), **INSTEAD}
        if any(node.target in table or _writes(node) for node in program.graph.nodes):
            # In steps, with products, gates and sums of their own; all other ops stay as they are.
            program = program.run_decompositions(table)
        module = program.module()
    faults = list(getattr(network, "faults", ()))
    if faults:  # what is behind them is looked at too, on any data
        calibration = calibrate.samples("1-random", examples, module, seed)[0][:1]
    unseen: list[Sample] = []
    if isinstance(calibration, str):
        calibration, unseen = calibrate.samples(calibration, examples, module, seed)
    data = list(calibration)
    ranges = calibrate.observe(module, data, keep=keep, progress=progress)
    lowering = Lowering(module, ranges, name, getattr(network, "input_names", ()), shifts=shifts)
    try:
        graph = lowering.run(HANDLERS, SEVERAL)
    except CompileError:
        faults += lowering.faults
    if faults:
        raise CompileError("\n".join(dict.fromkeys(faults)))
    return Quantised(graph, module, ranges, data, unseen or data[:keep], lowering.source, judge)


def _writes(node: Any) -> bool:
    """Whether an op changes a value in place that somebody reads afterwards."""
    if node.op != "call_function" or not str(node.target).partition(".default")[0].endswith("_"):
        return False
    later, at = set[Any](), node
    while at.op != "output":
        at = at.next
        later.add(at)
    return any(user in later for user in node.args[0].users)


@contextmanager
def _attention_in_parts() -> Iterator[None]:
    """Let torch's fused attention be exported as products and a softmax, whose values are calibrated too."""
    fused = torch.nn.functional.scaled_dot_product_attention

    def parts(
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Any:
        if attn_mask is not None or enable_gqa:
            return fused(
                query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
            )
        factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
        scores = query @ key.transpose(-1, -2) * factor
        if is_causal:
            seen = torch.ones(query.shape[-2], key.shape[-2]).tril()
            scores = scores * seen + (1 - seen) * MASKED
        return torch.softmax(scores, -1) @ value

    torch.nn.functional.scaled_dot_product_attention = parts
    try:
        yield
    finally:
        torch.nn.functional.scaled_dot_product_attention = fused
