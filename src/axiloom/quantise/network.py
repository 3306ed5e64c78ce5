"""Quantise a network of PyTorch or ONNX: export, calibrate, lower."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from axiloom.base.errors import CompileError
from axiloom.quantise.graph import calibrate
from axiloom.quantise.graph.calibrate import Ranges, Sample
from axiloom.quantise.graph.fixed import to_int8
from axiloom.quantise.graph.graph import Graph
from axiloom.quantise.graph.lower import Lowering
from axiloom.quantise.ops import HANDLERS, SEVERAL
from axiloom.read.context.referee import Referee
from axiloom.read.pytorch.module import export_in_parts, referee

Progress = Callable[[str], None]


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
        arrays = {}
        for node, value in zip(self.graph.inputs, sample, strict=True):
            array = value.numpy()
            arrays[node.name] = array.astype(np.int32) if node.scale is None else to_int8(array, node.scale)
        return arrays


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
    module = export_in_parts(network, examples, name)
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
