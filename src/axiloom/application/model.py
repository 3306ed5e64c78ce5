"""Models: files that `axiloom.read` reads, and ``model.py:build`` of PyTorch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from axiloom.frontend.extras import require
from axiloom.graph.graph import Graph
from axiloom.read.forms import read


def load(text: str) -> Graph:
    """The graph of the first result: what nothing of it needs is left out. Raises AxiloomError."""
    file, _, function = text.rpartition(":")
    if file.endswith(".py"):
        require("torch", text)
        graph = _exported(Path(file), function)
    else:
        graph = read(Path(text))
    return replace(graph, results=graph.results[:1])


def _exported(path: Path, function: str) -> Graph:
    import warnings

    import torch

    from axiloom.frontend.pytorch import build
    from axiloom.read.torch_export import read_program

    network, examples = build(path, function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of how torch exports an LSTM's own weights
        program = torch.export.export(network, examples)
    return read_program(program, function if path.stem == "trained" else path.stem)
