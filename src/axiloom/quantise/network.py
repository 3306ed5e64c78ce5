"""Quantise a network of PyTorch or ONNX: export, calibrate, lower."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from axiloom.base.attributes import SOURCE
from axiloom.base.errors import CompileError
from axiloom.graph import Graph, Node
from axiloom.graph.evaluate import evaluate_all
from axiloom.graph.write import linalg, quoted
from axiloom.quantise.lower import calibrate
from axiloom.quantise.lower.calibrate import Ranges, Sample
from axiloom.quantise.lower.fixed import to_int8
from axiloom.quantise.lower.lowering import Lowering
from axiloom.quantise.ops import HANDLERS, SEVERAL
from axiloom.read.context.model import Model
from axiloom.read.context.referee import Referee
from axiloom.read.pytorch.module import export_in_parts, referee

Array = np.ndarray[Any, Any]
Progress = Callable[[str], None]


@dataclass
class Quantised:
    """The network in integers, and what is needed to hold it against the float network."""

    graph: Graph
    """Each node's place is a name of its own: that of its layer."""
    scales: dict[int, float | None]
    """By ``id`` of its nodes: what one step is worth; None for sums and for indices."""
    module: Any
    """The float network as torch.fx.GraphModule."""
    ranges: Ranges
    samples: list[Sample]
    """Of the ranges."""
    compared: list[Sample]
    """Those on which the network is held against the referee: random ones that no range has seen, or the
    first."""
    source: dict[str, str]
    """By place: the ATen node whose value is there."""
    referee: Referee
    """Who says what the user's own network computes."""

    @property
    def values(self) -> list[Node]:
        """All nodes but weights, in their order."""
        return [node for node in self.graph.nodes() if id(node) in self.scales]

    def scale(self, node: Node) -> float | None:
        return self.scales[id(node)]

    def inputs(self, sample: Sequence[Any]) -> dict[str, Array]:
        """Inputs of the graph for inputs of the float network: floats in steps of their scale."""
        arrays = {}
        for node, value in zip(self.graph.parameters, sample, strict=True):
            array, scale = value.numpy(), self.scale(node)
            arrays[node.place] = array.astype(np.int32) if scale is None else to_int8(array, scale)
        return arrays

    def run(self, inputs: Mapping[str, Array], *, keep: bool = False) -> dict[str, Array]:
        """The results by their places, or all values if `keep`, exact in every bit."""
        arrays = evaluate_all(self.graph, inputs, keep=keep)
        nodes = self.values if keep else self.graph.results
        return {node.place: arrays[id(node)] for node in nodes if id(node) in arrays}

    def real(self, sample: Sequence[Any]) -> list[Array]:
        """The results for inputs of the float network, as real numbers."""
        results = self.run(self.inputs(sample))
        return [results[node.place] * (self.scale(node) or 1.0) for node in self.graph.results]

    def model(self, source: str = "") -> Model:
        """MLIR and weights. The function says what one step of its inputs and outputs is worth, and with
        `source` what the integers were compared with."""
        attributes = {}
        for what, nodes in (("input", self.graph.parameters), ("output", self.graph.results)):
            steps = ", ".join(f"{self.scale(node) or 0.0:.17e} : f64" for node in nodes)
            attributes[f"axiloom.{what}_scales"] = f"[{steps}]"
        if source:
            attributes[SOURCE] = f'"{quoted(source)}"'
        written = linalg(self.graph, attributes)
        return Model(self.graph.name, written.mlir, written.weights)


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
    compared = unseen or data[:keep]
    return Quantised(graph, lowering.scales, module, ranges, data, compared, lowering.source, judge)
